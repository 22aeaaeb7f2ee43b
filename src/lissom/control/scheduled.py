"""Gains that change with the pose: designed along a line of poses, straight between them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import StateFeedback
from ..files.quantity import Whole
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_motions import end_rows
from .described_numbers import for_drives
from .described_references import nominal_of
from .design_error import DesignError
from .design_model import DesignModel, Matrix, design_model
from .lqr import LQR
from .nominal import NominalMotion
from .regulator import AllowedDeviations, integral_regulator, regulator
from .slow_model import encoder_names, state_names, whole_pose
from .state_feedback import tolerances_of


class ScheduledLQRController(StateFeedback):
    """Optimal feedback of the full state with gains that change with the pose."""

    type: Literal["scheduled-lqr"]
    # At which gains are designed, along the line from the first to the last row of the motion.
    poses: Annotated[int, Whole(2, 100)] = 5


class GainSchedule(eqx.Module):
    """A matrix as a function of the pose.

    Poses are counted along the line from the first to the last one; a pose beside the line counts as the nearest point
    on it.
    """

    start: Float[Real, " a"]  # actuated joints at the first pose
    way: Float[Real, " a"]  # from the first to the last
    gains: Float[Real, "p a s"]  # at equal distances

    def at(self, joints: Float[Array, " a"]) -> Float[Array, "a s"]:
        """The gain at a pose of the actuated joints."""
        way = jnp.asarray(self.way)
        gains = jnp.asarray(self.gains)
        share = (joints - jnp.asarray(self.start)) @ way / (way @ way)
        last = gains.shape[0] - 1
        place = jnp.clip(share, 0.0, 1.0) * last
        k = jnp.clip(jnp.floor(place).astype(int), 0, last - 1)
        part = place - k
        return (1 - part) * gains[k] + part * gains[k + 1]


def designs_along(
    model: Model, first: Any, last: Any, poses: int, sample: float, fastest: Any
) -> list[DesignModel]:
    """Design models at equal distances along the line from one pose to another; outputs are the encoders."""
    first, last = (np.asarray(row, dtype=float) for row in (first, last))
    if np.array_equal(first, last):
        raise DesignError(
            "the motion ends where it begins: there is no line of poses for scheduled "
            "gains",
            "poses",
        )
    outputs = encoder_names(model)
    designs = []
    for share in np.linspace(0.0, 1.0, poses):
        q = whole_pose(model, first + share * (last - first))
        designs.append(design_model(model, q, outputs, sample, fastest=fastest))
    return designs


def schedule(model: Model, first: Any, last: Any, gains: list[Matrix]) -> GainSchedule:
    """Gains at equal distances along the line between two poses."""
    rows = np.asarray([first, last], dtype=float)
    if rows.shape[1] == model.n_joints:
        rows = rows[:, list(model.actuated)]
    return GainSchedule(rows[0], rows[1] - rows[0], np.stack(gains))


class ScheduledLQR(AbstractLaw):
    """Optimal feedback of the full state with the gains of the pose that the encoders read."""

    inner: LQR  # of the first pose
    K: GainSchedule
    K_integral: GainSchedule
    sample: Scalar

    def sensors(self, model: Any) -> tuple[str, ...]:
        """All states, then the encoders of the actuated joints."""
        return self.inner.sensors(model)

    @override
    def init(self, model: Any) -> Any:
        return self.inner.init(model)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]."""
        joints = measured[len(self.inner.state_names) :]
        gains = (self.K.at(joints), self.K_integral.at(joints))
        law = eqx.tree_at(lambda law: (law.K, law.K_integral), self.inner, gains)
        return law(t, measured, memory)


def scheduled_lqr(
    model: Model,
    first: Any,
    last: Any,
    tolerances: AllowedDeviations,
    nominal: Callable[[tuple[str, ...]], NominalMotion],
    *,
    poses: int,
    sample: float,
    fastest: float | None = None,
    torque_limit: Any = None,
) -> ScheduledLQR:
    """Optimal feedback with gains along the line from one pose to another.

    Args:
        model: the robot as the controller knows it.
        first: pose at one end of the line.
        last: pose at the other.
        tolerances: deviations that cost one each.
        nominal: the nominal motion with its measurements, by their names.
        poses: at which gains are designed.
        sample: period [s].
        fastest: frequency up to which motions are in the controller's model [Hz].
        torque_limit: of each actuated joint.
    """
    encoders = encoder_names(model)
    K, K_integral = [], []
    for design in designs_along(model, first, last, poses, sample, fastest):
        gains, integral = integral_regulator(design, tolerances, encoders)
        K.append(gains.K @ design.of_robot)
        K_integral.append(integral)
    states = state_names(model)
    inner = LQR(
        K=K[0],
        K_integral=K_integral[0],
        nominal=nominal((*states, *encoders)),
        sample=sample,
        state_names=states,
        torque_limit=torque_limit,
    )
    return ScheduledLQR(
        inner=inner,
        K=schedule(model, first, last, K),
        K_integral=schedule(model, first, last, K_integral),
        sample=sample,
    )


def scheduled_gain(
    model: Model,
    first: Any,
    last: Any,
    tolerances: AllowedDeviations,
    *,
    poses: int,
    sample: float,
    fastest: float | None = None,
) -> GainSchedule:
    """Optimal feedback of the full state, without integral action, along the line from one pose to another."""
    gains = []
    for design in designs_along(model, first, last, poses, sample, fastest):
        feedback = regulator(design, tolerances, encoder_names(model))
        gains.append(feedback.K @ design.of_robot)
    return schedule(model, first, last, gains)


def scheduled_lqr_law(model: Model, controller: ScheduledLQRController) -> ScheduledLQR:
    """The scheduled state feedback of a description."""
    first, last = end_rows(model, controller)
    return scheduled_lqr(
        model,
        first,
        last,
        tolerances_of(controller),
        lambda names: nominal_of(model, controller, names),
        poses=controller.poses,
        sample=controller.sample,
        fastest=controller.fastest,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


LAW = DescribedLaw(ScheduledLQRController, scheduled_lqr_law)
