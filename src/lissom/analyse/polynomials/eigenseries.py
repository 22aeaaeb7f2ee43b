"""Eigenpairs as power series of the parameters, from power series of M, C, K: the recursion of [Palomba2019].

Read through its errata: eq. (26) sums the products of series, (25) and (26) with a plus before the K sum; eq. (27) is

    (l0^2 M0 + l0 C0 + K0) phi_tau + (2 l0 M0 + C0) phi_0 l_tau + r_tau = 0

with r_tau all products without an eigen-quantity of order tau. Eq. (28) solves it with a pseudo-inverse, whose
solution is orthogonal to phi_0; the bordered matrix below has the same solution, is square, and its one factorisation
serves every order and, transposed, the left vectors too.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Complex, Float

from ...algebra import series
from ...algebra.monomials import Monomials
from ...algebra.series import Series, of_dense
from .quadratic import Eigenpairs

CLOSE = 1e-6  # relative distance of two eigenvalues below which they count as repeated


class RepeatedEigenvalueError(ValueError):
    """An eigenvalue is repeated at the expansion point: a single pair has no Taylor series there."""


class EigenSeries(NamedTuple):
    """Coefficients over the T terms of m eigenpairs of n coordinates."""

    eigenvalue: Complex[np.ndarray, "T m"]
    right: Complex[np.ndarray, "T m n"]
    left: Complex[
        np.ndarray, "T m n"
    ]  # of conj(psi), which is analytic in real parameters like the others


def eigen_series(
    monomials: Monomials,
    M: Float[np.ndarray, "T n n"],
    C: Float[np.ndarray, "T n n"],
    K: Float[np.ndarray, "T n n"],
    pairs: Eigenpairs,
    biorthonormal: bool = True,
) -> EigenSeries:
    """Series of the given pairs of (M0, C0, K0).

    With `biorthonormal` the left vectors are scaled so that psi^* (2 lambda M + C) phi = 1 holds as a series, else
    they keep the bare solution of the recursion.

    Raises:
        RepeatedEigenvalueError: a pair coincides with another eigenvalue.
    """
    refuse_repeated(pairs)
    found = [_one_pair(monomials, (M, C, K), *pair) for pair in zip(pairs.eigenvalue, pairs.right.T, pairs.left.T,
                                                                     strict=True)]  # fmt: skip
    n = M.shape[-1]
    lam, phi, chi = (np.stack(part, axis=1) for part in zip(*found, strict=True)) if found else (
        np.zeros((monomials.size, 0), complex), *[np.zeros((monomials.size, 0, n), complex)] * 2)  # fmt: skip
    if biorthonormal:
        chi = np.stack([_biorthonormal(monomials, M, C, lam[:, i], phi[:, i], chi[:, i]) for i in range(lam.shape[1])],
                       axis=1) if found else chi  # fmt: skip
    return EigenSeries(lam, phi, chi)


def refuse_repeated(pairs: Eigenpairs) -> None:
    """Say which eigenvalues coincide.

    Raises:
        RepeatedEigenvalueError: if any of the pairs does.
    """
    everything = np.concatenate([pairs.eigenvalue, pairs.others])
    for i, value in enumerate(pairs.eigenvalue):
        gap = np.abs(everything - value) / np.abs(value)
        gap[i] = np.inf
        j = int(np.argmin(gap))
        if gap[j] < CLOSE:
            where = np.abs(value) / (2 * np.pi)
            raise RepeatedEigenvalueError(
                f"mode {i + 1} at {where:.6g} Hz coincides with another one (relative distance {gap[j]:.1e}): a single "
                "eigenpair has no Taylor series where its eigenvalue is repeated. Expand about another point, ask for "
                "fewer modes, or take away the symmetry (planar: true leaves out-of-plane motion away)."
            )


def _one_pair(
    m: Monomials, matrices, lam0: complex, phi0: np.ndarray, psi0: np.ndarray
):
    M, C, K = matrices
    n = len(phi0)
    Q0 = lam0**2 * M[0] + lam0 * C[0] + K[0]
    slope = 2 * lam0 * M[0] + C[0]
    # the border carries lambda_tau in units that make it as large as the matrix itself
    size = np.abs(lam0) ** 2 * np.abs(M[0]).max() + np.abs(K[0]).max()
    unit = size / np.abs(slope @ phi0).max()
    S = np.block(
        [
            [Q0, unit * (slope @ phi0)[:, None]],
            [size * phi0.conj()[None, :], np.zeros((1, 1))],
        ]
    )
    factors = scipy.linalg.lu_factor(S)
    lam, phi, chi = (np.zeros((m.size, *shape), complex) for shape in ((), (n,), (n,)))
    lam[0], phi[0], chi[0] = lam0, phi0, psi0.conj()
    right, left = (
        _Products(m, (M, C, K), phi),
        _Products(m, tuple(A.swapaxes(1, 2) for A in matrices), chi),
    )
    for t in range(1, m.order + 1):
        level = np.flatnonzero(m.degree == t)
        r = right.level(t, lam)
        solution = scipy.linalg.lu_solve(factors, np.pad(-r, ((0, 0), (0, 1))).T).T
        phi[level], lam[level] = solution[:, :n], unit * solution[:, n]
        right.settle(level)
        r = left.level(t, lam)
        chi[level] = scipy.linalg.lu_solve(
            factors, np.pad(-r, ((0, 0), (0, 1))).T, trans=1
        ).T[:, :n]
        left.settle(level)
    return lam, phi, chi


class _Products:
    """M phi, C phi and K phi as series that grow with phi, one order at a time."""

    def __init__(self, m: Monomials, matrices, vector: np.ndarray):
        self.m, self.matrices, self.vector = m, matrices, vector
        self.parts = [np.zeros_like(vector) for _ in matrices]
        self.settle(np.zeros(1, dtype=int))

    def settle(self, level: np.ndarray) -> None:
        """Add what the vector's own order contributes, once it is known."""
        for part, A in zip(self.parts, self.matrices, strict=True):
            part[level] += self.vector[level] @ A[0].T

    def level(self, t: int, lam: np.ndarray) -> np.ndarray:
        """r_tau of all tau with |tau| = t, eq. (26) without its unknowns; what is known of lam enters."""
        m, level = self.m, np.flatnonzero(self.m.degree == t)
        for a in np.flatnonzero((m.degree > 0) & (m.degree <= t)):
            b = np.flatnonzero(m.degree == t - m.degree[a])
            for part, A in zip(self.parts, self.matrices, strict=True):
                part[m.product[a, b]] += self.vector[b] @ A[a].T
        Mv, Cv, Kv = self.parts
        square = series.multiply(m, of_dense(lam), of_dense(lam)).dense(m.size)
        r = Kv[level].copy()
        for a in np.flatnonzero(m.degree <= t):
            b = np.flatnonzero(m.degree == t - m.degree[a])
            r[m.product[a, b] - level[0]] += lam[a] * Cv[b] + square[a] * Mv[b]
        return r


def _biorthonormal(m: Monomials, M, C, lam, phi, chi):
    """Left vectors divided by the series s = psi^* (2 lambda M + C) phi."""
    matrix, column = of_dense, lambda v: of_dense(v[:, :, None])
    Mphi, Cphi = (series.matmul(m, matrix(A), column(phi)) for A in (M, C))
    twice = of_dense(2 * lam[:, None, None])
    momentum = series.total([series.multiply(m, twice, Mphi), Cphi])
    s = series.matmul(m, of_dense(chi[:, None, :]), momentum).each(lambda d: d[:, 0, 0])
    inverse = series.compose(m, s, series.power(s.value, -1.0, m.order))
    return series.multiply(m, inverse.each(lambda d: d[:, None]), of_dense(chi)).dense(
        m.size
    )


__all__ = [
    "EigenSeries",
    "RepeatedEigenvalueError",
    "Series",
    "eigen_series",
    "refuse_repeated",
]
