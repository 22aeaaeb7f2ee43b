"""The extended Kalman filter: the state of the bending robot, estimated along its motion with its own equations.

The filter carries z = (x, x'), unknown torques d, and their covariance P. From sample to sample it
steps the nonlinear robot by the linearly implicit trapezoidal rule,

    z+ = z + h (1 - h/2 J)^-1 F(z, u + d),        A = (1 - h/2 J)^-1 (1 + h/2 J),        J = dF/dz,

stable for every mode, and its gain follows from the derivatives at the estimate itself.
"""

from typing import Annotated, Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import block_diag
from jaxtyping import Array
from typing_extensions import override

from jaxnative.compiled import compiled_quickly

from ..analyse.linear.linear_matrices import split_motion
from ..describe.controllers import EstimatedStateFeedback
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..files.quantity import Whole
from ..solve.balance import motion_residual, motion_residual_of
from ..solve.channels import Channel, measure, observed_motion, output_named
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import Table
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_motions import end_rows
from .described_numbers import each, for_drives, gains_or_zero
from .described_references import nominal_of
from .design_error import DesignError
from .design_model import check_detectable, design_model
from .estimator import Estimate, Estimator, check_lasting_torques, stationary_gain
from .lqg import LQG
from .nominal import NominalMotion
from .scheduled import GainSchedule, scheduled_gain
from .slow_model import encoder_names, state_names, whole_pose
from .state_feedback import tolerances_of
from .torque_limits import saturate

REST = 400  # samples after which the estimate of a robot at rest no longer changes
FIRST_COVARIANCE = (
    100.0  # covariance of the first estimate, in those that a sample adds
)


class EKFController(EstimatedStateFeedback):
    """Scheduled optimal feedback on the estimate of an extended Kalman filter."""

    type: Literal["ekf"]
    poses: Annotated[int, Whole(2, 100)] = 3


class KalmanPrediction(NamedTuple):
    """Prediction of the filter for the next sample."""

    state: Float[Array, " s"]
    disturbance: Float[Array, " a"]
    covariance: Float[Array, "w w"]  # of both
    held: Float[Array, " a"]  # torque until then


class RateJacobians(NamedTuple):
    """Rates of the state and readings of the sensors, and their derivatives with respect to (x, x', torque)."""

    rate: Float[Array, " s"]
    on_rate: Float[Array, "s w"]
    reading: Float[Array, " m"]
    on_reading: Float[Array, "m w"]


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
        force = -motion_residual(f, x, xd, jnp.zeros_like(x), self._on_joints(torque))
        return jnp.concatenate([xd, jnp.linalg.solve(engine.inertia_at(f, x), force)])

    def measurement(self, z: Float[Array, " s"], torque: Float[Array, " a"]):
        """Sensor readings in a state under torques."""
        f = self.formulation
        x, xd = jnp.split(z, 2)
        xdd = self.rate(z, torque)[x.shape[0] :]
        motion = observed_motion(f, f.motion(x, xd, xdd))
        return measure(f, self.channels, motion, None, self._on_joints(torque))

    def slopes(
        self, z: Float[Array, " s"], torque: Float[Array, " a"]
    ) -> RateJacobians:
        """Rates and readings with their derivatives, by one pass of differentiation.

        Along a motion Gamma(x, x', x'', tau) = 0, so that M dx'' = -K dx - C dx' + F dtau: the inertia matrix, whose
        own derivative costs more than all the rest, is not differentiated.
        """
        f = self.formulation
        n = f.size
        rate = self.rate(z, torque)

        def everything(v):
            x, xd, xdd, u = split_motion(v, n)
            motion = f.motion(x, xd, xdd)
            tau = self._on_joints(u)
            force = motion_residual_of(f, motion, tau)
            observed = measure(f, self.channels, observed_motion(f, motion), None, tau)
            return jnp.concatenate([force, observed]), observed

        v = jnp.concatenate([z, rate[n:], torque])
        slope, reading = jax.jacfwd(everything, has_aux=True)(v)
        K, C, M, minus_F = split_motion(slope[:n], n)
        on_x, on_xd, on_xdd, on_torque = split_motion(slope[n:], n)
        on_acceleration = -jnp.linalg.solve(M, jnp.concatenate([K, C, minus_F], 1))
        on_speed = jnp.eye(n, on_acceleration.shape[1], n)
        direct = jnp.concatenate([on_x, on_xd, on_torque], axis=1)
        return RateJacobians(
            rate=rate,
            on_rate=jnp.concatenate([on_speed, on_acceleration]),
            reading=reading,
            on_reading=direct + on_xdd @ on_acceleration,
        )

    def start(
        self, state: Float[Array, " s"], torque: Float[Array, " a"]
    ) -> KalmanPrediction:
        """The filter at a known state."""
        none = jnp.zeros_like(torque)
        size = state.shape[0] + torque.shape[0]
        first = KalmanPrediction(state, none, jnp.zeros((size, size)), torque)
        spread = self.predict(first.state, none, first.covariance, torque).covariance
        return first._replace(covariance=FIRST_COVARIANCE * spread)

    def update(self, expected: KalmanPrediction, measured: Float[Array, " m"]):
        """State, disturbance and covariance after a measurement."""
        s = expected.state.shape[0]
        at = self.slopes(expected.state, expected.held + expected.disturbance)
        w = jnp.concatenate([expected.state, expected.disturbance])
        H = at.on_reading
        P = expected.covariance
        R = jnp.diag(jnp.asarray(self.sensor_noise) ** 2)
        L = jnp.linalg.solve(H @ P @ H.T + R, H @ P).T
        w = w + L @ (measured - at.reading)
        keep = jnp.eye(w.shape[0]) - L @ H
        # Joseph's form stays symmetric and positive through rounding.
        P = keep @ P @ keep.T + L @ R @ L.T
        return w[:s], w[s:], P

    def sampled_step(
        self, at: RateJacobians
    ) -> tuple[Float[Array, " s"], Float[Array, "s s"], Float[Array, "s a"]]:
        """The step of a sample under held torques, and its derivatives A and B."""
        h = self.sample
        s = at.rate.shape[0]
        J, on_torque = at.on_rate[:, :s], at.on_rate[:, s:]
        one = jnp.eye(s)
        right = [h * at.rate[:, None], one + 0.5 * h * J, h * on_torque]
        solution = jnp.linalg.solve(one - 0.5 * h * J, jnp.concatenate(right, axis=1))
        return solution[:, 0], solution[:, 1 : s + 1], solution[:, s + 1 :]

    def predict(self, state, disturbance, covariance, torque) -> KalmanPrediction:
        """Prediction for the next sample under a torque, held from now on."""
        step, A, B = self.sampled_step(self.slopes(state, torque + disturbance))
        s = state.shape[0]
        a = B.shape[1]
        whole = jnp.block([[A, B], [jnp.zeros((a, s)), jnp.eye(a)]])
        Q_state = B * jnp.asarray(self.torque_noise) ** 2 @ B.T
        Q_drift = jnp.diag(jnp.asarray(self.drift) ** 2)
        Q = block_diag(Q_state, Q_drift)
        P = whole @ covariance @ whole.T + Q
        return KalmanPrediction(state + step, disturbance, P, torque)

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
        sensor_names: measured channels.
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

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.sensor_names

    def init(self, model: Any) -> KalmanPrediction:
        """On the nominal motion."""
        state = self.nominal.measured.value(0.0)
        torque = self.nominal.torque.value(0.0)
        return _first_prediction(self.filter, state, torque)

    @override
    def holding(
        self, t: Float[Any, ""], torque: Float[Any, " a"], memory: KalmanPrediction
    ) -> KalmanPrediction:
        return memory._replace(held=torque)

    def resting(self, memory: KalmanPrediction, measured: Any) -> tuple[LQG, Estimate]:
        """At rest the covariance no longer changes: optimal control on a filter of fixed gains."""
        end = jnp.asarray(self.nominal.reference.breakpoints[-1])
        rest = _resting_law(self, end, jnp.asarray(measured))
        A, B, C, D = map(np.asarray, rest.model)
        f = self.filter
        L = stationary_gain((A, B, C, D), f.torque_noise, f.drift, f.sensor_noise)
        s = len(A)
        held = _constant_signal(rest.held)
        nominal = NominalMotion(
            self.nominal.reference, held, _constant_signal(measured)
        )
        law = LQG(
            K=np.asarray(rest.K),
            estimator=Estimator(A, B, C, D, L[:s], L[s:]),
            nominal=nominal,
            sample=self.sample,
            sensor_names=self.sensor_names,
            torque_limit=self.torque_limit,
        )
        return law, law.estimator.start()

    def __call__(
        self,
        t: Float[Array, ""],
        measured: Float[Array, " m"],
        memory: KalmanPrediction,
    ) -> tuple[Float[Array, " a"], KalmanPrediction]:
        """Joint torques [N m or N]."""
        state, disturbance, covariance = self.filter.update(memory, measured)
        deviation = state - self.nominal.measured.value(t)
        K = self.K.at(state[jnp.asarray(self.columns)])
        wanted = self.nominal.torque.value(t) - K @ deviation - disturbance
        torque = saturate(wanted, self.torque_limit)
        return torque, self.filter.predict(state, disturbance, covariance, torque)


@compiled_quickly
def _first_prediction(
    filter: ExtendedKalman, state: Float[Array, " s"], torque: Float[Array, " a"]
) -> KalmanPrediction:
    return filter.start(state, torque)


class SettledFilter(NamedTuple):
    """A law after many samples of one measurement."""

    held: Float[Array, " a"]  # its torque
    K: Float[Array, "a s"]
    model: Any  # A, B, C, D of the filter


@compiled_quickly
def _resting_law(
    law: EKFControl, end: Float[Array, ""], measured: Any
) -> SettledFilter:
    """A law after a long rest at the end of its motion."""
    f = law.filter

    def sample(_, belief):
        return law(end, measured, belief)[1]

    begin = f.start(law.nominal.measured.value(end), law.nominal.torque.value(end))
    belief = jax.lax.fori_loop(0, REST, sample, begin)
    at = f.slopes(belief.state, belief.held + belief.disturbance)
    _, A, B = f.sampled_step(at)
    s = A.shape[0]
    K = law.K.at(belief.state[jnp.asarray(law.columns)])
    model = A, B, at.on_reading[:, :s], at.on_reading[:, s:]
    return SettledFilter(belief.held, K, model)


def _constant_signal(value: Any) -> Table:
    """A signal that does not change."""
    return Table([0.0], np.asarray(value)[None], "hold", after="hold")


def ekf_law(model: Model, controller: EKFController) -> EKFControl:
    """Scheduled feedback on an extended Kalman filter.

    Raises:
        DesignError: the robot is a closed chain, or a motion that lasts, or a lasting torque, is seen by no sensor.
    """
    if model.closed:
        raise DesignError(
            "the ekf filter supports only open chains; use lqg for closed chains",
            "type",
        )
    first, last = end_rows(model, controller)
    K = scheduled_gain(
        model,
        first,
        last,
        tolerances_of(controller),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
    )
    sensors = controller.sensors or encoder_names(model)
    _check_sensors(model, controller, last, sensors)
    noise = controller.noise
    drift = noise.drift or tuple(0.1 * value for value in noise.torque)
    return EKFControl(
        filter=ExtendedKalman(
            formulation=model.formulation,
            channels=tuple(output_named(model, name) for name in sensors),
            torque_noise=gains_or_zero(model, "noise.torque", noise.torque),
            drift=gains_or_zero(model, "noise.drift", drift),
            sensor_noise=each("noise.sensors", noise.sensors, len(sensors)),
            sample=controller.sample,
        ),
        K=K,
        nominal=nominal_of(model, controller, state_names(model)),
        sample=controller.sample,
        sensor_names=sensors,
        columns=model.actuated,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


def _check_sensors(
    model: Model, controller: EKFController, last: Any, sensors: tuple[str, ...]
) -> None:
    """Refuse sensors that do not see what lasts, where the motion ends."""
    q = whole_pose(model, last)
    period, fastest = controller.sample, controller.fastest
    design = design_model(model, q, sensors, period, fastest=fastest)
    check_detectable(design)
    check_lasting_torques(design)


LAW = DescribedLaw(EKFController, ekf_law)
