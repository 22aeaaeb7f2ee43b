"""Polynomials in several parameters, one about each of several points: evaluate, differentiate, read."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Inexact, Int

from ...algebra.monomials import Monomials, monomials_of
from ...types import namespace


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
        """The terms."""
        return monomials_of(len(self.parameters), self.order)

    @property
    def pieces(self) -> int:
        """Number of expansion points."""
        return len(self.centre)

    def __call__(self, x: Float[Any, "... p"]) -> Inexact[Any, "... k"]:
        """Values at points, batched over leading axes; JAX arrays give JAX arrays, differentiable."""
        xp = namespace(x)
        x = xp.asarray(x, dtype=float)
        flat = x.reshape(-1, x.shape[-1])
        if self.pieces == 1:
            values = self._combined(
                xp, self.monomials.values(flat - self.centre[0]), self.coefficients[0]
            )
        elif xp is np:
            piece = self.piece(flat)
            values = np.empty(
                (len(flat), self.coefficients.shape[-1]), self.coefficients.dtype
            )
            for i in np.unique(piece):
                here = piece == i
                values[here] = self._combined(
                    np,
                    self.monomials.values(flat[here] - self.centre[i]),
                    self.coefficients[i],
                )
        else:
            piece = self.piece(flat)
            terms = self.monomials.values(flat - xp.asarray(self.centre)[piece])
            values = xp.einsum(
                "bt,btk->bk", terms, xp.asarray(self.coefficients)[piece]
            )
        return values.reshape(*x.shape[:-1], self.coefficients.shape[-1])

    def piece(self, x: Float[Any, "b p"]) -> Int[Any, " b"]:
        """Which piece each point belongs to."""
        xp = namespace(x)
        middle, half = (
            0.5 * (self.low + self.high),
            np.maximum(0.5 * (self.high - self.low), 1e-12),
        )
        return xp.argmin(xp.max(xp.abs(x[:, None, :] - middle) / half, axis=-1), axis=1)

    @staticmethod
    def _combined(xp: Any, terms, coefficients):
        if xp is np and np.iscomplexobj(
            coefficients
        ):  # two real columns cost half of a complex one
            pairs = np.ascontiguousarray(coefficients).view(float)
            return np.ascontiguousarray(terms @ pairs).view(complex)
        return terms @ coefficients

    def derivative(self, parameter: str) -> "PiecewisePolynomial":
        """The partial derivative: again a polynomial, of one order less."""
        i = self.parameters.index(parameter)
        if self.order == 0:
            return replace(self, coefficients=np.zeros_like(self.coefficients))
        source, target, factor = self.monomials.derivative(i)
        lower = monomials_of(len(self.parameters), self.order - 1)
        coefficients = np.zeros(
            (self.pieces, lower.size, self.coefficients.shape[-1]),
            self.coefficients.dtype,
        )
        coefficients[:, target] = self.coefficients[:, source] * factor[None, :, None]
        return replace(self, order=self.order - 1, coefficients=coefficients)

    def truncated(self, order: int) -> "PiecewisePolynomial":
        """The terms up to a lower order."""
        size = monomials_of(len(self.parameters), order).size
        return replace(self, order=order, coefficients=self.coefficients[:, :size])


def written(
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
    shifted = [name if abs(at) < 1e-12 else f"({name} {'-' if at > 0 else '+'} {abs(at):.{digits}g})"
               for name, at in zip(polynomial.parameters, polynomial.centre[piece], strict=True)]  # fmt: skip
    reach = np.maximum(0.5 * (polynomial.high - polynomial.low)[piece], 1e-12)
    weight = np.abs(c) * np.prod(reach**polynomial.monomials.exponents, axis=1)
    parts = []
    for value, share, powers in zip(
        c,
        weight / (weight[0] or max(weight.max(), 1e-300)),
        polynomial.monomials.exponents,
        strict=True,
    ):
        if share < smallest and powers.any():
            continue
        factors = [
            name if e == 1 else f"{name}^{e}"
            for name, e in zip(shifted, powers, strict=True)
            if e
        ]
        number = (
            f"{value:.{digits}g}"
            if np.isrealobj(value)
            else f"({value.real:.{digits}g}{value.imag:+.{digits}g}i)"
        )
        parts.append(" ".join([number, *factors]))
    return " + ".join(parts).replace("+ -", "- ")
