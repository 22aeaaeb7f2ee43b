"""Optimal control (LQR): feedback of the full state that weighs error, vibration and torque."""

from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import StateFeedback
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import for_drives
from .described_references import design_pose, nominal_of
from .design_model import design_model
from .nominal import NominalMotion
from .regulator import integral_regulator
from .slow_model import encoder_names, state_names
from .state_feedback import tolerances_of
from .torque_limits import saturate


class LQRController(StateFeedback):
    """Optimal feedback of the full state, with integral action."""

    type: Literal["lqr"]


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
        # Anti-windup: the integral is held while the torque is limited.
        free = jnp.all(torque == wanted)
        summed = memory + jnp.where(free, self.sample, 0.0) * deviation[s:]
        return torque, summed


def lqr_law(model: Model, controller: LQRController) -> LQR:
    """Optimal feedback of the full state."""
    states = state_names(model)
    encoders = encoder_names(model)
    q = design_pose(model, controller)
    design = design_model(
        model, q, encoders, controller.sample, fastest=controller.fastest
    )
    gains, K_integral = integral_regulator(design, tolerances_of(controller), encoders)
    return LQR(
        K=gains.K @ design.of_robot,
        K_integral=K_integral,
        nominal=nominal_of(model, controller, (*states, *encoders)),
        sample=controller.sample,
        state_names=states,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


LAW = DescribedLaw(LQRController, lqr_law)
