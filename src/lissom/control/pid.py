"""Joint PID control: filtered derivative, anti-windup at the torque limit."""

from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import Common, JointGains
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import for_drives, gains_or_zero
from .described_references import design_pose, nominal_of
from .nominal import NominalMotion
from .torque_limits import saturate
from .tuning import pid_gains

LAG = 2.0  # samples: time constant of a derivative's filter


class PIDController(Common):
    """Joint PID control on encoders."""

    type: Literal["pid"]
    gains: JointGains


class PIDMemory(NamedTuple):
    """State of a PID between two samples."""

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
        # Without a gain there is no state: an idle integral would be a pole at one.
        before = jnp.where(ki == 0, 0.0, memory.integral)
        integral = before + h * ki * error
        proportional = jnp.asarray(self.kp) * error
        wanted = feedforward + proportional + integral + derivative
        torque = saturate(wanted, self.torque_limit)
        # Beyond the limit, an error of the same sign would only wind the integral up.
        winding = (wanted - torque) * error > 0
        integral = jnp.where(winding, before, integral)
        return torque, PIDMemory(integral, error, derivative)


def pid_law(model: Model, controller: PIDController) -> PID:
    """The PID of a description."""
    return position_loop(model, controller, controller.gains)


def position_loop(model: Model, controller: Common, gains: JointGains) -> PID:
    """A PID on encoders with gains as numbers, or from a bandwidth at the end of the motion."""
    q = design_pose(model, controller)
    if gains.bandwidth is not None:
        kp, ki, kd = pid_gains(model, q, gains.bandwidth, gains.damping)
    else:
        kp = gains_or_zero(model, "gains.kp", gains.kp)
        ki = gains_or_zero(model, "gains.ki", gains.ki)
        kd = gains_or_zero(model, "gains.kd", gains.kd)
    return PID(
        kp=kp,
        ki=ki,
        kd=kd,
        nominal=nominal_of(model, controller),
        sample=controller.sample,
        lag=gains.lag or LAG * controller.sample,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


LAW = DescribedLaw(PIDController, pid_law)
