"""Optimal and predictive control on two masses and a spring: Riccati's equation, what is foreseen, limits."""

import numpy as np
import piqp
import pytest
import scipy.linalg

from lissom.control.design_model import DesignModel
from lissom.control.predictive import (
    PredictiveLimits,
    QuadraticSolver,
    preview_program,
    program_of,
)
from lissom.control.preview import neglected_push, preview
from lissom.control.regulator import AllowedDeviations, regulator
from lissom.control.riccati import discrete_riccati

SAMPLE = 5e-3  # [s]
M = np.diag([1.0, 0.4])  # [kg]
K = 90.0 * np.array([[1.0, -1.0], [-1.0, 1.0]])  # [N/m]
D = 0.01 * K
HORIZON, CONTROL = 30, 12


def two_masses():
    """A motor mass and a spring mass behind it; the encoder is on the first, a gauge on the spring."""
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ K, -inverse @ D]])
    forces = np.vstack([np.zeros((2, 2)), inverse])
    whole = scipy.linalg.expm(SAMPLE * np.block([[A, forces], [np.zeros((2, 6))]]))
    held = whole[:4, 4:]
    C = np.array([[1.0, 0, 0, 0], [-1.0, 1.0, 0, 0]])
    return DesignModel(
        A=whole[:4, :4],
        B=held[:, :1],
        C=C,
        D=np.zeros((2, 1)),
        energy=scipy.linalg.block_diag(K, M),
        sample=SAMPLE,
        input_names=("motor.torque",),
        output_names=("motor.encoder", "spring"),
        poles=np.linalg.eigvals(A),
        fast_states=0,
        coordinate_names=("motor", "load/1.x"),
        shape=np.eye(4)[:2],
        rates=np.eye(4)[2:],
        mass=M,
        damping=D,
        on_coordinates=held,
        of_robot=np.eye(4),
    )


def feedback(design):
    return regulator(design, AllowedDeviations([0.05], [2.0], 0.01), ("motor.encoder",))


def pushes(design, samples=60):
    """What a smooth motion of 40 samples leaves out, and rest after it."""
    tau = np.clip(np.arange(samples) / 40, 0, 1)
    bend = 1e-2 * tau * (1 - tau) * (1 - 2 * tau)
    return neglected_push(design, np.stack([0 * bend, bend], axis=1))


def solver(design, limits, known=None, constrained=()):
    gains = feedback(design)
    program = program_of(design, gains, constrained, HORIZON, CONTROL)
    foreseen = None
    if known is not None:
        foreseen = preview_program(design, gains, program, known, constrained)
    return QuadraticSolver(program, limits, SAMPLE, constrained, foreseen)


def limits(torque=np.inf, rate=np.inf, deflection=(), hard=False):
    ends = np.array([torque]), np.array([rate]), np.array(deflection, dtype=float)
    return PredictiveLimits(*ends, hard)


def torque_of(solver, t, state, before=0.0):
    bends = len(solver.constrained)
    motion = np.zeros((CONTROL, 1)), np.zeros((HORIZON, bends))
    return solver.torque(t, state, np.zeros(1), np.array([before]), *motion)


def test_doubling_solves_riccatis_equation_as_schurs_method_does():
    design = two_masses()
    Q, R = design.energy + np.eye(4), np.eye(1)
    wanted = scipy.linalg.solve_discrete_are(design.A, design.B, Q, R)
    found = discrete_riccati(design.A, design.B, Q, R)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_doubling_bears_motions_that_die_out_within_a_sample():
    A, B = np.diag([0.9, 0.0]), np.ones((2, 1))
    Q, R = np.eye(2), np.eye(1)
    P = discrete_riccati(A, B, Q, R)
    gain = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    np.testing.assert_allclose(A.T @ P @ (A - B @ gain) + Q, P, atol=1e-12)


def test_doubling_refuses_a_motion_that_no_torque_moves():
    A, B = np.diag([1.1, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(np.linalg.LinAlgError, match="no stabilising solution"):
        discrete_riccati(A, B, np.eye(2), np.eye(1))


def test_what_is_foreseen_is_met_at_the_least_cost():
    """Against one least-squares problem of all torques at once: no other torques cost less."""
    design = two_masses()
    gains = feedback(design)
    w = pushes(design)
    known = preview(design, gains, w)
    samples, s = w.shape
    x, torques = np.array([0.01, 0.0, 0.0, 0.0]), []
    start = x
    for k in range(samples):
        u = known.torque[k] - gains.K @ x
        torques.append(u)
        x = design.A @ x + design.B @ u + w[k]
    # x_(k+1) = S_k u + free_k: normal equations of the cost with P at the end.
    S, free = np.zeros((s, samples)), start
    H = np.eye(samples) * gains.R
    g = np.zeros(samples)
    for k in range(samples):
        H += S.T @ gains.Q @ S
        g += S.T @ gains.Q @ free
        S = design.A @ S
        S[:, k] += design.B[:, 0]
        free = design.A @ free + w[k]
    H += S.T @ gains.P @ S
    g += S.T @ gains.P @ free
    wanted = np.linalg.solve(H, -g)
    np.testing.assert_allclose(np.ravel(torques), wanted, atol=1e-8)


def test_predictive_control_without_limits_is_optimal_control_that_foresees():
    design = two_masses()
    gains = feedback(design)
    known = preview(design, gains, pushes(design))
    free = solver(design, limits(), known)
    state = np.array([0.01, 0.02, -0.1, 0.3])
    for k in (0, 7, 35, 59, 80):
        wanted = -gains.K @ state
        if k < len(known.torque):
            wanted = wanted + known.torque[k]
        torque = torque_of(free, k * SAMPLE, state)
        np.testing.assert_allclose(torque, wanted, rtol=1e-7)


def test_limits_of_torque_and_rate_hold_and_the_optimum_is_that_of_another_solver():
    design = two_masses()
    own = solver(design, limits(torque=1.0, rate=100.0))
    rng = np.random.default_rng(0)
    active = 0
    for _ in range(20):
        state = rng.normal(size=4) * [0.02, 0.02, 0.3, 0.3]
        found = torque_of(own, 0.0, state, before=0.7)
        assert abs(found[0]) <= 1.0 + 1e-9
        assert abs(found[0] - 0.7) <= 100.0 * SAMPLE + 1e-9
        other = _of_piqp(own.program, state, 0.7)
        assert found[0] == pytest.approx(other[0], abs=1e-6)
        active += np.abs(other).max() > 1.0 - 1e-6
    assert active > 5


def _of_piqp(program, state, before):
    """The torques ahead, by PIQP."""
    n = CONTROL
    steps = program.A[:n]
    first = np.zeros(n)
    first[0] = before
    reach = 100.0 * SAMPLE
    dense = piqp.DenseSolver()
    dense.settings.eps_abs = 1e-11
    dense.settings.eps_rel = 1e-11
    dense.setup(
        program.H,
        program.F @ state,
        None,
        None,
        steps,
        first - reach,
        first + reach,
        -np.ones(n),
        np.ones(n),
    )
    dense.solve()
    return dense.result.x


def test_an_infeasible_hard_limit_is_named_with_its_time_and_the_torque_is_held():
    design = two_masses()
    tight = solver(
        design, limits(torque=1.0, deflection=[1e-3], hard=True), None, ("spring",)
    )
    bent = np.array([0.0, 0.05, 0.0, 0.0])
    held = torque_of(tight, 0.2, bent, before=0.3)
    assert held[0] == 0.3
    failure = tight.failures[0]
    assert failure.limit == "spring" and failure.t == 0.2
    assert failure.passed_at == pytest.approx(0.2 + SAMPLE)
    (sentence,) = tight.incidents()
    assert "the limit of spring would be exceeded by" in sentence
    assert "at 0.205 s. The previous torque was held" in sentence
    # With room enough nothing is infeasible, and the same limit may be passed where it is soft.
    soft = solver(design, limits(torque=1.0, deflection=[1e-3]), None, ("spring",))
    torque_of(soft, 0.2, bent)
    assert soft.incidents() == ()
