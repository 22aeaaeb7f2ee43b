"""Choices and comparisons, made by the constant terms of power series."""

from collections.abc import Callable

import numpy as np

from ..series import Series, add_series, constant


def select(m, params, which: Series, *cases: Series) -> Series:
    """Each element from the case whose number `which` says."""
    number = which.value.astype(np.int64)
    parts = []
    for k, case in enumerate(cases):
        chosen = number == k
        parts.append(case.each(lambda data, chosen=chosen: np.where(chosen, data, 0)))
    return add_series(parts)


def larger(m, params, a: Series, b: Series) -> Series:
    """The larger of two; the first if they are equal."""
    second = constant(a.value < b.value)
    return select(m, params, second, a, b)


def smaller(m, params, a: Series, b: Series) -> Series:
    """The smaller of two; the first if they are equal."""
    second = constant(a.value > b.value)
    return select(m, params, second, a, b)


def clamp(m, params, low: Series, a: Series, high: Series) -> Series:
    """The series where its constant term lies between two limits, else the limit."""
    raised = larger(m, params, a, low)
    return smaller(m, params, raised, high)


def place_of_largest(m, params, a: Series) -> Series:
    """Number of the largest element along an axis."""
    (axis,) = params["axes"]
    place = np.argmax(a.value, axis)
    return constant(place.astype(params["index_dtype"]))


def place_of_smallest(m, params, a: Series) -> Series:
    """Number of the smallest element along an axis."""
    (axis,) = params["axes"]
    place = np.argmin(a.value, axis)
    return constant(place.astype(params["index_dtype"]))


def _extreme(place_of: Callable) -> Callable[..., Series]:
    """The element, along some axes, whose constant term is the largest or smallest."""

    def rule(m, params, a: Series) -> Series:
        axes = params["axes"]
        rest = [k for k in range(len(a.shape)) if k not in axes]
        remaining_sizes = [a.shape[k] for k in rest]

        def in_rows(data):
            # The coefficients' own axis stays in front, the axes that go are put together at the end.
            order = [0, *(k + 1 for k in rest), *(k + 1 for k in axes)]
            return data.transpose(order).reshape(len(data), *remaining_sizes, -1)

        rows = a.each(in_rows)
        place = place_of(rows.value, axis=-1)[None, ..., None]
        return rows.each(lambda data: np.take_along_axis(data, place, -1)[..., 0])

    return rule


def counting(m, params) -> Series:
    """0, 1, 2, ... along one axis."""
    shape = params["shape"]
    axis = params["dimension"]
    along = [1] * len(shape)
    along[axis] = -1
    numbers = np.arange(shape[axis], dtype=params["dtype"])
    return constant(np.broadcast_to(numbers.reshape(along), shape))


def _of_values(function: Callable) -> Callable[..., Series]:
    """A function whose result is constant wherever it is smooth: the constant terms decide."""

    def rule(m, params, *operands: Series) -> Series:
        values = [operand.value for operand in operands]
        return constant(function(*values))

    return rule


RULES = {
    "select_n": select,
    "max": larger,
    "min": smaller,
    "clamp": clamp,
    "reduce_max": _extreme(np.argmax),
    "reduce_min": _extreme(np.argmin),
    "argmax": place_of_largest,
    "argmin": place_of_smallest,
    "iota": counting,
    "eq": _of_values(np.equal),
    "ne": _of_values(np.not_equal),
    "lt": _of_values(np.less),
    "le": _of_values(np.less_equal),
    "gt": _of_values(np.greater),
    "ge": _of_values(np.greater_equal),
    "and": _of_values(np.bitwise_and),
    "or": _of_values(np.bitwise_or),
    "not": _of_values(np.invert),
    "sign": _of_values(np.sign),
    "floor": _of_values(np.floor),
    "ceil": _of_values(np.ceil),
    "is_finite": _of_values(np.isfinite),
}
