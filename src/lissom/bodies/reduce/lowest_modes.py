"""Solves and lowest modes of a held structure: dense, sparse, or traced by JAX."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...algebra import eigen
from ...algebra.eigen import normalise_signs
from ...types import Float, Real, namespace

Matrix = Any  # dense (NumPy, JAX) or scipy.sparse, symmetric, both triangles
Solve = Callable[[Any], Any]  # K^-1 on one column or several

MASSLESS = 1e-13  # 1/omega^2 against the largest, below which a motion carries no mass
SAME = 1e-9  # relative gap below which eigenvalues count as equal
ROUNDING = (
    1e-14  # entry against the diagonal below which two dofs do not act on each other
)
SMALL = 600  # dofs up to which a sparse problem is solved densely
LOOSE = (
    "the stiffness is singular: the held interface must prevent every rigid motion of "
    "the link"
)


def is_sparse(matrix: Matrix) -> bool:
    """True for the matrices of scipy.sparse."""
    if isinstance(matrix, Real):
        return False
    # Links of beams never need it: it is loaded for links of finite elements only.
    from scipy.sparse import issparse

    return issparse(matrix)


def to_dense(matrix: Matrix) -> Float[Real, "n m"]:
    """The matrix with all its zeros."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def inverse_of(K: Matrix) -> Solve:
    """K^-1 of a held structure, as a function of loads.

    Raises:
        ValueError: the structure can still move without strain.
    """
    if is_sparse(K):
        return _sparse_inverse(K)
    if namespace(K) is jnp:
        return lambda load: jnp.linalg.solve(K, load)
    if not len(K):
        return lambda load: load
    try:
        np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        raise ValueError(LOOSE) from None
    return lambda load: np.linalg.solve(K, load)


def _sparse_inverse(K: Matrix) -> Solve:
    from scipy.sparse.linalg import splu

    try:
        # A symmetric positive definite matrix needs no pivoting: the ordering alone keeps the fill low.
        factors = splu(
            K.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        raise ValueError(LOOSE) from None
    return factors.solve


def lowest_modes(
    K: Matrix, M: Matrix, count: int, solve: Solve | None = None
) -> tuple[Float[Real, " m"], Float[Real, "n m"]]:
    r"""Eigenvalues omega^2 and mass-normalised modes of $K \phi = \omega^2 M \phi$, lowest first.

    The largest component of each is positive: the sign that LAPACK gives could differ between two similar links.
    Solved for $1 / \omega^2$, so that the mass may be singular: motions without mass have no frequency and are left
    out, and there may be fewer modes than requested. K must be positive definite.

    Args:
        K: stiffness of the held structure.
        M: its mass; an operator will do where K is sparse.
        count: modes wanted.
        solve: K^-1 as a function of loads, if it is known.
    """
    n = K.shape[0]
    count = min(count, n)
    if count == 0:
        xp = namespace(K)
        no_modes = xp.zeros((n, 0))
        return xp.zeros(0), no_modes
    squares, modes = _modes_of_any_sign(K, M, count, solve)
    return squares, normalise_signs(modes)


def _modes_of_any_sign(K: Matrix, M: Matrix, count: int, solve: Solve | None):
    """The lowest modes by the method that suits the matrices."""
    n = K.shape[0]
    if is_sparse(K):
        if n > SMALL and count < n - 1:
            solve = solve or inverse_of(K)
            return _lanczos(K, M, count, solve)
        # An operator has no entries of its own: its columns are what it makes of the unit vectors.
        if is_sparse(M):
            M = to_dense(M)
        else:
            M = M @ np.eye(n)
        K = to_dense(K)
    if namespace(K, M) is jnp:
        return _traced_modes(K, M, count)
    return _dense_modes(K, M, count)


def _dense_modes(K: np.ndarray, M: np.ndarray, count: int):
    mu, v = eigen_by_parts(_part_modes, K, M)
    order = descending_order(mu)[:count]
    mu = mu[order]
    heavy = mu > MASSLESS * mu[0]
    mu = mu[heavy]
    return 1 / mu, v[:, order[heavy]] / np.sqrt(mu)


def _part_modes(K: np.ndarray, M: np.ndarray):
    """1 / omega^2, ascending, and modes that are orthonormal in K."""
    try:
        return eigen.symmetric_eigen(M, K)
    except np.linalg.LinAlgError:
        # Where K is the reason, this says so in words.
        inverse_of(K)
        raise


def eigen_by_parts(
    decompose: Callable[..., tuple[np.ndarray, np.ndarray]],
    *matrices: Float[np.ndarray, "n n"],
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """Eigenvalues and vectors of parts that do not act on each other, found part by part.

    What is at rest in a vector is then exactly zero, whatever the numbers of the link. They come in the order of the
    parts; `descending_order` sorts them.

    Args:
        decompose: eigenvalues, ascending, and vectors of one part from its rows and columns of the matrices.
        matrices: symmetric.
    """
    n = len(matrices[0])
    values = np.zeros(n)
    vectors = np.zeros((n, n))
    for dofs in independent_parts(*matrices):
        block = np.ix_(dofs, dofs)
        values[dofs], vectors[block] = decompose(*(A[block] for A in matrices))
    return values, vectors


def independent_parts(*matrices: Float[np.ndarray, "n n"]) -> list[np.ndarray]:
    """Dofs that act on each other in one of the matrices, part by part.

    Of a straight beam these are bending in each plane, stretch and twist. Entries that are rounding against their
    diagonal count as zero.
    """
    n = len(matrices[0])
    is_coupled = np.zeros((n, n), dtype=bool)
    for A in matrices:
        size = np.sqrt(np.abs(np.diag(A)))
        is_coupled |= np.abs(A) > ROUNDING * np.outer(size, size)
    parts = []
    left = np.ones(n, dtype=bool)
    while left.any():
        part = np.zeros(n, dtype=bool)
        part[np.argmax(left)] = True
        reached = part | is_coupled[part].any(axis=0)
        while reached.sum() > part.sum():
            part = reached
            reached = part | is_coupled[part].any(axis=0)
        parts.append(np.flatnonzero(part))
        left &= ~part
    return parts


def descending_order(values: Float[np.ndarray, " n"]) -> np.ndarray:
    """The order of eigenvalues from the largest down; equal ones stay in their order, whatever their rounding."""
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    gap = falling[:-1] - falling[1:]
    is_apart = gap > SAME * np.abs(falling[:-1])
    group = np.concatenate([[0], np.cumsum(is_apart)])
    return order[np.lexsort((order, group))]


def symmetric(A: Matrix) -> Matrix:
    """The symmetric part of a matrix that is symmetric but for rounding."""
    return 0.5 * (A + A.T)


def _lanczos(K: Matrix, M: Matrix, count: int, solve: Solve):
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = K.shape[0]
    inverse: Any = LinearOperator((n, n), matvec=solve, dtype=float)  # type: ignore[call-arg]
    start = np.random.default_rng(0).standard_normal(n)  # the same every time
    # M times a random vector has no part in the motions without mass.
    lam, v = eigsh(K, k=count, M=M, sigma=0.0, OPinv=inverse, v0=M @ start)
    order = np.argsort(lam)
    return lam[order], v[:, order]


def _traced_modes(K, M, count: int):
    from jax.scipy.linalg import solve_triangular  # slow to import

    L = jnp.linalg.cholesky(K)
    half = solve_triangular(L, jnp.asarray(M), lower=True)
    A = solve_triangular(L, half.T, lower=True)
    mu, V = differentiable_eigh(symmetric(A))
    mu = mu[::-1][:count]
    V = V[:, ::-1][:, :count]
    modes = solve_triangular(L.T, V, lower=False)
    return 1 / mu, modes / jnp.sqrt(mu)


@jax.custom_jvp
def differentiable_eigh(A: Float[Real, "n n"]):
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix, with derivatives where eigenvalues repeat too.

    Vectors of equal eigenvalues have no derivative of their own; the space they span has. They are differentiated as if
    they did not turn among themselves: right for everything that depends on the span alone, as a reduced link does.
    """
    return tuple(jnp.linalg.eigh(A))


@differentiable_eigh.defjvp
def _symmetric_eigen_jvp(primals, tangents):
    (A,) = primals
    (dA,) = tangents
    lam, V = differentiable_eigh(A)
    inner = V.T @ dA @ V
    # dV = V F with F_ij = (V^T dA V)_ij / (lam_j - lam_i), and no turning among equal eigenvalues.
    gap = lam[None, :] - lam[:, None]
    largest = jnp.abs(lam).max()
    apart = jnp.abs(gap) > SAME * largest
    safe_gap = jnp.where(apart, gap, 1.0)
    F = jnp.where(apart, 1 / safe_gap, 0.0)
    dlam = jnp.diagonal(inner)
    dV = V @ (F * inner)
    return (lam, V), (dlam, dV)
