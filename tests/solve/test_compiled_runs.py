"""What a run compiles: the structure of robot and loads, and no number in them."""

import jax
import numpy as np
import pytest
from compilation_counts import compilations
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

import lissom as ls
from lissom.describe.scenario import Solver
from lissom.solve.inputs import Inputs, Spline, Table
from lissom.solve.record import rows_of_window
from lissom.solve.simulate import integrate, output_times, rollout


@pytest.fixture(scope="module")
def rotor():
    body = {"mass": 1.0, "com": [0.1, 0, 0], "inertia": [0.01, 0.01, 0.02]}
    joint = {"type": "revolute", "origin": {}, "axis": [0, 0, 1]}
    link = {"name": "arm", "joint": joint, "rigid": body | {"tip": [0.3, 0, 0]}}
    robot = {"name": "rotor", "gravity": [0, 0, 0], "links": [link]}
    return ls.Model(ls.Robot.from_dict(robot), "erls-fem")


def push(rows, until):
    """A smooth torque as a table of so many rows."""
    t = np.linspace(0.0, until, rows)
    return Inputs(1, torque=[(0, Table(t, 0.2 * np.sin(9.0 * t)))])


def test_neither_durations_nor_outputs_nor_lengths_of_tables_compile_anything(rotor):
    state = rotor.at([0.3])
    first = ls.simulate(rotor, state, t_end=0.05, inputs=push(3, 0.05))
    with compilations() as heard:
        longer = ls.simulate(
            rotor, state, t_end=0.08, output_dt=2e-5, inputs=push(7, 0.06)
        )
        ls.simulate(rotor, state, t_end=0.03, inputs=push(5, 0.04))
    assert heard.count == 0
    assert len(longer.t) == 4001 > rows_of_window()
    assert first.complete and longer.complete


def test_windows_of_outputs_join_without_a_seam(rotor):
    # A rollout has all its rows in one window. The same steps, so the same numbers but for the order of additions.
    state, inputs = rotor.at([0.3]), push(40, 0.3)
    times = output_times(0.3, 5e-5)
    assert len(times) > 2 * rows_of_window()
    windows = integrate(rotor, state, inputs, times, Solver())
    whole = jax.jit(
        lambda: rollout(rotor, state, t_end=0.3, output_dt=5e-5, inputs=inputs)
    )()
    assert windows.filled == len(times)
    assert int(windows.counts.steps) == int(whole.counts.steps)
    assert_allclose(windows.x, whole.x, atol=1e-12)
    assert_allclose(windows.work, whole.work, atol=1e-12)


def test_a_step_that_passes_more_outputs_than_a_window_holds_is_written_whole(rotor):
    # Nothing drives the rotor, so that its steps grow without bound: q = 0.7 t exactly.
    times = output_times(50.0, 0.01)
    run = integrate(rotor, rotor.at([0.0], [0.7]), Inputs(1), times, Solver())
    assert int(run.counts.steps) < 40
    assert_allclose(np.asarray(run.x)[:, 0], 0.7 * times, atol=1e-11)


@pytest.mark.parametrize("rows", [2, 3, 50])
def test_pieces_of_many_intervals_are_those_of_each(rows):
    t = np.sort(np.random.default_rng(rows).uniform(0.0, 2.0, rows))
    values = np.cos(3.0 * t)
    for signal in (
        Table(t, values),
        Table(t, values, "hold", "hold"),
        Spline(t, values),
    ):
        ends = np.array([0.0, *t, 2.5])
        together = signal.on(ends[:-1], ends[1:])
        for k, (start, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            one = signal.on(start, end)
            assert_allclose(together.coefficients[k], one.coefficients, atol=1e-12)
            middle = 0.5 * (start + end)
            if isinstance(signal, Table):
                assert_allclose(one.value(middle), signal.value(middle), atol=1e-12)
            elif t[0] < middle < t[-1]:
                spline = CubicSpline(t, values, bc_type="clamped")
                assert_allclose(one.value(middle), spline(middle), atol=1e-9)
