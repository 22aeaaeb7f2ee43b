"""The extended Kalman filter: the state of the bending robot, estimated along its motion with its own equations.

The filter carries z = (x, x'), torques d that nobody told it about, and their covariance P. From sample to sample it
steps the nonlinear robot by the linearly implicit trapezoidal rule,

    z+ = z + h (1 - h/2 J)^-1 F(z, u + d),        A = (1 - h/2 J)^-1 (1 + h/2 J),        J = dF/dz,

stable for every mode, and its gain follows from the derivatives at the estimate itself.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..native.compiled import compiled_quickly
from ..solve.balance import unbalanced
from ..solve.channels import Channel, measure, observed_motion
from ..solve.law import AbstractLaw
from ..types import Real, Scalar
from .nominal import NominalMotion
from .pid import limited
from .scheduled import GainSchedule

REST = 400  # samples after which the covariance of a robot at rest no longer changes
FIRST_DOUBT = 100.0  # covariance of the first estimate, in those that a sample adds


class Belief(NamedTuple):
    """What the filter expects at the next sample."""

    state: Float[Array, " s"]
    disturbance: Float[Array, " a"]
    covariance: Float[Array, "w w"]  # of both
    held: Float[Array, " a"]  # torque until then


class ExtendedKalman(eqx.Module):
    """Predicts with the equations of the robot, corrects with what sensors read."""

    formulation: AbstractFormulation
    channels: tuple[Channel, ...]
    torque_noise: Float[Real, " a"]
    drift: Float[Real, " a"]
    sensor_noise: Float[Real, " m"]
    sample: Scalar

    def rate(self, z: Float[Array, " s"], torque: Float[Array, " a"]):
        """F: speeds and accelerations of the robot under torques."""
        f = self.formulation
        x, xd = jnp.split(z, 2)
        force = -unbalanced(f, x, xd, jnp.zeros_like(x), self._on_joints(torque))
        return jnp.concatenate([xd, jnp.linalg.solve(engine.inertia_at(f, x), force)])

    def measurement(self, z: Float[Array, " s"], torque: Float[Array, " a"]):
        """What the sensors read in a state under torques."""
        f = self.formulation
        x, xd = jnp.split(z, 2)
        xdd = self.rate(z, torque)[x.shape[0] :]
        motion = observed_motion(f, f.motion(x, xd, xdd))
        return measure(f, self.channels, motion, None, self._on_joints(torque))

    def start(self, state: Float[Array, " s"], torque: Float[Array, " a"]) -> Belief:
        """A robot that is known to be in a state."""
        none = jnp.zeros_like(torque)
        size = state.shape[0] + torque.shape[0]
        first = Belief(state, none, jnp.zeros((size, size)), torque)
        spread = self.ahead(first.state, none, first.covariance, torque).covariance
        return first._replace(covariance=FIRST_DOUBT * spread)

    def corrected(self, expected: Belief, measured: Float[Array, " m"]):
        """State, disturbance and covariance after a measurement."""
        s = expected.state.shape[0]

        def reading(w):
            return self.measurement(w[:s], expected.held + w[s:])

        w = jnp.concatenate([expected.state, expected.disturbance])
        H = jax.jacfwd(reading)(w)
        P = expected.covariance
        R = jnp.diag(jnp.asarray(self.sensor_noise) ** 2)
        K = jnp.linalg.solve(H @ P @ H.T + R, H @ P).T
        w = w + K @ (measured - reading(w))
        keep = jnp.eye(w.shape[0]) - K @ H
        # Joseph's form stays symmetric and positive through rounding.
        P = keep @ P @ keep.T + K @ R @ K.T
        return w[:s], w[s:], P

    def ahead(self, state, disturbance, covariance, torque) -> Belief:
        """What the next sample should find under a torque, held from now on."""
        h = self.sample
        acting = torque + disturbance
        s = state.shape[0]
        J, on_torque = jax.jacfwd(self.rate, argnums=(0, 1))(state, acting)
        implicit = jnp.eye(s) - 0.5 * h * J
        step = jnp.linalg.solve(implicit, h * self.rate(state, acting))
        A = jnp.linalg.solve(implicit, jnp.eye(s) + 0.5 * h * J)
        B = jnp.linalg.solve(implicit, h * on_torque)
        a = B.shape[1]
        whole = jnp.block([[A, B], [jnp.zeros((a, s)), jnp.eye(a)]])
        Q_state = B * jnp.asarray(self.torque_noise) ** 2 @ B.T
        Q_drift = jnp.diag(jnp.asarray(self.drift) ** 2)
        Q = jax.scipy.linalg.block_diag(Q_state, Q_drift)
        P = whole @ covariance @ whole.T + Q
        return Belief(state + step, disturbance, P, torque)

    def _on_joints(self, torque: Float[Array, " a"]) -> Float[Array, " j"]:
        f = self.formulation
        actuated = jnp.asarray(f.joints.actuated, dtype=int)
        return jnp.zeros(f.n_encoders).at[actuated].set(torque)


class EKFControl(AbstractLaw):
    """tau = tau_nom - K (z - z_nom) - d on the estimate of an extended Kalman filter, K that of the pose.

    Args:
        filter: the filter.
        K: gains on coordinates and rates of the robot as the controller knows it, over poses.
        nominal: motion with those coordinates and rates as its measurements.
        sample: period [s].
        sensor_names: what the filter sees.
        columns: places of the actuated joints among the coordinates.
        torque_limit: of each actuated joint.
    """

    filter: ExtendedKalman
    K: GainSchedule
    nominal: NominalMotion
    sample: Scalar
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    columns: tuple[int, ...] = eqx.field(static=True)
    torque_limit: Float[Real, " a"] | None = None

    def sensors(self, model: Any) -> tuple[str, ...]:
        """What the filter sees."""
        return self.sensor_names

    def init(self, model: Any) -> Belief:
        """On the nominal motion; no torque is held before the first sample."""
        state = self.nominal.measured.value(0.0)
        torque = self.nominal.torque.value(0.0)
        belief = self.filter.start(state, torque)
        return belief._replace(held=jnp.zeros(np.shape(torque)))

    def resting(self, memory: Belief, measured: Any) -> Belief:
        """The filter at the end of its motion, its covariance no longer that of the beginning."""
        end = self.nominal.reference.breakpoints[-1]
        return _rested(self, jnp.asarray(end), jnp.asarray(measured), memory)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Belief
    ) -> tuple[Float[Array, " a"], Belief]:
        """Joint torques [N m or N]."""
        state, disturbance, covariance = self.filter.corrected(memory, measured)
        deviation = state - self.nominal.measured.value(t)
        K = self.K.at(state[jnp.asarray(self.columns)])
        wanted = self.nominal.torque.value(t) - K @ deviation - disturbance
        torque = limited(wanted, self.torque_limit)
        return torque, self.filter.ahead(state, disturbance, covariance, torque)


@compiled_quickly
def _rested(
    law: EKFControl,
    end: Float[Array, ""],
    measured: Float[Array, " m"],
    memory: Belief,
) -> Belief:
    """Memory of a law after many samples of one measurement, at the end of its motion."""

    def sample(_, memory):
        return law(end, measured, memory)[1]

    return jax.lax.fori_loop(0, REST, sample, memory)
