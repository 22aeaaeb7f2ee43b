"""The recursion of [Palomba2019]: eigenpairs as power series, against exact eigenpairs and against eq. (28) itself."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from lissom.algebra.eigen import modal_assurance
from lissom.algebra.monomials import Monomials
from lissom.algebra.taylor import taylor_coefficients
from lissom.analyse.modes.complex_modes import vibration_pairs
from lissom.analyse.polynomials.accuracy import residual_errors
from lissom.analyse.polynomials.eigenseries import RepeatedEigenvalueError, eigen_series

N = 6
AT = np.array([0.3, -0.2])
_random = np.random.default_rng(4)
_A = _random.normal(size=(4, N, N))


def unsymmetric(p):
    """M, C, K of a system with gyroscopic and circulatory parts: nothing is symmetric but M."""
    M = jnp.eye(N) + 0.1 * _A[0] @ _A[0].T + 0.04 * jnp.sin(p[0]) * _A[1] @ _A[1].T
    C = 0.1 * _A[2] + 0.1 * p[1] ** 2 * _A[3]
    K = (
        jnp.diag(10.0 * jnp.arange(1.0, N + 1) ** 2)
        * (1.0 + 0.3 * jnp.cos(p[0]) * p[1])
        + 0.3 * jnp.exp(p[1]) * _A[1]
    )
    return M, C, K


def expanded(order, biorthonormal=True):
    """Series of all pairs of the system above."""
    matrices = taylor_coefficients(unsymmetric, AT, order)
    pairs = vibration_pairs(*[A[0] for A in matrices])
    return (
        Monomials(2, order),
        matrices,
        pairs,
        eigen_series(Monomials(2, order), *matrices, pairs, biorthonormal),
    )


def exact_at(dx):
    matrices = [np.asarray(A) for A in unsymmetric(jnp.asarray(AT + dx))]
    return matrices, vibration_pairs(*matrices)


@pytest.mark.parametrize("order", [1, 2, 4, 6])
def test_the_error_of_the_eigenvalues_is_one_order_above_the_polynomials(order):
    monomials, _, _, found = expanded(order)
    errors = []
    for h in (0.08, 0.04):
        dx = h * np.array([1.0, -0.7])
        _, exact = exact_at(dx)
        errors.append(
            np.abs(monomials.values(dx) @ found.eigenvalue - exact.eigenvalue).max()
        )
    assert abs(np.log2(errors[0] / errors[1]) - (order + 1)) < 0.35


def test_right_and_left_vectors_follow_the_exact_ones():
    monomials, _, _, found = expanded(4)
    dx = np.array([0.05, 0.04])
    _, exact = exact_at(dx)
    values = monomials.values(dx)
    right, chi = (
        np.tensordot(values, found.right, 1),
        np.tensordot(values, found.left, 1),
    )
    assert (1.0 - modal_assurance(right, exact.right.T)).max() < 1e-12
    assert (1.0 - modal_assurance(chi.conj(), exact.left.T)).max() < 1e-12


def test_biorthonormal_vectors_stay_so_to_the_order_of_the_polynomials():
    errors = {}
    for biorthonormal in (True, False):
        monomials, _, _, found = expanded(4, biorthonormal)
        errors[biorthonormal] = []
        for h in (0.08, 0.04):
            dx = h * np.array([1.0, -0.7])
            (M, C, _), _ = exact_at(dx)
            lam, phi, chi = (
                np.tensordot(monomials.values(dx), part, 1) for part in found
            )
            product = np.einsum(
                "mi,mij,mj->m", chi, 2 * lam[:, None, None] * M + C, phi
            )
            errors[biorthonormal].append(np.abs(product - 1.0).max())
    assert abs(np.log2(errors[True][0] / errors[True][1]) - 5) < 0.3
    assert errors[False][1] > 1e3 * errors[True][1]


def test_coefficients_solve_the_papers_pseudo_inverse():
    """Eq. (28) with r_tau summed naively over all multi-indices of eq. (26)."""
    monomials, (M, C, K), pairs, found = expanded(3, biorthonormal=False)
    i = 1
    lam, phi = found.eigenvalue[:, i], found.right[:, i]
    S = np.concatenate(
        [
            lam[0] ** 2 * M[0] + lam[0] * C[0] + K[0],
            ((2 * lam[0] * M[0] + C[0]) @ phi[0])[:, None],
        ],
        axis=1,
    )
    for tau in np.flatnonzero(monomials.degree):
        r = np.zeros(N, complex)
        terms = range(monomials.size)
        for a, b in itertools.product(terms, terms):
            if monomials.product[a, b] == tau and b != tau:
                r += K[a] @ phi[b]
        for a, b, c in itertools.product(terms, terms, terms):
            ab = monomials.product[a, b]
            if ab >= 0 and monomials.product[ab, c] == tau and tau not in (a, c):
                r += lam[a] * C[b] @ phi[c]
        for a, b, c, d in itertools.product(terms, terms, terms, terms):
            ab, cd = monomials.product[a, b], monomials.product[c, d]
            if (
                min(ab, cd) >= 0
                and monomials.product[ab, cd] == tau
                and tau not in (a, b, d)
            ):
                r += lam[a] * lam[b] * M[c] @ phi[d]
        solution = -np.linalg.pinv(S, rcond=1e-12) @ r
        np.testing.assert_allclose(
            solution[:N], phi[tau], atol=1e-10 * np.abs(phi).max()
        )
        np.testing.assert_allclose(
            solution[N], lam[tau], atol=1e-10 * np.abs(lam).max()
        )


def test_one_oscillator_has_the_binomial_series():
    """lambda = i sqrt(k) for m = 1 and k = 1 + p."""
    M, C, K = (np.zeros((6, 1, 1)) for _ in range(3))
    M[0], K[0], K[1] = 1.0, 1.0, 1.0
    found = eigen_series(Monomials(1, 5), M, C, K, vibration_pairs(M[0], C[0], K[0]))
    np.testing.assert_allclose(
        found.eigenvalue[:, 0],
        1j * np.array([1, 1 / 2, -1 / 8, 1 / 16, -5 / 128, 7 / 256]),
    )


def test_the_residual_tells_the_error_of_a_polynomial():
    monomials, _, _, found = expanded(3)
    dx = np.array([0.08, -0.06])
    matrices, exact = exact_at(dx)
    lam, phi, chi = (np.tensordot(monomials.values(dx), part, 1) for part in found)
    estimate = residual_errors(
        [A[None] for A in matrices], lam[None], phi[None], chi.conj()[None]
    )
    true = np.abs(np.abs(lam) / np.abs(exact.eigenvalue) - 1.0)
    np.testing.assert_allclose(estimate.frequency[0], true, rtol=0.02)
    loss = 1.0 - modal_assurance(phi, exact.right.T)
    np.testing.assert_allclose(1.0 - estimate.mac_right[0], loss, rtol=0.02, atol=1e-14)
    loss = 1.0 - modal_assurance(chi.conj(), exact.left.T)
    np.testing.assert_allclose(1.0 - estimate.mac_left[0], loss, rtol=0.02, atol=1e-14)


def test_a_repeated_eigenvalue_is_refused_by_its_frequency():
    M = np.zeros((3, 2, 2))
    M[0] = np.eye(2)
    K = 400.0 * M
    with pytest.raises(RepeatedEigenvalueError, match=r"3\.1831 Hz coincides"):
        eigen_series(
            Monomials(2, 1), M, 0 * M, K, vibration_pairs(M[0], 0 * M[0], K[0])
        )
