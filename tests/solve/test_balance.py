"""The quasi-static balance: one iteration for single points, batches and derivatives of any order."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from numpy.testing import assert_allclose

import lissom as ls
from helpers import compiled_once
from lissom.solve.balance import (
    SMALL_STEP,
    balanced_point,
    newton,
    newton_by_chords,
    relative_residual,
)


def root(p):
    """z = sqrt(p)."""
    return newton(lambda z: z**2 - p, jnp.ones(1), jnp.ones(1))[0]


def test_the_root_of_a_function_has_derivatives_of_every_order():
    # d sqrt(p) = 1/2 p^(-1/2), -1/4 p^(-3/2), 3/8 p^(-5/2), in both modes of differentiation.
    p = 2.3
    first, second = jax.grad(root), jax.grad(jax.grad(root))
    third = jax.jacfwd(second)
    found = [function(p) for function in (root, first, second, third)]
    exact = [p**0.5, 0.5 * p**-0.5, -0.25 * p**-1.5, 0.375 * p**-2.5]
    assert_allclose(found, exact, rtol=1e-12)


def test_a_batch_of_roots_is_what_single_ones_are():
    values = np.linspace(0.1, 50.0, 9)
    assert_allclose(jax.vmap(root)(values), np.sqrt(values), rtol=1e-12)


def test_chords_find_the_same_root_and_say_so():
    z, step = newton_by_chords(
        lambda z: z**2 - 2.0, lambda z: 2.0 * np.diag(z), np.ones(1)
    )
    assert_allclose(z, np.sqrt(2.0), rtol=1e-10)
    assert step < SMALL_STEP
    # No root: the iteration ends and its last step tells.
    _, step = newton_by_chords(
        lambda z: z**2 + 2.0, lambda z: 2.0 * np.diag(z), np.ones(1)
    )
    assert not step < SMALL_STEP


@functools.cache
def pendulum():
    return ls.Model("simple-pendulum", "erls-fem")


@compiled_once
def balances(f, q, qd, qdd):
    def one(q, qd, qdd):
        point = balanced_point(f, q, qd, qdd)
        return point, relative_residual(f, point)

    return jax.vmap(one)(q, qd, qdd)


def test_points_balanced_side_by_side_have_the_torques_of_inverse_dynamics():
    q, qd, qdd = np.random.default_rng(2).normal(size=(3, 4, 1))
    points, left = balances(pendulum().formulation, q, qd, qdd)
    assert np.all(np.asarray(left) < 1e-9)
    for k in range(4):
        alone = pendulum().inverse_dynamics(q[k], qd[k], qdd[k])
        assert_allclose(points.tau[k], alone, rtol=1e-9)
