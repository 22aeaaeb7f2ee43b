"""What nobody needs of a traced function does not become machine code."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import function_of, pattern_of
from jaxnative.marks import noinline, tracing
from jaxnative.program import While

from .operations import V
from .test_native import assert_same, native


def halved(x):
    """A loop that halves numbers until they are small."""
    return jax.lax.while_loop(lambda y: jnp.max(y) > 1e-3, lambda y: 0.5 * y, x**2)


@jax.jit
def halved_and_doubled(x, y):
    return halved(x), 2.0 * y


def loops_of(function, *arguments):
    with tracing():
        traced = jax.make_jaxpr(function)(*arguments)
    inputs = [np.asarray(argument) for argument in arguments]
    whole = function_of(traced, pattern_of(inputs, [False] * len(inputs)), True)
    return sum(isinstance(statement, While) for statement in whole.block)


def test_a_loop_whose_result_is_not_read_is_left_out():
    def unread(x):
        halved(x)
        return 3.0 * x

    assert loops_of(halved, V) == 1
    assert loops_of(unread, V) == 0
    assert_same(native(unread, V), (unread(V),))


def test_of_an_inner_function_only_what_is_read_is_written_out():
    def doubled(x):
        # What the loop of the inner function begins with comes from a loop that only it reads.
        return halved_and_doubled(halved(x), x)[1]

    def both(x):
        return halved_and_doubled(halved(x), x)

    assert loops_of(doubled, V) == 0
    assert loops_of(both, V) == 2
    assert_same(native(doubled, V), (doubled(V),))
    assert_same(native(both, V), both(V))


def test_a_kept_function_that_is_not_read_is_not_called():
    kept = noinline(halved)

    def unread(x):
        kept(x)
        return x + 1.0

    with tracing():
        traced = jax.make_jaxpr(unread)(V)
    function = function_of(traced, pattern_of([np.asarray(V)], [False]), True)
    assert not function.calls
