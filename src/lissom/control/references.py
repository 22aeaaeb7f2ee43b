"""Motions that a controller follows: from row to row of a table, through its points, delayed or shaped."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..algebra.spline import clamped_spline
from ..solve.signals import AbstractSignal, Table
from ..types import Float, Real
from .profiles import PROFILES, NormalisedMotion

# How a table is read between its rows.
INTERPOLATIONS = ("linear", "hold", "spline", *PROFILES)


class RestToRest(AbstractSignal):
    """Moves from row to row of a table, at rest at each of them; holds the first and the last row outside.

    Args:
        t: times at which the rows are reached [s], increasing.
        value: the rows.
        profile: `trapezoid`, `s-curve`, `quintic` or `cycloidal`.
    """

    t: Float[Real, " p"]
    values: Float[Real, " p *shape"]
    profile: str = eqx.field(static=True)

    def __init__(self, t: Sequence[float], value: Any, profile: str = "quintic"):
        self.t = np.asarray(t, dtype=float)
        self.values = np.asarray(value, dtype=float)
        self.profile = profile

    @property
    def breakpoints(self) -> np.ndarray:
        """Times of the rows, and those at which the profile is not smooth."""
        corners = np.asarray([0.0, *PROFILES[self.profile].corners])
        starts = np.asarray(self.t[:-1], dtype=float)
        widths = np.diff(np.asarray(self.t, dtype=float))
        inner = starts[:, None] + widths[:, None] * corners
        return np.append(inner.ravel(), self.t[-1])

    @override
    def on(self, start: float, end: float) -> "RestToRest":
        return self

    @override
    def value(self, t: Any) -> Float[Array, "*shape"]:
        begin, rise, _, progress = self._at(t)
        return begin + rise * progress.s

    @override
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        _, rise, width, progress = self._at(t)
        return rise * progress.rate / width

    @override
    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        _, rise, width, progress = self._at(t)
        return rise * progress.acceleration / width**2

    @eqx.filter_jit  # used by laws in many places: traced once
    def _at(self, t: Any) -> tuple[Any, Any, Any, NormalisedMotion]:
        """Row before t, rise to the next one, time that it takes, and how far it has come."""
        times = jnp.asarray(self.t)
        values = jnp.asarray(self.values)
        last = times.shape[0] - 1
        k = jnp.clip(jnp.searchsorted(times, t, side="right") - 1, 0, max(last - 1, 0))
        following = jnp.minimum(k + 1, last)
        width = times[following] - times[k]
        width = jnp.where(width > 0, width, 1.0)
        tau = jnp.clip((t - times[k]) / width, 0.0, 1.0)
        rise = values[following] - values[k]
        progress = PROFILES[self.profile].at(tau)
        # Outside the table the motion is at rest, whatever acceleration the profile ends with.
        inside = (t >= times[0]) & (t < times[-1])
        still = NormalisedMotion(
            progress.s,
            jnp.where(inside, progress.rate, 0.0),
            jnp.where(inside, progress.acceleration, 0.0),
        )
        return values[k], rise, width, still


class PolynomialSignal(AbstractSignal):
    """Polynomials in time between knots, sum_k c_k (t - knot)^k; the end values hold outside."""

    knots: Float[Real, " p"]
    coefficients: Float[Real, "q k *shape"]  # q = p - 1 pieces

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return np.asarray(self.knots)

    @override
    def on(self, start: float, end: float) -> "PolynomialSignal":
        return self

    @override
    def value(self, t: Any) -> Float[Array, "*shape"]:
        return self._derivative(t, 0)

    def rate(self, t: Any) -> Float[Array, "*shape"]:
        """Rate at time t; zero outside."""
        return self._derivative(t, 1)

    @override
    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        return self._derivative(t, 2)

    def _derivative(self, t: Any, order: int) -> Float[Array, "*shape"]:
        knots = jnp.asarray(self.knots)
        pieces = self.coefficients.shape[0]
        k = jnp.clip(jnp.searchsorted(knots, t, side="right") - 1, 0, pieces - 1)
        coefficients = jnp.asarray(self.coefficients)[k]
        since = jnp.clip(t, knots[0], knots[-1]) - knots[k]
        total = jnp.zeros(coefficients.shape[1:])
        for power in range(coefficients.shape[0] - 1, order - 1, -1):
            # d^n/dt^n t^p = p (p - 1) ... (p - n + 1) t^(p - n), by Horner's scheme.
            factor = float(np.prod(np.arange(power - order + 1, power + 1)))
            total = total * since + factor * coefficients[power]
        if order == 0:
            return total
        inside = (t >= knots[0]) & (t < knots[-1])
        return jnp.where(inside, total, 0.0)


def spline_through(t: Sequence[float], value: Any) -> PolynomialSignal:
    """The cubic spline through the rows of a table, at rest at both ends."""
    knots = np.asarray(t, dtype=float)
    coefficients = clamped_spline(knots, np.asarray(value, dtype=float))
    return PolynomialSignal(knots, coefficients)


def reference_through(
    t: Sequence[float], value: Any, interpolation: str = "linear"
) -> AbstractSignal:
    """The motion through the rows of a table, the last one held.

    Args:
        t: times of the rows [s].
        value: the rows, one number for each joint.
        interpolation: `linear`, `hold`, `spline`, or a profile from rest to rest: `trapezoid`, `s-curve`, `quintic`,
            `cycloidal`.
    """
    if interpolation in ("linear", "hold"):
        return Table(t, value, interpolation, after="hold")
    if len(t) == 1:
        return Table(t, value, "hold", after="hold")
    if interpolation == "spline":
        return spline_through(t, value)
    return RestToRest(t, value, interpolation)
