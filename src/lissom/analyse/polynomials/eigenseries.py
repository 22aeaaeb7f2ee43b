"""Eigenpairs as power series of the parameters, from power series of M, C, K: the recursion of [Palomba2019].

Read through its errata: eq. (26) sums the products of series, (25) and (26) with a plus before the K sum; eq. (27) is

    (l0^2 M0 + l0 C0 + K0) phi_tau + (2 l0 M0 + C0) phi_0 l_tau + r_tau = 0

with r_tau all products without an eigen-quantity of order tau. Eq. (28) solves it with a pseudo-inverse, whose
solution is orthogonal to phi_0; the bordered matrix below has the same solution, is square, and its one factorisation
serves every order and, transposed, the left vectors too.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Complex

from ...algebra import series
from ...algebra.monomials import Monomials
from ...algebra.series import from_dense
from ...types import Float
from ..modes.complex_modes import Eigenpairs, frequency_hz

CLOSE = 1e-6  # relative distance of two eigenvalues below which they count as repeated


class RepeatedEigenvalueError(ValueError):
    """An eigenvalue is repeated at the expansion point: a single pair has no Taylor series there."""


class EigenSeries(NamedTuple):
    """Coefficients over the T terms of m eigenpairs of n coordinates."""

    eigenvalue: Complex[np.ndarray, "T m"]
    right: Complex[np.ndarray, "T m n"]
    # Of conj(psi), which is analytic in real parameters like the others.
    left: Complex[np.ndarray, "T m n"]

    def first_terms(self, size: int) -> "EigenSeries":
        """The series cut to its first terms."""
        return EigenSeries(
            eigenvalue=self.eigenvalue[:size],
            right=self.right[:size],
            left=self.left[:size],
        )


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
    m = len(pairs.eigenvalue)
    n = M.shape[-1]
    whole = EigenSeries(
        eigenvalue=np.zeros((monomials.size, m), complex),
        right=np.zeros((monomials.size, m, n), complex),
        left=np.zeros((monomials.size, m, n), complex),
    )
    for i in range(m):
        lam0 = pairs.eigenvalue[i]
        phi0 = pairs.right[:, i]
        psi0 = pairs.left[:, i]
        lam, phi, chi = _one_pair(monomials, (M, C, K), lam0, phi0, psi0)
        if biorthonormal:
            chi = _biorthonormal(monomials, M, C, lam, phi, chi)
        whole.eigenvalue[:, i] = lam
        whole.right[:, i] = phi
        whole.left[:, i] = chi
    return whole


def refuse_repeated(pairs: Eigenpairs) -> None:
    """Say which eigenvalues coincide.

    Raises:
        RepeatedEigenvalueError: if any of the pairs does.
    """
    everything = np.concatenate([pairs.eigenvalue, pairs.others])
    for i, value in enumerate(pairs.eigenvalue):
        gap = np.abs(everything - value) / np.abs(value)
        gap[i] = np.inf
        closest = gap.min()
        if closest < CLOSE:
            raise RepeatedEigenvalueError(
                f"mode {i + 1} at {frequency_hz(value):.6g} Hz coincides with another "
                f"one (relative distance {closest:.1e}): a single eigenpair has no "
                "Taylor series where its eigenvalue is repeated. Expand about another "
                "point, ask for fewer modes, or remove the symmetry (planar: true "
                "removes out-of-plane motion)."
            )


def _one_pair(
    m: Monomials, matrices, lam0: complex, phi0: np.ndarray, psi0: np.ndarray
):
    """Series of lambda, phi and chi = conj(psi) of one pair, order after order."""
    n = len(phi0)
    factors, unit = _factor_bordered(matrices, lam0, phi0)
    lam = np.zeros(m.size, complex)
    phi = np.zeros((m.size, n), complex)
    chi = np.zeros((m.size, n), complex)
    lam[0] = lam0
    phi[0] = phi0
    chi[0] = psi0.conj()
    transposed = tuple(A.swapaxes(1, 2) for A in matrices)
    right = _Products(m, matrices, phi)
    left = _Products(m, transposed, chi)
    for t in range(1, m.order + 1):
        level = np.flatnonzero(m.degree == t)
        solution = _solve_bordered(factors, right.remainder(t, lam))
        phi[level] = solution[:, :n]
        lam[level] = unit * solution[:, n]
        right.add_order(level)
        # The left vectors need lambda of this order, which the right ones have just given.
        solution = _solve_bordered(factors, left.remainder(t, lam), transposed=True)
        chi[level] = solution[:, :n]
        left.add_order(level)
    return lam, phi, chi


def _factor_bordered(matrices, lam0: complex, phi0: np.ndarray) -> tuple[Any, float]:
    """Factors of [Q, Q' phi; phi^*, 0] at the expansion point, and the unit in which it gives lambda."""
    M, C, K = (A[0] for A in matrices)
    Q = lam0**2 * M + lam0 * C + K
    column = (2 * lam0 * M + C) @ phi0
    # The border carries lambda_tau in units that make it as large as the matrix itself.
    M_size = np.abs(M).max()
    K_size = np.abs(K).max()
    size = np.abs(lam0) ** 2 * M_size + K_size
    unit = size / np.abs(column).max()
    border = unit * column[:, None]
    row = size * phi0.conj()[None, :]
    corner = np.zeros((1, 1))
    S = np.block([[Q, border], [row, corner]])
    return scipy.linalg.lu_factor(S), unit


def _solve_bordered(factors, r: np.ndarray, transposed: bool = False) -> np.ndarray:
    """Solutions (phi_tau, lambda_tau) for the remainders r_tau, one in each row."""
    # The border requires phi_tau orthogonal to phi_0: its right side is zero.
    right_sides = np.pad(-r, ((0, 0), (0, 1)))
    kind = 1 if transposed else 0
    solution = scipy.linalg.lu_solve(factors, right_sides.T, trans=kind)
    return solution.T


class _Products:
    """M phi, C phi and K phi as series that grow with phi, one order at a time."""

    def __init__(self, m: Monomials, matrices, vector: np.ndarray):
        self.m = m
        self.matrices = matrices
        self.vector = vector
        self.parts = [np.zeros_like(vector) for _ in matrices]
        self.add_order(np.zeros(1, dtype=int))

    def add_order(self, level: np.ndarray) -> None:
        """Add what the vector's own order contributes, once it is known."""
        for part, A in zip(self.parts, self.matrices, strict=True):
            part[level] += self.vector[level] @ A[0].T

    def remainder(self, t: int, lam: np.ndarray) -> np.ndarray:
        """r_tau of all tau with |tau| = t, eq. (26) without its unknowns; what is known of lam enters."""
        m = self.m
        self._add_lower_orders(t)
        Mv, Cv, Kv = self.parts
        lam_series = from_dense(lam)
        square = series.multiply(m, lam_series, lam_series)
        square = square.dense(m.size)
        level = np.flatnonzero(m.degree == t)
        r = Kv[level].copy()
        for a in np.flatnonzero(m.degree <= t):
            b = np.flatnonzero(m.degree == t - m.degree[a])
            # Terms of one degree are contiguous: their places in r count from the first of them.
            place = m.product[a, b] - level[0]
            r[place] += lam[a] * Cv[b] + square[a] * Mv[b]
        return r

    def _add_lower_orders(self, t: int) -> None:
        """Products of order t of the matrices' own orders 1 to t with the orders of the vector below t."""
        m = self.m
        for a in np.flatnonzero((m.degree > 0) & (m.degree <= t)):
            b = np.flatnonzero(m.degree == t - m.degree[a])
            for part, A in zip(self.parts, self.matrices, strict=True):
                part[m.product[a, b]] += self.vector[b] @ A[a].T


def _biorthonormal(m: Monomials, M, C, lam, phi, chi):
    """Left vectors divided by the series s = psi^* (2 lambda M + C) phi."""
    column = from_dense(phi[:, :, None])
    M_phi = series.matmul(m, from_dense(M), column)
    C_phi = series.matmul(m, from_dense(C), column)
    twice_lam = from_dense(2 * lam[:, None, None])
    inertial = series.multiply(m, twice_lam, M_phi)
    momentum = series.add_series([inertial, C_phi])
    row = from_dense(chi[:, None, :])
    product = series.matmul(m, row, momentum)
    s = product.each(lambda d: d[:, 0, 0])
    reciprocal = series.power(s.value, -1.0, m.order)
    inverse = series.compose(m, s, reciprocal)
    inverse = inverse.each(lambda d: d[:, None])
    scaled = series.multiply(m, inverse, from_dense(chi))
    return scaled.dense(m.size)
