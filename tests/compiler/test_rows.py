"""Rows several at a time: the same numbers as one by one, however many rows there are."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative.compiled import compiling, using
from jaxnative.rows import RowsAhead

ROWS = 20
WINDOW = 8


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
    found = of_rows(ARM, q[:count], qd[:count])
    alone = jax.vmap(lambda *row: tip(ARM, *row))(q, qd)
    for name in ("place", "energy"):
        wanted = np.asarray(alone[name])[:count]
        assert found[name].shape == wanted.shape
        np.testing.assert_allclose(found[name], wanted, rtol=1e-13, atol=1e-15)


of_rows = RowsAhead(tip, lambda: WINDOW)


def test_other_numbers_of_the_model_are_numbers_of_the_same_program():
    q, qd = columns()
    heavier = eqx.tree_at(lambda arm: arm.mass, ARM, np.array(2.6))
    one, two = (of_rows(arm, q, qd)["energy"] for arm in (ARM, heavier))
    np.testing.assert_allclose(two, 2 * one, rtol=1e-13)


def test_rows_that_are_no_doubles_are_computed_one_after_the_other():
    def doubled(arm, k):
        return {"k": 2 * k, "length": arm.lengths[k]}

    k = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 1])
    found = RowsAhead(doubled, lambda: WINDOW)(ARM, k)
    np.testing.assert_array_equal(found["k"], 2 * k)
    np.testing.assert_array_equal(found["length"], ARM.lengths[k])


def test_under_xla_all_rows_are_computed_at_once():
    q, qd = columns()
    with using("xla"):
        found = of_rows(ARM, q, qd)
    native = of_rows(ARM, q, qd)
    np.testing.assert_allclose(found["energy"], native["energy"], rtol=1e-13)


def test_quick_code_and_good_code_of_rows_stand_side_by_side():
    q, qd = columns()
    rows = RowsAhead(tip, lambda: WINDOW)
    good = rows(ARM, q, qd)["energy"].copy()
    with compiling(quickly=True):
        quick = rows(ARM, q, qd)["energy"].copy()
    np.testing.assert_allclose(quick, good, rtol=1e-13)
    np.testing.assert_array_equal(rows(ARM, q, qd)["energy"], good)
    assert len(rows._recent_rows) == 1


def test_any_number_of_rows_is_one_call_of_one_program():
    calls = []
    rows = RowsAhead(tip, lambda: WINDOW)
    q, qd = columns()
    rows(ARM, q, qd)
    (recent,) = rows._recent_rows
    run_rows = recent._runner.run_rows
    recent._runner.run_rows = lambda *given: calls.append(1) or run_rows(*given)
    for count in (ROWS, 3, 2 * WINDOW):
        assert len(rows(ARM, q[:count], qd[:count])["energy"]) == count
    assert len(calls) == 3 and len(rows._recent_rows) == 1


def test_rows_with_gaps_are_read_as_they_are():
    q, qd = columns()
    wide = np.concatenate([q, qd], axis=1)
    found = of_rows(ARM, wide[:, :2], wide[:, 2:])
    np.testing.assert_array_equal(found["energy"], of_rows(ARM, q, qd)["energy"])
