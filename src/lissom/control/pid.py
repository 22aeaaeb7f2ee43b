"""Joint PID control: filtered derivative, and an integral that stops where the motor does."""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..solve.law import AbstractLaw
from ..types import Float, Real, Scalar
from .nominal import NominalMotion


class PIDMemory(NamedTuple):
    """What a PID carries from sample to sample."""

    integral: Float[Array, " a"]  # torque of the integral part
    error: Float[Array, " a"]  # at the sample before
    derivative: Float[Array, " a"]  # torque of the derivative part


class PID(AbstractLaw):
    """tau = tau_nom + kp e + ki int e + kd de/dt, e = r - encoder, sampled.

    The derivative is taken through a first-order lag. Where the torque limit cuts the command off, the integral does
    not grow further in that direction. The robot is taken to start on its reference: else the first sample sees the
    error jump, through the filter.
    """

    kp: Float[Real, " a"]
    ki: Float[Real, " a"]
    kd: Float[Real, " a"]
    nominal: NominalMotion
    sample: Scalar
    lag: Scalar  # time constant of the derivative's filter [s]
    torque_limit: Float[Real, " a"] | None = None

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Encoders of the actuated joints."""
        return tuple(f"{name}.encoder" for name in model.actuated_names)

    @override
    def init(self, model: Any) -> PIDMemory:
        zero = jnp.zeros(len(model.actuated_names))
        return PIDMemory(zero, zero, zero)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " a"], memory: PIDMemory
    ) -> tuple[Float[Array, " a"], PIDMemory]:
        """Joint torques [N m or N]."""
        nominal = self.nominal
        error = nominal.reference.value(t) - measured
        return self.act(error, nominal.torque.value(t), memory)

    def act(
        self,
        error: Float[Array, " a"],
        feedforward: Float[Array, " a"],
        memory: PIDMemory,
    ) -> tuple[Float[Array, " a"], PIDMemory]:
        """The law on a tracking error, around a feed-forward torque."""
        h = self.sample
        change = jnp.asarray(self.kd) * (error - memory.error)
        derivative = jnp.asarray(
            (self.lag * memory.derivative + change) / (self.lag + h)
        )
        ki = jnp.asarray(self.ki)
        # Without a gain nothing is remembered: an idle integral would be a pole at one.
        before = jnp.where(ki == 0, 0.0, memory.integral)
        integral = before + h * ki * error
        proportional = jnp.asarray(self.kp) * error
        wanted = feedforward + proportional + integral + derivative
        torque = saturate(wanted, self.torque_limit)
        # Beyond the limit, an error of the same sign would only wind the integral up.
        winding = (wanted - torque) * error > 0
        integral = jnp.where(winding, before, integral)
        return torque, PIDMemory(integral, error, derivative)


def saturate(
    torque: Float[Array, " a"], limit: Float[Real, " a"] | None
) -> Float[Array, " a"]:
    """Torques cut off at the limits of the drives."""
    if limit is None:
        return torque
    bound = jnp.asarray(limit)
    return jnp.clip(torque, -bound, bound)
