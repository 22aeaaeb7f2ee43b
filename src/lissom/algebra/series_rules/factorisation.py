"""Triangular solves and factors of matrices that are power series, order by order from those of the constant term."""

import jax
import jax.numpy as jnp
import numpy as np

from .. import series as s
from ..series import Series, add_series, constant


def _transpose(A):
    return A.swapaxes(-1, -2)


def triangular_solve(m, params, A: Series, b: Series) -> Series:
    """Solution X of T X = b, or of X T = b."""

    def solve(data):
        def one(d):
            return jax.lax.linalg.triangular_solve(A.value, d, **params)

        return np.asarray(jax.vmap(one)(jnp.asarray(data)))

    if A.constant:
        return b.each(solve)
    T = _triangle(params, A)
    less_b = b.each(np.negative)

    def residual(X):
        factors = (T, X) if params["left_side"] else (X, T)
        return add_series([s.matmul(m, *factors), less_b])

    return s.refine(m.order, residual, solve, b.each(solve))


def _triangle(params, A: Series) -> Series:
    """The matrix that a triangular solve means: one triangle, perhaps with ones on its diagonal, perhaps transposed."""
    T = A.each(np.tril if params["lower"] else np.triu)
    if params["unit_diagonal"]:
        identity = np.eye(A.shape[-1])
        diagonal = constant(np.broadcast_to(identity, A.shape))
        off_diagonal = T.each(lambda data: data * (1 - identity))
        T = add_series([off_diagonal, diagonal])
    return T.each(_transpose) if params["transpose_a"] else T


def cholesky(m, params, A: Series) -> Series:
    """L with L L^T = A."""
    L0 = np.linalg.cholesky(A.value)
    less_A = A.each(np.negative)

    def residual(L):
        square = s.matmul(m, L, L.each(_transpose))
        return add_series([square, less_A])

    def correct(data):
        # L0 dL^T + dL L0^T = data: with dL = L0 W, the symmetric W + W^T is L0^-1 data L0^-T.
        left = np.linalg.solve(L0, data)
        inner = np.linalg.solve(L0, _transpose(left))
        half_diagonal = 0.5 * inner * np.eye(L0.shape[-1])
        return L0 @ (np.tril(inner) - half_diagonal)

    return s.refine(m.order, residual, correct, constant(L0))


def lu(m, params, A: Series) -> list[Series]:
    """P A = L U with the row order of the constant term; L and U packed into one matrix, as LAPACK returns them."""
    parts = jax.lax.linalg.lu(jnp.asarray(A.value))
    packed, pivots, order = (np.asarray(part) for part in parts)
    if A.constant:
        factors = constant(packed)
    else:
        factors = _lu_series(m, A, packed, order)
    return [factors, constant(pivots), constant(order)]


def _lu_series(m, A: Series, packed: np.ndarray, order: np.ndarray) -> Series:
    """Packed factors order by order; the rows are exchanged as in the constant term."""
    identity = np.eye(packed.shape[-1])
    diagonal = constant(np.broadcast_to(identity, packed.shape))
    L0 = np.tril(packed, -1) + identity
    U0 = np.triu(packed)
    rows = order[None, ..., None]
    less_PA = A.each(lambda data: -np.take_along_axis(data, rows, axis=-2))

    def residual(X):
        below = X.each(lambda data: np.tril(data, -1))
        L = add_series([below, diagonal])
        U = X.each(np.triu)
        return add_series([s.matmul(m, L, U), less_PA])

    def correct(data):
        # dL U0 + L0 dU = data: with inner = L0^-1 data U0^-1, dL = L0 (lower part), dU = (upper part) U0.
        left = np.linalg.solve(L0, data)
        inner_T = np.linalg.solve(_transpose(U0), _transpose(left))
        inner = _transpose(inner_T)
        dL = L0 @ np.tril(inner, -1)
        dU = np.triu(inner) @ U0
        return np.tril(dL, -1) + np.triu(dU)

    return s.refine(m.order, residual, correct, constant(packed))


SAME = (
    1e-9  # gap of two eigenvalues, against the largest, below which they count as equal
)


def eigh(m, params, A: Series) -> list[Series]:
    """V and lam of a symmetric matrix, V^T A V = lam, V^T V = 1.

    Vectors of equal eigenvalues have no series of their own; the space they span has. They are continued as if they did
    not turn among themselves: right for everything that depends on the span alone, as a reduced link does.
    """
    lam, V0 = np.linalg.eigh(A.value)
    if A.constant:
        return [constant(V0), constant(lam)]
    gap = lam[..., None, :] - lam[..., :, None]
    largest = np.abs(lam).max(axis=-1)[..., None, None]
    apart = np.abs(gap) > SAME * largest
    part = np.where(apart, 1.0 / np.where(apart, gap, 1.0), 0.0)
    identity = np.eye(lam.shape[-1])
    V = constant(V0)
    for _ in range(m.order):
        V_T = V.each(_transpose)
        T = s.matmul(m, V_T, s.matmul(m, A, V))
        length = s.matmul(m, V_T, V)
        E = add_series([length, constant(np.broadcast_to(-identity, V0.shape))])
        # V (1 + Z) keeps its columns orthonormal and apart: Z + Z^T = -E, Z_ij (lam_j - lam_i) = T_ij - lam_j E_ij.
        scaled = E.each(lambda data: data * lam[..., None, :])
        turn = add_series([T, scaled.each(np.negative)]).each(lambda data: part * data)
        own = E.each(lambda data: np.where(apart, 0.0, -0.5 * data))
        Z = add_series([turn, own])
        V = add_series([V, s.matmul(m, V, Z)])
    T = s.matmul(m, V.each(_transpose), s.matmul(m, A, V))
    values = T.each(lambda data: np.diagonal(data, axis1=-2, axis2=-1))
    return [V, values]


RULES = {
    "eigh": eigh,
    "triangular_solve": triangular_solve,
    "cholesky": cholesky,
    "lu": lu,
}
