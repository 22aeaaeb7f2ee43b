"""Laws of motion from rest to rest over a unit of time: s(0) = 0, s(1) = 1.

| profile | what is continuous | largest speed | largest acceleration |
|---|---|---|---|
| trapezoid | speed | 1.5 | 4.5 |
| s-curve | acceleration | 1.67 | 5.56 |
| quintic | acceleration | 1.875 | 5.77 |
| cycloidal | acceleration | 2 | 6.28 |

Speeds and accelerations are those of a unit displacement in a unit of time.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float

Time = Float[Array, ""]

TRAPEZOID_RAMP = 1 / 3  # share of the time in which a trapezoid gains its speed
S_CURVE_RAMP = 0.4  # the same for the S-curve
S_CURVE_JERK = 0.1  # share of the time in which its acceleration builds up


class NormalisedMotion(NamedTuple):
    """Displacement, and its first and second derivative with respect to the unit time."""

    s: Time
    rate: Time
    acceleration: Time


class MotionProfile(NamedTuple):
    """A law of motion, and the inner times at which its acceleration is not smooth."""

    at: Callable[[Time], NormalisedMotion]
    corners: tuple[float, ...]


def quintic(tau: Time) -> NormalisedMotion:
    """S = 10 tau^3 - 15 tau^4 + 6 tau^5: the polynomial at rest, without acceleration, at both ends."""
    s = tau**3 * (10 - 15 * tau + 6 * tau**2)
    rate = 30 * tau**2 * (1 - tau) ** 2
    acceleration = 60 * tau * (1 - tau) * (1 - 2 * tau)
    return NormalisedMotion(s, rate, acceleration)


def cycloidal(tau: Time) -> NormalisedMotion:
    """S = tau - sin(2 pi tau) / (2 pi): the acceleration is one period of a sine."""
    angle = 2 * jnp.pi * tau
    s = tau - jnp.sin(angle) / (2 * jnp.pi)
    return NormalisedMotion(s, 1 - jnp.cos(angle), 2 * jnp.pi * jnp.sin(angle))


def trapezoid(tau: Time) -> NormalisedMotion:
    """Constant acceleration, constant speed, constant deceleration."""
    a = TRAPEZOID_RAMP
    speed = 1 / (1 - a)

    def first_half(tau):
        gaining = tau < a
        s = jnp.where(gaining, speed * tau**2 / (2 * a), speed * (tau - a / 2))
        rate = jnp.where(gaining, speed * tau / a, speed)
        return NormalisedMotion(s, rate, jnp.where(gaining, speed / a, 0.0))

    return _mirror(first_half, tau)


def s_curve(tau: Time) -> NormalisedMotion:
    """Constant jerk in seven phases: the acceleration is a trapezoid."""
    a = S_CURVE_RAMP
    b = S_CURVE_JERK
    speed = 1 / (1 - a)
    jerk = speed / (b * (a - b))

    def building(tau):
        """The acceleration builds up (to b), then stays."""
        late = tau > b
        beyond = tau - b
        s_stays = jerk * (b**3 / 6 + b**2 / 2 * beyond + b / 2 * beyond**2)
        s = jnp.where(late, s_stays, jerk * tau**3 / 6)
        rate = jnp.where(late, jerk * (b**2 / 2 + b * beyond), jerk * tau**2 / 2)
        return NormalisedMotion(s, rate, jnp.where(late, jerk * b, jerk * tau))

    def first_half(tau):
        up = building(tau)
        # The second half of the ramp is the first, turned about its middle.
        turned = building(a - tau)
        second = NormalisedMotion(
            speed * (tau - a / 2) + turned.s, speed - turned.rate, turned.acceleration
        )
        even = NormalisedMotion(speed * (tau - a / 2), speed + 0 * tau, 0 * tau)
        ramp = _choose(tau < a / 2, up, second)
        return _choose(tau < a, ramp, even)

    return _mirror(first_half, tau)


def _mirror(
    first_half: Callable[[Time], NormalisedMotion], tau: Time
) -> NormalisedMotion:
    """A profile whose second half is the first, backwards in time."""
    before = first_half(tau)
    back = first_half(1 - tau)
    after = NormalisedMotion(1 - back.s, back.rate, -back.acceleration)
    return _choose(tau < 0.5, before, after)


def _choose(condition, yes: NormalisedMotion, no: NormalisedMotion) -> NormalisedMotion:
    return NormalisedMotion(
        *(jnp.where(condition, a, b) for a, b in zip(yes, no, strict=True))
    )


PROFILES: dict[str, MotionProfile] = {
    "trapezoid": MotionProfile(trapezoid, (TRAPEZOID_RAMP, 1 - TRAPEZOID_RAMP)),
    "s-curve": MotionProfile(
        s_curve,
        (
            S_CURVE_JERK,
            S_CURVE_RAMP - S_CURVE_JERK,
            S_CURVE_RAMP,
            1 - S_CURVE_RAMP,
            1 - S_CURVE_RAMP + S_CURVE_JERK,
            1 - S_CURVE_JERK,
        ),
    ),
    "quintic": MotionProfile(quintic, ()),
    "cycloidal": MotionProfile(cycloidal, ()),
}
