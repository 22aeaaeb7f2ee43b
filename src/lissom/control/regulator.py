"""Optimal state feedback: the gain that weighs error, vibration and torque.

The gain minimises sum_k (dx^T Q dx + du^T R du) of the sampled robot. Weights follow Bryson's rule: a deviation of the
size of its tolerance costs one.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from ..types import Float
from .design_error import DesignError, wrong_count
from .design_model import DesignModel, Matrix, check_stabilisable
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
            f"the weights do not penalise a motion that does not decay ({failure}): "
            "give position and energy tolerances",
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
