"""The symmetric eigenproblem in its two forms, and the likeness of shapes."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.testing import assert_allclose

from lissom.algebra.eigen import (
    modal_assurance,
    symmetric_modes,
    symmetric_modes_traced,
)

N = 7
_random = np.random.default_rng(11)
_A, _B = _random.normal(size=(2, N, N))
M = _A @ _A.T + N * np.eye(N)
K = 90.0 * (_B @ _B.T) + np.eye(N)


def test_modes_are_mass_normalised_and_their_largest_component_is_positive():
    squares, Phi = symmetric_modes(K, M)
    assert np.all(np.diff(squares) > 0)
    assert_allclose(Phi.T @ M @ Phi, np.eye(N), atol=1e-12)
    assert_allclose(K @ Phi, M @ Phi * squares, atol=1e-11 * np.abs(K).max())
    assert np.all(Phi[np.argmax(np.abs(Phi), axis=0), np.arange(N)] > 0)


def test_the_traced_form_gives_the_same_modes():
    for ours, theirs in zip(
        jax.jit(symmetric_modes_traced)(K, M), symmetric_modes(K, M), strict=True
    ):
        assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)


def test_eigenvalues_change_with_the_stiffness_as_their_shapes_say():
    # First-order perturbation: d(omega^2) = phi^T dK phi.
    dK = np.diag(np.arange(1.0, N + 1))

    def squares(K):
        return symmetric_modes_traced(K, jnp.asarray(M))[0]

    _, slope = jax.jvp(squares, (jnp.asarray(K),), (jnp.asarray(dK),))
    _, Phi = symmetric_modes(K, M)
    assert_allclose(slope, np.einsum("im,ij,jm->m", Phi, dK, Phi), rtol=1e-9)


def test_the_assurance_with_a_weight_tells_modes_apart_and_knows_no_size():
    _, Phi = symmetric_modes(K, M)
    scaled = Phi * np.exp(0.3j) * np.arange(1.0, N + 1)
    every_pair = modal_assurance(Phi.T[:, None], scaled.T[None], M)
    assert_allclose(every_pair, np.eye(N), atol=1e-12)
    a, b = Phi[:, 0], Phi[:, 1]
    plain = (a @ b) ** 2 / ((a @ a) * (b @ b))
    assert_allclose(modal_assurance(a, b), plain, rtol=1e-12)
