"""The slow motions of a robot about a pose, in continuous time; the faster ones follow at once."""

from typing import Any, NamedTuple

import numpy as np
import scipy

from ..analyse.linear.linearize import linearize
from ..solve.model import Model
from ..types import Float
from .design_model import (
    KEPT_SHARE,
    Matrix,
    energy_matrix,
    quasi_static_part,
    slow_and_fast,
)

Vector = Float[np.ndarray, "_"]


class SlowModel(NamedTuple):
    """dx' = A dx + B du, dy = C dx + D du, and the point about which it holds."""

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    outputs: Vector  # at the pose
    torque: Vector  # of the actuated joints, that holds the pose [N m or N]
    energy: Matrix  # elastic and kinetic energy is 1/2 dx^T energy dx [J]


def slow_model(
    model: Model,
    q: Any,
    outputs: tuple[str, ...],
    sample: float,
    fastest: float | None = None,
) -> SlowModel:
    """The slow motions about a pose at rest.

    Args:
        model: the robot as the controller knows it.
        q: joint coordinates of the actuated joints, or of all moving ones.
        outputs: names of channels.
        sample: period of the controller [s].
        fastest: natural frequency up to which motions are kept [Hz]; a tenth of the sampling frequency by default.
    """
    linear = linearize(model, whole_pose(model, q), outputs=outputs)
    limit = KEPT_SHARE / sample if fastest is None else fastest
    slow, fast = slow_and_fast(linear, 2 * np.pi * limit, sample)
    torque = np.asarray(linear.operating.torque, dtype=float)
    return SlowModel(
        slow.A,
        slow.B,
        slow.C,
        linear.D + fast.C @ quasi_static_part(fast),
        np.asarray(linear.operating.outputs, dtype=float),
        torque[list(model.actuated)],
        slow.states.T @ energy_matrix(linear) @ slow.states,
    )


def whole_pose(model: Model, row: Any) -> Vector:
    """Coordinates of all moving joints, loops closed, from these or from those of the actuated joints."""
    row = np.asarray(row, dtype=float)
    is_whole = len(row) == model.n_joints
    if is_whole or (model.closed and model.actuated == model.formulation.independent):
        return np.asarray(model.assemble(row))
    whole = np.array(model.formulation.mechanism.home, dtype=float)
    whole[list(model.actuated)] = row
    return np.asarray(model.assemble(whole))


def zero_order_hold(A: Matrix, B: Matrix, period: float) -> tuple[Matrix, Matrix]:
    """The system from step to step, its inputs held over each (exact)."""
    nothing = np.zeros((1, len(A))), np.zeros((1, B.shape[1]))
    stepped: Any = scipy.signal.cont2discrete((A, B, *nothing), period, "zoh")
    return stepped[0], stepped[1]


def encoder_names(model: Model) -> tuple[str, ...]:
    """Encoders of the actuated joints."""
    return tuple(f"{name}.encoder" for name in model.actuated_names)


def state_names(model: Model) -> tuple[str, ...]:
    """Coordinates of the robot, then their rates."""
    names = (*model.independent_names, *model.coordinate_names)
    return (*names, *(f"{name}.rate" for name in names))
