"""Polynomials in several parameters, one about each of several points: evaluate, differentiate, read."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Inexact, Int

from ...algebra.monomials import Monomials, monomials_of
from ...types import Float, namespace


@dataclass(frozen=True, eq=False)
class PiecewisePolynomial:
    """Values sum_k c_k (x - centre)^sigma_k with the coefficients of the piece that x lies in; k columns of values.

    Pieces are boxes; a point belongs to the one it lies in, or lies least outside of.
    """

    parameters: tuple[str, ...]
    order: int
    centre: Float[np.ndarray, "P p"]
    low: Float[np.ndarray, "P p"]
    high: Float[np.ndarray, "P p"]
    coefficients: Inexact[np.ndarray, "P T k"]

    @property
    def monomials(self) -> Monomials:
        """Monomials of all terms, lowest order first."""
        return monomials_of(len(self.parameters), self.order)

    @property
    def pieces(self) -> int:
        """Number of expansion points."""
        return len(self.centre)

    @property
    def columns(self) -> int:
        """Number of values at a point."""
        return self.coefficients.shape[-1]

    def __call__(self, x: Float[Any, "... p"]) -> Inexact[Any, "... k"]:
        """Values at points, batched over leading axes; JAX arrays give JAX arrays, differentiable."""
        xp = namespace(x)
        x = xp.asarray(x, dtype=float)
        flat = x.reshape(-1, x.shape[-1])
        if self.pieces == 1:
            values = self._values_in(flat, 0)
        elif xp is np:
            values = self._values_by_piece(flat)
        else:
            # Traced code cannot sort points by piece: every point takes the coefficients of its own.
            piece = self.piece(flat)
            centre = xp.asarray(self.centre)[piece]
            coefficients = xp.asarray(self.coefficients)[piece]
            terms = self.monomials.values(flat - centre)
            values = xp.einsum("bt,btk->bk", terms, coefficients)
        return values.reshape(*x.shape[:-1], self.columns)

    def _values_in(self, x: Float[Any, "b p"], piece: int) -> Inexact[Any, "b k"]:
        """Values at points that all belong to one piece."""
        terms = self.monomials.values(x - self.centre[piece])
        coefficients = self.coefficients[piece]
        if namespace(x) is np and np.iscomplexobj(coefficients):
            # The terms are real: two real columns cost half of a complex one.
            pairs = np.ascontiguousarray(coefficients).view(float)
            return np.ascontiguousarray(terms @ pairs).view(complex)
        return terms @ coefficients

    def _values_by_piece(
        self, x: Float[np.ndarray, "b p"]
    ) -> Inexact[np.ndarray, "b k"]:
        """Values at points, those of each piece together."""
        piece = self.piece(x)
        values = np.empty((len(x), self.columns), self.coefficients.dtype)
        for i in np.unique(piece):
            here = piece == i
            values[here] = self._values_in(x[here], int(i))
        return values

    def piece(self, x: Float[Any, "b p"]) -> Int[Any, " b"]:
        """Which piece each point belongs to."""
        xp = namespace(x)
        middle = 0.5 * (self.low + self.high)
        half = np.maximum(0.5 * (self.high - self.low), 1e-12)
        # Distance from the middle in half widths: at most 1 inside a box.
        away = xp.abs(x[:, None, :] - middle) / half
        return xp.argmin(xp.max(away, axis=-1), axis=1)

    def derivative(self, parameter: str) -> "PiecewisePolynomial":
        """The partial derivative: again a polynomial, of one order less."""
        i = self.parameters.index(parameter)
        if self.order == 0:
            return replace(self, coefficients=np.zeros_like(self.coefficients))
        source, target, factor = self.monomials.derivative(i)
        lower = monomials_of(len(self.parameters), self.order - 1)
        shape = (self.pieces, lower.size, self.columns)
        coefficients = np.zeros(shape, self.coefficients.dtype)
        terms = self.coefficients[:, source]
        coefficients[:, target] = terms * factor[None, :, None]
        return replace(self, order=self.order - 1, coefficients=coefficients)

    def truncated(self, order: int) -> "PiecewisePolynomial":
        """The terms up to a lower order."""
        size = monomials_of(len(self.parameters), order).size
        return replace(self, order=order, coefficients=self.coefficients[:, :size])


def text_of(
    polynomial: PiecewisePolynomial,
    column: int,
    piece: int,
    digits: int,
    smallest: float,
) -> str:
    """One column as text: `64.0 + 0.12 (q1 - 0.5) q2^2`.

    Terms that stay below `smallest` of the constant one all over the piece are left out.
    """
    c = polynomial.coefficients[piece, :, column]
    exponents = polynomial.monomials.exponents
    width = polynomial.high[piece] - polynomial.low[piece]
    reach = np.maximum(0.5 * width, 1e-12)
    largest_monomial = np.prod(reach**exponents, axis=1)
    weight = np.abs(c) * largest_monomial
    # Without a constant term the largest one is the measure.
    whole = weight[0] or max(weight.max(), 1e-300)
    share = weight / whole
    variables = _variables(polynomial, piece, digits)
    parts = []
    for k, powers in enumerate(exponents):
        if share[k] < smallest and powers.any():
            continue
        factors = [_number(c[k], digits)]
        for name, power in zip(variables, powers, strict=True):
            if power:
                factors.append(name if power == 1 else f"{name}^{power}")
        parts.append(" ".join(factors))
    return " + ".join(parts).replace("+ -", "- ")


def _variables(polynomial: PiecewisePolynomial, piece: int, digits: int) -> list[str]:
    """Every parameter as its distance from the centre of the piece: `(q1 - 0.5)`."""
    variables = []
    for name, at in zip(polynomial.parameters, polynomial.centre[piece], strict=True):
        if abs(at) < 1e-12:
            variables.append(name)
        else:
            sign = "-" if at > 0 else "+"
            variables.append(f"({name} {sign} {abs(at):.{digits}g})")
    return variables


def _number(value: Any, digits: int) -> str:
    if np.isrealobj(value):
        return f"{value:.{digits}g}"
    return f"({value.real:.{digits}g}{value.imag:+.{digits}g}i)"
