"""`validate` says valid exactly where `simulate` starts: every formulation, every feature of a robot."""

from copy import deepcopy

import pytest
from ruamel.yaml import YAML

from helpers import DATA
from lissom.describe import DescriptionError, Robot
from lissom.describe.supported import SUPPORT
from lissom.services.failures import FailedRun
from lissom.services.forecast import check_cost, forecast
from lissom.services.simulate import SimulateRequest, simulate
from lissom.services.sources import scenario_of
from lissom.services.validate import validate

OLD_FE = str(DATA / "fe" / "solid-arm-0.1.npz")
SECTION = {"shape": "rectangle", "y": 0.02, "z": 0.01}


def beam(name="a", at=None, **more):
    """A beam of 0.4 m on a revolute joint."""
    shape = {
        "path": [[0, 0, 0], [0.4, 0, 0]],
        "section": SECTION,
        "material": "aluminium",
        "elements": 2,
        **more.pop("beam", {}),
    }
    joint = {"type": "revolute", "axis": [0, 1, 0], **more.pop("joint", {})}
    if at is not None:
        joint["origin"] = {"xyz": at}
    return {"name": name, "joint": joint, "beam": shape, **more}


def rigid(name="a", mass=1.0, at=None, joint=None, **more):
    """A rigid link with its centre off its joint."""
    joint = {"type": "revolute", "axis": [0, 1, 0], **(joint or {})}
    if at is not None:
        joint["origin"] = {"xyz": at}
    return {
        "name": name,
        "joint": joint,
        "rigid": {"mass": mass, "com": [0.1, 0, 0], **more},
    }


END = [0.4, 0, 0]
BENT = [[0, 0, 0], [0.3, 0, 0], [0.3, 0, 0.2]]
THIN = {"shape": "rectangle", "y": 0.01, "z": 0.01}
FEATURES = {
    "beam": {"links": [beam()]},
    "lumped": {"links": [beam(beam={"mass": "lumped"})]},
    "lumped-points": {"links": [beam(beam={"mass": "lumped-points"})]},
    "timoshenko": {"links": [beam(beam={"theory": "timoshenko"})]},
    "masses": {"links": [beam(masses=[{"node": 1, "mass": 0.2}])]},
    "payload": {"links": [beam()], "payload": {"mass": 0.3, "offset": [0.1, 0, 0]}},
    "bent": {"links": [beam(beam={"path": BENT})]},
    "taper": {"links": [beam(beam={"section": {"start": SECTION, "end": THIN}})]},
    "damped": {"links": [beam()], "damping": {"ratio": 0.01}},
    "passive": {"links": [beam(joint={"actuated": False})]},
    "prismatic": {"links": [beam(), rigid("b", at=END, joint={"type": "prismatic"})]},
    "fixed": {"links": [beam(joint={"type": "fixed"})]},
    "rigid": {"links": [rigid()]},
    "massless": {"links": [rigid(mass=0.0)]},
    "massless-tip": {"links": [beam(), rigid("b", 0.0, END)]},
    "massless-motor": {"links": [rigid(mass=0.0, joint={"motor": {"inertia": 0.1}})]},
    "on-axis": {"links": [rigid(com=[0, 0.1, 0])]},
    "massless-fixed": {"links": [beam(), rigid("b", 0.0, END, {"type": "fixed"})]},
    "tree": {"links": [beam(), beam("b", END), beam("c", END, parent="a")]},
    "fe": {"links": [{**rigid(), "rigid": None, "fe": {"file": "solid-arm.npz"}}]},
    # A file of 0.1 has no second-order displacements.
    "old-fe": {"links": [{**rigid(), "rigid": None, "fe": {"file": OLD_FE}}]},
    "planar": {
        "planar": True,
        "gravity": [0, -9.81, 0],
        "links": [beam(joint={"axis": [0, 0, 1]})],
    },
    "loop": Robot.load("four-bar").to_dict(),
}
CHOICES = ({}, {"stiffening": "geometric"}, {"terms": "published"})


def described(feature, formulation, **choices):
    robot = deepcopy(FEATURES[feature])
    for link in robot["links"]:
        for key in [key for key, entry in link.items() if entry is None]:
            del link[key]
    scenario = {
        "robot": {**robot, "name": feature},
        "formulation": formulation,
        "t_end": 0.002,
        "output_dt": 0.001,
        **choices,
    }
    if formulation != "erls-fem":
        scenario["modes"] = 2
    return scenario


def written(tmp_path, scenario):
    file = tmp_path / "scenario.yaml"
    YAML(typ="safe", pure=True).dump(scenario, file)
    return str(file)


def starts(file):
    """Whether a run gets beyond its first step, and what it says if not."""
    try:
        simulate(SimulateRequest(scenario=file))
    except (DescriptionError, FailedRun) as failure:
        return False, str(failure)
    return True, ""


@pytest.mark.slow
@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("formulation", SUPPORT)
def test_valid_means_that_a_simulation_starts(tmp_path, feature, formulation):
    for choices in CHOICES:
        file = written(tmp_path, described(feature, formulation, **choices))
        verdict = validate(file)
        started, reason = starts(file)
        assert verdict.valid == started, (choices, verdict.errors, reason)


@pytest.mark.parametrize(
    ("feature", "formulation", "choices", "field", "words"),
    [
        ("lumped-points", "erls-fem", {}, "links.a.beam.mass", "lumped or consistent"),
        ("lumped-points", "erls-cms", {}, "links.a.beam.mass", "lumped or consistent"),
        ("massless", "erls-fem", {}, "links", "mass or inertia about the joint axis"),
        ("massless", "erls-cms", {}, "reference", "Give them mass"),
        ("on-axis", "nonlinear", {}, "links", "mass or inertia about the joint axis"),
        ("loop", "dual-screw", {}, "loops", "takes open chains only"),
        (
            "old-fe",
            "erls-cms",
            {"stiffening": "geometric"},
            "stiffening",
            "lissom reduce",
        ),
    ],
)
def test_what_would_not_start_is_refused_with_its_field_and_a_remedy(
    tmp_path, feature, formulation, choices, field, words
):
    file = written(tmp_path, described(feature, formulation, **choices))
    answer = validate(file)
    assert not answer.valid and len(answer.errors) == 1
    (found,) = answer.errors
    assert found.field == field and words in found.message and found.file == file


def test_the_formulation_that_is_asked_for_decides(tmp_path):
    file = tmp_path / "loop.yaml"
    YAML(typ="safe", pure=True).dump({**FEATURES["loop"], "name": "loop"}, file)
    assert not validate(str(file), {"formulation": "dual-screw"}).valid
    assert validate(str(file), {"formulation": "erls-fem"}).valid


def test_a_mesh_that_would_take_hours_is_refused_with_numbers_and_remedy(tmp_path):
    scenario = described("beam", "erls-fem")
    scenario["robot"]["links"][0]["beam"]["elements"] = 1000
    answer = validate(written(tmp_path, scenario))
    assert not answer.valid
    (found,) = answer.errors
    assert found.field == "links.a.beam.elements" and found.value == 1000
    assert "6001 coordinates" in found.message and "fewer elements" in found.message
    assert found.line is not None


def test_results_that_do_not_fit_into_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lissom.services.forecast.memory_limit", lambda: 10_000_000)
    scenario = scenario_of(written(tmp_path, described("beam", "erls-fem")))
    check_cost(scenario)
    with pytest.raises(DescriptionError, match="output_dt: .*longer output_dt"):
        check_cost(scenario.replace({"t_end": 100.0, "output_dt": 0.0005}))


@pytest.mark.parametrize("formulation", SUPPORT)
def test_coordinates_are_forecast_as_they_are_built(tmp_path, formulation):
    from lissom.solve.model import Model

    for feature in ("beam", "bent", "prismatic", "planar", "rigid"):
        file = written(tmp_path, described(feature, formulation))
        scenario = scenario_of(file)
        model = Model.of_scenario(scenario)
        assert forecast(scenario).coordinates == model.formulation.size, feature
