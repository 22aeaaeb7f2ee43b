"""Dual numbers and the groups G1 and G2 of [Cibicik2021]: axioms, exp and log, adjoints, on random stacks."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, logm

import dual_groups as d
from helpers import relative

CLOSE = 1e-12
COUNT = 6


def draw(*shape, seed=0, size=1.0):
    return jnp.asarray(
        size * np.random.default_rng(seed).uniform(-1, 1, (COUNT, *shape))
    )


# Angles from rounding to almost half a turn.
ANGLES = np.array([1e-9, 1e-4, 0.1, 1.0, 2.5, 3.1])[:, None]


def rotation_vectors(seed):
    axis = np.asarray(draw(3, seed=seed))
    return jnp.asarray(ANGLES * axis / np.linalg.norm(axis, axis=1, keepdims=True))


def g1_vector(seed):
    return jnp.concatenate([rotation_vectors(seed), draw(3, seed=seed + 1)], axis=1)


def g2_vector(seed):
    return jnp.concatenate([g1_vector(seed), draw(6, seed=seed + 5)], axis=1)


GROUPS = {
    "G1": (
        d.g1_exp,
        d.g1_log,
        d.g1_inverse,
        d.g1_hat,
        d.g1_vee,
        lambda X: X,
        d.g1_hat,
        g1_vector,
        6,
    ),
    "G2": (
        d.g2_exp,
        d.g2_log,
        d.g2_inverse,
        d.g2_hat,
        d.g2_vee,
        d.g2_adjoint,
        d.g2_ad,
        g2_vector,
        7,
    ),
}
groups = pytest.mark.parametrize("group", list(GROUPS))


def element_parts(group, E):
    X = E if group == "G1" else d.g2_parts(E)[0]
    return X, d.g1_parts(X)


@groups
def test_products_and_inverses_stay_in_the_group(group):
    exp, _, inverse, *_, vector, n = GROUPS[group]
    a, b, c = (exp(vector(seed)) for seed in (1, 2, 3))
    for element in (a @ b, inverse(a)):
        X, (A, theta) = element_parts(group, element)
        assert np.abs(X - d.g1_element(A, theta)).max() < CLOSE
        assert np.abs(A @ jnp.swapaxes(A, 1, 2) - np.eye(3)).max() < CLOSE
        assert np.allclose(np.linalg.det(A), 1.0, atol=CLOSE)
    assert np.abs((a @ b) @ c - a @ (b @ c)).max() < CLOSE
    assert np.abs(inverse(a) @ a - np.eye(n)).max() < CLOSE
    assert np.abs(inverse(a @ b) - inverse(b) @ inverse(a)).max() < CLOSE


@groups
def test_exponential_and_logarithm_are_inverse_and_equal_the_matrix_functions(group):
    exp, log, _, hat, *_, vector, _ = GROUPS[group]
    w = vector(4)
    E = exp(w)
    assert np.abs(E - np.stack([expm(np.asarray(W)) for W in hat(w)])).max() < CLOSE
    # The logarithm amplifies rounding by the inverse Jacobian, which grows towards half a turn.
    assert np.abs(log(E) - w).max() < 20 * CLOSE
    assert np.abs(exp(log(E)) - E).max() < 20 * CLOSE
    assert np.abs(hat(log(E))[3] - logm(np.asarray(E[3]))).max() < 1e-10


@groups
def test_the_adjoint_carries_the_algebra(group):
    # Eqs. (12), (18), (41): [Ad(X) b]^ = X [b]^ X^-1, and its derivative [ad(a) b]^ = [a^, b^].
    exp, _, inverse, hat, vee, adjoint, ad, vector, _ = GROUPS[group]
    E, a, b = exp(vector(6)), vector(7), vector(8)
    carried = jnp.einsum("nij,nj->ni", adjoint(E), b)
    assert np.abs(hat(carried) - E @ hat(b) @ inverse(E)).max() < 4 * CLOSE
    assert np.abs(vee(hat(b)) - b).max() == 0.0
    bracket = jnp.einsum("nij,nj->ni", ad(a), b)
    assert np.abs(hat(bracket) - (hat(a) @ hat(b) - hat(b) @ hat(a))).max() < 4 * CLOSE
    assert (
        np.abs(bracket + jnp.einsum("nij,nj->ni", ad(b), a)).max() < CLOSE
    )  # eq. (13)
    assert relative(adjoint(E @ exp(a)), adjoint(E) @ adjoint(exp(a))) < CLOSE


def test_jacobians_of_both_groups_are_inverse_to_each_other():
    w = g1_vector(9)
    assert (
        np.abs(d.g1_left_jacobian(w) @ d.g1_inverse_left_jacobian(w) - np.eye(6)).max()
        < 20 * CLOSE
    )
    phi = rotation_vectors(10)
    assert (
        np.abs(d.left_jacobian(phi) @ d.inverse_left_jacobian(phi) - np.eye(3)).max()
        < CLOSE
    )


def test_dual_numbers_drop_products_of_dual_parts():
    a, b, c = (
        d.Dual(2 + draw(3, 3, seed=k), draw(3, 3, seed=k + 9)) for k in (1, 2, 3)
    )
    product = d.dual_product(a, b)
    assert np.abs(product.dual - (a.real * b.dual + a.dual * b.real)).max() == 0
    back = d.dual_quotient(product, b)
    assert (
        np.abs(back.real - a.real).max() < CLOSE
        and np.abs(back.dual - a.dual).max() < CLOSE
    )
    left = d.dual_matrix_product(a, d.dual_sum(b, c))
    right = d.dual_sum(d.dual_matrix_product(a, b), d.dual_matrix_product(a, c))
    assert np.abs(left.dual - right.dual).max() < 20 * CLOSE
    # A dual matrix [[a, 0], [b, a]] multiplies as the dual number does: how G1 holds dual rotations.
    A, B, C = (
        d._blocks((q.real, 0 * q.real), (q.dual, q.real))
        for q in (a, b, d.dual_matrix_product(a, b))
    )
    assert np.abs(A @ B - C).max() < 20 * CLOSE
