"""Predictive control on the arm of De Luca and Siciliano: fast from sample to sample, and right."""

import numpy as np
import piqp
import pytest

import lissom as ls
from lissom.control.design_model import design_model
from lissom.control.optimal import Tolerances, regulator
from lissom.control.predictive import Limits, Solver, program_of

pytestmark = pytest.mark.slow

HORIZON, CONTROL = 50, 20
SAMPLE = 0.01  # [s]; the first mode has 0.44 Hz
ENCODERS = ("upper.encoder", "fore.encoder")
GAUGES = ("upper/element0.kz", "fore/element0.kz")
TORQUE = np.array([4.0, 2.0])  # [N m]
CURVATURE = np.array([1.0, 0.5])  # [1/m]


def arm():
    """Three bending modes for each link; one of four stretches it."""
    model = ls.Model("de-luca-siciliano", modes=4)
    return design_model(model, [1.0, -0.5], (*ENCODERS, *GAUGES), SAMPLE)


def predictive(design):
    gains = regulator(design, Tolerances([0.05], [2.0], 0.05), ENCODERS)
    program = program_of(design, gains, GAUGES, HORIZON, CONTROL)
    infinite = np.full(2, np.inf)
    return Solver(program, Limits(TORQUE, infinite, CURVATURE), SAMPLE, GAUGES)


def test_a_sample_takes_less_than_a_tenth_of_a_millisecond_and_keeps_the_limits():
    """Steps of the joints forth and back that torque and curvature limits cut off."""
    design = arm()
    solver = predictive(design)
    step = np.linalg.lstsq(design.rows(ENCODERS), [0.4, -0.6], rcond=None)[0]
    x = np.zeros(design.states)
    before = np.zeros(2)
    at_torque_limit, at_curvature_limit = 0, 0
    nominal = np.zeros((CONTROL, 2)), np.zeros((HORIZON, 2))
    for k in range(1000):
        if k % 200 == 0:
            x = x + (-1) ** (k // 200) * step
        u = solver.torque(k * SAMPLE, x, np.zeros(2), before, *nominal)
        assert np.all(np.abs(u) <= TORQUE + 1e-9)
        if k % 50 == 3:
            _check_optimum(solver, x, u)
        at_torque_limit += np.any(np.abs(u) > 0.999 * TORQUE)
        bend = np.abs(design.rows(GAUGES) @ x)
        at_curvature_limit += np.any(bend > 0.99 * CURVATURE)
        x = design.A @ x + design.B @ u
        before = u
    seconds = np.array(solver.seconds[1:])
    assert solver.failures == []
    assert at_torque_limit > 5 and at_curvature_limit > 5
    assert np.median(seconds) < 1e-4
    assert np.quantile(seconds, 0.99) < 5e-4


def _check_optimum(solver, state, torque):
    """PIQP finds the same torque, where the curvatures keep their limits by themselves."""
    program = solver.program
    n = len(program.H)
    dense = piqp.DenseSolver()
    dense.settings.eps_abs = 1e-11
    dense.settings.eps_rel = 1e-11
    box = np.tile(TORQUE, CONTROL)
    dense.setup(program.H, program.F @ state, x_l=-box, x_u=box)
    dense.solve()
    V = dense.result.x
    bends = program.A[n:] @ V + program.on_deflection @ state
    if np.all(np.abs(bends) < np.tile(CURVATURE, HORIZON)):
        np.testing.assert_allclose(torque, V[:2], atol=1e-6)
