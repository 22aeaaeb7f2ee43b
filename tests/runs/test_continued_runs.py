"""A run that goes on where another one ended: two halves are one run."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.runs.start import inputs_of

LINK = {
    "name": "rod",
    "joint": {"type": "revolute", "origin": {}, "axis": [0.0, 0.0, 1.0]},
    "beam": {
        "path": [[0, 0, 0], [0.6, 0, 0]],
        "section": {"shape": "rectangle", "y": 0.006, "z": 0.02},
        "material": "aluminium",
        "elements": 2,
    },
}
ROBOT = ls.Robot.from_dict(
    {
        "name": "rod",
        "gravity": [0, -9.81, 0],
        "damping": {"beta": 1e-4},
        "links": [LINK],
    }
)
pytestmark = pytest.mark.slow

SOLVER = {"rtol": 1e-9, "atol": 1e-11}
TIMES = {"output_dt": 0.01, "solver": SOLVER}
MODEL = ls.Model(ROBOT, modes=2)
# Jumps before, at and after the middle of the run.
PUSH = ls.Table([0.0, 0.05, 0.1, 0.1, 0.15, 0.15], [0.0, 1.0, 1.0, -0.5, -0.5, 0.2])
DRIVE = ls.Inputs(1, torque=[(0, PUSH)])


def halves(**drive):
    whole = ls.simulate(MODEL, [0.3], t_end=0.2, **drive, **TIMES)
    first = ls.simulate(MODEL, [0.3], t_end=0.1, **drive, **TIMES)
    second = ls.simulate(MODEL, start=first, t_end=0.2, **drive, **TIMES)
    return whole, first, second


def assert_is_second_half(second, whole, scale=1e-7):
    """Equal within what the tolerances of two runs with different steps allow."""
    assert_allclose(second.t, whole.t[10:], rtol=1e-14)
    for name in ("q", "qd", "elastic", "position", "torque", "energy"):
        ours, theirs = second.values(name), whole.values(name)
        size = np.abs(theirs).max()
        assert_allclose(ours, theirs[10:], atol=scale * size, err_msg=name)


def test_tables_go_on_where_the_first_run_ended():
    whole, first, second = halves(inputs=DRIVE)
    assert_is_second_half(second, whole)
    assert second.energy("input")[0] == first.energy("input")[-1] != 0.0


def test_a_sampled_law_goes_on_with_what_it_remembers(tmp_path):
    reference = {"t": [0.0, 0.2], "value": [[0.3], [0.6]]}
    gains = {"kp": [3.0], "ki": [40.0], "kd": [0.1]}
    controller = {"type": "pid", "sample": 0.004, "reference": reference}
    controller["gains"] = gains
    scenario = ls.Scenario(robot=ROBOT, modes=2, controller=controller)
    inputs = inputs_of(MODEL, scenario)
    whole, first, second = halves(inputs=inputs)
    # The derivative part makes more of errors than a table does: runs are as far apart as two tolerances of one run.
    finer = {"output_dt": 0.01, "solver": {"rtol": 1e-10, "atol": 1e-12}}
    exact = ls.simulate(MODEL, [0.3], t_end=0.2, inputs=inputs, **finer)
    for name in ("q", "qd", "elastic", "torque"):
        error = np.abs(whole.values(name) - exact.values(name)).max()
        ours, theirs = second.values(name), whole.values(name)[10:]
        assert_allclose(ours, theirs, atol=3 * error, rtol=0, err_msg=name)
        assert error < 1e-5 * np.abs(exact.values(name)).max()
    assert second.warnings == whole.warnings
    # A file holds no memory of a law: the run warns that the law restarts.
    read = ls.Run.load(first.save(tmp_path / "first.nc"))
    forgetful = ls.simulate(MODEL, start=read, t_end=0.2, inputs=inputs, **TIMES)
    assert "restarts at t = 0.1 s" in forgetful.warnings[-1]


def test_motions_of_joints_go_on():
    motion = ls.Spline([0.0, 0.12, 0.2], [0.3, 0.8, 0.5])
    inputs = ls.Inputs(1, motion=[(0, motion)])
    whole, _, second = halves(inputs=inputs)
    assert_is_second_half(second, whole, scale=1e-6)


def test_a_scenario_goes_on_from_the_file_of_a_run(tmp_path):
    push = {"t": [0.0, 0.05, 0.1, 0.1], "value": [0.0, 1.0, 1.0, -0.5]}
    scenario = ls.Scenario(
        robot=ROBOT,
        modes=2,
        initial={"q": [0.3]},
        inputs={"torque": {"rod": push}},
        solver=SOLVER,
        t_end=0.1,
        output_dt=0.01,
    )
    first = ls.run_scenario(scenario)
    whole = ls.run_scenario(scenario.replace({"t_end": 0.2}))
    read = ls.Run.load(first.save(tmp_path / "first.nc"))
    later = scenario.replace({"t_end": 0.2, "initial": read.initial()})
    second = ls.run_scenario(later)
    for name in ("q", "qd", "elastic", "position", "torque"):
        size = np.abs(whole.values(name)).max()
        ours, theirs = second.values(name), whole.values(name)[10:]
        assert_allclose(ours, theirs, atol=1e-7 * size, err_msg=name)
    with pytest.raises(ls.DescriptionError, match="initial.elastic: 1 numbers"):
        ls.run_scenario(
            later.replace({"initial.elastic": [0.0], "initial.elastic_rate": [0.0]})
        )


def test_a_closed_chain_goes_on_on_its_branch():
    scenario = ls.Scenario.load("four-bar").replace({"t_end": 0.1, "output_dt": 0.01})
    model = ls.Model.of_scenario(scenario)
    whole = ls.simulate(model, t_end=0.1, **TIMES)
    first = ls.simulate(model, t_end=0.05, **TIMES)
    second = ls.simulate(model, start=first, t_end=0.1, **TIMES)
    assert_allclose(second.q, whole.q[5:], atol=1e-6)
