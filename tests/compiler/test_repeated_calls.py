"""Functions that loops call again and again, with constants among their arguments, give what XLA gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxnative import marks
from jaxnative.compiled import NativeAhead, function_of, pattern_of, using
from jaxnative.llvm_text import function_text
from jaxnative.program import FREE, Function
from jaxnative.program_text import changing_arguments

RANDOM = np.random.default_rng(11)
ROUNDS = 3


def sparse(*shape: int) -> np.ndarray:
    """A matrix with zeros, the same in some of its rows and others in others."""
    kept = RANDOM.random((*shape[:-2], 3, shape[-1])) < 0.6
    rows = RANDOM.integers(0, 3, shape[-2])
    return np.where(kept[..., rows, :], RANDOM.normal(size=shape), 0.0)


A, B = sparse(19, 17), sparse(17, 19)
STACK = sparse(3, 17, 17)
X = RANDOM.normal(size=17)


@marks.noinline
def products(A, B, x):
    """Rows of constants, and rows that read them."""
    y = A @ x
    z = B @ (y * jnp.sin(y[0])) - x
    return z + x[3] * (B @ y) + y[2] * z


@marks.noinline
def branching(A, B, x):
    """A loop and a branch between products."""
    y = A @ x
    small = jax.lax.while_loop(lambda v: v @ v > 1e-2, lambda v: v / 2, y)
    return jax.lax.cond(x[0] > 0, lambda v: B @ v, lambda v: -(B @ y), small)


def often(function):
    """The function again and again, each time at what came out before."""

    def call(A, B, x):
        def once(_, x):
            return jnp.tanh(function(A, B, x))

        return jax.lax.fori_loop(0, ROUNDS, once, x)

    return call


def translated(function, *arguments) -> Function:
    """The program of a function, all zeros and ones of its arrays but the last taken for granted."""
    fixed = [True] * (len(arguments) - 1) + [False]
    with marks.tracing():
        traced = jax.make_jaxpr(function)(*arguments)
    return function_of(traced, pattern_of(list(arguments), fixed), unrolls=False)


def native(function):
    return NativeAhead(function, lambda *arguments: arguments[:-1])


def assert_as_under_xla(function, *arguments):
    with using("native"):
        found = native(function)(*arguments)
    np.testing.assert_allclose(found, function(*arguments), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("function", [products, branching])
def test_rows_with_the_same_zeros_give_what_xla_gives(function):
    assert_as_under_xla(often(function), A, B, X)


def test_rows_with_other_signs_give_what_xla_gives():
    signs = np.where(RANDOM.random((16, 8)) < 0.5, -1.0, 1.0)

    @marks.noinline
    def differences(A, x):
        """Every row has other signs."""
        terms = [
            sum(s * A[i, k] * x[k] for k, s in enumerate(row))
            for i, row in enumerate(signs)
        ]
        return jnp.stack(terms)

    numbers = RANDOM.normal(size=(16, 8))

    def program(A, x):
        return jax.lax.fori_loop(0, ROUNDS, lambda _, x: differences(A, x)[:8], x)

    assert_as_under_xla(program, numbers, X[:8])


def test_nothing_that_changes_in_a_loop_is_taken_for_constant():
    def program(A, B, x):
        def once(_, state):
            A, x = state
            return A * 1.5, jnp.tanh(products(A, B, x))

        return jax.lax.fori_loop(0, ROUNDS, once, (A, x))[1]

    assert_as_under_xla(program, A, B, X)


def test_constants_may_be_a_part_of_an_array():
    @marks.noinline
    def product(C, x):
        y = C @ x
        return C @ (y * x[0])

    def program(stack, x):
        def once(_, x):
            return jnp.tanh(product(stack[2], x) - product(stack[1], x))

        return jax.lax.fori_loop(0, ROUNDS, once, x)

    # The zeros of both parts are the same, so that one function serves both.
    stack = np.where(STACK[0] == 0, 0.0, RANDOM.normal(size=STACK.shape))
    assert_as_under_xla(program, stack, X)


def test_functions_that_functions_call_have_their_constants_too():
    @marks.noinline
    def outer(A, B, x):
        return x + products(A, B, x) * jnp.cos(x)

    assert_as_under_xla(often(outer), A, B, X)


def test_a_number_that_ceases_to_be_zero_is_noticed():
    program = native(often(products))
    other = A.copy()
    other[tuple(np.argwhere(A == 0)[0])] = 0.7
    for matrix in (A, other, A):
        with using("native"):
            found = program(matrix, B, X)
        expected = often(products)(matrix, B, X)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_what_is_infinite_in_one_row_stays_there():
    @marks.noinline
    def product(A, x):
        return A @ x

    dense = RANDOM.normal(size=(24, 17))
    dense[5, 3] = np.inf

    def program(A, x):
        return jax.lax.fori_loop(
            0, 2, lambda _, y: product(A, x) + 0.0 * y, jnp.ones(24)
        )

    with using("native"):
        found = np.asarray(native(program)(dense, X))
    assert np.flatnonzero(~np.isfinite(found)).tolist() == [5]


# --- numbers of inputs --------------------------------------------------------------------------------------------


def test_numbers_of_inputs_are_read_where_they_are_used_and_no_others():
    @marks.noinline
    def twice(A, x):
        y = A[0, 0] * x
        return y + A[0, 0] * jnp.sin(y)

    (function,) = translated(twice, RANDOM.normal(size=(2, 2)), X[:3]).calls
    _, text = function_text(function, {})
    reads = [line for line in text.splitlines() if "load double" in line]
    loads = [node for node, op in enumerate(function.op) if op == "load"]
    # A number is read as often as something uses it.
    used = [
        abs(operand)
        for node in function.block
        if isinstance(node, int) and function.op[node] not in FREE
        for operand in function.args[node]
    ]
    assert len(reads) == sum(used.count(node) for node in loads) > len(loads)
    assert changing_arguments(function) == {2}
