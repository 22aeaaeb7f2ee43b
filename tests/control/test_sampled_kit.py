"""Laws of the control kit: poles where they were put, limits that hold, memory that does not wind up."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import lissom as ls
from lissom.control.design_error import DesignError
from lissom.control.design_model import DesignModel, design_model
from lissom.control.estimator import estimator_poles, kalman_filter
from lissom.control.margins import closed_loop_poles, margins_of, open_loop
from lissom.control.nominal import rigid_torque
from lissom.control.pid import PIDMemory
from lissom.control.predictive import PredictiveLimits, QuadraticSolver, program_of
from lissom.control.real_loop import RealLoop
from lissom.solve.feedback import wire_law
from sampled_laws import (
    DESCRIBED,
    END,
    SAMPLE,
    START,
    changed_law,
    pendulum,
    sampled_law,
)

# The nominal motion of many channels compiles long.
LONG = ("lqr", "scheduled-lqr", "ekf", "mixed-norm", "delayed-reference", "hybrid")
KINDS = [
    pytest.param(kind, marks=[pytest.mark.slow] if kind in LONG else [])
    for kind in DESCRIBED
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sampled_law_gives_a_torque_and_keeps_the_shape_of_its_memory(kind):
    law = wire_law(pendulum(), sampled_law(kind))
    measured = jnp.linspace(START, 0.3, len(law.channels))
    act = eqx.filter_jit(law.law)
    command, memory = act(jnp.asarray(0.05), measured, law.memory)
    assert command.shape == (1,)
    assert jax.tree.structure(memory) == jax.tree.structure(law.memory)
    assert np.all(np.isfinite(command))


def test_poles_of_the_loop_are_those_of_controller_and_estimator():
    """Separation: the sampled loop has just the poles that it was designed with, from two different ways."""
    law = sampled_law("lqg")
    model = pendulum()
    design = design_model(model, [END], law.sensor_names, SAMPLE, fastest=1e6)
    own = np.linalg.eigvals(design.A - design.B @ law.K)
    wanted = np.concatenate([own, estimator_poles(design, law.estimator)])
    loop = closed_loop_poles(open_loop(model, [END], law))
    linear = ls.linearize(model, [END], inputs=[], controller=law).poles
    for found in (loop, linear):
        # The held torque and the memory of it are delays: poles at zero beyond those of the design.
        # Faster ones than that are settled within a sample, and are rounding of the others.
        moving = found[np.abs(found) > 1e-3]
        kept = wanted[np.abs(wanted) > 1e-3]
        assert len(moving) == len(kept)
        for pole in kept:
            assert np.abs(moving - pole).min() < 1e-8 * abs(pole)


def test_margins_are_those_of_the_nyquist_curve():
    """One drive: the largest sensitivity is the nearest approach of L to -1; doubling what it bears is unstable."""
    loop = open_loop(pendulum(), [END], sampled_law("lqg"))
    found = margins_of(loop)
    assert found.stable
    scaled = loop._replace(law=loop.law._replace(L=0 * loop.law.L, N=0 * loop.law.N))
    assert margins_of(scaled).sensitivity == pytest.approx(1.0)
    beyond = 1.0
    while np.abs(closed_loop_poles(_louder(loop, beyond))).max() < 1.0:
        beyond *= 1.05
    assert beyond > found.gain / 1.05


@pytest.mark.slow
def test_a_torque_limit_that_rest_does_not_reach_leaves_the_loop_as_it_is():
    free = closed_loop_poles(open_loop(pendulum(), [END], sampled_law("pid")))
    # Enough for the weight, and not for the way from the start of the motion.
    weight = abs(float(pendulum().static([END]).torque[0]))
    law = changed_law("pid", torque_limit=[1.5 * weight])
    assert 1.5 * weight < DESCRIBED["pid"]["gains"]["kp"][0] * (END - START)
    limited = closed_loop_poles(open_loop(pendulum(), [END], law))
    np.testing.assert_allclose(np.sort(np.abs(limited)), np.sort(np.abs(free)), 1e-9)


def test_the_gain_of_a_loop_is_a_system_of_python_control():
    loop = open_loop(pendulum(), [END], sampled_law("lqg"))
    system = loop.as_model().to_control()
    for angle in (0.01, 0.4, 2.5):
        z = np.exp(1j * angle)
        np.testing.assert_allclose(np.squeeze(system(z)), loop.gain(z)[0, 0], 1e-8)
    # Closed by its sign it is the loop itself.
    closed = loop.as_model()
    poles = np.linalg.eigvals(closed.A - closed.B @ closed.C)
    wanted = np.sort(np.abs(closed_loop_poles(loop)))[::-1]
    np.testing.assert_allclose(np.sort(np.abs(poles))[::-1][:4], wanted[:4], 1e-8)


def _louder(loop, factor):
    law = loop.law
    return loop._replace(law=law._replace(L=factor * law.L, N=factor * law.N))


def test_predictive_control_without_active_limits_is_the_optimal_feedback():
    lqg, mpc = sampled_law("lqg"), sampled_law("mpc")
    np.testing.assert_allclose(mpc.K, lqg.K)
    program = mpc.solver.program
    state = 1e-4 * np.arange(1.0, 1 + len(mpc.K[0]))
    nothing = np.zeros((program.control, 1)), np.zeros((program.horizon, 0))
    # Long after the motion nothing is foreseen.
    torque = mpc.solver.torque(9.0, state, np.zeros(1), np.zeros(1), *nothing)
    np.testing.assert_allclose(torque, -mpc.K @ state, rtol=1e-6)


def test_predictive_control_holds_its_torque_limits_and_finds_the_optimum():
    """Against a dense reference: projected gradient steps on the same program."""
    design = design_model(pendulum(), [END], ("rod.encoder",), SAMPLE, fastest=1e6)
    mpc = sampled_law("mpc")
    regulator = _regulator(design)
    program = program_of(design, regulator, (), 20, 8)
    free = PredictiveLimits(np.array([np.inf]), np.array([np.inf]), np.zeros(0))
    tight = PredictiveLimits(np.array([0.5]), np.array([np.inf]), np.zeros(0))
    state = np.zeros(design.states)
    state[:] = np.linalg.lstsq(design.rows(("rod.encoder",)), [0.2], rcond=None)[0]
    at = (0.0, state, np.zeros(1), np.zeros(1), np.zeros((8, 1)), np.zeros((20, 0)))
    wanted = QuadraticSolver(program, free, SAMPLE).torque(*at)
    held = QuadraticSolver(program, tight, SAMPLE).torque(*at)
    assert np.abs(wanted).max() > 0.5
    assert np.abs(held).max() <= 0.5 + 1e-9
    V = np.zeros(8)
    step = 1 / np.linalg.eigvalsh(program.H).max()
    for _ in range(20_000):
        V = np.clip(V - step * (program.H @ V + program.F @ state), -0.5, 0.5)
    assert held[0] == pytest.approx(V[0], abs=1e-6)
    assert mpc.solver.failures == []


def _regulator(design):
    from lissom.control.regulator import AllowedDeviations, regulator

    return regulator(design, AllowedDeviations([0.01], [5.0], 0.01), ("rod.encoder",))


def test_the_integral_waits_while_the_motor_is_at_its_limit():
    law = changed_law("pid", torque_limit=[0.1])
    memory = law.init(pendulum())
    far = jnp.asarray([1.0])
    for _ in range(50):
        torque, memory = law.act(far, jnp.zeros(1), memory)
    assert float(torque[0]) == pytest.approx(0.1)
    assert isinstance(memory, PIDMemory)
    assert float(memory.integral[0]) == 0.0
    # On the other side of the limit it acts at once.
    torque, _ = law.act(-0.1 * far, jnp.zeros(1), memory)
    assert float(torque[0]) == pytest.approx(-0.1)


def test_computed_torque_on_its_reference_is_inverse_dynamics():
    law = sampled_law("computed-torque")
    t = jnp.asarray(0.07)
    q, qd, qdd = (
        getattr(law.reference, of)(t) for of in ("value", "rate", "acceleration")
    )
    torque, _ = law(t, jnp.concatenate([q, qd]), ())
    wanted = rigid_torque(pendulum().formulation, q, qd, qdd)
    np.testing.assert_allclose(torque, wanted, rtol=1e-12)


def test_a_real_loop_is_late_coarse_noisy_by_seed_and_limited():
    inner = changed_law("pid", gains={"kp": [100.0]})
    model = pendulum()
    late = RealLoop(law=inner, sample=SAMPLE, delay=2)
    t, measured = jnp.asarray(0.0), jnp.asarray([START + 0.01])
    memory = late.init(model)
    now, _ = inner(t, measured, inner.init(model))
    torques = []
    for _ in range(3):
        torque, memory = late(t, measured, memory)
        torques.append(float(torque[0]))
    assert torques[:2] == [0.0, 0.0]
    assert torques[2] == pytest.approx(float(now[0]))
    coarse = RealLoop(law=inner, sample=SAMPLE, resolution=np.array([0.004]))
    assert float(coarse.sensor_readings(jnp.asarray([0.011]), jnp.asarray(0))[0]) == (
        pytest.approx(0.012)
    )
    noisy = RealLoop(law=inner, sample=SAMPLE, noise=np.array([1.0]), seed=3)
    draws = [noisy.sensor_readings(jnp.zeros(1), jnp.asarray(k)) for k in (0, 0, 1)]
    assert float(draws[0][0]) == float(draws[1][0]) != float(draws[2][0])
    weak = RealLoop(law=inner, sample=SAMPLE, torque_limit=np.array([0.2]))
    torque, _ = weak(t, measured - 1.0, weak.init(model))
    assert float(torque[0]) == pytest.approx(0.2)


def test_an_integral_without_a_gain_remembers_nothing():
    """An idle integral would be a pole at one, and the loop would be called unstable."""
    law = eqx.tree_at(lambda law: law.ki, sampled_law("pid"), np.zeros(1))
    before = PIDMemory(jnp.ones(1), jnp.zeros(1), jnp.zeros(1))
    torque, memory = law.act(jnp.array([0.1]), jnp.zeros(1), before)
    without = law.act(jnp.array([0.1]), jnp.zeros(1), law.init(pendulum()))[0]
    assert float(torque[0]) == float(without[0]) > 0
    assert float(memory.integral[0]) == 0.0


@pytest.mark.slow
def test_a_delayed_reference_waits_and_never_runs_ahead():
    law = sampled_law("delayed-reference")
    speed = float(law.inner.nominal.reference.rate(0.1)[0])
    sign = np.sign(speed * float(law.filter[0, 0]))
    # Curvatures far beyond any beam: the limit holds whatever the gain.
    eps = jnp.asarray([sign * 1e6])
    assert float(law.delay_rate(0.1, eps)) == pytest.approx(float(law.limit))
    # After the end of the motion there is nothing to delay.
    assert float(law.delay_rate(0.5, eps)) == 0.0
    memory = law.init(pendulum())
    measured = jnp.concatenate([jnp.asarray([START]), -1e3 * eps])
    _, memory = law(jnp.asarray(0.1), measured, memory)
    assert float(memory.delay) == 0.0


@pytest.mark.parametrize(
    "kind, changes, message",
    [
        ("pid", {"gains": {"kp": [1.0, 2.0]}}, "gains.kp: must be one number, got 2"),
        ("lqg", {"noise": {"torque": [1.0], "sensors": [1.0] * 3}}, "noise.sensors"),
        ("pid", {"shaper": {"modes": [9]}}, "there is no mode 9"),
        (
            "hybrid",
            {"gain": [[1.0, 2.0]]},
            "gain: 1 rows .* of 1 numbers .* got 1 of 2",
        ),
        (
            "lqg",
            {"tolerances": {"position": [1.0, 1.0], "torque": [1.0]}},
            "tolerances.position: must be one number, got 2",
        ),
    ],
)
def test_a_law_that_does_not_fit_is_refused(kind, changes, message):
    with pytest.raises(DesignError, match=message):
        changed_law(kind, **changes)


def test_lasting_torques_that_sensors_cannot_tell_apart_are_refused_with_the_drive():
    """Two rotors on one sensor that sees their sum: a push of one looks like a push of the other."""
    step, zero = np.array([[1.0, 0.1], [0.0, 1.0]]), np.zeros((2, 2))
    push = np.array([[0.005], [0.1]])
    flat = np.zeros((2, 1))
    two = DesignModel(
        A=np.block([[0.9 * step, zero], [zero, 0.8 * step]]),
        B=np.block([[push, flat], [flat, push]]),
        C=np.array([[1.0, 0.0, 1.0, 0.0]]),
        D=np.zeros((1, 2)),
        energy=np.eye(4),
        sample=0.1,
        input_names=("left.torque", "right.torque"),
        output_names=("sum",),
        poles=np.zeros(4),
        fast_states=0,
        coordinate_names=("left", "right"),
        shape=np.eye(4)[:2],
        rates=np.eye(4)[2:],
        mass=np.eye(2),
        damping=np.eye(2),
        on_coordinates=np.eye(4)[:, :2],
        of_robot=np.eye(4),
    )
    noise = {"torque_noise": 1.0, "disturbance_drift": 0.1, "sensor_noise": 0.1}
    with pytest.raises(DesignError, match="sensors: not detectable: .*right.torque"):
        kalman_filter(two, **noise)
    both = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    seen = two._replace(C=both, D=np.zeros((2, 2)), output_names=("left", "right"))
    assert np.abs(estimator_poles(seen, kalman_filter(seen, **noise))).max() < 1.0


def test_a_motion_that_no_sensor_sees_is_refused():
    robot = pendulum().robot.replace({"damping": {"alpha": 0.0, "beta": 0.0}})
    model = ls.Model(robot, "nonlinear", basis="assumed", modes=2)
    from lissom.control.design_model import check_detectable, check_stabilisable

    design = design_model(model, [END], ("rod.encoder",), SAMPLE, fastest=1e6)
    # Out of the plane the motor moves nothing and the encoder sees nothing.
    with pytest.raises(DesignError, match="not detectable: no sensor measures"):
        check_detectable(design)
    with pytest.raises(DesignError, match="not stabilisable: no torque excites"):
        check_stabilisable(design)
