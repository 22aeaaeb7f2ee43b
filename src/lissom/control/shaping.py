"""Input shapers: a motion sent several times, scaled and delayed, so that the vibrations it excites cancel.

A shaper is a row of impulses (A_i, t_i) with sum A_i = 1. A mode of frequency omega and damping zeta that the shaped
motion excites keeps this part of the vibration that the unshaped one leaves (Singer and Seering 1990, eq. 2):

    V = exp(-zeta omega t_n) sqrt(C^2 + S^2)
    C = sum_i A_i exp(zeta omega t_i) cos(omega_d t_i),    S the same with sin,    omega_d = omega sqrt(1 - zeta^2)
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array
from typing_extensions import override

from ..solve.signals import AbstractSignal
from ..types import Float, Real

TOLERATED = (
    0.05  # vibration that extra-insensitive shapers allow at the design frequency
)


class Impulses(NamedTuple):
    """Amplitudes that sum to one, and their times [s]."""

    amplitudes: Float[np.ndarray, " i"]
    times: Float[np.ndarray, " i"]

    @property
    def duration(self) -> float:
        """Time by which the shaper lengthens a motion [s]."""
        return float(self.times[-1])


class Mode(NamedTuple):
    """A vibration to be avoided: undamped natural frequency [rad/s] and damping ratio."""

    omega: float
    zeta: float = 0.0

    @property
    def half_period(self) -> float:
        """Half a damped period [s]."""
        return np.pi / (self.omega * np.sqrt(1 - self.zeta**2))

    @property
    def decay(self) -> float:
        """Amplitude ratio of an oscillation after half a period."""
        return float(np.exp(-self.zeta * self.omega * self.half_period))


def zv(mode: Mode) -> Impulses:
    """Zero vibration: two impulses half a period apart."""
    K = mode.decay
    return Impulses(np.array([1, K]) / (1 + K), mode.half_period * np.arange(2))


def zvd(mode: Mode) -> Impulses:
    """Zero vibration and zero slope over frequency: ZV twice."""
    return convolved(zv(mode), zv(mode))


def ei(mode: Mode, tolerated: float = TOLERATED) -> Impulses:
    """Extra insensitive: some vibration at the design frequency, none at one on each side.

    The undamped closed form (Singhose, Seering and Singer 1994): A = ((1 + V)/4, (1 - V)/2, (1 + V)/4). With damping
    later impulses are smaller, and less than the tolerated vibration is left.
    """
    V = tolerated
    undamped = np.array([(1 + V) / 4, (1 - V) / 2, (1 + V) / 4])
    return _damp(mode, undamped)


def two_hump_ei(mode: Mode, tolerated: float = TOLERATED) -> Impulses:
    """Four impulses: two humps of the tolerated vibration about the design frequency (Singhose et al. 1997)."""
    V = tolerated
    X = np.cbrt(V**2 * (np.sqrt(1 - V**2) + 1))
    first = (3 * X**2 + 2 * X + 3 * V**2) / (16 * X)
    return _damp(mode, np.array([first, 0.5 - first, 0.5 - first, first]))


def _damp(mode: Mode, undamped: Float[np.ndarray, " i"]) -> Impulses:
    """Impulses half a period apart, later ones smaller as the vibration that they meet has decayed."""
    numbers = np.arange(len(undamped))
    amplitudes = undamped * mode.decay**numbers
    return Impulses(amplitudes / amplitudes.sum(), mode.half_period * numbers)


def specified_insensitivity(
    mode: Mode, width: float, tolerated: float = TOLERATED
) -> Impulses:
    """The shortest positive impulses with at most the tolerated vibration over a band of frequencies.

    Args:
        mode: at the middle of the band.
        width: of the band, in parts of the mode's frequency.
        tolerated: largest part of the unshaped vibration.

    Raises:
        ValueError: no five impulses do it.
    """
    band = mode.omega * np.linspace(1 - width / 2, 1 + width / 2, 41)
    for impulses in range(3, 6):
        shaper = _shortest(mode, band, tolerated, impulses)
        if shaper is not None:
            return shaper
    raise ValueError(
        f"no shaper of five impulses leaves at most {tolerated:g} of the vibration "
        f"over a band of {width:g} of the frequency: choose a narrower band or a "
        "larger tolerance"
    )


def _shortest(mode: Mode, band, tolerated: float, count: int) -> Impulses | None:
    """The shortest row of `count` impulses that keeps the band, or None."""
    start = {3: ei, 4: two_hump_ei}.get(count)
    if start is not None:
        guess = start(mode, tolerated)
    else:
        guess = convolved(zvd(mode), zvd(mode))
    scale = mode.half_period

    def impulses(z) -> Impulses:
        times = np.concatenate([[0.0], np.cumsum(z[count:])]) * scale
        return Impulses(z[:count], times)

    def margins(z):
        return tolerated - residual_vibrations(impulses(z), band, mode.zeta)

    z0 = np.concatenate([guess.amplitudes, np.diff(guess.times) / scale])
    answer = scipy.optimize.minimize(
        lambda z: np.sum(z[count:]),
        z0,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * count + [(1e-3, 3.0)] * (count - 1),
        constraints=[
            {"type": "eq", "fun": lambda z: np.sum(z[:count]) - 1.0},
            {"type": "ineq", "fun": margins},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    # A closed form that keeps the band already may be the shortest one, and leave nothing to search.
    feasible = [z for z in (answer.x, z0) if np.min(margins(z)) > -1e-6]
    if not feasible:
        return None
    shortest = impulses(min(feasible, key=lambda z: np.sum(z[count:])))
    is_there = shortest.amplitudes > 1e-6
    return Impulses(shortest.amplitudes[is_there], shortest.times[is_there])


SPECIFIED = "specified-insensitivity"
SHAPERS = {"zv": zv, "zvd": zvd, "ei": ei, "two-hump-ei": two_hump_ei}


def convolved(*shapers: Impulses) -> Impulses:
    """One shaper for several modes: every impulse of one through every impulse of the others."""
    amplitudes = np.ones(1)
    times = np.zeros(1)
    for shaper in shapers:
        amplitudes = np.outer(amplitudes, shaper.amplitudes).ravel()
        times = np.add.outer(times, shaper.times).ravel()
    # Impulses at one time are one impulse.
    order = np.argsort(times, kind="stable")
    times = times[order]
    amplitudes = amplitudes[order]
    same = np.concatenate([[False], np.diff(times) < 1e-12 * (1 + times[-1])])
    group = np.cumsum(~same) - 1
    return Impulses(np.bincount(group, amplitudes), times[~same])


def shaper_for(
    kind: str, modes: Sequence[Mode], width: float | None = None
) -> Impulses:
    """The shaper of a kind for one or several modes.

    Args:
        kind: `zv`, `zvd`, `ei`, `two-hump-ei` or `specified-insensitivity`.
        modes: vibrations to be avoided.
        width: band of specified insensitivity, in parts of each frequency.
    """
    if kind == SPECIFIED and width is not None:
        return convolved(*(specified_insensitivity(mode, width) for mode in modes))
    if kind not in SHAPERS:
        raise ValueError(
            f"shaper must be one of {', '.join(SHAPERS)}, or {SPECIFIED} with a width, got {kind!r}"
        )
    return convolved(*(SHAPERS[kind](mode) for mode in modes))


def residual_vibration(impulses: Impulses, omega: float, zeta: float = 0.0) -> float:
    """Vibration that the shaped motion leaves in a mode, in parts of what the unshaped one leaves."""
    return float(residual_vibrations(impulses, np.array([omega]), zeta)[0])


def residual_vibrations(
    impulses: Impulses, omega: Float[np.ndarray, " w"], zeta: float = 0.0
) -> Float[np.ndarray, " w"]:
    """`residual_vibration` at many frequencies."""
    A, t = impulses
    omega = omega[:, None]
    omega_d = omega * np.sqrt(1 - zeta**2)
    grown = A * np.exp(zeta * omega * (t - t[-1]))
    C = np.sum(grown * np.cos(omega_d * t), axis=1)
    S = np.sum(grown * np.sin(omega_d * t), axis=1)
    return np.hypot(C, S)


def insensitivity(
    impulses: Impulses, mode: Mode, tolerated: float = TOLERATED
) -> float:
    """Width of the band about the mode with at most the tolerated vibration, in parts of its frequency."""
    # Extra-insensitive shapers leave just what is tolerated at the mode itself: equal but for rounding.
    limit = tolerated * (1 + 1e-9)

    def excess(ratio):
        return residual_vibration(impulses, mode.omega * ratio, mode.zeta) - limit

    if excess(1.0) > 0:
        return 0.0
    return _first_root(excess, 1.0, 3.0) - _first_root(excess, 1.0, 0.0)


def _first_root(excess: Callable[[float], float], start: float, end: float) -> float:
    """Where a function first becomes positive on the way from start to end; end if it never does."""
    ratios = np.linspace(start, end, 2001)
    beyond = [excess(ratio) > 0 for ratio in ratios]
    if not any(beyond):
        return end
    k = beyond.index(True)
    root: Any = scipy.optimize.brentq(excess, ratios[k - 1], ratios[k])
    return float(root)


class ShapedSignal(AbstractSignal):
    """A motion through a shaper: sum_i A_i r(t - t_i); it ends later by the shaper's duration."""

    signal: AbstractSignal
    amplitudes: Float[Real, " i"]
    delays: Float[Real, " i"]

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        shifted = np.add.outer(np.asarray(self.delays), self.signal.breakpoints)
        return np.unique(shifted.ravel())

    @override
    def on(self, start: float, end: float) -> "ShapedSignal":
        return self

    @override
    def value(self, t: Any) -> Float[Array, "*shape"]:
        return self._sum(self.signal.value, t)

    @override
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        return self._sum(self.signal.rate, t)

    @override
    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        return self._sum(self.signal.acceleration, t)

    def _sum(self, of, t: Any) -> Float[Array, "*shape"]:
        total = 0.0
        for amplitude, delay in zip(self.amplitudes, self.delays, strict=True):
            total = total + amplitude * of(t - delay)
        return jnp.asarray(total)


def shape_signal(signal: AbstractSignal, impulses: Impulses) -> ShapedSignal:
    """A motion through a shaper."""
    return ShapedSignal(signal, impulses.amplitudes, impulses.times)
