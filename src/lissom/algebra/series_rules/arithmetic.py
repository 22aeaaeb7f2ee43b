"""Sums, products and quotients of power series."""

from collections.abc import Sequence

import numpy as np

from .. import series as s
from ..series import Series, add_series, compose


def add(m, params, a: Series, b: Series) -> Series:
    """Sum of two series."""
    return add_series([a, b])


def subtract(m, params, a: Series, b: Series) -> Series:
    """Difference of two series."""
    return add_series([a, negate(m, {}, b)])


def negate(m, params, a: Series) -> Series:
    """The series with the other sign."""
    return a.each(np.negative)


def multiply(m, params, a: Series, b: Series) -> Series:
    """Product, element by element."""
    return s.multiply(m, a, b)


def divide(m, params, a: Series, b: Series) -> Series:
    """Quotient, element by element."""
    if b.constant:
        a, b = s.with_equal_ranks(a, b)
        return a.each(lambda data: data / b.value)
    coefficients = s.power(b.value, -1.0, m.order)
    reciprocal = compose(m, b, coefficients)
    return s.multiply(m, a, reciprocal)


def dot_general(m, params, a: Series, b: Series) -> Series:
    """Sum of products along contracted axes, for each element of the batch axes."""
    contracted, batch = params["dimension_numbers"]
    contracted_a, contracted_b = contracted
    batch_a, batch_b = batch
    free_a = _other_axes(a, contracted_a, batch_a)
    free_b = _other_axes(b, contracted_b, batch_b)
    A = _as_matrices(a, batch_a, free_a, contracted_a)
    B = _as_matrices(b, batch_b, contracted_b, free_b)
    shape = [
        *_sizes(a, batch_a),
        *_sizes(a, free_a),
        *_sizes(b, free_b),
    ]
    return s.matmul(m, A, B).reshape(shape)


def _other_axes(
    a: Series, contracted: Sequence[int], batch: Sequence[int]
) -> list[int]:
    taken = {*contracted, *batch}
    return [axis for axis in range(len(a.shape)) if axis not in taken]


def _sizes(a: Series, axes: Sequence[int]) -> list[int]:
    return [a.shape[axis] for axis in axes]


def _as_matrices(a: Series, *groups: Sequence[int]) -> Series:
    """Coefficients as arrays of three axes: each group of axes becomes one."""
    # Axis 0 of the stacked coefficients is that of the terms.
    order = [0]
    sizes = []
    for group in groups:
        order += [axis + 1 for axis in group]
        sizes.append(int(np.prod(_sizes(a, group))))
    return a.each(lambda data: data.transpose(order)).reshape(sizes)


def reduce_sum(m, params, a: Series) -> Series:
    """Sum along axes."""
    axes = tuple(axis + 1 for axis in params["axes"])
    return a.each(lambda data: data.sum(axis=axes))


def cumulative_sum(m, params, a: Series) -> Series:
    """Sums of the elements so far, from the first or from the last."""
    axis = params["axis"] + 1
    if not params.get("reverse"):
        return a.each(lambda data: np.cumsum(data, axis))

    def from_the_last(data):
        flipped = np.flip(data, axis)
        return np.flip(np.cumsum(flipped, axis), axis)

    return a.each(from_the_last)


RULES = {
    "add": add,
    "add_any": add,
    "sub": subtract,
    "neg": negate,
    "mul": multiply,
    "div": divide,
    "dot_general": dot_general,
    "reduce_sum": reduce_sum,
    "cumsum": cumulative_sum,
}
