"""Linear models about a moving point, freed from the effect of coordinates that change in time.

Small motion about a motion obeys M dxdd + C dxd + K dx = 0 with M, C, K that change in time. The eigenvalues of the
frozen-time system contain the change of the coordinates, not only growth: an arm that stretches turns more slowly
without dissipation. Small motion of a conservative robot has the Lagrangian

    L = 1/2 dxd^T M dxd + dxd^T B dx - 1/2 dx^T K_L dx,        so that

    C = Md + G,        K = K_L + Bd,        G = B - B^T,

with Md, Bd the rates of change along the motion. Md and the skew part of Bd, Gd / 2, belong to the change of the
coordinates. What is left,

    M dxdd + (C - Md) dxd + (K - Gd / 2) dx = 0,

is the self-adjoint problem of the instant: its roots are imaginary where a conservative robot is stable, and damping
moves them to the left. Twice their real part is the rate at which a mode changes its action, energy divided by
frequency: along slow changes the action of a free vibration is constant, whatever the coordinates do
[LandauLifshitz1976] sec. 49.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Inexact

from ...dynamics.formulation import AbstractFormulation
from ...solve.balance import MotionPoint, motion_residual
from ...types import Float
from .linear_matrices import LinearMatrices
from .locking import Locking


class MatrixRates(NamedTuple):
    """Rates of change of M and C along a motion."""

    M: Any  # (n, n) each
    C: Any


def matrix_rates(f: AbstractFormulation, point: MotionPoint) -> MatrixRates:
    """Md and Cd at a point of a motion: pure, for `jit` and `vmap`."""
    n = f.size

    def slopes(x: Float[Array, " n"], xd: Float[Array, " n"]):
        def gamma(z):
            return motion_residual(f, x, z[:n], z[n:], point.tau)

        return jax.jacfwd(gamma)(jnp.concatenate([xd, point.xdd]))

    along = (point.xd, point.xdd)
    _, slopes_d = jax.jvp(slopes, (point.x, point.xd), along)
    return MatrixRates(M=slopes_d[:, n:], C=slopes_d[:, :n])


def locked_rates(
    rates: MatrixRates, matrices: LinearMatrices, lock: Locking
) -> MatrixRates:
    """The rates of the matrices of `Locking.reduced`, whose B changes at the rate P, and P at the rate Q_0."""
    B, P, Q_1, Q_0 = lock
    M, C = matrices.M, matrices.C
    M_d, C_d = rates
    M_r = P.T @ M @ B + B.T @ M_d @ B + B.T @ M @ P
    damping = P.T @ C @ B + B.T @ C_d @ B + B.T @ C @ P
    inertial = P.T @ M @ Q_1 + B.T @ M_d @ Q_1 + 2.0 * B.T @ M @ Q_0
    return MatrixRates(M_r, damping + inertial)


def self_adjoint(matrices: LinearMatrices, rates: MatrixRates) -> LinearMatrices:
    """M, C - Md and K - Gd / 2: the self-adjoint form of small motion about a motion, in any coordinates."""
    M_d = 0.5 * (rates.M + rates.M.T)
    G_d = 0.5 * (rates.C - rates.C.T)
    return matrices._replace(C=matrices.C - M_d, K=np.asarray(matrices.K) - 0.5 * G_d)


def change_rates(
    matrices: LinearMatrices, rates: MatrixRates, shapes: Inexact[np.ndarray, "n m"]
) -> Float[np.ndarray, " m"]:
    """Relative rate of change of each shape's inertia along the motion [1/s], |phi^* Md phi| / (phi^* M phi).

    Frozen-time eigenvalues give the growth of vibrations that are faster than that.
    """
    change = np.einsum("im,ij,jm->m", shapes.conj(), rates.M, shapes)
    inertia = np.einsum("im,ij,jm->m", shapes.conj(), matrices.M, shapes)
    return np.abs(change) / np.abs(inertia)
