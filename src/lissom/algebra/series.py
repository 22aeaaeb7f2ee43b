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
        """The constant term: the value at the expansion point."""
        if len(self.terms) and self.terms[0] == 0:
            return np.asarray(self.data[0])
        return np.zeros(self.shape, self.data.dtype)

    def each(self, function: Callable[[np.ndarray], np.ndarray]) -> "Series":
        """A linear map of every coefficient; `function` takes them stacked along the first axis."""
        return Series(self.terms, function(self.data))

    def reshape(self, shape: Sequence[int]) -> "Series":
        """The series with coefficients of another shape."""
        return Series(self.terms, self.data.reshape(len(self.data), *shape))

    def dense(self, size: int) -> np.ndarray:
        """Coefficients of all `size` terms, zeros included."""
        whole = np.zeros((size, *self.shape), self.data.dtype)
        whole[self.terms] = self.data
        return whole


def constant(value) -> Series:
    """A series of one term."""
    first_term = np.zeros(1, dtype=np.int64)
    return Series(first_term, np.asarray(value)[None])


def without_zero_terms(a: Series) -> Series:
    """The series without terms whose coefficients are all zero."""
    return _without_zero_terms(a.terms, a.data)


def from_dense(data: np.ndarray) -> Series:
    """The series of all coefficients; those that are zero are left out."""
    return _without_zero_terms(np.arange(len(data)), data)


def _without_zero_terms(terms: np.ndarray, data: np.ndarray) -> Series:
    # The constant term stays even if it is zero: it says what shape and type the coefficients have.
    has_numbers = data.reshape(len(data), -1).any(axis=1)
    needed = has_numbers | (terms == 0)
    if needed.all():
        return Series(terms, data)
    return Series(terms[needed], data[needed])


def with_equal_ranks(*parts: Series) -> list[Series]:
    """The same series with axes of length one in front, so that all coefficients have equally many axes."""
    rank = max(len(part.shape) for part in parts)
    return [_of_rank(part, rank) for part in parts]


def _of_rank(part: Series, rank: int) -> Series:
    missing = rank - len(part.shape)
    if not missing:
        return part
    return part.reshape((*[1] * missing, *part.shape))


def add_series(parts: Sequence[Series]) -> Series:
    """Sum of series whose coefficients broadcast."""
    parts = with_equal_ranks(*parts)
    terms = np.unique(np.concatenate([part.terms for part in parts]))
    shape = np.broadcast_shapes(*[part.shape for part in parts])
    kind = np.result_type(*[part.data for part in parts])
    data = np.zeros((len(terms), *shape), kind)
    for part in parts:
        place = np.searchsorted(terms, part.terms)
        data[place] += part.data
    return Series(terms, data)


def bilinear(monomials: Monomials, a: Series, b: Series, operation: Callable) -> Series:
    """Truncated product; `operation` takes one coefficient of one factor with stacked coefficients of the other.

    It is called `operation(x, y, swapped)`: x one coefficient of the shorter factor, y a stack of the other's;
    `swapped` says that x belongs to b.
    """
    # The loop runs over the factor with fewer terms.
    swapped = len(b.terms) < len(a.terms)
    few, many = (b, a) if swapped else (a, b)
    targets = monomials.product[np.ix_(few.terms, many.terms)]
    terms = np.unique(targets[targets >= 0])
    data: Any = None
    for target, coefficient in zip(targets, few.data, strict=True):
        # Products above the order of truncation have no target.
        fits = target >= 0
        others = many.data if fits.all() else many.data[fits]
        part = operation(coefficient, others, swapped)
        if data is None:
            data = np.zeros((len(terms), *part.shape[1:]), part.dtype)
        place = np.searchsorted(terms, target[fits])
        data[place] += part
    return _without_zero_terms(terms, data)


def multiply(monomials: Monomials, a: Series, b: Series) -> Series:
    """Elementwise product."""
    a, b = with_equal_ranks(a, b)

    def product(x, y, swapped):
        return x[None] * y

    return bilinear(monomials, a, b, product)


def matmul(monomials: Monomials, a: Series, b: Series) -> Series:
    """Matrix product of the last two axes."""

    def product(x, y, swapped):
        return np.matmul(y, x) if swapped else np.matmul(x, y)

    return bilinear(monomials, a, b, product)


def compose(monomials: Monomials, a: Series, coefficients: Sequence[Value]) -> Series:
    """f(a) from the Taylor coefficients of f at the constant term of a, by Horner's rule."""
    if a.constant:
        return constant(coefficients[0])
    moving = a.terms > 0
    step = Series(a.terms[moving], a.data[moving])
    result = constant(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        product = multiply(monomials, result, step)
        result = add_series([product, constant(c)])
    return result


def refine(
    order: int,
    residual: Callable[[Series], Series],
    correct: Callable[[np.ndarray], np.ndarray],
    start: Series,
):
    """Solve residual(y) = 0 as a series: each round with the linear solve `correct` makes one order more exact."""
    y = start
    for _ in range(order):
        correction = residual(y).each(lambda data: -correct(data))
        y = add_series([y, correction])
    return y


# --- Taylor coefficients of functions of one variable about x, elementwise


def power(x: Value, exponent: float | int, order: int) -> list[Value]:
    """x^r; whole positive powers have finitely many terms, also at x = 0."""
    is_polynomial = float(exponent).is_integer() and exponent >= 0
    terms = []
    binomial = 1.0
    for k in range(order + 1):
        if is_polynomial and k > exponent:
            terms.append(np.zeros_like(x))
        else:
            terms.append(binomial * x ** (exponent - k))
        binomial *= (exponent - k) / (k + 1)
    return terms


def exponential(x: Value, order: int) -> list[Value]:
    """e^x."""
    terms = [np.exp(x)]
    for k in range(1, order + 1):
        terms.append(terms[-1] / k)
    return terms


def logarithm(x: Value, order: int) -> list[Value]:
    """Logarithm of x."""
    terms = [np.log(x)]
    for k in range(1, order + 1):
        sign = (-1.0) ** (k - 1)
        terms.append(sign / (k * x**k))
    return terms


def cycle(derivatives: Sequence[Value], order: int) -> list[Value]:
    """Functions whose derivatives repeat: sin, cos, sinh, cosh."""
    terms = []
    factorial = 1.0
    for k in range(order + 1):
        factorial *= max(k, 1)
        derivative = derivatives[k % len(derivatives)]
        terms.append(derivative / factorial)
    return terms


def riccati(value: Value, sign: float, order: int) -> list[Value]:
    """Solution of y' = 1 + sign y^2: tanh (-1) and tan (+1)."""
    terms = [value]
    for k in range(order):
        # Coefficient k of 1 + sign y^2 is (k + 1) times coefficient k + 1 of y.
        one = 1.0 if k == 0 else 0.0
        square = sum(terms[i] * terms[k - i] for i in range(k + 1))
        terms.append((one + sign * square) / (k + 1))
    return terms


def inverse_function(
    value: Value, x: Value, sign: float, exponent: float | int, order: int
) -> list[Value]:
    """Solution of y' = (1 + sign x^2)^r: atan (+1, -1), asin (-1, -1/2), asinh (+1, -1/2), atanh (-1, -1)."""
    # With d = 1 + sign x^2, a polynomial of three terms, g = d^r solves d g' = r d' g: its coefficients one by one.
    d = [1.0 + sign * x**2, 2.0 * sign * x, sign * np.ones_like(x)]
    g = [d[0] ** exponent]
    for k in range(1, order):
        past = 0
        for i in range(1, min(k, 2) + 1):
            weight = exponent * i - (k - i)
            past = past + weight * d[i] * g[k - i]
        g.append(past / (k * d[0]))
    integrated = [g[k] / (k + 1) for k in range(order)]
    return [value, *integrated]
