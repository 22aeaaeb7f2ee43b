"""An option has one default, whichever door one comes through: Python, a request, the command line, the studio."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel

import lissom as ls
from lissom.commands.cli import app
from lissom.describe.controllers import Common, JointGains
from lissom.describe.planned_motions import TipLineMotion
from lissom.describe.scenario import Scenario
from lissom.studies.study import AnalysisOptions, Study
from lissom.verbs.declared import request_type
from lissom.verbs.registry import verb_named

# The studio is an extra.
studio = pytest.importorskip("fastapi") and importlib.import_module("lissom.studio")
PoseQuestion = importlib.import_module("lissom.studio.questions").PoseQuestion
PosedRobot = importlib.import_module("lissom.studio.posed_robot").PosedRobot

PAGES = Path(str(studio.__file__)).parent / "pages"
# What the command line calls otherwise than Python and the requests.
OPTIONS = {"deg": "degrees", "output": "file"}
# Of a command, by the name of its verb; of everything else, the thing itself.
DOORS: dict[str, tuple[Any, ...]] = {
    "modes": (
        "modes",
        ls.modes,
        request_type(verb_named("modes"), True),
        AnalysisOptions,
        ls.natural_frequencies,
    ),
    "pictures of modes": ("modes", ls.Modes.plot, ls.DampedModes.plot),
    "mode-map": (
        "mode-map",
        ls.mode_map,
        ls.map_modes,
        request_type(verb_named("mode-map"), True),
    ),
    "mode-map as polynomials": (
        "mode-map",
        ls.parametric_modes,
        ls.map_modes,
    ),
    "linearize": (
        "linearize",
        ls.linearize,
        ls.linearize_along,
        request_type(verb_named("linearize"), True),
        AnalysisOptions,
    ),
    "frequency-response": (
        "frequency-response",
        ls.frequency_responses,
        request_type(verb_named("frequency-response"), True),
    ),
    "step-response": (
        "step-response",
        ls.step_response,
        ls.step_responses,
        request_type(verb_named("step-response"), True),
    ),
    "static": (
        "static",
        ls.Model.static,
        ls.static,
        request_type(verb_named("static")),
    ),
    "matrices": (
        "matrices",
        ls.Model.matrices,
        ls.matrices,
        request_type(verb_named("matrices"), True),
    ),
    "pose": ("show", PosedRobot.pose, ls.robot_table, PoseQuestion),
    "reduce": ("reduce", ls.reduce_link, request_type(verb_named("reduce"))),
    "simulate": (
        "simulate",
        ls.saved_run,
        ls.run_scenario,
        request_type(verb_named("simulate"), True),
    ),
    "a run in Python": (Scenario, ls.simulate, ls.rollout),
    "a model": ("static", "linearize", "simulate", ls.Model),
    "a scenario": (Scenario, ls.Model),
    "sweep": (
        "sweep",
        ls.sweep,
        request_type(verb_named("sweep")),
        request_type(verb_named("sweep"), True),
    ),
    "a study": ("sweep", Study, request_type(verb_named("sweep"), True)),
    "import": (
        "import",
        ls.import_robot,
        request_type(verb_named("import")),
        ls.Robot.from_urdf,
    ),
    "control design": ("control design", ls.design_controller),
    "control motion": ("control motion", ls.plan_motion),
    "control compare": (
        "control compare",
        ls.compare_controllers,
        request_type(verb_named("control compare"), True),
    ),
    "planned motions": (Common, ls.minimum_time),
    "lines of a tip": (TipLineMotion, ls.tip_line),
    "gains": (JointGains, ls.tune_by_poles),
}
# Left out on the command line, these are as the scenario has them, which is as in a `Model` ("a scenario").
NOT_SHARED = {"a model": {"formulation", "terms", "stiffening"}}


def command(name: str) -> Any:
    """A verb of the command line."""
    found: Any = typer.main.get_command(app.complete())
    for word in name.split():
        found = found.commands[word] if hasattr(found, "commands") else found
    return found


def of_command(name: str) -> dict[str, Any]:
    found = {}
    for option in command(name).params:
        if not option.required:
            found[OPTIONS.get(option.name, option.name)] = option.default
    return found


def of_model(kind: type[BaseModel]) -> dict[str, Any]:
    found = {}
    for name, field in kind.model_fields.items():
        if not field.is_required():
            found[name] = field.get_default(call_default_factory=True)
    return found


def of_function(function: Any) -> dict[str, Any]:
    arguments = inspect.signature(function).parameters.values()
    return {a.name: a.default for a in arguments if a.default is not a.empty}


def defaults_of(door: Any) -> dict[str, Any]:
    """Options of a door that may be left out, and what they are then; nothing is nothing, however it is written."""
    if isinstance(door, str):
        found = of_command(door)
    elif inspect.isclass(door) and issubclass(door, BaseModel):
        found = of_model(door)
    else:
        found = of_function(door)
    return {name: _plain(value) for name, value in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return None if value == type(value)() else value
    return None if value in ((), [], {}) else value


def name_of(door: Any) -> str:
    return f"lissom {door}" if isinstance(door, str) else door.__qualname__


@pytest.mark.parametrize("verb", DOORS)
def test_a_shared_option_has_one_default_at_every_door(verb):
    found: dict[str, dict[str, Any]] = {}
    for door in DOORS[verb]:
        for option, value in defaults_of(door).items():
            if not callable(value) and option not in NOT_SHARED.get(verb, ()):
                found.setdefault(option, {})[name_of(door)] = value
    assert any(len(values) > 1 for values in found.values()), "no option is shared"
    apart = {
        option: values
        for option, values in found.items()
        if any(value != next(iter(values.values())) for value in values.values())
    }
    assert not apart


def test_modes_are_ten_with_free_joints():
    for door in DOORS["modes"][:-2]:
        found = defaults_of(door)
        assert (found["count"], found["locked"]) == (10, False), name_of(door)


# --- forms of the studio -------------------------------------------------------------------------------------------


def page(name: str) -> str:
    return (PAGES / name).read_text(encoding="utf-8")


def test_forms_of_the_studio_begin_with_the_same_defaults():
    """Fields that are made from declarations have their defaults; what a page writes itself is compared here."""
    sag = re.findall(r'checkbox\("Sag under gravity", (\w+),', page("look.js"))
    assert sag == [str(of_model(PoseQuestion)["sag"]).lower()]
    first = re.findall(r'const FIRST = "(\w+)";', page("sweep_tab.js"))
    assert first == [defaults_of("sweep")["analysis"]]
    assert "choice(ANALYSES, FIRST," in page("sweep_tab.js")
    declared = {
        "look_modes.js": 'named("count")',
        "map_tab.js": 'new VerbFields("mode-map", named("damped", "count")',
    }
    for file, words in declared.items():
        assert words in page(file), file
    # No page counts modes itself.
    for file in PAGES.glob("*.js"):
        assert not re.search(r"\bcount: (\d|[A-Z])", page(file.name)), file.name
