"""Zeros and ones that programs take for granted: few programs serve many models, and the next process knows them.

Whatever a program takes for granted, its results are the same to the last bit.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative import loading, marks
from jaxnative.call_memory import with_positive_zeros
from jaxnative.compiled import (
    Pattern,
    Runner,
    chosen_pattern,
    function_of,
    pattern_of,
    recipe_of,
)
from jaxnative.lanes import LanesAhead
from jaxnative.program_cache import keep_pattern, patterns

from .operations import CASES
from .random_programs import N, RandomProgram


def pattern(*known):
    return Pattern((np.array(known),))


def test_a_kept_program_is_taken_where_it_holds_and_knows_nearly_as_much():
    numbers = [np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 1.0])]
    own = pattern(0, 0, 0, 0, 0, -1, 1)
    nearly = pattern(0, 0, 0, 0, 0, -1, -1)
    vague = pattern(0, -1, -1, -1, -1, -1, -1)
    other = pattern(0, 0, 0, 0, 0, 0, 1)
    assert chosen_pattern(own, [], [nearly, vague], numbers) is nearly
    # It would be slow, or wrong.
    assert chosen_pattern(own, [], [vague], numbers) is own
    weaker = chosen_pattern(own, [], [other], numbers)
    assert weaker.known[0].tolist() == [0, 0, 0, 0, 0, -1, 1]
    assert weaker.holds_for(numbers)


def test_patterns_are_kept_for_the_next_process(monkeypatch, tmp_path):
    monkeypatch.setattr("jaxnative.code_cache.folder", lambda: tmp_path)
    assert patterns("key") == []
    known = (None, np.array([[0, -1], [1, 0]]))
    keep_pattern("key", known)
    keep_pattern("key", (None, np.array([[0, 0], [0, 0]])))
    first, second = patterns("key")
    assert first[0] is None
    np.testing.assert_array_equal(first[1], known[1])
    assert (
        Pattern(first).digest() == Pattern(known).digest() != Pattern(second).digest()
    )
    # What cannot be read is as good as nothing.
    (tmp_path / "key-patterns").write_bytes(b"damaged")
    assert patterns("key") == []


# --- no bit of a result depends on them ----------------------------------------------------------------------------


def with_zeros_and_ones(numbers, rng):
    """The numbers, a third of them replaced by zeros and a sixth by ones."""
    chance = rng.random(np.shape(numbers))
    return np.where(chance < 1 / 3, 0.0, np.where(chance < 1 / 2, 1.0, numbers))


def results(function, arguments, pattern, unrolls):
    """What a program of a function gives that takes a pattern for granted."""
    with marks.tracing():
        traced = jax.make_jaxpr(function)(*arguments)
    name = loading.load(function_of(traced, pattern, unrolls))
    avals = [variable.aval for variable in traced.jaxpr.outvars]
    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    runner = Runner(recipe_of(traced, name, shapes))
    return with_positive_zeros(runner(list(arguments)))


def assert_same_bits(function, arguments, seed):
    rng = np.random.default_rng(seed)
    arguments = [with_zeros_and_ones(np.asarray(a), rng) for a in arguments]
    own = pattern_of(arguments, [True] * len(arguments))
    none = Pattern((None,) * len(arguments))
    some = Pattern(tuple(np.where(rng.random(k.shape) < 0.5, k, -1) for k in own.known))
    for unrolls in (True, False):
        wanted = results(function, arguments, own, unrolls)
        for pattern in (none, some):
            found = results(function, arguments, pattern, unrolls)
            for array, other in zip(wanted, found, strict=True):
                assert array.tobytes() == other.tobytes(), f"unrolls: {unrolls}"


def folded(a, x):
    """Constants that follow from ones alone are rounded as numbers are: thirds, tenths, sines, differences."""
    one = a[0] * a[1]
    three = one + a[0] + a[1]
    return (
        x / three,
        jnp.stack([three, x[0]]) @ jnp.stack([0.1 * x, x[::-1]]),
        jnp.sin(one) * x + jnp.cos(one),
        jnp.exp(-one) * x - x * jnp.sqrt(one + one),
        (three * 0.1) * x + 0.1 * x[::-1],
    )


def test_constants_that_follow_from_ones_are_rounded_as_numbers_are():
    a, x = np.ones(2), np.random.default_rng(5).normal(size=9)
    with_ones = pattern_of([a, x], [True, False])
    without = Pattern((None, None))
    for unrolls in (True, False):
        wanted = results(folded, (a, x), with_ones, unrolls)
        found = results(folded, (a, x), without, unrolls)
        for array, other in zip(wanted, found, strict=True):
            assert array.tobytes() == other.tobytes()


def test_sines_of_ones_in_lanes_are_those_of_numbers_in_lanes():
    a, x = np.ones(2), np.random.default_rng(5).normal(size=(3, 9))
    with_ones = LanesAhead(folded, lambda a, x: a)
    without = LanesAhead(folded)
    pairs = zip(with_ones((None, 0), a, x), without((None, 0), a, x), strict=True)
    for array, other in pairs:
        assert array.tobytes() == other.tobytes()


@pytest.mark.parametrize("case", ["products", "rows", "products of few terms"])
def test_what_a_program_takes_for_granted_changes_no_bit(case):
    assert_same_bits(*CASES[case], seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_what_any_program_takes_for_granted_changes_no_bit(case):
    for seed in (2, 3):
        assert_same_bits(*CASES[case], seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 60))
def test_what_a_program_at_random_takes_for_granted_changes_no_bit(seed):
    arguments = np.random.default_rng(seed).normal(size=(2, N))
    assert_same_bits(RandomProgram(seed), arguments, seed)


def test_results_have_positive_zeros():
    zeros = {"x": np.array([-0.0, 1.0]), "z": np.array([complex(-0.0, -0.0)])}
    whole = np.array([3])
    found = with_positive_zeros([zeros, whole])
    assert not np.signbit(found[0]["x"]).any()
    assert not np.signbit(found[0]["z"].view(float)).any()
    assert found[1] is whole
