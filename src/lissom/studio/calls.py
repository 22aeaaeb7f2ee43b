"""What a worker process can be asked: each call is one service."""

import json
import os
import re
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from .analysis_calls import ANALYSIS_CALLS
from .result_calls import RESULT_CALLS
from .verb_calls import VERB_CALLS

Data = dict[str, Any]
# Called with what is known of the progress; raises KeyboardInterrupt where the call is to stop.
Watch = Callable[[Data], None]

NEW_ROBOT = Path(__file__).parent / "pages" / "new_robot.yaml"
KEPT_ROBOTS = 4  # models that sliders move
REPORT_S = 0.1  # between two reports of a run
PICTURE_S = 0.25  # between two pictures of a run
PATIENCE_S = 0.8  # before the first of them
PICTURES_PER_SECOND = 30.0  # of a result
_posed: "OrderedDict[str, Any]" = OrderedDict()


def warm_run(data: Data, watch: Watch) -> None:
    """A short run of the robot that a new configuration begins with: what a first run would wait for is done."""
    with tempfile.TemporaryDirectory(prefix="lissom-warm-") as place:
        asked = {"scenario": str(NEW_ROBOT), "changes": {"t_end": 0.02}}
        simulate({**asked, "output": f"{place}/warm.nc"}, lambda progress: None)


def warm_pose(data: Data, watch: Watch) -> None:
    """The same robot in a pose."""
    pose({"robot": str(NEW_ROBOT)}, watch)


def robots(data: Data, watch: Watch) -> Any:
    """The library."""
    from ..describe.library import library

    return library()


def materials(data: Data, watch: Watch) -> Any:
    """The materials that a description may name."""
    from ..describe.material import library_materials

    return library_materials()


def choices(data: Data, watch: Watch) -> Any:
    """The words that a scenario accepts."""
    from ..describe.choices import choices
    from ..describe.forms import file_forms

    forms = {name: asdict(form) for name, form in file_forms().items()}
    return {**choices(), "forms": forms}


def scenario_facts(data: Data, watch: Watch) -> Any:
    """What a run begins with."""
    from ..runs.scenario_facts import scenario_facts

    return scenario_facts(data["scenario"])


def check_run(data: Data, watch: Watch) -> None:
    """Nothing, where a scenario takes its changes."""
    from ..runs.sources import scenario_of

    scenario_of(data["scenario"], data["changes"])


def import_robot(data: Data, watch: Watch) -> Any:
    """A robot file of a URDF file."""
    from ..files.named_files import known_packages
    from ..verbs.perform import perform
    from ..verbs.registry import verb_named

    path = Path(data["file"])
    with known_packages(_packages_of(path, Path(data["root"]))):
        files = {"file": data["file"], "output": data["output"]}
        return perform(verb_named("import"), None, files).to_dict()


def _packages_of(urdf: Path, root: Path) -> dict[str, Path]:
    """Folders of the packages that a URDF file names: one of that name around it, else its own."""
    text = urdf.read_text(encoding="utf-8", errors="replace")
    around = [place for place in urdf.parents if place.is_relative_to(root)]
    packages = {}
    for name in set(re.findall(r"package://([^/\"]+)/", text)):
        named = [place for place in around if place.name == name]
        packages[name] = named[0] if named else urdf.parent
    return packages


def validate(data: Data, watch: Watch) -> Any:
    """Everything that is wrong with a description."""
    from ..runs.validate import validate

    return validate(data["file"], start=data.get("start", False))


def rewrite_joint(data: Data, watch: Watch) -> Any:
    """Changes after which a joint of a file is placed the other way."""
    from ..describe.rewrite_joint import rewrite_joint

    edits = rewrite_joint(data["file"], data["link"], data["by"])
    return {"edits": [edit._asdict() for edit in edits]}


def pose(data: Data, watch: Watch) -> Any:
    """A robot in a pose; the last few robots are kept ready."""
    from .posed_robot import PoseRequest

    request = PoseRequest(**data)
    return _posed_robot(request).pose(request)


def modes_here(data: Data, watch: Watch) -> Any:
    """The modes at a pose of a robot that is kept ready."""
    from ..verbs.declared import request_type
    from ..verbs.registry import verb_named
    from .robot_request import RobotRequest

    request = RobotRequest(robot=data["robot"], changes=data["changes"])
    checked = request_type(verb_named("modes"), from_browser=True)(**data["values"])
    values = checked.model_dump(exclude_unset=True)
    number = values.pop("mode", 1)
    return _posed_robot(request).modes(values, number)


def _posed_robot(request: Any) -> Any:
    """The robot of a request; the last few are kept."""
    from .posed_robot import posed_robot

    key = json.dumps([request.robot, _stamp(request.robot), request.changes])
    if key not in _posed:
        _posed[key] = posed_robot(request)
    _posed.move_to_end(key)
    while len(_posed) > KEPT_ROBOTS:
        _posed.popitem(last=False)
    return _posed[key]


def _stamp(source: str) -> Any:
    """Tells a file from an older state of itself."""
    if not os.path.isfile(source):
        return None
    facts = Path(source).stat()
    return [facts.st_mtime_ns, facts.st_size]


def simulate(data: Data, watch: Watch) -> Any:
    """A run, with its progress."""
    from ..runs.saved_run import prepare_run
    from ..show.live_picture import live_picture

    prepared = prepare_run(**data)
    t_end = float(prepared.scenario.t_end)
    last = 0.0
    next_picture: float | None = None

    def observe(snapshot: Any) -> None:
        nonlocal next_picture
        now = monotonic()
        # What is over at once is not drawn on the way.
        if next_picture is None:
            next_picture = now + PATIENCE_S
        if now > next_picture:
            next_picture = now + PICTURE_S
            picture = live_picture(prepared.model, snapshot)
            watch({"t": snapshot.t, "t_end": t_end, "picture": picture})

    def report(t: float) -> None:
        nonlocal last
        now = monotonic()
        if now - last > REPORT_S:
            last = now
            watch({"t": t, "t_end": t_end})

    return prepared.run(report, observe)


def animation(data: Data, watch: Watch) -> Any:
    """A result as something to draw."""
    from ..runs.result_files import loaded_run
    from ..show.viewer import animation_content

    return animation_content(loaded_run(data["file"]).data, None, PICTURES_PER_SECOND)


CALLS: dict[str, Callable[[Data, Watch], Any]] = {
    call.__name__: call
    for call in (
        warm_run,
        warm_pose,
        robots,
        materials,
        choices,
        scenario_facts,
        check_run,
        import_robot,
        validate,
        rewrite_joint,
        pose,
        modes_here,
        simulate,
        animation,
        *RESULT_CALLS,
        *ANALYSIS_CALLS,
        *VERB_CALLS,
    )
}
