"""Shapers whose delays follow a mode while the robot moves and its frequency changes.

A mode of slowly changing frequency omega(t) answers an impulse at time s by sin(phi(t) - phi(s)), phi the integral of
omega_d: impulses cancel each other when they are the right *phase* apart. The shaped motion is thus

    r_s(t) = sum_i A_i r(t - d_i(t)),        phi(t) - phi(t - d_i) = phase_i,

which is the shaper of a constant frequency with phi in place of time. The frequency is that along the shaped motion
itself, found by a few repetitions.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array
from typing_extensions import override

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..solve.model import Model
from ..solve.signals import AbstractSignal
from ..types import Float, Real
from .references import PolynomialSignal
from .shaping import Impulses
from .slow_model import whole_pose
from .tuning import driven_modes

POSES = 25  # along a motion at which a frequency is computed
ROUNDS = 3  # repetitions: a frequency along a motion that follows it
POINTS = 400  # of the tables of delays

# Joint coordinates of the motion to angular frequency [rad/s].
Frequency = Callable[[Float[np.ndarray, " a"]], float]


class FollowingSignal(AbstractSignal):
    """A motion through a shaper with delays that change: sum_i A_i r(t - d_i(t))."""

    signal: AbstractSignal
    amplitudes: Float[Real, " i"]
    delays: PolynomialSignal  # d_i over time [s]
    corners: Float[Real, " c"]  # times at which the motion is not smooth

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return np.asarray(self.corners)

    @override
    def on(self, start: float, end: float) -> "FollowingSignal":
        return self

    @override
    def value(self, t: Any) -> Float[Array, "*shape"]:
        return self._sum(self.signal.value, self._times(t))

    @override
    def rate(self, t: Any) -> Float[Array, "*shape"]:
        passing = 1 - self.delays.rate(t)
        return self._sum(self.signal.rate, self._times(t), passing)

    @override
    def acceleration(self, t: Any) -> Float[Array, "*shape"]:
        times = self._times(t)
        passing = 1 - self.delays.rate(t)
        own = self._sum(self.signal.acceleration, times, passing**2)
        return own - self._sum(self.signal.rate, times, self.delays.acceleration(t))

    def _times(self, t: Any) -> Float[Array, " i"]:
        return t - self.delays.value(t)

    def _sum(self, of, times: Float[Array, " i"], factor: Any = 1.0) -> Any:
        weights = jnp.asarray(self.amplitudes) * factor
        return jnp.tensordot(weights, jax.vmap(of)(times), 1)


def follow_mode(
    signal: AbstractSignal, unit: Impulses, zeta: float, frequency: Frequency
) -> FollowingSignal:
    """A motion through a shaper that follows a mode along it.

    Args:
        signal: the motion.
        unit: the shaper for an undamped frequency of 1 rad/s and the mode's damping ratio.
        zeta: damping ratio.
        frequency: undamped angular frequency at a pose of the motion [rad/s].
    """
    end = float(signal.breakpoints[-1])
    damped = np.sqrt(1 - zeta**2)
    phases = damped * unit.times
    poses = np.linspace(0.0, end, POSES)
    moving: AbstractSignal = signal
    for _ in range(ROUNDS):
        rows = np.asarray(_values(moving, jnp.asarray(poses)))
        omega = [damped * frequency(row) for row in rows]
        # Certainly after the end of the shaped motion, from where on the frequency stays.
        stop = end + phases[-1] / min(omega)
        course = np.interp(np.linspace(0.0, stop, POSES), poses, omega)
        poses = np.linspace(0.0, stop, POSES)
        moving = _delayed_motion(signal, unit, phases, poses, course, stop)
    assert isinstance(moving, FollowingSignal)
    return moving


@compiled_quickly
def _values(signal: AbstractSignal, times: Float[Array, " t"]) -> Float[Array, "t a"]:
    return vmap_rows(signal.value)(times)


def mode_along(model: Model, number: int) -> Frequency:
    """The frequency of a mode that the motors move, by its number from 1, at any pose."""

    def frequency(row: Float[np.ndarray, " a"]) -> float:
        driven = driven_modes(model, whole_pose(model, row))
        return driven[min(number, len(driven)) - 1].omega

    return frequency


def _delayed_motion(
    signal, unit: Impulses, phases, poses, omega, stop: float
) -> FollowingSignal:
    """The motion with delays of given phases under a frequency that is known at some times."""
    course = scipy.interpolate.CubicSpline(poses, omega, bc_type="clamped")
    phase = course.antiderivative()
    t = np.linspace(0.0, stop, POINTS)
    phi = phase(t)

    def time_of(wanted):
        """The time at which a phase is reached; outside, the frequency at the ends is used."""
        inside = np.interp(wanted, phi, t)
        for _ in range(3):
            # Newton's method, since a table alone is only as good as its step.
            at = np.clip(inside, 0.0, stop)
            inside = at - (phase(at) - wanted) / course(at)
        before, after = wanted / omega[0], stop + (wanted - phi[-1]) / omega[-1]
        return np.where(wanted < 0, before, np.where(wanted > phi[-1], after, inside))

    delays = t[:, None] - time_of(phi[:, None] - phases)
    spline = scipy.interpolate.CubicSpline(t, delays)
    table = PolynomialSignal(t, np.moveaxis(spline.c[::-1], 1, 0))
    reached = phase(np.clip(signal.breakpoints, 0.0, stop))
    corners = np.unique(time_of(np.add.outer(reached, phases)).ravel())
    return FollowingSignal(signal, unit.amplitudes, table, corners)
