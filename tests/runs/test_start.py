"""One function starts every run: state, times, wiring and the checks at the door."""

import ast
from pathlib import Path

import numpy as np
import pytest

import lissom as ls
from lissom.describe.scenario import Scenario
from lissom.runs.dry_run import check_start
from lissom.runs.start import scenario_times, start_scenario
from lissom.solve.arguments import ArgumentError

SOURCE = Path(ls.__file__).parent
# What only the start of a run decides.
DECISIONS = {"output_times", "initial_state", "inputs_of", "recorded_nodes"}
# Where they are made, where pure functions of JAX start without files, and where single phases are timed.
STARTS = {"runs/start.py", "solve/simulate.py", "solve/family.py"}
TIMED = {"bench/cases.py"}

PENDULUM = {
    "robot": "simple-pendulum",
    "formulation": "nonlinear",
    "initial": {"time": 0.05, "q": [0.3], "qd": [0.0]},
    "inputs": {"motion": {"rod": {"t": [0.0, 0.1, 0.2], "value": [0.0, 0.2, 0.1]}}},
    "t_end": 0.15,
    "output_dt": 0.01,
}


def driven() -> Scenario:
    """A pendulum that is forced to follow a motion from the middle of it."""
    robot = ls.Robot.load("simple-pendulum")
    joint = robot.joint_names[0]
    data = {
        **PENDULUM,
        "inputs": {"motion": {joint: PENDULUM["inputs"]["motion"]["rod"]}},
    }
    return Scenario.from_dict(data)


def test_no_other_file_decides_how_a_run_starts():
    found = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Name) and called.id in DECISIONS:
                found.add(str(file.relative_to(SOURCE)))
    assert found <= STARTS | TIMED, found - STARTS - TIMED
    assert "runs/start.py" in found


def test_a_run_starts_on_its_prescribed_motion_at_its_start_time():
    scenario = driven()
    start = start_scenario(scenario)
    (_, spline), *_ = start.inputs.motion
    place, speed, *_ = spline.on(0.05, 0.05).coefficients
    # The spline has moved on from its first point, so that a start at t = 0 would be another one.
    assert abs(float(place)) > 0.01
    np.testing.assert_allclose(start.state.encoder, [float(place)], atol=1e-12)
    np.testing.assert_allclose(start.state.qd, [float(speed)], atol=1e-12)
    assert start.t_start == 0.05
    assert start.t_end == pytest.approx(0.15)


def test_scenario_dry_run_and_simulate_start_from_the_same_bits():
    scenario = driven()
    start = start_scenario(scenario)
    _, dry = check_start(scenario)
    run = ls.run_scenario(scenario)
    again = ls.simulate(
        start.model,
        start.state,
        inputs=start.inputs,
        t_start=0.05,
        t_end=0.15,
        output_dt=0.01,
        solver=scenario.solver,
    )
    for state in (dry, run.state(0), again.state(0)):
        assert np.array_equal(state.x, start.state.x)
        assert np.array_equal(state.xd, start.state.xd)
    assert np.array_equal(run.t, start.times)
    assert np.array_equal(run.t, scenario_times(scenario))
    assert np.array_equal(run.q, again.q)


def test_a_law_that_would_act_once_is_refused_through_every_argument():
    model = ls.Model("simple-pendulum")
    law = ls.PD([1.0], [0.1], [0.0], sample=0.5)
    inputs = ls.Inputs(model.n_joints, law=law)
    for given in ({"torque": law}, {"inputs": inputs}):
        with pytest.raises(ArgumentError, match="longer than the run"):
            ls.simulate(model, t_end=0.1, progress=False, **given)
