"""The symmetric eigenproblem K phi = omega^2 M phi, and the similarity of two shapes (MAC).

M is symmetric and positive definite, K is symmetric; both are made exactly so before they are used. The modes come
back mass-normalised (phi_i^T M phi_j = 1 if i = j, else 0), lowest omega^2 first, each with its largest component
positive. There are two forms: LAPACK's for plain numbers, and one in JAX for `jit`, `vmap` and `grad`.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Inexact

from ..types import Float, Real, namespace

SAME_SIZE = 1e-6  # relative difference of components that count as equally large
SMALLEST = 1e-300  # keeps the quotient of a vector without length finite


def symmetric_modes(
    K: Float[np.ndarray, "n n"], M: Float[np.ndarray, "n n"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Eigenvalues omega^2 and modes (columns) of K phi = omega^2 M phi, by LAPACK."""
    squares, Phi = symmetric_eigen(K, M)
    return squares, normalise_signs(Phi)


def symmetric_eigen(
    A: Float[np.ndarray, "n n"], B: Float[np.ndarray, "n n"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Eigenvalues, ascending, and vectors (columns, orthonormal in B) of A v = lambda B v; B is positive definite.

    With B = L L^T the problem is the ordinary one of L^-1 A L^-T. This is what `scipy.linalg.eigh` does, which takes
    longer to import than all that a small robot needs.

    Raises:
        numpy.linalg.LinAlgError: B is not positive definite.
    """
    inverse = triangle_inverse(np.linalg.cholesky(symmetric_part(B)))
    ordinary = inverse @ symmetric_part(A) @ inverse.T
    values, V = np.linalg.eigh(symmetric_part(ordinary))
    return values, inverse.T @ V


def triangle_inverse(L: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """L^-1 of a lower triangle, by halves: [[a, 0], [b, c]] has the inverse [[a^-1, 0], [-c^-1 b a^-1, c^-1]]."""
    n = len(L)
    if n < 2:
        return 1 / L
    half = n // 2
    inverse = np.zeros_like(L)
    first = triangle_inverse(L[:half, :half])
    last = triangle_inverse(L[half:, half:])
    inverse[:half, :half] = first
    inverse[half:, half:] = last
    inverse[half:, :half] = -last @ L[half:, :half] @ first
    return inverse


def symmetric_modes_traced(
    K: Float[Array, "n n"], M: Float[Array, "n n"]
) -> tuple[Float[Array, " n"], Float[Array, "n n"]]:
    """The same as a function that JAX can trace; derivatives exist where an eigenvalue is not repeated.

    With M = L L^T the problem is the ordinary one of L^-1 K L^-T, whose vectors are L^T phi.
    """
    from jax.scipy.linalg import solve_triangular  # slow to import

    L = jnp.linalg.cholesky(symmetric_part(M))
    # The two solves apply L^-1 from the left, and from the right by way of the transpose.
    half = solve_triangular(L, symmetric_part(K), lower=True)
    A = solve_triangular(L, half.T, lower=True)
    squares, V = jnp.linalg.eigh(A)
    Phi = solve_triangular(L.T, V, lower=False)
    return squares, normalise_signs(Phi)


def symmetric_part(A: Float[Real, "n n"]) -> Any:
    """(A + A^T) / 2: rounding leaves the two triangles of a symmetric matrix a little different."""
    return 0.5 * (A + A.T)


def normalise_signs(shapes: Float[Real, "n m"]) -> Any:
    """The shapes (columns), each with its largest component positive; of several that are as large, the first."""
    xp = namespace(shapes)
    size = xp.abs(shapes)
    # Components of equal size differ by rounding: a shape must not turn over because of it.
    is_largest = size >= (1.0 - SAME_SIZE) * xp.max(size, axis=0)
    first = xp.argmax(is_largest, axis=0)
    return shapes * xp.sign(shapes[first, np.arange(shapes.shape[1])])


def modal_assurance(
    a: Inexact[np.ndarray, "*batch n"],
    b: Inexact[np.ndarray, "*other n"],
    weight: Float[np.ndarray, "n n"] | None = None,
) -> Any:
    """MAC of vectors along the last axis, [Palomba2019] eq. (33): 1 for the same shape, 0 for orthogonal ones.

    Leading axes are broadcast: `modal_assurance(A.T[:, None], B.T[None])` compares every column of A with every one
    of B. `weight` is a symmetric matrix, such as an inertia; without it all components have equal weight.
    """

    def weighted(v):
        # Weighted before the axes are broadcast: one product for each vector, not for each pair.
        return v if weight is None else v @ weight

    def square_length(v):
        return np.sum(np.conj(v) * weighted(v), axis=-1).real

    product = np.sum(np.conj(a) * weighted(b), axis=-1)
    lengths = square_length(a) * square_length(b)
    return np.abs(product) ** 2 / np.maximum(lengths, SMALLEST)
