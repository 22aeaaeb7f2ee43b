"""Marks that say how a function becomes machine code: not inlined, as a loop over rows, or in step with other lanes.

Under XLA they have no effect: a marked function is inlined, rows are mapped at once, and every member runs by itself.
They apply only inside `tracing`.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import numpy as np

KEPT = "native_function"
RARE = "native_function_called_rarely"
FUNCTIONS = (KEPT, RARE)
ROWS = "native_rows"
ALL_LANES = "native_in_all_lanes"
LEAST_OF_LANES = "native_least_of_lanes"
_is_native: ContextVar[bool] = ContextVar("native", default=False)
_is_in_lanes: ContextVar[bool] = ContextVar("in lanes", default=False)
_is_in_step: ContextVar[bool] = ContextVar("in step", default=False)
F = TypeVar("F", bound=Callable[..., Any])
V = TypeVar("V")


@contextmanager
def held(variable: ContextVar[V], value: V) -> Iterator[None]:
    """Context in which a context variable has another value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def tracing(native: bool = True) -> AbstractContextManager[None]:
    """Context in which functions are traced for machine code, or else for XLA."""
    return held(_is_native, native)


@contextmanager
def tracing_for_lanes(in_step: bool) -> Iterator[None]:
    """Context in which functions are traced for several members in lanes; used inside `tracing`.

    Args:
        in_step: they decide together; else each goes its own way, as it does by itself.
    """
    with held(_is_in_lanes, True), held(_is_in_step, in_step):
        yield


def is_tracing() -> bool:
    """True while functions are traced for machine code, which is not differentiated."""
    return _is_native.get()


def noinline(function: F) -> F:
    """A function that is not inlined in machine code: compiled once, and called from everywhere."""
    return _kept(function, KEPT)


def rarely_called(function: F) -> F:
    """A function that is not inlined and called rarely: where it is long, it is compiled with little optimisation."""
    return _kept(function, RARE)


def _kept(function: F, mark: str) -> F:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        if not _is_native.get():
            return function(*arguments)
        numbers, rest = eqx.partition(arguments, _is_number)
        numbers, tree = jax.tree.flatten(numbers)
        outputs, other = _Kept.of(function, mark, tree, rest)(numbers)
        return eqx.combine(outputs, other.value)

    return call  # type: ignore[return-value]


def _is_number(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray)


class _Other:
    """What a function returns beside arrays."""

    value: Any = None


class _Kept:
    """Cache of functions by the structure of their arguments, so that each is traced once for its shapes."""

    made: ClassVar[dict[Any, Any]] = {}
    most: ClassVar[int] = 256

    @classmethod
    def of(cls, function: Callable, mark: str, tree: Any, rest: Any) -> Callable:
        leaves, rest_tree = jax.tree.flatten(rest)
        key = (function, tree, rest_tree, tuple(leaves))
        if len(cls.made) > cls.most:
            cls.made.clear()
        if key not in cls.made:
            cls.made[key] = cls._make(function, mark, tree, rest)
        return cls.made[key]

    @staticmethod
    def _make(function: Callable, mark: str, tree: Any, rest: Any) -> Callable:
        other = _Other()

        def on_numbers(numbers: list[Any]) -> Any:
            arguments = eqx.combine(jax.tree.unflatten(tree, numbers), rest)
            value = function(*arguments)
            arrays, other.value = eqx.partition(value, eqx.is_array)
            return arrays

        on_numbers.__name__ = mark
        jitted = jax.jit(on_numbers)
        return lambda numbers: (jitted(numbers), other)


def vmap_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.vmap` of a function over first axes; in machine code a loop over them."""

    def call(*arrays: Any) -> Any:
        if not _is_native.get():
            return jax.vmap(function)(*arrays)

        def rows(arrays: Any) -> Any:
            return jax.lax.map(lambda row: function(*row), arrays)

        rows.__name__ = ROWS
        return jax.jit(rows)(arrays)

    return call


def vmap_first_rows(function: Callable[..., Any], count: Any) -> Callable[..., Any]:
    """`vmap_rows` over the first `count` rows: machine code stops there, and the results of others are zero."""

    def call(*arrays: Any) -> Any:
        if not _is_native.get():
            return jax.vmap(function)(*arrays)

        def one(k: Any) -> Any:
            return function(*[array[k] for array in arrays])

        def put(k: Any, results: Any) -> Any:
            return jax.tree.map(lambda rows, row: rows.at[k].set(row), results, one(k))

        rows = arrays[0].shape[0]
        shapes = jax.eval_shape(one, count)
        blank = jax.tree.map(
            lambda leaf: jax.numpy.zeros((rows, *leaf.shape), leaf.dtype), shapes
        )
        return jax.lax.fori_loop(0, count, put, blank)

    return call


# --- members in step ------------------------------------------------------------------------------------------------


def in_all_lanes(truth: Any) -> Any:
    """Whether a condition holds for every member in step; the condition itself without lanes."""
    return _across_lanes(truth, ALL_LANES) if _is_in_step.get() else truth


def in_some_lane(truth: Any) -> Any:
    """Whether a condition holds for any member in step."""
    return ~in_all_lanes(~truth)


def least_of_lanes(number: Any) -> Any:
    """Minimum of a number over all members in step."""
    return _across_lanes(number, LEAST_OF_LANES) if _is_in_step.get() else number


def _across_lanes(value: Any, mark: str) -> Any:
    # Not inside a kept function: that is traced once, for members in lanes and by themselves.
    def across(value: Any) -> Any:
        return value

    across.__name__ = mark
    return jax.jit(across)(value)


def recompute_where(
    is_new: Any, compute: Callable[..., Any], kept: Any, *arguments: Any
) -> Any:
    """`compute(*arguments)` where `is_new`, elsewhere `kept`, its cached value for the same arguments.

    Members in lanes compute it together as soon as one of them has to: the others get the same value again.
    """
    if _is_in_lanes.get():
        is_new = ~_across_lanes(~is_new, ALL_LANES)
    return jax.lax.cond(
        is_new,
        lambda kept, arguments: compute(*arguments),
        lambda kept, arguments: kept,
        kept,
        arguments,
    )


# --- factors -------------------------------------------------------------------------------------------------------


def factors_for_solving(A: Any) -> Any:
    """Factors and row order of a matrix; machine code may choose any row order under which rounding does not grow.

    It is recognised by its name when it is jitted.
    """
    lu, _, order = jax.lax.linalg.lu(A)
    return lu, order
