"""A function on a few rows, such as the stages of a step, takes them all at once; each row is what it is alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative import loading, rows_side_by_side
from jaxnative.compiled import NativeAhead
from jaxnative.marks import noinline, vmap_rows

A = np.random.default_rng(7).normal(size=(5, 5))
ROWS = np.random.default_rng(8).normal(size=(3, 5))
TIMES = np.array([0.3, -1.1, 2.0])


@noinline
def smooth(A, t, x):
    y = jnp.sin(A @ x) + t * x
    return y @ A, jnp.cos(t) * y[0]


@noinline
def halved(A, t, x):
    """A loop that takes another number of rounds in each row, and a branch."""
    small = jax.lax.while_loop(lambda y: y @ y > 1e-2 * (2.0 + t), lambda y: y / 2, x)
    return jax.lax.cond(t > 0, lambda y: A @ y, lambda y: -y, small)


@noinline
def whole(A, t, x):
    """Whole numbers do not stand in lanes of doubles."""
    return (x > 0).astype(jnp.int32)


def on_rows(function):
    return NativeAhead(lambda A, t, x: vmap_rows(lambda t, x: function(A, t, x))(t, x))


@pytest.mark.parametrize("function", [smooth, halved])
@pytest.mark.parametrize("count", [1, 3])
def test_rows_side_by_side_are_what_each_is_alone(function, count):
    found = on_rows(function)(A, TIMES[:count], ROWS[:count])
    for k in range(count):
        alone = function(A, TIMES[k], ROWS[k])
        pairs = zip(jax.tree.leaves(found), jax.tree.leaves(alone), strict=True)
        for row, wanted in pairs:
            np.testing.assert_allclose(row[k], wanted, rtol=1e-13, atol=1e-15)


def test_lanes_are_used_where_they_can_be(monkeypatch):
    loaded = []
    load = rows_side_by_side.load

    def watched(rows):
        loaded.append(load(rows))
        return loaded[-1]

    monkeypatch.setattr(rows_side_by_side, "load", watched)
    # Numbers of their own: nothing of it is on disk.
    factor = float(np.random.default_rng().normal())
    scaled = noinline(lambda A, t, x: factor * smooth(A, t, x)[0])
    on_rows(scaled)(A, TIMES, ROWS)
    assert len(loaded) == 1


def test_what_does_not_fit_into_lanes_goes_row_by_row():
    found = on_rows(whole)(A, TIMES, ROWS)
    np.testing.assert_array_equal(found, ROWS > 0)


def test_a_compiler_that_refuses_lanes_leaves_row_by_row(monkeypatch):
    def refused(rows):
        raise RuntimeError("no vectors here")

    monkeypatch.setattr(loading.rows_side_by_side, "load", refused)
    factor = float(np.random.default_rng().normal())
    scaled = noinline(lambda A, t, x: factor * smooth(A, t, x)[0])
    found = on_rows(scaled)(A, TIMES, ROWS)
    wanted = np.stack(
        [factor * smooth(A, t, x)[0] for t, x in zip(TIMES, ROWS, strict=True)]
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_many_rows_stay_a_loop():
    many = np.tile(ROWS, (4, 1))
    found, _ = on_rows(smooth)(A, np.tile(TIMES, 4), many)
    np.testing.assert_allclose(found[:3], found[9:], rtol=1e-13)
