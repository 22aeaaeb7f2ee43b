"""Every lane computes what a single call does, wherever the lanes part company."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative import lane_math, lanes
from jaxnative.compiled import NativeAhead
from jaxnative.lanes import LanesAhead, lane_count
from jaxnative.lu_kernel import ENOUGH
from jaxnative.marks import (
    in_all_lanes,
    in_some_lane,
    least_of_lanes,
    noinline,
    recompute_where,
)
from jaxnative.untranslatable import Unexpected, Untranslatable

from .linear import factorise, identity_factors, solve_with
from .operations import CASES

MEMBERS = 11  # no multiple of the lanes of any processor


def spread(arguments):
    """Each argument for several members: doubles differ a little, and the larger the later."""
    factors = 1.0 + 0.01 * np.arange(MEMBERS)

    def rows(argument):
        array = np.asarray(argument)
        stacked = np.stack([array] * MEMBERS)
        if array.dtype.kind in "fc":
            stacked = stacked * factors.reshape(-1, *[1] * array.ndim)
        return stacked

    return [rows(argument) for argument in arguments]


@pytest.mark.parametrize("case", CASES)
def test_each_lane_gives_what_xla_gives(case):
    function, arguments = CASES[case]
    members = spread(arguments)
    found = jax.tree.leaves(LanesAhead(function)((0,) * len(members), *members))
    for k in (0, MEMBERS - 1):
        alone = [jnp.asarray(rows[k]) for rows in members]
        wanted = jax.tree.leaves(function(*alone))
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-11, atol=1e-12)


def parting(x, limit, shared):
    """Lanes leave the loop one after the other, write to places of their own, and take both branches."""

    def going(state):
        return state[0] < limit

    def once(state):
        count, numbers = state
        place = count % numbers.shape[0]
        numbers = numbers.at[place].add(jnp.sin(numbers[0]) + shared[0])
        return count + 1, numbers

    count, numbers = jax.lax.while_loop(going, once, (0, x))
    chosen = jax.lax.cond(limit > 4, jnp.cos, jnp.exp, numbers)
    matrix = jnp.outer(numbers, shared) + 3.0 * jnp.eye(x.shape[0])
    return count, chosen, jnp.linalg.solve(matrix, chosen)


@pytest.mark.parametrize("width", [2, 4, 8])
def test_lanes_that_part_company_keep_what_is_theirs(width, monkeypatch):
    monkeypatch.setattr(lanes, "lane_count", lambda: width)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(MEMBERS, 5))
    limit = np.arange(MEMBERS)
    shared = rng.normal(size=5)
    found = LanesAhead(parting)((0, 0, None), x, limit, shared)
    for k in range(MEMBERS):
        wanted = parting(x[k], int(limit[k]), shared)
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-12, atol=1e-13)


def test_matrices_that_go_round_a_loop_are_factorised_for_lanes_that_still_run():
    def powers(A, limit):
        def going(state):
            return state[0] < limit

        def once(state):
            count, B = state
            lu, _, order = jax.lax.linalg.lu(B)
            return count + 1, lu[order] + (1.0 + 0.5j) * jnp.eye(A.shape[0])

        return jax.lax.while_loop(going, once, (0, A.astype(complex)))[1]

    A = np.random.default_rng(3).normal(size=(MEMBERS, 4, 4))
    limit = np.arange(MEMBERS) % 5
    found = LanesAhead(powers)((0, 0), A, limit)
    for k in range(MEMBERS):
        np.testing.assert_allclose(found[k], powers(A[k], int(limit[k])), rtol=1e-11)


@pytest.mark.parametrize("is_whole", [True, False], ids=["new", "changed"])
@pytest.mark.parametrize("kind", [float, complex])
def test_factors_are_renewed_for_lanes_that_want_new_ones(kind, is_whole):
    # As steps do: a matrix is formed where another one is kept, and factorised there. With `is_whole` the branch
    # writes all of it; without, it changes one row of what other lanes keep.
    def factors(A, limit):
        def once(count, kept):
            lu, order = kept

            def anew():
                changed = (count + 1.0) * A + jnp.eye(9)
                matrix = changed if is_whole else lu.at[0].set(changed[0])
                renewed, _, rows = jax.lax.linalg.lu(matrix)
                return renewed, rows

            return jax.lax.cond(count < limit, anew, lambda: (lu, order))

        A = A.astype(kind) * (1.0 if kind is float else 1.0 + 0.5j)
        return jax.lax.fori_loop(0, 4, once, (A, jnp.arange(9, dtype=jnp.int32)))

    A = np.random.default_rng(5).normal(size=(MEMBERS, 9, 9))
    limit = np.arange(MEMBERS) % 5
    found = LanesAhead(factors)((0, 0), A, limit)
    for k in range(MEMBERS):
        lu, order = factors(A[k], int(limit[k]))
        np.testing.assert_allclose(found[0][k], lu, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(found[1][k], order)


def well_factorised(A, factors):
    """Whether P A = L U, with no multiplier so large that rounding would grow."""
    lu, order = np.asarray(factors.lu), np.asarray(factors.order)
    L = np.tril(lu, -1) + np.eye(len(A))
    rounding = 1e-13 * np.abs(A).max()
    np.testing.assert_allclose(L @ np.triu(lu), A[order], rtol=0, atol=rounding)
    return np.abs(L).max() <= 1.0 / ENOUGH * 2**0.5


@pytest.mark.parametrize("kind", [float, complex])
def test_lanes_exchange_rows_that_suit_all_of_them(kind):
    rng = np.random.default_rng(8)
    A = rng.normal(size=(9, 9)).astype(kind)
    if kind is complex:
        A = A + 1j * rng.normal(size=(9, 9))
    # The first pivot is too small in all members; any of the largest numbers will do instead.
    A[0, 0] = 1e-9
    members = A * (1.0 + 1e-3 * np.arange(MEMBERS))[:, None, None]
    found = LanesAhead(factorise)((0,), members)
    orders = np.asarray(found.order)
    assert (orders == orders[0]).all()
    for k in range(MEMBERS):
        own = jax.tree.map(lambda leaf, k=k: leaf[k], found)
        assert well_factorised(members[k], own)


@pytest.mark.parametrize("kind", [float, complex])
def test_a_lane_whose_pivots_suit_no_other_has_its_own(kind):
    rng = np.random.default_rng(9)
    members = rng.normal(size=(MEMBERS, 9, 9)).astype(kind)
    # One has nothing where the others are largest, one is no number, one is singular.
    members[1] = members[0][::-1] * 1e-6
    members[3, 4, 4] = np.nan
    members[5] = 0.0
    found = LanesAhead(factorise)((0,), members)
    for k in set(range(MEMBERS)) - {3, 5}:
        own = jax.tree.map(lambda leaf, k=k: leaf[k], found)
        assert well_factorised(members[k], own)


def renewing(A, steps, h):
    """As steps do: a matrix is formed and factorised anew where it changes, for some lanes sooner than for others."""

    def going(state):
        return state[0] < steps

    def compute(A, h):
        matrix = A + h * jnp.eye(A.shape[0])
        # Lanes part company in here too.
        matrix = jax.lax.cond(h > 2.0, lambda: 2.0 * matrix, lambda: matrix)
        return factorise(matrix)

    def once(state):
        count, x, kept, h_kept = state
        wanted = h + (count // 3)
        factors = recompute_where(wanted != h_kept, compute, kept, A, wanted)
        return count + 1, solve_with(factors, jnp.cos(x)), factors, wanted

    n = A.shape[0]
    start = (0, jnp.ones(n), identity_factors(n, float), jnp.asarray(-1.0))
    count, x, factors, h = jax.lax.while_loop(going, once, start)
    return count, x, solve_with(factors, jnp.ones(n)), h


@pytest.mark.parametrize("width", [2, 4, 8])
def test_what_is_renewed_for_one_lane_is_the_same_as_before_for_the_others(
    width, monkeypatch
):
    monkeypatch.setattr(lanes, "lane_count", lambda: width)
    rng = np.random.default_rng(10)
    A = rng.normal(size=(MEMBERS, 9, 9)) + 4.0 * np.eye(9)
    # Some are at rest while others still run, and not all want to renew at the same time.
    steps = 2 + np.arange(MEMBERS) % 7
    h = 0.3 + 0.5 * (np.arange(MEMBERS) % 4)
    found = LanesAhead(renewing)((0, 0, 0), A, steps, h)
    for k in range(MEMBERS):
        wanted = renewing(A[k], int(steps[k]), h[k])
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-11, atol=1e-13)


def in_step(x, limit):
    """Lanes go round a loop together, as often as the first that has enough, in steps of the smallest size."""

    def going(state):
        return in_all_lanes(state[0] < limit)

    def once(state):
        count, x, is_large = state
        size = least_of_lanes(jnp.abs(x[0]))
        return count + 1, x + size, in_some_lane(jnp.sum(x) > 3.0)

    return jax.lax.while_loop(going, once, (0, x, False))


@pytest.mark.parametrize("width", [2, 4, 8])
def test_lanes_decide_together_where_a_function_asks_for_all(width, monkeypatch):
    monkeypatch.setattr(lanes, "lane_count", lambda: width)
    x = np.random.default_rng(12).normal(size=(MEMBERS, 3))
    limit = 3 + np.arange(MEMBERS) % 4
    together = LanesAhead(in_step, in_step=True)
    counts, found, are_large = together((0, 0), x, limit)
    for first in range(0, MEMBERS, width):
        some = slice(first, first + width)
        own, is_large = x[some].copy(), False
        for _ in range(limit[some].min()):
            is_large = (own.sum(axis=1) > 3.0).any()
            own += np.abs(own[:, 0]).min()
        assert (counts[some] == limit[some].min()).all()
        assert (are_large[some] == is_large).all()
        np.testing.assert_allclose(found[some], own, rtol=1e-14)
    assert len(set(are_large.tolist())) == 2


def test_a_call_by_itself_decides_alone():
    x, limit = np.random.default_rng(12).normal(size=3), np.asarray(4)
    native = NativeAhead(in_step)(x, limit)
    mapped = jax.vmap(in_step, in_axes=(0, None))(x[None], limit)
    for value, number in zip(native, mapped, strict=True):
        np.testing.assert_allclose(value, number[0], rtol=1e-14)


def test_lanes_that_are_not_in_step_decide_alone():
    x = np.random.default_rng(12).normal(size=(MEMBERS, 3))
    limit = 3 + np.arange(MEMBERS) % 4
    found = LanesAhead(in_step)((0, 0), x, limit)
    for k in range(MEMBERS):
        wanted = in_step(x[k], limit[k])
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-14)


def test_results_that_begin_in_inputs_leave_the_caller_his_arrays():
    def march(x, y, shared):
        def once(k, state):
            x, y = state
            added = jnp.asarray(shared)[k] + y[0]
            return x.at[k].add(added), jnp.cos(y) + x[k]

        before = jnp.sum(y)
        x, z = jax.lax.fori_loop(0, 9, once, (x, y))
        # What the input y was is asked for after the loop; x and the shared numbers are not.
        return x, z, before + jnp.sum(y)

    rng = np.random.default_rng(11)
    x, y = rng.normal(size=(2, MEMBERS, 9))
    shared = rng.normal(size=9)
    given = [x.copy(), y.copy(), shared.copy()]
    found = LanesAhead(march)((0, 0, None), *given)
    for array, before in zip(given, (x, y, shared), strict=True):
        np.testing.assert_array_equal(array, before)
    for k in range(MEMBERS):
        wanted = march(x[k], y[k], shared)
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-12, atol=1e-13)


def test_results_of_functions_go_to_lanes_that_still_run():
    @noinline
    def next_powers(A, B):
        return A @ B, jnp.sin(B) - A

    def powers(A, limit):
        def going(state):
            return state[0] < limit

        def once(state):
            count, B, C = state
            B, C = jax.lax.cond(
                count % 2 == 0, lambda: next_powers(A, C), lambda: (C, B)
            )
            return count + 1, B, C

        return jax.lax.while_loop(going, once, (0, A, 0.5 * A))[1:]

    A = 0.3 * np.random.default_rng(4).normal(size=(MEMBERS, 6, 6))
    limit = np.arange(MEMBERS) % 5
    found = LanesAhead(powers)((0, 0), A, limit)
    for k in range(MEMBERS):
        wanted = powers(A[k], int(limit[k]))
        for value, number in zip(found, wanted, strict=True):
            np.testing.assert_allclose(value[k], number, rtol=1e-12, atol=1e-13)


def test_one_lane_that_is_no_number_leaves_the_others_alone():
    x = np.ones((MEMBERS, 5))
    x[3, 2] = np.nan
    limit = np.full(MEMBERS, 7)
    found = LanesAhead(parting)((0, 0, None), x, limit, np.ones(5))
    alone = LanesAhead(parting)((0, 0, None), np.ones((1, 5)), limit[:1], np.ones(5))
    assert np.isnan(found[1][3]).any()
    others = np.delete(np.asarray(found[1]), 3, axis=0)
    np.testing.assert_array_equal(others, np.repeat(alone[1], MEMBERS - 1, axis=0))


def test_a_failure_that_nobody_foresaw_is_told_as_one(monkeypatch):
    def fails(*arguments):
        raise KeyError("num_consts")

    monkeypatch.setattr(lanes, "trace", fails)
    with pytest.raises(Unexpected, match="KeyError: 'num_consts'"):
        LanesAhead(jnp.sin)((0,), np.ones((MEMBERS, 2)))


FARTHEST = lane_math.FARTHEST


def angles():
    """Angles of all sizes, those next to whole quarter turns among them, where a bad reduction loses every digit."""
    rng = np.random.default_rng(2)
    small = rng.normal(size=4000)
    sizes = 10.0 ** rng.uniform(-300, 16, size=4000)
    large = rng.uniform(-FARTHEST, FARTHEST, size=4000)
    most = int(FARTHEST / (np.pi / 2))
    turns = np.concatenate([np.arange(-60, 60), rng.integers(-most, most, size=4000)])
    # Halves too: there the choice of the quarter changes.
    quarters = np.concatenate([turns, turns + 0.5]) * (np.pi / 2)
    beside = [np.nextafter(quarters, -np.inf), np.nextafter(quarters, np.inf)]
    edge = np.nextafter(FARTHEST, [0.0, FARTHEST, np.inf])
    extremes = [0.0, 1e-300, 1e7, -3e15, 1e22, 1e300]
    worst = [nearest_to_quarters()]
    return np.concatenate(
        [small, sizes, large, quarters, *beside, edge, -edge, extremes, worst]
    )


def nearest_to_quarters():
    """Of the doubles below the limit, near whole quarter turns, the one that comes nearest."""
    turns = np.arange(1, int(FARTHEST / (np.pi / 2)), dtype=float)
    rounded = turns * (np.pi / 2)
    gaps = [abs(math.sin(x) * math.cos(x)) for x in rounded]
    return rounded[int(np.argmin(gaps))]


def test_sine_and_cosine_are_within_two_units_in_the_last_place():
    x = angles()
    found = LanesAhead(lambda x: (jnp.sin(x), jnp.cos(x)))((0,), x)
    for values, function in zip(found, (math.sin, math.cos), strict=True):
        wanted = np.array([function(number) for number in x])
        assert (np.abs(values - wanted) <= 2 * np.spacing(np.abs(wanted))).all()


def test_what_is_not_finite_has_no_sine():
    (found,) = LanesAhead(lambda x: (jnp.sin(x),))((0,), np.array([np.inf, np.nan]))
    assert np.isnan(found).all()


def test_a_call_into_python_has_no_form_in_lanes():
    def outside(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(np.sin, shape, x)

    with pytest.raises(Untranslatable):
        LanesAhead(outside)((0,), np.ones((3, 2)))


def test_the_widest_vectors_of_the_processor_are_used():
    assert lane_count() in (2, 4, 8)
