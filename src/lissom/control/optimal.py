"""Optimal control: state feedback that weighs error, vibration and torque (LQR), and the same on an estimate (LQG).

The gain minimises sum_k (dx^T Q dx + du^T R du) of the sampled robot. Weights follow Bryson's rule: a deviation of the
size of its tolerance costs one.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..solve.law import AbstractLaw
from ..solve.signals import AbstractSignal
from ..types import Float, Real, Scalar
from .design_error import DesignError, wrong_count
from .design_model import (
    DesignModel,
    Matrix,
    check_stabilisable,
)
from .estimator import Estimate, Estimator
from .nominal import NominalMotion
from .pid import saturate
from .riccati import discrete_riccati


class AllowedDeviations(NamedTuple):
    """Deviations that cost one each: small ones are held tightly."""

    position: Any  # of each encoder [rad or m]
    torque: Any  # of each actuated joint [N m or N]
    energy: float = np.inf  # of vibration [J]; infinite: not weighed
    integral: Any = np.inf  # of the error summed over time [rad s or m s]


class Regulator(NamedTuple):
    """A state feedback du = -K dx, and the cost 1/2 dx^T P dx that it leaves."""

    K: Matrix
    P: Matrix
    Q: Matrix
    R: Matrix


def regulator(
    design: DesignModel, tolerances: AllowedDeviations, encoders: tuple[str, ...]
) -> Regulator:
    """The optimal state feedback of a design model.

    Raises:
        DesignError: a motion that lasts is moved by no torque, or weights that are not definite.
    """
    check_stabilisable(design)
    Q, R = weights(design, tolerances, encoders)
    P = _least_cost(design.A, design.B, Q, R)
    return Regulator(_gain(design.A, design.B, P, R), P, Q, R)


def _least_cost(A: Matrix, B: Matrix, Q: Matrix, R: Matrix) -> Matrix:
    try:
        return discrete_riccati(A, B, Q, R)
    except np.linalg.LinAlgError as failure:
        raise DesignError(
            f"the weights leave a motion free that does not die out ({failure}): give position and energy tolerances",
            "tolerances",
        ) from None


def weights(
    design: DesignModel, tolerances: AllowedDeviations, encoders: tuple[str, ...]
) -> tuple[Matrix, Matrix]:
    """Q and R of Bryson's rule."""
    a = design.B.shape[1]
    torque = _positive("torque", tolerances.torque, a)
    position = _positive("position", tolerances.position, len(encoders))
    C_e = design.rows(encoders)
    Q = C_e.T / position**2 @ C_e
    energy = float(tolerances.energy)
    if not energy > 0:
        raise DesignError(f"must be positive, got {energy:g}", "tolerances.energy")
    if np.isfinite(energy):
        Q = Q + design.energy / energy
    return Q, np.diag(1 / torque**2)


def _positive(name: str, value: Any, count: int) -> Float[np.ndarray, " c"]:
    field = f"tolerances.{name}"
    values = np.asarray(value, dtype=float)
    if values.shape not in ((), (1,), (count,)):
        raise wrong_count(values.size, count, field)
    if not np.all(values > 0):
        raise DesignError(
            f"must be positive (weights must be definite), got {values.tolist()}", field
        )
    return np.broadcast_to(values, (count,))


def _gain(A: Matrix, B: Matrix, P: Matrix, R: Matrix) -> Matrix:
    return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)


def integral_regulator(
    design: DesignModel, tolerances: AllowedDeviations, encoders: tuple[str, ...]
) -> tuple[Regulator, Matrix]:
    """State feedback and gain of the summed errors: du = -K dx - K_i z, z the time integral of the deviation.

    Raises:
        DesignError: see `regulator`.
    """
    import scipy.linalg  # slow to import

    check_stabilisable(design)
    a = design.B.shape[1]
    C_e = design.rows(encoders)
    e = len(encoders)
    A = np.block(
        [[design.A, np.zeros((design.states, e))], [design.sample * C_e, np.eye(e)]]
    )
    B = np.concatenate([design.B, np.zeros((e, a))])
    Q_x, R = weights(design, tolerances, encoders)
    summed = _positive("integral", tolerances.integral, e)
    Q = np.asarray(scipy.linalg.block_diag(Q_x, np.diag(1 / summed**2)))
    P = _least_cost(A, B, Q, R)
    K = _gain(A, B, P, R)
    s = design.states
    return Regulator(K[:, :s], P, Q, R), K[:, s:]


class LQR(AbstractLaw):
    """du = -K dx - K_i int e: optimal feedback of the full state, which only a simulation can measure.

    The state is that of the whole robot: coordinates and their rates. It is the bound that laws on real sensors are
    measured against.
    """

    K: Float[Real, "a s"]
    K_integral: Float[Real, "a e"]
    nominal: NominalMotion  # of the coordinates and their rates
    sample: Scalar
    state_names: tuple[str, ...] = eqx.field(static=True)
    torque_limit: Float[Real, " a"] | None = None

    def sensors(self, model: Any) -> tuple[str, ...]:
        """All states, then the encoders of the actuated joints."""
        encoders = [f"{name}.encoder" for name in model.actuated_names]
        return (*self.state_names, *encoders)

    @override
    def init(self, model: Any) -> Float[Array, " e"]:
        return jnp.zeros(np.shape(self.K_integral)[1])

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]."""
        deviation = measured - self.nominal.measured.value(t)
        s = len(self.state_names)
        feedback = jnp.asarray(self.K) @ deviation[:s]
        integral = jnp.asarray(self.K_integral) @ memory
        wanted = self.nominal.torque.value(t) - feedback - integral
        torque = saturate(wanted, self.torque_limit)
        # Where the limit cuts off, the sum of the errors waits.
        free = jnp.all(torque == wanted)
        summed = memory + jnp.where(free, self.sample, 0.0) * deviation[s:]
        return torque, summed


class PreviewInputs(eqx.Module):
    """What is known before the motion begins, over time: see `preview`."""

    torque: AbstractSignal  # that does not wait for a deviation
    push: AbstractSignal  # w


class LQG(AbstractLaw):
    """du = -K xhat - dhat on the estimate of a Kalman filter: what sensors measure, and nothing else.

    The filter knows the torque that the limits let through, so that nothing winds up; it learns unknown lasting torques
    and takes them back, so that no error stays. What the nominal motion leaves out is met in advance (`preview`).
    """

    K: Float[Real, "a s"]
    estimator: Estimator
    nominal: NominalMotion
    sample: Scalar
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    torque_limit: Float[Real, " a"] | None = None
    preview: PreviewInputs | None = None

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.sensor_names

    @override
    def init(self, model: Any) -> Estimate:
        return self.estimator.start()

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Estimate
    ) -> tuple[Float[Array, " a"], Estimate]:
        """Joint torques [N m or N]."""
        deviation = measured - self.nominal.measured.value(t)
        state, disturbance = self.estimator.update(memory, deviation)
        nominal = self.nominal.torque.value(t)
        wanted = nominal - jnp.asarray(self.K) @ state - disturbance
        push = 0.0
        if self.preview is not None:
            wanted = wanted + self.preview.torque.value(t)
            push = self.preview.push.value(t)
        torque = saturate(wanted, self.torque_limit)
        own = torque - nominal
        return torque, self.estimator.predict(state, disturbance, own, push)
