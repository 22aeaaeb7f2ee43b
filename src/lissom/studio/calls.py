"""What a worker process can be asked: each call is one service."""

import json
import os
import re
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..verbs.registry import verb_named
from .result_calls import RESULT_CALLS
from .verb_calls import VERB_CALLS, checked_values, verb
from .verb_progress import Watch

Data = dict[str, Any]

NEW_ROBOT = Path(__file__).parent / "pages" / "new_robot.yaml"
KEPT_ROBOTS = 4  # models that sliders move
PICTURES_PER_SECOND = 30.0  # of a result
_posed: "OrderedDict[str, Any]" = OrderedDict()


def warm_run(data: Data, watch: Watch) -> None:
    """A short run of the robot that a new configuration begins with: what a first run would wait for is done."""
    with tempfile.TemporaryDirectory(prefix="lissom-warm-") as place:
        asked = {"name": "simulate", "source": str(NEW_ROBOT), "values": {}}
        asked |= {"changes": {"t_end": 0.02}, "files": {"output": f"{place}/warm.nc"}}
        verb(asked, lambda progress: None)


def warm_pose(data: Data, watch: Watch) -> None:
    """The same robot in a pose."""
    pose({"source": str(NEW_ROBOT), "changes": {}, "pose": {}}, watch)


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


def import_robot(data: Data, watch: Watch) -> Any:
    """A robot file of a URDF file."""
    from ..files.named_files import known_packages
    from ..verbs.perform import perform

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
    return _posed_robot(data).pose(**data["pose"])


def modes_here(data: Data, watch: Watch) -> Any:
    """The modes at a pose of a robot that is kept ready."""
    return _posed_robot(data).modes(**checked_values(data))


def _posed_robot(data: Data) -> Any:
    """The robot of a question; the last few are kept."""
    from .posed_robot import posed_robot

    source, changes = data["source"], data["changes"]
    key = json.dumps([source, _stamp(source), changes])
    if key not in _posed:
        _posed[key] = posed_robot(source, changes)
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
        import_robot,
        validate,
        rewrite_joint,
        pose,
        modes_here,
        animation,
        *RESULT_CALLS,
        *VERB_CALLS,
    )
}
