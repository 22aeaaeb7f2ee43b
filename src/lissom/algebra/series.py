"""Truncated multivariate power series whose coefficients are arrays: sums, products, solves and functions of them.

A series keeps only the terms it has: a constant has one, the cosine of one variable has order + 1, and a product
forms only the terms that its factors can give.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .monomials import Monomials

Value = Any  # an array or a NumPy number


@dataclass(frozen=True, eq=False)
class Series:
    """Coefficients `data[i]` of the monomials number `terms[i]`, ascending; the other coefficients are zero."""

    terms: np.ndarray
    data: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one coefficient."""
        return self.data.shape[1:]

    @property
    def constant(self) -> bool:
        """Whether nothing but the first term is there."""
        return not bool(self.terms.any())

    @property
    def value(self) -> np.ndarray:
        """The constant term."""
        if len(self.terms) and self.terms[0] == 0:
            return np.asarray(self.data[0])
        return np.zeros(self.shape, self.data.dtype)

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> "Series":
        """A linear map of every coefficient; `function` takes them stacked along the first axis."""
        return Series(self.terms, function(self.data))

    def dense(self, size: int) -> np.ndarray:
        """All coefficients, zeros included."""
        whole = np.zeros((size, *self.shape), self.data.dtype)
        whole[self.terms] = self.data
        return whole


def constant(value) -> Series:
    """A series of one term."""
    return Series(np.zeros(1, dtype=np.int64), np.asarray(value)[None])


def pruned(a: Series) -> Series:
    """The same without terms whose coefficients are all zero."""
    return _pruned(a.terms, a.data)


def of_dense(data: np.ndarray) -> Series:
    """The series of all coefficients; those that are zero are left out."""
    return _pruned(np.arange(len(data)), data)


def _pruned(terms: np.ndarray, data: np.ndarray) -> Series:
    kept = data.reshape(len(data), -1).any(axis=1) | (terms == 0)
    return Series(terms, data) if kept.all() else Series(terms[kept], data[kept])


def aligned(*parts: Series) -> list[Series]:
    """The same series with axes of length one in front, so that all coefficients have equally many axes."""
    rank = max(len(part.shape) for part in parts) + 1
    return [part if part.data.ndim == rank
            else part.each(lambda d: d.reshape(len(d), *(1,) * (rank - d.ndim), *d.shape[1:]))
            for part in parts]  # fmt: skip


def total(parts: Sequence[Series]) -> Series:
    """Sum of series whose coefficients broadcast."""
    parts = aligned(*parts)
    terms = np.unique(np.concatenate([part.terms for part in parts]))
    shape = np.broadcast_shapes(*[part.shape for part in parts])
    data = np.zeros(
        (len(terms), *shape), np.result_type(*[part.data for part in parts])
    )
    for part in parts:
        data[np.searchsorted(terms, part.terms)] += part.data
    return Series(terms, data)


def bilinear(monomials: Monomials, a: Series, b: Series, operation: Callable) -> Series:
    """Truncated product; `operation` takes one coefficient of one factor with stacked coefficients of the other.

    It is called `operation(x, y, swapped)`: x one coefficient of the shorter factor, y a stack of the other's;
    `swapped` says that x belongs to b.
    """
    swapped = len(b.terms) < len(a.terms)
    few, many = (b, a) if swapped else (a, b)
    targets = monomials.product[np.ix_(few.terms, many.terms)]
    terms = np.unique(targets[targets >= 0])
    data = None
    for target, coefficient in zip(targets, few.data, strict=True):
        fits = target >= 0
        part = operation(
            coefficient, many.data if fits.all() else many.data[fits], swapped
        )
        data = (
            np.zeros((len(terms), *part.shape[1:]), part.dtype)
            if data is None
            else data
        )
        data[np.searchsorted(terms, target[fits])] += part
    assert data is not None
    return _pruned(terms, data)


def multiply(monomials: Monomials, a: Series, b: Series) -> Series:
    """Elementwise product."""
    a, b = aligned(a, b)
    return bilinear(monomials, a, b, lambda x, y, swapped: x[None] * y)


def matmul(monomials: Monomials, a: Series, b: Series) -> Series:
    """Matrix product of the last two axes."""
    return bilinear(
        monomials,
        a,
        b,
        lambda x, y, swapped: np.matmul(y, x) if swapped else np.matmul(x, y),
    )


def compose(monomials: Monomials, a: Series, coefficients: Sequence[Value]) -> Series:
    """f(a) from the Taylor coefficients of f at the constant term of a, by Horner's rule."""
    if a.constant:
        return constant(coefficients[0])
    moving = a.terms > 0
    step = Series(a.terms[moving], a.data[moving])
    result = constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = total([multiply(monomials, result, step), constant(c)])
    return result


def refine(
    order: int,
    residual: Callable[[Series], Series],
    correct: Callable[[np.ndarray], np.ndarray],
    start: Series,
):
    """Solve residual(y) = 0 as a series: each round with the constant linear solve `correct` settles one order more."""
    y = start
    for _ in range(order):
        y = total([y, residual(y).each(lambda data: -correct(data))])
    return y


# --- Taylor coefficients of functions of one variable about x, elementwise


def power(x: Value, exponent: float | int, order: int) -> list[Value]:
    """x^r; whole positive powers end by themselves, also at x = 0."""
    whole = float(exponent).is_integer() and exponent >= 0
    terms, factor = [], 1.0
    for k in range(order + 1):
        terms.append(
            factor * x ** (exponent - k)
            if not (whole and k > exponent)
            else np.zeros_like(x)
        )
        factor *= (exponent - k) / (k + 1)
    return terms


def exponential(x: Value, order: int) -> list[Value]:
    """e^x."""
    terms = [np.exp(x)]
    for k in range(1, order + 1):
        terms.append(terms[-1] / k)
    return terms


def logarithm(x: Value, order: int) -> list[Value]:
    """Logarithm of x."""
    return [np.log(x)] + [(-1.0) ** (k - 1) / (k * x**k) for k in range(1, order + 1)]


def cycle(derivatives: Sequence[Value], order: int) -> list[Value]:
    """Functions whose derivatives repeat: sin, cos, sinh, cosh."""
    terms, factorial = [], 1.0
    for k in range(order + 1):
        factorial *= max(k, 1)
        terms.append(derivatives[k % len(derivatives)] / factorial)
    return terms


def riccati(value: Value, sign: float, order: int) -> list[Value]:
    """Solution of y' = 1 + sign y^2: tanh (-1) and tan (+1)."""
    terms = [value]
    for k in range(order):
        square = sum(terms[i] * terms[k - i] for i in range(k + 1))
        terms.append(((1.0 if k == 0 else 0.0) + sign * square) / (k + 1))
    return terms


def inverse_function(
    value: Value, x: Value, sign: float, exponent: float | int, order: int
) -> list[Value]:
    """Solution of y' = (1 + sign x^2)^r: atan (+1, -1), asin (-1, -1/2), asinh (+1, -1/2), atanh (-1, -1)."""
    d = [1.0 + sign * x**2, 2.0 * sign * x, sign * np.ones_like(x)]
    g = [d[0] ** exponent]
    for k in range(1, order):
        past = sum((exponent * i - (k - i)) * d[i] * g[k - i] for i in (1, 2) if i <= k)
        g.append(past / (k * d[0]))
    return [value] + [g[k] / (k + 1) for k in range(order)]
