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
from jaxtyping import Array
from typing_extensions import override

from ..algebra.spline import clamped_spline
from ..files.errors import nearest, shortened
from ..types import Float, Real, Scalar, real

AT_ONCE = 1e-12  # relative: times closer than this are the same instant


INTERPOLATIONS = ("linear", "hold")
AFTERWARDS = ("zero", "hold")


def _points(t: Any, value: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of a table or spline.

    Raises:
        ValueError: no numbers, not one value for each time, or times that go back.
    """
    times = _finite("t", t)
    values = _finite("value", value)
    if times.ndim != 1 or not len(times):
        message = "must be a list of one time or more, in seconds"
        raise ValueError(f"t: {shortened(t)}: {message}")
    if np.diff(times).min(initial=0.0) < 0:
        raise ValueError(f"t: {shortened(t)}: times must not decrease")
    if values.ndim < 1 or len(values) != len(times):
        count = len(values) if values.ndim else 1
        raise ValueError(
            f"value: {shortened(value)}: must have one row for each of the {len(times)} times in t, not {count}"
        )
    return times, values


def _finite(name: str, given: Any) -> np.ndarray:
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: {shortened(given)}: must be finite numbers")
    return numbers


def _one_of(name: str, given: Any, accepted: tuple[str, ...]) -> str:
    if given not in accepted:
        words = ", ".join(accepted)
        raise ValueError(
            f"{name}: {given!r}: must be one of {words}{nearest(given, accepted)}"
        )
    return given


class AbstractSignal(eqx.Module):
    """A value over time, smooth between its breakpoints."""

    @property
    @abc.abstractmethod
    def breakpoints(self) -> np.ndarray:
        """Times at which the signal jumps or bends."""

    @abc.abstractmethod
    def on(self, start: Any, end: Any) -> "AbstractSignal":
        """The smooth signal between two neighbouring breakpoints, with its limits at both ends."""

    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list["AbstractSignal"]:
        """The smooth signals of many pieces, one after the other."""
        return [self.on(start, end) for start, end in zip(starts, ends, strict=True)]

    @abc.abstractmethod
    def value(self, t: Any) -> Float[Array, "*shape"]:
        """Value at time t; at a jump, the one after it."""

    @abc.abstractmethod
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        """Rate of change at time t."""

    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        """Second derivative at time t."""
        return jax.jvp(self.rate, (real(t),), (jnp.ones(()),))[1]


class PolynomialPiece(AbstractSignal):
    """Polynomial in time since `start`: sum_k c_k (t - start)^k. Many of them have one leading axis more."""

    start: Scalar | Float[Real, " p"]
    coefficients: Float[Real, "..."]  # (k, *shape)

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return np.zeros(0)

    @override
    def on(self, start: Any, end: Any) -> "PolynomialPiece":
        return self

    def value(self, t: Any) -> Float[Array, "*shape"]:
        """Value at time t, by Horner's scheme."""
        coefficients = jnp.asarray(self.coefficients)
        total = jnp.zeros(coefficients.shape[1:])
        for c in coefficients[::-1]:
            total = total * (t - self.start) + c
        return total

    @override
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        return self.derivative().value(t)

    def derivative(self) -> "PolynomialPiece":
        """The rate of change, as a polynomial."""
        powers = jnp.arange(1, self.coefficients.shape[0], dtype=float)
        factors = powers.reshape(-1, *[1] * (self.coefficients.ndim - 1))
        return PolynomialPiece(self.start, self.coefficients[1:] * factors)


class Table(AbstractSignal):
    """Values over time, `linear` or `hold` between points; two points at one time are a jump.

    Before the first and after the last point it is zero, or with `after="hold"` the first and the last value.
    """

    t: Float[Real, " p"]
    values: Float[Real, " p *shape"]
    interpolation: str = eqx.field(static=True)
    after: str = eqx.field(static=True)

    def __init__(
        self,
        t: Any,
        value: Any,
        interpolation: str = "linear",
        after: str = "zero",
    ):
        self.t, self.values = _points(t, value)
        self.interpolation = _one_of("interpolation", interpolation, INTERPOLATIONS)
        self.after = _one_of("after", after, AFTERWARDS)

    def __repr__(self) -> str:
        """From where to where, and through how many points."""
        if not isinstance(self.t, np.ndarray):
            return "Table, traced"
        points = f"{len(self.t)} points, {self.t[0]:g} to {self.t[-1]:g} s"
        return f"Table of {points}, {self.interpolation}, then {self.after}"

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return np.unique(self.t)

    def on(self, start: Any, end: Any) -> PolynomialPiece:
        """The straight line on (start, end), which must not contain a point of the table; many, if these are arrays."""
        start = np.asarray(start, dtype=float)
        middle = 0.5 * (start + np.asarray(end, dtype=float))
        count = len(self.t)
        k = np.clip(np.searchsorted(self.t, middle, side="right") - 1, 0, count - 1)
        column = (...,) + (None,) * (self.values.ndim - 1)
        inside = ((middle >= self.t[0]) & (middle < self.t[-1]))[column]
        slope = np.where(inside, self._slopes[k], 0.0)
        line = self.values[k] + slope * (start - self.t[k])[column]
        end_value = np.where(
            (middle < self.t[0])[column], self.values[0], self.values[-1]
        )
        outside = end_value if self.after == "hold" else np.zeros_like(end_value)
        value = np.where(inside, line, outside)
        return PolynomialPiece(start, np.stack([value, slope], axis=start.ndim))

    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list[PolynomialPiece]:
        """The lines of many pieces, computed at once."""
        together: Any = self.on(np.asarray(starts), np.asarray(ends))
        pairs = zip(together.start, together.coefficients, strict=True)
        return [PolynomialPiece(start, coefficients) for start, coefficients in pairs]

    @property
    def _slopes(self) -> Any:
        """Slope after each point."""
        if self.interpolation == "hold":
            return np.zeros_like(self.values)
        column = (slice(None),) + (None,) * (self.values.ndim - 1)
        width = np.append(np.diff(self.t), 1.0)
        values: Any = self.values
        rise = np.append(np.diff(values, axis=0), 0 * values[-1:], axis=0)
        # Between two points at one time, a jump, there is nothing.
        return rise / np.where(width > 0, width, 1.0)[column]

    def padded_to(self, rows: int) -> "Table":
        """The same table with its last point repeated, which changes nothing but its number of rows."""
        missing = max(rows - len(self.t), 0)
        t = np.append(self.t, np.full(missing, self.t[-1]))
        last = np.repeat(self.values[-1:], missing, axis=0)
        values = np.concatenate([self.values, last])
        return Table(t, values, self.interpolation, self.after)

    @override
    def value(self, t: Any) -> Float[Array, "*shape"]:
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
        end_value = jnp.where(now < times[0], values[0], values[-1])
        outside = end_value if self.after == "hold" else jnp.zeros_like(end_value)
        return jnp.where(inside, value, outside), jnp.where(inside, slope, 0.0)


class Spline:
    """Cubic spline through the points, at rest at both ends and holding the end values outside."""

    def __init__(self, t: Any, value: Any):
        self.t, self.values = _points(t, value)
        if len(self.t) < 2 or np.diff(self.t).min() <= 0:
            raise ValueError(
                f"t: {shortened(t)}: a spline needs two points or more, each later than the one before"
            )
        self.coefficients = clamped_spline(self.t, self.values)

    def __repr__(self) -> str:
        """From where to where, and through how many points."""
        return f"Spline of {len(self.t)} points, {self.t[0]:g} to {self.t[-1]:g} s"

    @property
    def breakpoints(self) -> np.ndarray:
        """The spline's knots."""
        return self.t

    def on(self, start: Any, end: Any) -> PolynomialPiece:
        """The cubic on (start, end), which must not contain a knot; many, if these are arrays."""
        start = np.asarray(start, dtype=float)
        middle = 0.5 * (start + np.asarray(end, dtype=float))
        end_value = np.where(middle <= self.t[0], self.values[0], self.values[-1])
        zero = np.zeros_like(end_value)
        # On a knot the middle of the piece says which of two cubics is meant.
        last = len(self.coefficients) - 1
        k = np.clip(np.searchsorted(self.t, middle, side="right") - 1, 0, last)
        c0, c1, c2, c3 = np.moveaxis(self.coefficients[k], start.ndim, 0)
        since = start - self.t[k]
        value = ((c3 * since + c2) * since + c1) * since + c0
        rate = (3.0 * c3 * since + 2.0 * c2) * since + c1
        cubic = (value, rate, 3.0 * c3 * since + c2, c3)
        is_inside = (self.t[0] < middle) & (middle < self.t[-1])
        pairs = zip(cubic, (end_value, zero, zero, zero), strict=True)
        rows = [np.where(is_inside, inner, outer) for inner, outer in pairs]
        return PolynomialPiece(start, np.stack(rows, axis=start.ndim))


def signal_of(reference: Any) -> AbstractSignal:
    """The signal itself, or one that holds a value for ever.

    Raises:
        ValueError: neither a signal nor numbers.
    """
    if isinstance(reference, AbstractSignal):
        return reference
    try:
        return Table([0.0], [np.asarray(reference, dtype=float)], after="hold")
    except (TypeError, ValueError):
        raise ValueError(
            f"reference: {reference!r}: must be a Table, a trajectory, or one number for each joint"
        ) from None
