"""Values over time: tables, splines, and the smooth pieces that they are made of.

Tables are split at their points, so that a step never crosses a discontinuity: on each piece a table is a polynomial
in time.
"""

import abc
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.interpolate import CubicSpline

from ..types import Real, real

AT_ONCE = 1e-12  # relative: times closer than this are the same instant


class AbstractSignal(eqx.Module):
    """A value over time, smooth between its breakpoints."""

    @property
    @abc.abstractmethod
    def breakpoints(self) -> np.ndarray:
        """Times at which the signal jumps or bends."""

    @abc.abstractmethod
    def on(self, start: float, end: float) -> "AbstractSignal":
        """The smooth signal between two neighbouring breakpoints, with its limits at both ends."""

    @abc.abstractmethod
    def value(self, t: Any) -> Float[Array, "*shape"]:
        """Value at time t; at a jump, the one after it."""

    @abc.abstractmethod
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        """Rate of change at time t."""

    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        """Second derivative at time t."""
        return jax.jvp(self.rate, (real(t),), (jnp.ones(()),))[1]


class Piece(AbstractSignal):
    """Polynomial in time since `start`: sum_k c_k (t - start)^k."""

    start: Float[Array, ""]
    coefficients: Float[Array, "k *shape"]

    @property
    def breakpoints(self) -> np.ndarray:
        """None: a polynomial is smooth."""
        return np.zeros(0)

    def on(self, start: float, end: float) -> "Piece":
        """Itself."""
        return self

    def value(self, t: Any) -> Float[Array, "*shape"]:
        """Value at time t, by Horner's scheme."""
        total = jnp.zeros(self.coefficients.shape[1:])
        for c in self.coefficients[::-1]:
            total = total * (t - self.start) + c
        return total

    def rate(self, t: Any) -> Float[Array, "*shape"]:
        """Rate of change at time t."""
        return self.derivative().value(t)

    def derivative(self) -> "Piece":
        """The rate of change, as a polynomial."""
        powers = jnp.arange(1, self.coefficients.shape[0], dtype=float)
        factors = powers.reshape(-1, *[1] * (self.coefficients.ndim - 1))
        return Piece(self.start, self.coefficients[1:] * factors)


class Table(AbstractSignal):
    """Values over time, `linear` or `hold` between points; two points at one time are a jump.

    Before the first and after the last point it is zero, or with `after="hold"` the first and the last value.
    """

    t: Float[Real, " p"]
    values: Float[Real, "p *shape"]
    interpolation: str = eqx.field(static=True)
    after: str = eqx.field(static=True)

    def __init__(
        self,
        t: Sequence[float],
        value: Any,
        interpolation: str = "linear",
        after: str = "zero",
    ):
        self.t = np.asarray(t, dtype=float)
        self.values = np.asarray(value, dtype=float)
        self.interpolation = interpolation
        self.after = after

    @property
    def breakpoints(self) -> np.ndarray:
        """Times of the points."""
        return np.unique(self.t)

    def on(self, start: float, end: float) -> Piece:
        """The straight line on (start, end), which must not contain a point of the table."""
        middle = 0.5 * (start + end)
        first, last = self.t[0], self.t[-1]
        if middle < first:
            value, slope = self._outside(0), 0 * self.values[0]
        elif middle >= last:
            value, slope = self._outside(-1), 0 * self.values[-1]
        else:
            k = int(np.searchsorted(self.t, middle, side="right")) - 1
            slope = self._slope(k)
            value = self.values[k] + slope * (start - self.t[k])
        return Piece(real(start), real(np.stack([value, slope])))

    def _outside(self, end: int) -> Any:
        return self.values[end] if self.after == "hold" else 0 * self.values[end]

    def _slope(self, k: int) -> Any:
        if self.interpolation == "hold":
            return 0 * self.values[k]
        rise = self.values[k + 1] - self.values[k]
        return rise / (self.t[k + 1] - self.t[k])

    def value(self, t: Any) -> Float[Array, "*shape"]:
        """Value at time t; at a jump, the one after it."""
        return self._line(t)[0]

    def rate(self, t: Any) -> Float[Array, "*shape"]:
        """Slope at time t; at a point, the one after it."""
        return self._line(t)[1]

    def _line(self, t: Any) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
        """Value and slope at any time, inside compiled code."""
        times = jnp.asarray(self.t)
        values = jnp.asarray(self.values)
        now = t + AT_ONCE * (1.0 + jnp.abs(t))
        count = times.shape[0]
        k = jnp.clip(jnp.searchsorted(times, now, side="right") - 1, 0, count - 1)
        following = jnp.minimum(k + 1, count - 1)
        width = times[following] - times[k]
        # After the last point there is no next one: a slope of zero, and no division by zero on the way.
        rise = (values[following] - values[k]) / jnp.where(width > 0, width, 1.0)
        slope = rise if self.interpolation == "linear" else jnp.zeros_like(rise)
        value = values[k] + slope * (t - times[k])
        inside = (now >= times[0]) & (now < times[-1])
        kept = jnp.where(now < times[0], values[0], values[-1])
        outside = kept if self.after == "hold" else jnp.zeros_like(kept)
        return jnp.where(inside, value, outside), jnp.where(inside, slope, 0.0)


class Spline:
    """Cubic spline through the points, at rest at both ends and holding the end values outside."""

    def __init__(self, t: Sequence[float], value: Any):
        self.t = np.asarray(t, dtype=float)
        self.values = np.asarray(value, dtype=float)
        self.spline = CubicSpline(self.t, self.values, bc_type="clamped")

    @property
    def breakpoints(self) -> np.ndarray:
        """The spline's knots."""
        return self.t

    def on(self, start: float, end: float) -> Piece:
        """The cubic on (start, end), which must not contain a knot."""
        middle = 0.5 * (start + end)
        if not self.t[0] < middle < self.t[-1]:
            kept = self.values[0] if middle <= self.t[0] else self.values[-1]
            return Piece(real(start), real(np.array([kept, 0.0, 0.0, 0.0])))
        value = self.spline(start)
        rate = self.spline(start, 1)
        # The second derivative bends at a knot and the third jumps there: both are those of the middle of the piece.
        third = self.spline(middle, 3)
        second = self.spline(middle, 2) - third * (middle - start)
        coefficients = np.array([value, rate, second / 2.0, third / 6.0], dtype=float)
        return Piece(real(start), real(coefficients))
