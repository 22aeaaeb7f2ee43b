"""Studies of the library: what the comparison of controllers promises, on the full robots."""

import json
import re

import numpy as np
import pytest

from lissom.control.design_error import DesignError
from lissom.control.margins import Margins
from lissom.describe import DescriptionError
from lissom.describe.control_study import ControlStudy
from lissom.describe.controllers import PreviewedFeedback
from lissom.files.description_files import library_studies
from lissom.runs.failures import FailedRun
from lissom.studies import controller_comparison
from lissom.studies.comparison_table import ControllerRow, result_name
from lissom.studies.controller_comparison import compare_controllers
from lissom.studies.controller_numbers import Setting
from lissom.studies.controller_rules import check_stable


@pytest.mark.parametrize("name", library_studies())
def test_studies_of_the_library_follow_the_rules_of_a_comparison(name):
    """One motion, one feed-forward, a position loop first, and the same one in all laws around it."""
    study = ControlStudy.load(name)
    names = list(study.controllers)
    assert names[0] == "PID"
    first = study.controllers["PID"]
    assert first.shaper is None
    for name, controller in study.controllers.items():
        assert controller.reference == first.reference
        assert controller.feedforward == first.feedforward
        if hasattr(controller, "gains"):
            assert controller.gains == first.gains
        if isinstance(controller, PreviewedFeedback):
            # What is foreseen is a feed-forward of its own: rows that have it say so.
            assert controller.preview == ("preview" in name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_controllers_leave_less_than_a_position_loop_in_the_same_time(name):
    answer = compare_controllers(name)
    rows = {row.name: row for row in answer.rows}
    assert all(row.failed is None and row.stable for row in answer.rows)
    assert answer.stop * answer.first_mode_hz == pytest.approx(3.5, rel=0.01)
    study = ControlStudy.load(name)
    bandwidth = study.controllers["PID"].gains.bandwidth
    assert bandwidth == pytest.approx(3 * answer.first_mode_hz, rel=0.01)
    assert rows["PID, quintic and ZVD"].residual_share < 0.06
    assert rows["LQG"].residual_share < 0.2
    assert rows["MPC"].residual_share < 0.2
    delayed, plain = rows["delayed reference"], rows["PID"]
    assert delayed.strain_peak < 0.75 * plain.strain_peak
    assert delayed.finish < 1.1 * plain.finish
    assert delayed.end_error == pytest.approx(plain.end_error, abs=1e-3)
    assert any("stable from" in note for note in delayed.notes)
    assert all(row.energy_residual < 1e-4 for row in answer.rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["cibicik-arm", "anthropomorphic-wrist", "four-bar-bearings", "five-bar"]
)
def test_a_shaper_and_optimal_control_leave_less_on_every_robot_of_the_library(name):
    """The whole tables are `lissom control compare`; here the three laws that they are judged by."""
    study = ControlStudy.load(name)
    judged = ("PID", "PID, quintic and ZVD", "LQG")
    some = {key: study.controllers[key] for key in judged}
    study = study.model_copy(update={"controllers": some})
    answer = compare_controllers(study)
    assert answer.stop * answer.first_mode_hz == pytest.approx(3.5, rel=0.01)
    assert all(row.failed is None and row.stable for row in answer.rows)
    assert all(row.energy_residual < 1e-4 for row in answer.rows)
    plain, shaped, optimal = answer.rows
    assert shaped.residual < 0.25 * plain.residual
    assert optimal.residual < 0.5 * plain.residual
    if name == "anthropomorphic-wrist":
        assert all(row.line_error < 0.01 for row in answer.rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
@pytest.mark.parametrize("rtol, limit", [(1e-6, 1e-4), (1e-9, 1e-6)])
def test_energies_close_as_far_as_the_tolerance_asks_for(name, rtol, limit):
    """Torques that jump at every sample stir waves that nobody sees: what steps take from them is bounded too."""
    study = ControlStudy.load(name)
    some = {key: study.controllers[key] for key in ("PID", "LQG")}
    tolerance = {"solver.rtol": rtol, "solver.atol": 0.01 * rtol}
    changes = {**study.changes, **tolerance}
    study = study.model_copy(update={"controllers": some, "changes": changes})
    answer = compare_controllers(study)
    assert all(row.failed is None for row in answer.rows)
    assert all(row.energy_residual < limit for row in answer.rows)


def test_a_controller_that_does_not_fit_is_refused_before_the_first_run(tmp_path):
    """With the controller and the key; the others are not run, and nothing is written."""
    gains = {"kp": [20.0], "kd": [1.0]}
    study = {
        "scenario": "simple-pendulum",
        "motion": {
            "t": [0, 0.2],
            "value": [[-1.4], [-1.1]],
            "interpolation": "quintic",
        },
        "controllers": {
            "PID": {"type": "pid", "gains": gains},
            "wrong": {"type": "pid", "gains": {**gains, "kp": [1.0, 2.0]}},
        },
    }
    file = tmp_path / "rows.json"
    with pytest.raises(DescriptionError, match="controllers.wrong.gains.kp: .* got 2"):
        compare_controllers(ControlStudy.from_dict(study), numbers=file)
    assert not file.exists()


def test_a_study_that_is_not_there_is_refused_with_the_nearest_names():
    with pytest.raises(DescriptionError, match="Library: four-bar"):
        ControlStudy.load("four-barr")


def test_result_files_are_named_by_place_and_controller():
    names = ["PID", "PID, quintic and ZVD", "../up"]
    assert [result_name(name, names) for name in names] == [
        "00-PID.nc",
        "01-PID-quintic-and-ZVD.nc",
        "02-up.nc",
    ]


def test_an_interrupted_comparison_keeps_the_rows_that_are_done(tmp_path, monkeypatch):
    study = ControlStudy.load("double-pendulum")
    setting = Setting(study, study.scenario, None, None, 0.1, 0.05, ())

    def measured(setting, name, told):
        if name == "LQG":
            raise KeyboardInterrupt
        kind = study.controllers[name].type
        residual = 0.004 if name == "PID" else 0.001
        return ControllerRow(name=name, type=kind, residual=residual), None

    monkeypatch.setattr(controller_comparison, "setting_of", lambda study: setting)
    monkeypatch.setattr(
        controller_comparison, "check_controllers", lambda setting: None
    )
    monkeypatch.setattr(controller_comparison, "_measured", measured)
    file = tmp_path / "rows.json"
    with pytest.raises(FailedRun, match="2 of 7 controllers are done") as stopped:
        compare_controllers(study, numbers=file)
    assert stopped.value.interrupted
    rows = stopped.value.result.rows
    assert [row.residual_share for row in rows[:2]] == [1.0, 0.25]
    assert {row.failed for row in rows[2:]} == {"not run"}
    written = json.loads(file.read_text())
    assert [row["residual"] for row in written[:3]] == [0.004, 0.001, None]


def keys_of(part, before=""):
    """Keys of a controller, those of its parts with a dot."""
    names = set()
    for name in type(part).model_fields:
        names.add(before + name)
        value = getattr(part, name)
        if hasattr(type(value), "model_fields"):
            names |= keys_of(value, f"{before}{name}.")
    return names


@pytest.mark.parametrize("name", ControlStudy.load("cibicik-arm").controllers)
def test_the_advice_for_an_unstable_loop_names_keys_that_the_controller_has(name):
    controller = ControlStudy.load("cibicik-arm").controllers[name]
    unstable = Margins(False, 1.2, np.inf, 0.0, 0.0, 0.0)
    with pytest.raises(DesignError) as caught:
        check_stable(controller, unstable)
    advice = str(caught.value).partition("largest pole")[2]
    named = re.findall(r"[a-z]+\.[a-z]+", advice)
    named += re.findall(r"\bbandwidth\b", advice)
    has = keys_of(controller)
    for key in named:
        assert key in has or f"gains.{key}" in has, (advice, has)
