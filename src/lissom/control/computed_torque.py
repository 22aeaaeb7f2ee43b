"""Computed torque: the inverse dynamics of the rigid robot linearises the joints, a PD law moves them."""

from typing import Any, Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..describe.controllers import Common, Hertz, Positive
from ..dynamics.formulation import AbstractFormulation
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import for_drives
from .described_references import shaped_reference
from .nominal import rigid_torque
from .torque_limits import saturate


class ComputedTorqueController(Common):
    """Inverse dynamics of the rigid robot with a PD law on its accelerations."""

    type: Literal["computed-torque"]
    bandwidth: Hertz
    damping: Positive = 1.0


class ComputedTorque(AbstractLaw):
    """tau = M(e) (rdd + kd (rd - ed) + kp (r - e)) + h(e, ed), M and h of the rigid robot, e the encoder readings.

    The links are taken as rigid: keep the bandwidth sqrt(kp) below their first frequency. A rotor and its gear are part
    of M. In a closed chain the independent joints say where the robot is.

    Args:
        formulation: the robot as the controller knows it.
        reference: of the actuated joints.
        kp: [1/s^2]; a bandwidth of omega is kp = omega^2.
        kd: [1/s]; a damping ratio of zeta is kd = 2 zeta omega.
        sample: period [s]; None: continuous.
        torque_limit: of each actuated joint.
    """

    formulation: AbstractFormulation
    reference: AbstractSignal
    kp: Float[Real, " a"]
    kd: Float[Real, " a"]
    sample: Scalar | None = None
    torque_limit: Float[Real, " a"] | None = None

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Encoders of all moving joints, then their speeds."""
        encoders = [f"{name}.encoder" for name in model.joint_names]
        speeds = [f"{name}.speed" for name in model.joint_names]
        return (*encoders, *speeds)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]; no memory."""
        encoder, speed = jnp.split(measured, 2)
        actuated = jnp.asarray(self.formulation.joints.actuated, dtype=int)
        error = self.reference.value(t) - encoder[actuated]
        error_d = self.reference.rate(t) - speed[actuated]
        correction = jnp.asarray(self.kp) * error + jnp.asarray(self.kd) * error_d
        wanted = self.reference.acceleration(t) + correction
        acceleration = jnp.zeros_like(encoder).at[actuated].set(wanted)
        torque = rigid_torque(self.formulation, encoder, speed, acceleration)
        return saturate(torque, self.torque_limit), memory


def computed_torque_law(
    model: Model, controller: ComputedTorqueController
) -> ComputedTorque:
    """The computed-torque law of a description."""
    omega = 2 * np.pi * controller.bandwidth
    ones = np.ones(len(model.actuated))
    return ComputedTorque(
        formulation=model.formulation,
        reference=shaped_reference(model, controller),
        kp=omega**2 * ones,
        kd=2 * controller.damping * omega * ones,
        sample=controller.sample,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


LAW = DescribedLaw(ComputedTorqueController, computed_torque_law)
