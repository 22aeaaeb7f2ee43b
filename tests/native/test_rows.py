"""Rows several at a time: the same numbers as one by one, however many rows there are."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lissom.native.compiled import using
from lissom.native.rows import RowsAhead
from lissom.types import host_whole

ROWS = 20


class Arm(eqx.Module):
    """Two links in a plane."""

    lengths: np.ndarray
    mass: np.ndarray


ARM = Arm(np.array([0.7, 0.4]), np.array(1.3))


def tip(arm: Arm, q, qd):
    """Position of the tip, and the kinetic energy of a mass there."""
    angles = jnp.cumsum(q)
    place = jnp.stack([arm.lengths @ jnp.cos(angles), arm.lengths @ jnp.sin(angles)])
    speeds = jnp.cumsum(qd)
    across = jnp.stack([-jnp.sin(angles), jnp.cos(angles)]) * arm.lengths
    speed = across @ speeds
    return {"place": place, "energy": 0.5 * arm.mass * speed @ speed}


def columns() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.uniform(-3.0, 3.0, (ROWS, 2)), rng.standard_normal((ROWS, 2))


@pytest.mark.parametrize("count", [0, 1, 8, 9, ROWS])
def test_rows_are_those_that_are_computed_one_by_one(count):
    q, qd = columns()
    found = of_rows(ARM, host_whole(count), q, qd)
    alone = jax.vmap(lambda *row: tip(ARM, *row))(q, qd)
    for name in ("place", "energy"):
        wanted = np.asarray(alone[name])[:count]
        np.testing.assert_allclose(found[name][:count], wanted, rtol=1e-13, atol=1e-15)


of_rows = RowsAhead(tip)


def test_other_numbers_of_the_robot_are_numbers_of_the_same_program():
    q, qd = columns()
    heavier = eqx.tree_at(lambda arm: arm.mass, ARM, np.array(2.6))
    count = host_whole(ROWS)
    one, two = (of_rows(arm, count, q, qd)["energy"] for arm in (ARM, heavier))
    np.testing.assert_allclose(two, 2 * one, rtol=1e-13)


def test_rows_that_are_no_doubles_are_computed_one_after_the_other():
    def doubled(arm, k):
        return {"k": 2 * k, "length": arm.lengths[k]}

    k = np.array([0, 1, 1, 0])
    found = RowsAhead(doubled)(ARM, host_whole(4), k)
    np.testing.assert_array_equal(found["k"], 2 * k)
    np.testing.assert_array_equal(found["length"], ARM.lengths[k])


def test_under_xla_all_rows_are_computed_at_once():
    q, qd = columns()
    with using("xla"):
        found = of_rows(ARM, host_whole(ROWS), q, qd)
    native = of_rows(ARM, host_whole(ROWS), q, qd)
    np.testing.assert_allclose(found["energy"], native["energy"], rtol=1e-13)
