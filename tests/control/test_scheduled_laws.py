"""Gains that change with the pose, and the filter that follows the robot along its motion."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from test_sampled_laws import J, rotor

from lissom.control.design_error import DesignError
from lissom.control.extended_kalman import ExtendedKalman
from lissom.control.margins import margins_of, open_loop
from lissom.control.scheduled import GainSchedule, designs_along
from lissom.solve.channels import output_named
from sampled_laws import END, SAMPLE, changed_law, pendulum, sampled_law

H = 0.01  # [s]
NOISE = {"torque_noise": 0.02, "drift": 0.003, "sensor_noise": 1e-3}


def test_a_schedule_is_straight_between_its_poses_and_holds_outside():
    rows = np.array([[[1.0, 0.0]], [[3.0, 4.0]], [[2.0, 2.0]]])
    gains = GainSchedule(np.array([0.2]), np.array([0.8]), rows)
    for joint, known in (
        (0.2, rows[0]),
        (0.6, rows[1]),
        (1.0, rows[2]),
        (0.4, 0.5 * (rows[0] + rows[1])),
        (0.9, 0.25 * rows[1] + 0.75 * rows[2]),
        (-1.0, rows[0]),
        (5.0, rows[2]),
    ):
        assert_allclose(gains.at(jnp.array([joint])), known, atol=1e-14)


def test_a_pose_beside_the_line_counts_as_the_nearest_point_on_it():
    rows = np.arange(2.0)[:, None, None] * np.ones((2, 2, 3))
    gains = GainSchedule(np.zeros(2), np.array([3.0, 4.0]), rows)
    beside = np.array([1.5, 2.0]) + 0.7 * np.array([-4.0, 3.0])
    assert_allclose(gains.at(jnp.asarray(beside)), 0.5, atol=1e-14)


def test_a_motion_that_goes_nowhere_has_no_line_of_poses():
    with pytest.raises(DesignError, match="ends where it begins"):
        designs_along(rotor(), [0.3], [0.3], 3, H, None)


@pytest.mark.slow
def test_at_each_pose_of_its_line_a_scheduled_law_is_that_of_the_pose():
    """From hanging to nearly level weight pulls the rod back less and less: no two of the poses have the same gains."""
    poses = np.linspace(-1.5, -0.1, 3)
    motion = {"t": [0.0, 0.5], "value": [[poses[0]], [poses[-1]]]}
    # Soft joints: a stiff one is held by its position tolerance, and feels its weight by a part in a thousand.
    soft = {"position": [1.0], "torque": [5.0], "energy": 0.01}
    given = {"reference": motion, "tolerances": soft}
    scheduled = changed_law("scheduled-lqr", **given)
    rows = []
    for pose in poses:
        law = changed_law("lqr", pose=[pose], **given)
        known = np.concatenate([law.K, law.K_integral], axis=1)
        at = jnp.array([pose])
        found = jnp.concatenate([scheduled.K.at(at), scheduled.K_integral.at(at)], 1)
        assert_allclose(found, known, rtol=1e-6, atol=1e-8 * np.abs(known).max())
        rows.append(known)
    for k, j in ((0, 1), (1, 2), (0, 2)):
        assert not np.allclose(rows[k], rows[j], rtol=1e-3, atol=0.0)
        assert np.abs(rows[k] - rows[j]).max() > 1e-2 * np.abs(rows[k]).max()


# --- the filter, on a rotor: linear, so that its covariance is that of a Kalman filter -----------------------------


def rotor_filter():
    model = rotor()
    channels = (output_named(model, "arm.encoder"),)
    return ExtendedKalman(
        formulation=model.formulation,
        channels=channels,
        sample=H,
        **{name: np.array([value]) for name, value in NOISE.items()},
    )


def tracked(torque, disturbance, samples=400):
    """The filter on an exact rotor that feels a torque which nobody told it about."""
    filter = rotor_filter()
    acceleration = (torque + disturbance) / J
    held = jnp.array([torque])

    def sample(belief, k):
        angle = 0.5 * acceleration * (k * H) ** 2
        state, unknown, P = filter.update(belief, jnp.array([angle]))
        return filter.predict(state, unknown, P, held), (state, unknown, P)

    begin = filter.start(jnp.zeros(2), held)
    run = eqx.filter_jit(lambda b: jax.lax.scan(sample, b, jnp.arange(samples)))
    return run(begin)[1]


@pytest.mark.slow
def test_the_filter_learns_a_lasting_torque_and_follows_the_rotor():
    torque, disturbance = 0.3, -0.11
    state, unknown, _ = tracked(torque, disturbance)
    assert unknown[-1, 0] == pytest.approx(disturbance, rel=1e-6)
    end = 399 * H
    acceleration = (torque + disturbance) / J
    known = [0.5 * acceleration * end**2, acceleration * end]
    assert_allclose(state[-1], known, rtol=1e-6)


def test_the_covariance_of_a_linear_robot_is_that_of_the_stationary_filter():
    A = np.array([[1.0, H, H**2 / (2 * J)], [0, 1, H / J], [0, 0, 1]])
    C = np.eye(3)[:1]
    G = A[:2, 2:]
    Q = np.zeros((3, 3))
    Q[:2, :2] = NOISE["torque_noise"] ** 2 * G @ G.T
    Q[2, 2] = NOISE["drift"] ** 2
    R = np.array([[NOISE["sensor_noise"] ** 2]])
    P = scipy.linalg.solve_discrete_are(A.T, C.T, Q, R)
    after = P - P @ C.T @ np.linalg.solve(C @ P @ C.T + R, C @ P)
    _, _, found = tracked(0.3, 0.0)
    assert_allclose(found[-1], after, rtol=1e-6, atol=1e-9 * np.abs(after).max())


@pytest.mark.slow
def test_slopes_of_the_filter_are_derivatives_of_what_the_robot_does():
    """In fast motion under a torque that accelerates it; the tip's acceleration is among the readings."""
    filter = sampled_law("ekf").filter
    n = filter.formulation.size
    rng = np.random.default_rng(3)
    x = np.concatenate([[-0.7], 1e-3 * rng.normal(size=n - 1)])
    xd = np.concatenate([[2.0], 0.1 * rng.normal(size=n - 1)])
    z, torque = jnp.concatenate([x, xd]), jnp.array([3.0])

    @jax.jit
    def by_definition(w):
        rate = jax.jacfwd(lambda w: filter.rate(w[:-1], w[-1:]))(w)
        reading = jax.jacfwd(lambda w: filter.measurement(w[:-1], w[-1:]))(w)
        return rate, reading

    known = by_definition(jnp.concatenate([z, torque]))
    found = jax.jit(lambda z, torque: filter.slopes(z, torque))(z, torque)
    assert np.abs(found.rate[n:]).max() > 1.0
    for slope, expected in zip((found.on_rate, found.on_reading), known, strict=True):
        size = np.abs(expected).max(axis=1, keepdims=True)
        assert_allclose(slope / size, expected / size, atol=1e-9)
    assert_allclose(found.reading, filter.measurement(z, torque), rtol=1e-9)


@pytest.mark.slow
def test_the_filter_of_a_bending_robot_predicts_what_the_robot_does():
    """A robot in motion, hidden from the filter but for its encoder and tip: elastic states are found."""
    law = sampled_law("ekf")
    filter = law.filter
    t = 0.1
    state = law.nominal.measured.value(t)
    torque = law.nominal.torque.value(t)
    # The elastic coordinate that sags is the one in the plane of the motion.
    joints = pendulum().n_joints
    bent = joints + int(np.argmax(np.abs(state[joints : len(state) // 2])))
    hidden = state.at[bent].add(2e-4)
    begin = filter.start(state, torque)

    def sample(carry, _):
        true, belief = carry
        seen = filter.measurement(true, torque)
        z, d, P = filter.update(belief, seen)
        none = jnp.zeros_like(torque)
        true = filter.predict(true, none, P, torque).state
        return (true, filter.predict(z, d, P, torque)), jnp.abs(z - true).max()

    @eqx.filter_jit
    def run(hidden, begin):
        return jax.lax.scan(sample, (hidden, begin), None, length=100)[0]

    true, belief = run(hidden, begin)
    away = np.abs(np.asarray(belief.state - true))
    assert away[bent] < 0.1 * 2e-4
    assert away[0] < 1e-4


@pytest.mark.slow
def test_margins_of_an_adapting_filter_are_those_of_its_last_gain():
    """At rest after its motion the loop has the poles of the stationary filter, from Riccati's equation."""
    law = sampled_law("ekf")
    loop = open_loop(pendulum(), [END], law)
    found = margins_of(loop)
    assert found.stable
    filter, long_after = law.filter, 1e3
    state = law.nominal.measured.value(long_after)
    torque = law.nominal.torque.value(long_after)
    s, a = len(state), len(torque)
    J, on_torque = jax.jit(jax.jacfwd(filter.rate, argnums=(0, 1)))(state, torque)
    step = np.linalg.inv(np.eye(s) - 0.5 * SAMPLE * J)
    A, B = step @ (np.eye(s) + 0.5 * SAMPLE * J), step @ (SAMPLE * on_torque)
    W = np.block([[A, B], [np.zeros((a, s)), np.eye(a)]])
    both = jnp.concatenate([state, torque])
    H = np.asarray(jax.jacfwd(lambda w: filter.measurement(w[:s], w[s:]))(both))
    Q_torque = B * np.asarray(filter.torque_noise) ** 2 @ B.T
    Q = scipy.linalg.block_diag(Q_torque, np.diag(filter.drift**2))
    R = np.diag(filter.sensor_noise**2)
    P = scipy.linalg.solve_discrete_are(W.T, H.T, Q, R)
    L = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
    K = np.concatenate([law.K.at(jnp.array([END])), np.eye(a)], axis=1)
    # Robot and filter: the filter knows the torque that is held, so that it cancels from what surprises it.
    robot = loop.robot
    from_robot, from_filter = L @ robot.C, np.eye(s + a) - L @ H
    push = np.concatenate([B, np.zeros((a, a))])
    closed = np.block(
        [
            [robot.A - robot.B @ K @ from_robot, -robot.B @ K @ from_filter],
            [(W - push @ K) @ from_robot, (W - push @ K) @ from_filter],
        ]
    )
    known = np.abs(np.linalg.eigvals(closed)).max()
    assert found.largest_pole == pytest.approx(known, abs=1e-4)
