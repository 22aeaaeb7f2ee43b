"""Locked joints: small motion with the encoders following their own motion exactly.

The departure de of the encoders' reading, of its rate and of its acceleration from the motion is zero. With x = (theta,
eta), the joint coordinates follow from the elastic ones:

    dx = B deta,        dxd = B detad + P deta,        dxdd = B detadd + Q_1 detad + Q_0 deta;

P and Q vanish at rest, and wherever theta is the encoder's reading. All functions take NumPy arrays and give NumPy
arrays, or take JAX arrays and can then be batched, differentiated and expanded in series.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...algebra.linear import inverse
from ...types import Float, Real, namespace


class Locking(NamedTuple):
    """How all n coordinates move with the d elastic ones while the encoders keep to their motion."""

    B: Any  # (n, d) each
    P: Any
    Q_1: Any
    Q_0: Any

    def reduced(self, M, C, K) -> tuple[Any, Any, Any]:
        """M, C, K of the elastic coordinates alone."""
        B, P, Q_1, Q_0 = self
        # Forces on the elastic coordinates are those on all coordinates, taken along B.
        M_r = B.T @ M @ B
        C_r = B.T @ (C @ B + M @ Q_1)
        K_r = B.T @ (K @ B + C @ P + M @ Q_0)
        return M_r, C_r, K_r


def locked_basis(E: Float[Real, "j n"]) -> Any:
    """B: motions that leave the encoders where they are, E dx = 0, the elastic coordinates being free.

    E is the derivative of the readings of the independent joints with respect to x, joint coordinates first.
    """
    j = E.shape[0]
    return _basis(E, _joint_solver(E[:, :j]))


def locking(
    E: Float[Real, "j n"],
    E_1: Float[Real, "j n"],
    E_2: Float[Real, "j n"],
    E_21: Float[Real, "j n"],
) -> Locking:
    """The locking of the independent joints at a point of a motion.

    Args:
        E: derivative of the encoders' readings with respect to x; that of their rates with respect to xd is the same.
        E_1: derivative of their rates with respect to x.
        E_2: derivative of their accelerations with respect to x.
        E_21: derivative of their accelerations with respect to xd.
    """
    j, n = E.shape
    xp = namespace(E)
    following = _joint_solver(E[:, :j])

    no_elastic_part = xp.zeros((n - j, n - j))

    def joint_part(rows):
        return xp.concatenate([following(rows), no_elastic_part])

    B = _basis(E, following)
    P = joint_part(E_1 @ B)
    Q_1 = joint_part(E_21 @ B)
    Q_0 = joint_part(E_2 @ B + E_21 @ P)
    return Locking(B, P, Q_1, Q_0)


def _basis(E: Float[Real, "j n"], following: Callable[[Any], Any]):
    j, n = E.shape
    xp = namespace(E)
    elastic_part = xp.eye(n - j)
    return xp.concatenate([following(E[:, j:]), elastic_part])


def _joint_solver(E_joints: Any) -> Callable[[Any], Any]:
    """Solver for joint motions that cancel changes of the readings."""
    if namespace(E_joints) is np:
        return lambda rows: -np.linalg.solve(E_joints, rows)
    # Inverted once, without LAPACK: for batches and for series.
    E_inverse = inverse(E_joints)
    return lambda rows: -E_inverse @ rows
