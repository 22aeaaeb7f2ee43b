"""Shapers that follow a frequency which changes along the motion, on an oscillator that is integrated here."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from lissom.control.following_shaper import follow_mode
from lissom.control.references import RestToRest
from lissom.control.shaping import Mode, shape_signal, zv, zvd
from lissom.describe.controllers import Shaper

ZETA = 0.01
MOTION = RestToRest([0.0, 1.5], [[0.2], [1.4]], "quintic")


def frequency(q):
    """From 9.4 to 6.5 rad/s along the motion, as of an arm that is stretched."""
    return float(10.0 - 2.5 * q[0])


def residual(signal):
    """Amplitude of eta'' + 2 zeta omega eta' + omega^2 eta = -r'', omega that of the pose, after the motion."""
    grid = np.linspace(0.0, signal.breakpoints[-1], 3001)
    place, push = (
        np.asarray(jax.jit(jax.vmap(kind))(jnp.asarray(grid)))[:, 0]
        for kind in (signal.value, signal.acceleration)
    )

    def rate(t, x):
        omega = frequency([np.interp(t, grid, place)])
        kick = np.interp(t, grid, push)
        return [x[1], -kick - 2 * ZETA * omega * x[1] - omega**2 * x[0]]

    ended = solve_ivp(rate, (0, grid[-1]), [0, 0], rtol=1e-8, atol=1e-10).y[:, -1]
    return np.hypot(ended[0], ended[1] / frequency([1.4]))


@pytest.mark.parametrize("kind", [zv, zvd])
def test_a_followed_mode_is_left_with_far_less_than_a_shaper_of_one_frequency(kind):
    end = Mode(frequency([1.4]), ZETA)
    fixed = residual(shape_signal(MOTION, kind(end)))
    moving = follow_mode(MOTION, kind(Mode(1.0, ZETA)), ZETA, frequency)
    quiet = residual(moving)
    # The phases are right; that the amplitude of a mode changes with its frequency is left out.
    assert quiet < 0.3 * fixed
    slowest, fastest = frequency([1.4]), frequency([0.2])
    longest = kind(Mode(slowest, ZETA)).duration
    shortest = kind(Mode(fastest, ZETA)).duration
    assert 1.5 + shortest < moving.breakpoints[-1] <= 1.5 + longest + 1e-6


def test_a_frequency_that_stays_gives_the_plain_shaper():
    omega = 8.0
    moving = follow_mode(MOTION, zvd(Mode(1.0, ZETA)), ZETA, lambda q: omega)
    plain = shape_signal(MOTION, zvd(Mode(omega, ZETA)))
    assert_allclose(moving.breakpoints, plain.breakpoints, atol=1e-9)
    for t in (0.0, 0.4, 1.1, 1.9, 3.0):
        assert_allclose(moving.value(t), plain.value(t), atol=1e-9)
        assert_allclose(moving.rate(t), plain.rate(t), atol=1e-8)
        assert_allclose(moving.acceleration(t), plain.acceleration(t), atol=1e-6)


def test_rates_of_a_followed_motion_are_derivatives():
    moving = follow_mode(MOTION, zv(Mode(1.0, ZETA)), ZETA, frequency)

    @jax.jit
    @jax.vmap
    def at(t):
        one = jnp.ones(())
        _, first = jax.jvp(moving.value, (t,), (one,))
        rate, second = jax.jvp(moving.rate, (t,), (one,))
        return rate, first, moving.acceleration(t), second

    rate, first, acceleration, second = at(jnp.array([0.3, 0.8, 1.3, 1.8]))
    assert_allclose(rate, first, rtol=1e-9)
    assert_allclose(acceleration, second, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    "shaper, message",
    [
        ({"type": "specified-insensitivity"}, "which needs it"),
        ({"type": "zv", "width": 0.5}, "applies only to specified-insensitivity"),
        ({"frequency": [2.0], "follow": True}, "`follow` applies to modes"),
    ],
)
def test_shapers_that_contradict_themselves_are_refused(shaper, message):
    with pytest.raises(ValueError, match=message):
        Shaper.model_validate(shaper)
