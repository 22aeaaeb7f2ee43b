"""One rule for linear solves: single ones by LAPACK, batches by array operations, the same answers and derivatives."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from helpers import compiled_once
from lissom.algebra.linear import (
    factorise,
    identity_factors,
    inverse,
    solve,
    solve_with,
)

# Matrices below have condition numbers around 1e2: round-off times condition stays under 1e-12.
TOLERANCE = 1e-12
KINDS = pytest.mark.parametrize("kind", [float, complex], ids=["real", "complex"])


def matrices(kind, *shape):
    """Random matrices with zeros on the diagonal, so that elimination needs other rows as pivots."""
    n = shape[-1]
    random = np.random.default_rng(n)
    A = random.standard_normal(shape)
    if kind is complex:
        A = A + 1j * random.standard_normal(shape)
    A[..., np.arange(n), np.arange(n)] = 0.0
    return jnp.asarray(A)


def vectors(kind, *shape):
    """Random right-hand sides."""
    random = np.random.default_rng(7)
    b = random.standard_normal(shape)
    return jnp.asarray(b + 1j * random.standard_normal(shape) if kind is complex else b)


def reference(A, b):
    """The same by NumPy."""
    return np.linalg.solve(A, b[..., None])[..., 0]


@KINDS
def test_one_system_and_a_batch_agree_with_numpy(kind):
    A, b = matrices(kind, 6, 9, 9), vectors(kind, 6, 9)
    expected = reference(A, b)
    assert_allclose(compiled_once(solve)(A[2], b[2]), expected[2], atol=TOLERANCE)
    batch = compiled_once(jax.vmap(solve))(A, b)
    assert_allclose(batch, expected, atol=TOLERANCE)


@KINDS
def test_a_batch_has_the_factors_that_lapack_gives(kind):
    A = matrices(kind, 5, 8, 8)
    batch = compiled_once(jax.vmap(factorise))(A)
    for k in range(5):
        single = factorise(A[k])
        assert_array_equal(batch.order[k], single.order)
        assert_allclose(batch.lu[k], single.lu, atol=TOLERANCE)
        assert list(single.order) != list(range(8))


@KINDS
def test_factors_of_one_matrix_serve_a_batch_and_a_batch_of_factors_one_vector(kind):
    A, b = matrices(kind, 4, 7, 7), vectors(kind, 4, 7)
    shared = jax.vmap(solve_with, (None, 0))(factorise(A[0]), b)
    assert_allclose(shared, reference(A[:1], b), atol=TOLERANCE)
    spread = jax.vmap(solve_with, (0, None))(jax.vmap(factorise)(A), b[0])
    assert_allclose(spread, reference(A, b[:1]), atol=TOLERANCE)


@KINDS
def test_a_batch_of_batches_is_solved(kind):
    A, b = matrices(kind, 3, 4, 6, 6), vectors(kind, 3, 4, 6)
    nested = jax.vmap(jax.vmap(solve))(A, b)
    assert_allclose(nested, reference(A, b), atol=TOLERANCE)
    # One matrix for each row of right-hand sides: first the shared matrix, then the batch of matrices.
    rows = jax.vmap(jax.vmap(solve, (None, 0)))(A[:, 0], b)
    assert_allclose(rows, reference(A[:, :1], b), atol=TOLERANCE)


def test_a_singular_matrix_gives_no_finite_solution():
    A = jnp.ones((2, 3, 3))
    b = jnp.arange(6.0).reshape(2, 3)
    assert not np.isfinite(solve(A[0], b[0])).all()
    assert not np.isfinite(jax.vmap(solve)(A, b)).all(axis=1).any()


def test_identity_factors_leave_a_vector_as_it_is():
    b = vectors(complex, 5)
    assert_array_equal(solve_with(identity_factors(5, complex), b), b)


@KINDS
def test_the_derivative_is_that_of_the_solution(kind):
    A, b = matrices(kind, 7, 7), vectors(kind, 7)
    dA, db = matrices(kind, 7, 7).T, vectors(kind, 7)[::-1]
    slope = compiled_once(functools.partial(jax.jvp, solve))((A, b), (dA, db))[1]
    # Central differences of fourth order: truncation is 5e-7 for h = 1e-3 and falls with h^4; cancellation is the
    # solution's round-off, 1e-14, over h.
    h = 1e-4

    def at(s):
        return reference(A + s * dA, b + s * db)

    difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    assert_allclose(slope, difference, rtol=0, atol=1e-8 * np.abs(difference).max())


@KINDS
def test_derivatives_of_batches_are_batches_of_derivatives(kind):
    A, b = matrices(kind, 3, 5, 5), vectors(kind, 3, 5)
    dA, db = jnp.swapaxes(A, 1, 2), b[:, ::-1]

    def slope(A, b, dA, db):
        return jax.jvp(solve, (A, b), (dA, db))[1]

    single = jnp.stack([slope(A[k], b[k], dA[k], db[k]) for k in range(3)])
    of_slopes = jax.vmap(slope)(A, b, dA, db)
    of_batch = jax.jvp(jax.vmap(solve), (A, b), (dA, db))[1]
    assert_allclose(of_slopes, single, rtol=1e-11)
    assert_allclose(of_batch, single, rtol=1e-11)
    # Only the right-hand side moves, and only some operands are batched.
    fixed = jax.vmap(lambda db: jax.jvp(lambda b: solve(A[0], b), (b[0],), (db,))[1])
    assert_allclose(fixed(db), reference(A[:1], db), atol=TOLERANCE)


def test_jacobians_forwards_and_backwards_are_the_inverse():
    A, b = matrices(float, 6, 6), vectors(float, 6)
    expected = np.linalg.inv(A)
    assert_allclose(jax.jacfwd(solve, 1)(A, b), expected, atol=TOLERANCE)
    assert_allclose(jax.jacrev(solve, 1)(A, b), expected, atol=TOLERANCE)
    batch = jax.vmap(jax.jacrev(solve, 1))(A[None], b[None])[0]
    assert_allclose(batch, expected, atol=TOLERANCE)


def test_factors_at_hand_are_constants_to_derivatives():
    A, b = matrices(float, 6, 6), vectors(float, 6)
    factors = factorise(A)
    for jacobian in (jax.jacfwd, jax.jacrev):
        slopes = jacobian(lambda b: solve_with(factors, b))(b)
        assert_allclose(slopes, np.linalg.inv(A), atol=TOLERANCE)
    by_matrix = jax.jvp(lambda A: solve_with(factorise(A), b), (A,), (A.T,))[1]
    assert_array_equal(by_matrix, np.zeros(6))


def test_second_derivatives_are_exact():
    # y(s) = (A + s B)^-1 b has y'' = 2 A^-1 B A^-1 B A^-1 b at s = 0.
    A, B, b = matrices(float, 5, 5), jnp.eye(5)[::-1], vectors(float, 5)
    twice = jax.jacfwd(jax.jacfwd(lambda s: solve(A + s * B, b)))(0.0)
    step = np.linalg.solve(A, B)
    expected = 2 * step @ step @ np.linalg.solve(A, b)
    assert_allclose(twice, expected, rtol=1e-11)


def march(A, b):
    """Newton-like use inside loops and branches: factors are recomputed now and then, cached otherwise."""

    def step(carry):
        i, y, factors = carry
        factors = jax.lax.cond(
            i % 2 == 0,
            lambda: factorise(A + i * jnp.eye(len(b))),
            lambda: factors,
        )
        return i + 1, solve_with(factors, b + 0.1 * y), factors

    start = (0.0, jnp.zeros_like(b), identity_factors(len(b), b.dtype))
    y = jax.lax.while_loop(lambda carry: carry[0] < 5, step, start)[1]
    return jax.lax.scan(lambda y, _: (solve(A, y), y), y, None, length=2)[0]


@KINDS
def test_loops_and_branches_batch_and_differentiate(kind):
    A, b = matrices(kind, 3, 5, 5), vectors(kind, 3, 5)
    dA, db = jnp.swapaxes(A, 1, 2), b[:, ::-1]

    def both(A, b, dA, db):
        return jax.jvp(march, (A, b), (dA, db))

    batch = compiled_once(jax.vmap(both))(A, b, dA, db)
    single = compiled_once(both)
    for k in range(3):
        value, slope = single(A[k], b[k], dA[k], db[k])
        assert_allclose(batch[0][k], value, rtol=1e-10)
        assert_allclose(batch[1][k], slope, rtol=1e-10)


def test_two_batches_side_by_side_finish():
    # Batched LAPACK factorisations of this size, real and complex at once, waited for each other in the thread pool.
    A, b = matrices(float, 64, 14, 14), vectors(float, 64, 14)

    @jax.vmap
    def both(A, b):
        return solve(A, b), solve((1 + 2j) * A, b.astype(complex))

    y, z = compiled_once(both)(A, b)
    expected = reference(A, b)
    assert_allclose(y, expected, rtol=1e-9, atol=1e-11)
    assert_allclose(z * (1 + 2j), expected, rtol=1e-9, atol=1e-11)


def test_a_batch_calls_no_library():
    A, b = matrices(float, 64, 14, 14), vectors(float, 64, 14)
    single = jax.jit(solve).lower(A[0], b[0]).as_text()
    batch = jax.jit(jax.vmap(solve)).lower(A, b).as_text()
    for name in ("getrf", "trsm"):
        assert name in single
        assert name not in batch


@KINDS
def test_the_inverse_is_that_of_numpy(kind):
    A = matrices(kind, 4, 6, 6)
    assert_allclose(jax.vmap(inverse)(A), np.linalg.inv(A), atol=TOLERANCE)
