"""`validate` says valid exactly where `simulate` starts: every formulation, every feature of a robot."""

import shutil
from copy import deepcopy
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from lissom.describe import DescriptionError, Robot
from lissom.describe.supported import SUPPORT
from lissom.runs.failures import FailedRun
from lissom.runs.forecast import check_cost, forecast
from lissom.runs.saved_run import saved_run
from lissom.runs.sources import scenario_of
from lissom.runs.validate import validate
from performed import performed
from robot_features import FEATURES

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
    # A file names files of its own folder, and of the library.
    for link in scenario["robot"]["links"]:
        if "fe" in link and Path(link["fe"]["file"]).is_absolute():
            copy = shutil.copy(link["fe"]["file"], tmp_path)
            link["fe"] = {**link["fe"], "file": Path(copy).name}
    file = tmp_path / "scenario.yaml"
    YAML(typ="safe", pure=True).dump(scenario, file)
    return str(file)


def starts(file):
    """Whether a run gets beyond its first step, and what it says if not."""
    try:
        saved_run(file)
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
    assert not validate(str(file), changes={"formulation": "dual-screw"}).valid
    assert validate(str(file), changes={"formulation": "erls-fem"}).valid


def test_a_mesh_that_would_take_hours_is_refused_with_numbers_and_remedy(tmp_path):
    scenario = described("beam", "erls-fem")
    scenario["robot"]["links"][0]["beam"]["elements"] = 1000
    answer = validate(written(tmp_path, scenario))
    assert not answer.valid
    (found,) = answer.errors
    assert found.field == "links.a.beam.elements" and found.value == 1000
    assert "6001 coordinates" in found.message and "fewer elements" in found.message
    assert found.line is not None


@pytest.mark.parametrize("name", ["modes", "static", "matrices"])
def test_so_it_is_by_whatever_builds_a_model(name):
    finest = {"links.upper.beam.elements": 1000}
    with pytest.raises(DescriptionError, match="432 s .* Use fewer elements"):
        performed(name, "double-pendulum", finest)


def test_results_that_do_not_fit_into_the_memory_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lissom.runs.forecast.memory_limit", lambda: 10_000_000)
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


@pytest.mark.parametrize(
    "modes", ["all", 3, {"count": 2}, ["all", 3], [{"count": "all"}, {"count": 2}]]
)
def test_modes_of_each_link_are_forecast_however_a_file_writes_them(modes):
    from lissom.solve.model import Model

    choices = {"formulation": "nonlinear", "modes": modes}
    scenario = scenario_of(Robot.load("double-pendulum"), choices)
    assert (
        forecast(scenario).coordinates == Model.of_scenario(scenario).formulation.size
    )
