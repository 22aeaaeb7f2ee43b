"""Optimal control on the estimate of a Kalman filter (LQG)."""

from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import PreviewedFeedback
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import for_drives
from .estimator import Estimate, Estimator
from .nominal import NominalMotion
from .state_feedback import estimated, known_motion, over_time
from .torque_limits import saturate


class LQGController(PreviewedFeedback):
    """Optimal feedback on the estimate of a Kalman filter."""

    type: Literal["lqg"]


class PreviewInputs(eqx.Module):
    """Feed-forward of the known motion over time: see `preview`."""

    torque: AbstractSignal  # that does not wait for a deviation
    push: AbstractSignal  # w


class LQG(AbstractLaw):
    """du = -K xhat - dhat on the estimate of a Kalman filter, from sensors only.

    The filter gets the saturated torque, so that nothing winds up; it estimates unknown constant torques and the law
    compensates them, so that no error remains. What the nominal motion leaves out is met in advance (`preview`).
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

    @override
    def holding(
        self, t: Float[Any, ""], torque: Float[Any, " a"], memory: Estimate
    ) -> Estimate:
        held = self.nominal.deviation_before(t, torque, self.sample)
        return memory._replace(held=held)

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


def lqg_law(model: Model, controller: LQGController) -> LQG:
    """Optimal feedback on the estimate of a Kalman filter."""
    sensors, design, gains, estimator = estimated(model, controller)
    nominal, known = known_motion(model, controller, sensors, design, gains)
    foreseen = None
    if known is not None:
        foreseen = PreviewInputs(
            torque=over_time(controller, known.torque),
            push=over_time(controller, known.push),
        )
    return LQG(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
        preview=foreseen,
    )


LAW = DescribedLaw(LQGController, lqg_law)
