"""Triangular solves and factors of matrices that are power series, order by order from those of the constant term."""

import jax
import jax.numpy as jnp
import numpy as np

from .. import series as s
from ..series import Series, constant, total


def _transposed(A):
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
        return total([s.matmul(m, *factors), less_b])

    return s.refine(m.order, residual, solve, b.each(solve))


def _triangle(params, A: Series) -> Series:
    """The matrix that a triangular solve means: one triangle, perhaps with ones on its diagonal, perhaps transposed."""
    T = A.each(np.tril if params["lower"] else np.triu)
    if params["unit_diagonal"]:
        one = np.eye(A.shape[-1])
        diagonal = constant(np.broadcast_to(one, A.shape))
        off_diagonal = T.each(lambda data: data * (1 - one))
        T = total([off_diagonal, diagonal])
    return T.each(_transposed) if params["transpose_a"] else T


def cholesky(m, params, A: Series) -> Series:
    """L with L L^T = A."""
    L0 = np.linalg.cholesky(A.value)
    less_A = A.each(np.negative)

    def residual(L):
        square = s.matmul(m, L, L.each(_transposed))
        return total([square, less_A])

    def correct(data):
        # L0 dL^T + dL L0^T = data: with dL = L0 W, the symmetric W + W^T is L0^-1 data L0^-T.
        left = np.linalg.solve(L0, data)
        inner = np.linalg.solve(L0, _transposed(left))
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
    one = np.eye(packed.shape[-1])
    diagonal = constant(np.broadcast_to(one, packed.shape))
    L0 = np.tril(packed, -1) + one
    U0 = np.triu(packed)
    rows = order[None, ..., None]
    less_PA = A.each(lambda data: -np.take_along_axis(data, rows, axis=-2))

    def residual(X):
        below = X.each(lambda data: np.tril(data, -1))
        L = total([below, diagonal])
        U = X.each(np.triu)
        return total([s.matmul(m, L, U), less_PA])

    def correct(data):
        # dL U0 + L0 dU = data: with inner = L0^-1 data U0^-1, dL = L0 (lower part), dU = (upper part) U0.
        left = np.linalg.solve(L0, data)
        inner_T = np.linalg.solve(_transposed(U0), _transposed(left))
        inner = _transposed(inner_T)
        dL = L0 @ np.tril(inner, -1)
        dU = np.triu(inner) @ U0
        return np.tril(dL, -1) + np.triu(dU)

    return s.refine(m.order, residual, correct, constant(packed))


RULES = {
    "triangular_solve": triangular_solve,
    "cholesky": cholesky,
    "lu": lu,
}
