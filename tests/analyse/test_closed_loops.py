"""Control laws linearised: continuous ones as feedback, sampled ones as the discrete closed loop."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from helpers import robot_named
from lissom.solve.law import AbstractLaw
from lissom.solve.signals import Table

KP, KD = np.array([61.0, 23.0]), np.array([3.1, 1.2])
PERIOD = 2e-3  # [s]
POSE = [0.2, 0.5]


@pytest.fixture(scope="module")
def model():
    return ls.Model(robot_named("double-pendulum"), "erls-fem")


def pd(sample=None):
    reference = Table([0.0], [POSE], "hold", after="hold")
    return ls.PD(KP, KD, reference, sample=sample)


def test_a_continuous_pd_law_is_the_gains_it_is_made_of(model):
    names = ["upper.setpoint", "lower.setpoint", "lower/tip.fy"]
    by_gains = ls.linearize(model, POSE, kp=KP, kd=KD, inputs=names)
    by_law = ls.linearize(model, POSE, controller=pd(), inputs=names)
    for part in "ABCD":
        assert_allclose(getattr(by_law, part), getattr(by_gains, part), atol=1e-9)


def test_a_sampled_pd_law_is_the_held_robot_with_the_gains_closed_around_it(model):
    # x_(k+1) = A_d x_k - B_d (kp e_k + kd ed_k), by SciPy's zero-order hold of the open robot.
    encoders = ["upper.encoder", "lower.encoder"]
    speeds = ["upper.speed", "lower.speed"]
    robot = ls.linearize(model, POSE, outputs=encoders + speeds).discretize(PERIOD)
    gain = np.concatenate([np.diag(KP), np.diag(KD)], axis=1)
    expected = robot.A - robot.B @ gain @ robot.C
    loop = ls.linearize(model, POSE, controller=pd(PERIOD), outputs=encoders)
    assert loop.dt == PERIOD and loop.state_names == robot.state_names
    assert_allclose(loop.A, expected, atol=1e-9 * np.abs(expected).max())
    # A set-point of a still robot: the loop comes to rest where kp (r - e) balances what holds the robot.
    assert loop.input_names == ("upper.setpoint", "lower.setpoint")
    assert_allclose(loop.B, robot.B @ np.diag(KP), atol=1e-9 * np.abs(loop.B).max())


class Lagging(AbstractLaw):
    """Filtered acceleration of the tip, fed back; it remembers the filter, and sees the torque held so far."""

    hold: Any  # torques that hold the robot [N m]
    sample: float | None = PERIOD
    gain: float = 0.02
    share: float = 0.3
    stiffness: float = 40.0

    def sensors(self, model):
        return ("upper.encoder", "lower.encoder", "lower/tip.ay")

    def init(self, model):
        return {"count": jnp.asarray(0), "filtered": jnp.zeros(())}

    def __call__(self, t, measured, memory):
        filtered = memory["filtered"]
        filtered = (1 - self.share) * filtered + self.share * measured[2]
        spring = -self.stiffness * (measured[:2] - jnp.asarray(POSE))
        torque = self.hold + spring - self.gain * filtered
        return torque, {"count": memory["count"] + 1, "filtered": filtered}


@pytest.mark.slow
def test_the_discrete_loop_predicts_small_motion_of_the_full_robot(model):
    # Two runs from neighbouring states, their difference over ten samples against A^10: second order in the step of
    # 1e-5 beside the first, and the run's tolerance.
    state = model.static(POSE)
    law = Lagging(state.torque)
    loop = ls.linearize(model, state, controller=law)
    assert [name for name in loop.state_names if "memory" in name] == [
        "memory.0",
        "memory.1",
    ]
    assert "upper.held" in loop.state_names

    def end(q):
        start = eqx.tree_at(lambda s: (s.q, s.encoder), state, (q, q))
        run = ls.rollout(
            model,
            start,
            t_end=10 * PERIOD,
            output_dt=10 * PERIOD,
            torque=law,
            solver={"rtol": 1e-10, "atol": 1e-12},
        )
        return np.concatenate([run.x[-1], run.xd[-1]])

    step = 1e-5
    change = jnp.array([step, -0.4 * step])
    difference = (end(state.q + change) - end(state.q - change)) / 2
    start = np.zeros(len(loop.A))
    start[:2] = change
    predicted = np.linalg.matrix_power(loop.A, 10) @ start
    n = len(difference)
    scale = np.abs(difference).max()
    # Nothing is held before the first sample: there the law sees the accelerations of a falling robot, whose slopes
    # are others than those of the robot at rest. That costs 1.5e-3 here; a law blind to accelerations is far off.
    assert_allclose(predicted[:n], difference, rtol=0, atol=2e-3 * scale)
    blind = ls.linearize(model, state, controller=Lagging(state.torque, gain=0.0))
    missed = np.linalg.matrix_power(blind.A, 10) @ start
    assert np.abs(missed[:n] - difference).max() > 1e-2 * scale


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"controller": pd(), "kp": 3.0}, "not both"),
        ({"controller": lambda t, state: [0.0, 0.0]}, "controller must be a law"),
        ({"controller": pd(PERIOD), "locked": True}, "no loop to close"),
    ],
)
def test_what_cannot_be_closed_is_refused(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        ls.linearize(model, POSE, **arguments)
