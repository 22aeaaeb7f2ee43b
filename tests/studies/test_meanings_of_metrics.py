"""A metric of one name is one quantity, whichever analysis gives it."""

import json

import numpy as np
import pytest

import lissom as ls
from lissom.commands.cli import main
from lissom.describe.control_study import ControlStudy
from lissom.studies.compute import compute_chunk
from lissom.studies.controller_comparison import compare_controllers
from lissom.studies.controller_numbers import setting_of
from lissom.studies.controller_run import LONGEST, SAMPLES
from lissom.studies.store import Plan
from lissom.studies.study import Study

# A clamped beam: a rod of 0.5 m that its motor holds level, almost without weight, with a mass at its tip.
LENGTH, MASS, DENSITY, E = 0.5, 0.2, 1.0, 2e11
DEPTH, WIDTH = 0.01, 0.03
SCENARIO = {
    "robot": {
        "lissom": 1,
        "name": "clamped",
        "gravity": [0, -9.81, 0],
        "damping": {"alpha": 2, "beta": 5e-4},
        "links": [
            {
                "name": "rod",
                "joint": {
                    "type": "revolute",
                    "dh": {"a": LENGTH, "alpha": 0, "d": 0, "theta": 0},
                    "motor": {"inertia": 0.02},
                },
                "beam": {
                    "section": {"shape": "rectangle", "y": DEPTH, "z": WIDTH},
                    "material": {"E": E, "nu": 0.3, "density": DENSITY},
                    "elements": 2,
                },
            }
        ],
        "payload": {"mass": MASS},
    },
    "initial": {"q": [0.0], "elastic": "static"},
}
PID = {"type": "pid", "gains": {"bandwidth": 20.0}}


def comparison(end: float, stop: float = 0.1) -> dict:
    """The motor turns the rod by some angle; the gauge is in the middle of its outer half."""
    return {
        "scenario": SCENARIO,
        "motion": {
            "t": [0, stop],
            "value": [[0.0], [end]],
            "interpolation": "quintic",
        },
        "sample": 1e-3,
        "gauges": ["rod/element1.kz"],
        "controllers": {"PID": PID},
    }


def measured(analysis: str, scenario: dict, *metrics: str) -> dict[str, float]:
    """The metrics of one run of a study."""
    data = {
        "analysis": analysis,
        "scenario": scenario,
        "over": {"payload.mass": [MASS]},
        "metrics": list(metrics),
    }
    plan = Plan.of(Study.of(data))
    content = compute_chunk(plan.recipe, plan.task(0))
    assert content.reasons == [""]
    return {name: float(column[0]) for name, column in content.columns.items()}


def as_simulation(study: dict) -> dict:
    """The scenario whose simulation is the run of the comparison's controller."""
    setting = setting_of(ControlStudy.from_dict(study))
    return {
        **SCENARIO,
        "t_end": setting.stop + setting.study.periods * setting.period,
        "output_dt": min(LONGEST, setting.period / SAMPLES),
        "controller": {
            **PID,
            "reference": study["motion"],
            "sample": study["sample"],
            "feedforward": setting.study.feedforward,
        },
    }


def bending_strain(arm: float) -> float:
    """M c / (E I) of the mass at the tip, at some distance from it, and of the rod's own weight beyond."""
    I = WIDTH * DEPTH**3 / 12
    weight = DENSITY * DEPTH * WIDTH * 9.81
    moment = MASS * 9.81 * arm + weight * arm**2 / 2
    return moment * (DEPTH / 2) / (E * I)


def test_the_largest_strain_is_that_of_the_outer_fibres_of_a_clamped_beam():
    """At the root, wherever gauges are: one in the middle of the outer half feels a quarter of the moment."""
    rest = measured("static", SCENARIO, "largest_strain")["largest_strain"]
    assert rest == pytest.approx(bending_strain(LENGTH), rel=1e-4)
    # As good as at rest: a motion of a microradian.
    with_law = measured("control", comparison(1e-6), "largest_strain", "gauge_strain")
    assert with_law["largest_strain.PID"] == pytest.approx(rest, rel=1e-3)
    outside = bending_strain(LENGTH / 4)
    assert with_law["gauge_strain.PID"] == pytest.approx(outside, rel=1e-3)


def test_sweep_and_comparison_find_the_same_largest_strain_in_one_run():
    study = comparison(0.3)
    simulated = measured("simulate", as_simulation(study), "largest_strain")
    swept = measured("control", study, "largest_strain", "gauge_strain")
    row = compare_controllers(ControlStudy.from_dict(study)).rows[0]
    found = simulated["largest_strain"]
    # The motion strains the rod more than its load at rest does.
    assert found > 1.2 * bending_strain(LENGTH)
    assert swept["largest_strain.PID"] == pytest.approx(found, rel=1e-9)
    assert row.largest_strain == pytest.approx(found, rel=1e-9)
    assert row.strain_peak == pytest.approx(swept["gauge_strain.PID"], rel=1e-12)
    assert row.strain_peak < 0.6 * found


def test_drive_energy_is_the_positive_work_of_the_whole_run():
    """Forward, brake, and back: what the motor puts in on the way back counts, what braking takes out does not."""
    pushed = {
        "t": [0, 0.1, 0.3],
        "value": [1.0, -1.0, -1.0],
        "interpolation": "hold",
    }
    level = {**SCENARIO, "robot": {**SCENARIO["robot"], "gravity": [0, 0, 0]}}
    whole = {**level, "inputs": {"torque": {"rod": pushed}}, "t_end": 0.3}
    found, forward = (
        measured("simulate", {**whole, "t_end": end}, "drive_energy")["drive_energy"]
        for end in (0.3, 0.2)
    )
    # The energy audit counts the work of the torque as the run goes on, in steps of its own.
    run = ls.run_scenario(whole)
    put_in = np.diff(run.energy("input"))
    assert found == pytest.approx(put_in[put_in > 0].sum(), rel=0.01)
    # With I = J + m L^2 each way out and back takes (torque * 0.1 s)^2 / 2 I.
    once = 0.1**2 / (2 * (0.02 + MASS * LENGTH**2))
    assert forward == pytest.approx(once, rel=0.1)
    assert found == pytest.approx(2 * once, rel=0.1)


def test_sweep_and_comparison_find_the_same_drive_energy_in_one_run():
    """Over the whole run: after a sudden stop the drive goes on holding its place against a rod that rings."""
    study = comparison(0.3, stop=0.03)
    scenario = as_simulation(study)
    found = measured("simulate", scenario, "drive_energy")["drive_energy"]
    swept = measured("control", study, "drive_energy")["drive_energy.PID"]
    row = compare_controllers(ControlStudy.from_dict(study)).rows[0]
    assert swept == pytest.approx(found, rel=1e-9)
    assert row.energy == pytest.approx(found, rel=1e-9)
    till_stop = measured("simulate", {**scenario, "t_end": 0.03}, "drive_energy")
    assert found > 1.01 * till_stop["drive_energy"]


def test_a_study_of_controllers_with_largest_strain_gets_a_note_on_gauge_strain(
    tmp_path, capsys
):
    """Its name is kept, its number is another one: Python warns, the command says it in one line on stderr."""
    data = {
        "analysis": "control",
        "scenario": comparison(1e-6),
        "over": {"payload.mass": [MASS]},
        "metrics": ["largest_strain"],
    }
    file = tmp_path / "study.yaml"
    file.write_text(json.dumps(data))
    with pytest.warns(UserWarning, match="gauges, which is gauge_strain"):
        found = ls.sweep(file, workers=1)
    assert np.isfinite(found.data["largest_strain.PID"].values).all()
    assert main(["sweep", str(file), "--json"]) == 0
    said = capsys.readouterr()
    (note,) = json.loads(said.out)["notes"]
    assert "gauge_strain" in note and said.err.count(note) == 1
    unchanged = {**data, "metrics": ["gauge_strain", "torque_peak"]}
    assert Study.of(unchanged).notes == ()
    at_rest = {**data, "analysis": "static", "scenario": SCENARIO}
    assert Study.of(at_rest).notes == ()
