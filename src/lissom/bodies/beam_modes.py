"""Modes of a uniform straight beam that is clamped at one end and carries a rigid mass at the other.

Everything is in the share xi = x / L of the length, so that one number b = beta L belongs to each mode. Shapes are
written in the decaying functions exp(-b (1 - xi)) and exp(-b xi) instead of hyperbolic ones, and the frequency
equation is divided by cosh b: no number overflows and none loses its digits, however high the mode.

Every shape is normalised to a mean square of one, int_0^1 phi^2 dxi = 1: its amplitude is the root mean square of the
deflection [m] or of the twist [rad] along the link. The sign is such that the curvature (bending) or the slope (bars)
at the clamped end is positive. Modes are orthogonal in the strain energy, so that their stiffness is diagonal and
known in closed form: int phi''^2 = b^4 (1 + mu phi(1)^2 + kappa phi'(1)^2).
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..types import Float, Real, Scalar, namespace
from .mesh import gauss

HALVINGS = 60  # of an interval of length pi: to the last digit

PerMode = Float[Real, " n"]
Shares = Float[Real, " p"]


class BendingModes(NamedTuple):
    """Bending modes of a clamped beam: phi = a_1 e^(-b (1 - xi)) + a_2 e^(-b xi) + a_3 cos b xi + a_4 sin b xi."""

    b: PerMode  # beta L
    a: Float[Real, "n 4"]
    stiffness: PerMode  # int phi''^2 dxi; modes are orthogonal in it

    def shape(self, xi: Shares, derivative: int = 0) -> Float[Real, "p n"]:
        """The shapes, or a derivative of them by xi, at the shares xi of the length."""
        values = _bending_shape(self.b, self.a, xi, derivative)
        if derivative > 1:
            return values
        # The four functions cancel at the clamped end, but for rounding.
        is_clamped = np.asarray(xi)[:, None] == 0.0
        return namespace(values).where(is_clamped, 0.0, values)


class BarModes(NamedTuple):
    """Modes of a shaft or bar clamped at one end: phi = a sin b xi."""

    b: PerMode
    a: PerMode
    stiffness: PerMode  # int phi'^2 dxi

    def shape(self, xi: Shares, derivative: int = 0) -> Float[Real, "p n"]:
        """The shapes, or a derivative of them by xi, at the shares xi of the length."""
        xp = namespace(self.b, xi)
        # Each derivative of a sine is b times the sine a quarter of a turn ahead.
        phase = derivative * np.pi / 2
        angle = self.b * xp.asarray(xi)[:, None] + phase
        amplitude = self.a * self.b**derivative
        return amplitude * xp.sin(angle)


def bending_modes(
    count: int, mass: Scalar = 0.0, inertia: Scalar = 0.0
) -> BendingModes:
    """The lowest bending modes of a uniform Euler-Bernoulli beam, clamped, with a rigid mass at its tip.

    Args:
        count: number of modes.
        mass: mu = M / (rho A L), tip mass against that of the beam.
        inertia: kappa = J / (rho A L^3), rotary inertia of the tip mass about the tip.
    """
    xp = namespace(mass, inertia)
    mu = xp.asarray(mass, dtype=float)
    kappa = xp.asarray(inertia, dtype=float)
    b = bending_roots(count, mu, kappa)
    a = _coefficients(b, mu, kappa)
    xi, weight = gauss(quadrature_points(count))
    mean_square = weight @ _bending_shape(b, a, xi) ** 2
    a = a / xp.sqrt(mean_square)[:, None]
    tip = np.ones(1)
    deflection = _bending_shape(b, a, tip)[0]
    slope = _bending_shape(b, a, tip, 1)[0]
    tip_energy = mu * deflection**2 + kappa * slope**2
    stiffness = b**4 * (1 + tip_energy)
    return BendingModes(b, a, stiffness)


def quadrature_points(count: int) -> int:
    """Gauss points on the whole beam that integrate the product of any two of `count` modes to rounding."""
    return 10 + 3 * count


def bending_roots(count: int, mass: Scalar = 0.0, inertia: Scalar = 0.0) -> PerMode:
    """Beta L of the lowest modes, in order and none left out.

    A clamped-free root lies between neighbouring multiples of pi. A tip mass, then its rotary inertia, are each one
    more square in the kinetic energy: every root moves down, but not below its neighbour before (Rayleigh). The sign
    of the frequency equation below root n is (-1)^(n-1), so that halving cannot miss.
    """
    xp = namespace(mass, inertia)
    mu = xp.asarray(mass, dtype=float)
    kappa = xp.asarray(inertia, dtype=float)

    def equation(mu, kappa):
        return lambda b: bending_equation(b, mu, kappa)

    high = np.pi * np.arange(1, count + 1)
    roots = _bisect(equation(0.0, 0.0), high - np.pi, high)
    roots = _bisect(equation(mu, 0.0), _roots_before(roots), roots)
    roots = _bisect(equation(mu, kappa), _roots_before(roots), roots)
    return _differentiable(equation(mu, kappa), roots)


def _roots_before(roots: PerMode) -> PerMode:
    """Below each root its neighbour, zero below the first."""
    xp = namespace(roots)
    zero = xp.zeros(1)
    shifted = xp.concatenate([zero, roots])
    return shifted[:-1]


def bending_equation(b: PerMode, mass: Scalar, inertia: Scalar) -> PerMode:
    """Frequency equation of the clamped beam with a tip mass, divided by cosh b.

    1 + cos b cosh b + mu b (sinh b cos b - cosh b sin b) - kappa b^3 (cosh b sin b + sinh b cos b)
    + mu kappa b^4 (1 - cosh b cos b) = 0
    """
    xp = namespace(b, mass, inertia)
    # 1 / cosh b, without a number that overflows
    decay = xp.exp(-b)
    sech = 2 * decay / (1 + xp.exp(-2 * b))
    tanh = xp.tanh(b)
    cos = xp.cos(b)
    sin = xp.sin(b)
    return (
        sech
        + cos
        + mass * b * (tanh * cos - sin)
        - inertia * b**3 * (sin + tanh * cos)
        + mass * inertia * b**4 * (sech - cos)
    )


def bar_modes(count: int, inertia: Scalar = 0.0) -> BarModes:
    """The lowest modes of a uniform shaft (or bar), clamped, with a rigid inertia at its tip: cos b = kappa b sin b.

    Args:
        count: number of modes.
        inertia: kappa, tip inertia (or mass) against that of the whole shaft (or bar).
    """
    xp = namespace(inertia)
    kappa = xp.asarray(inertia, dtype=float)

    def equation(b):
        return xp.cos(b) - kappa * b * xp.sin(b)

    # An inertia at the tip lowers each root of the free shaft, by less than pi / 2.
    n = np.arange(1, count + 1)
    free = xp.asarray((n - 0.5) * np.pi)
    roots = _bisect(equation, free - np.pi / 2, free)
    b = _differentiable(equation, roots)
    mean_square = 0.5 - xp.sin(2 * b) / (4 * b)
    a = 1 / xp.sqrt(mean_square)
    tip = a * xp.sin(b)
    stiffness = b**2 * (1 + kappa * tip**2)
    return BarModes(b, a, stiffness)


def _bisect(equation: Callable, low: PerMode, high: PerMode) -> PerMode:
    """Root n in (low, high], where the equation has the sign (-1)^(n-1) below it and the other above."""
    xp = namespace(low, high, equation(high))
    n = np.arange(len(high))
    sign = (-1.0) ** n

    def halve(_, ends):
        low, high = ends
        middle = (low + high) / 2
        is_below = sign * equation(middle) > 0
        low = xp.where(is_below, middle, low)
        high = xp.where(is_below, high, middle)
        return low, high

    if xp is jnp:
        ends = (jnp.asarray(low), jnp.asarray(high))
        low, high = jax.lax.fori_loop(0, HALVINGS, halve, ends)
        return high
    for count in range(HALVINGS):
        low, high = halve(count, (low, high))
    return high


def _differentiable(equation: Callable, roots: PerMode) -> PerMode:
    """The roots; for traced values with the derivative of the implicit function, by one step of Newton's."""
    if namespace(roots) is np:
        return roots
    at = jax.lax.stop_gradient(roots)
    ones = jnp.ones_like(at)
    value, slope = jax.jvp(equation, (at,), (ones,))
    return at - value / jax.lax.stop_gradient(slope)


def _bending_shape(
    b: PerMode, a: Float[Real, "n 4"], xi: Shares, derivative: int = 0
) -> Float[Real, "p n"]:
    xp = namespace(b, xi)
    column = xp.asarray(xi)[:, None]
    functions = _functions(b, column, derivative)
    return xp.einsum("pnk,nk->pn", functions, a)


def _functions(
    b: PerMode, xi: Float[Real, "p 1"], derivative: int
) -> Float[Real, "p n 4"]:
    """The four functions of a bending mode, or their derivatives by xi."""
    xp = namespace(b, xi)
    # Each derivative multiplies by b, turns cosine and sine by a quarter and the sign of the decaying one.
    angle = b * xi + derivative * np.pi / 2
    sign = (-1.0) ** derivative
    functions = (
        xp.exp(-b * (1 - xi)),
        sign * xp.exp(-b * xi),
        xp.cos(angle),
        xp.sin(angle),
    )
    factor = (b**derivative)[:, None]
    return factor * xp.stack(functions, axis=-1)


def _clamped_combinations(b: PerMode) -> Float[Real, "n 4 2"]:
    """The two combinations of the four functions that leave the clamped end at rest: phi(0) = phi'(0) = 0."""
    xp = namespace(b)
    e = xp.exp(-b)
    zero = xp.zeros_like(b)
    one = xp.ones_like(b)
    first = xp.stack([one, zero, -e, -e], axis=-1)
    second = xp.stack([zero, one, -one, one], axis=-1)
    return xp.stack([first, second], axis=-1)


def _coefficients(b: PerMode, mu: Scalar, kappa: Scalar) -> Float[Real, "n 4"]:
    """The combination that also satisfies phi'' = kappa b^4 phi' and phi''' = -mu b^4 phi at the tip.

    At a root the two conditions are equivalent; the better conditioned one is taken.
    """
    xp = namespace(b, mu, kappa)
    tip = xp.ones((1, 1))
    phi = []
    for d in range(4):
        # phi, phi', phi'', phi''' at the tip, each divided by its power of b
        at_tip = _functions(b, tip, d)[0]
        phi.append(at_tip / (b**d)[:, None])
    inertia = kappa * b[:, None] ** 3
    mass = mu * b[:, None]
    clamped = _clamped_combinations(b)

    def condition(row, weight):
        # Divided by 1 + weight, so that a heavy tip does not make its condition look better conditioned.
        scaled = row / (1 + weight)
        return xp.einsum("nk,nkf->nf", scaled, clamped)

    moment = condition(phi[2] - inertia * phi[1], inertia)
    force = condition(phi[3] + mass * phi[0], mass)
    moment_size = xp.sum(moment**2, axis=1)
    force_size = xp.sum(force**2, axis=1)
    clearer = (moment_size >= force_size)[:, None]
    first, second = xp.where(clearer, moment, force).T
    # The combination of the two shapes that the condition sets to zero.
    null = xp.stack([-second, first], axis=-1)
    a = xp.einsum("nkf,nf->nk", clamped, null)
    a_1, a_2, a_3, _ = a.T
    curvature = xp.exp(-b) * a_1 + a_2 - a_3  # phi''(0) / b^2
    return a * xp.sign(curvature)[:, None]
