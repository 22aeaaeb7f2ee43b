"""Motions from rest to rest: what they reach, and that their derivatives are theirs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lissom.control.profiles import PROFILES
from lissom.control.references import INTERPOLATIONS, RestToRest, reference_through

TIMES = [0.2, 0.7, 1.5]
ROWS = [[0.0, 1.0], [0.5, -1.0], [0.1, 2.0]]

# Largest speed and acceleration of a unit motion in a unit of time (closed forms).
PEAKS = {
    "trapezoid": (1.5, 4.5),
    "s-curve": (1 / 0.6, 1 / 0.6 / 0.3),
    "quintic": (1.875, 10 / np.sqrt(3)),
    "cycloidal": (2.0, 2 * np.pi),
}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_has_the_peaks_of_its_closed_form(profile):
    tau = jnp.linspace(0.0, 1.0, 20_001)
    progress = jax.vmap(PROFILES[profile].at)(tau)
    speed, acceleration = PEAKS[profile]
    assert float(progress.s[0]) == 0.0
    assert float(progress.s[-1]) == pytest.approx(1.0, abs=1e-15)
    assert float(jnp.max(progress.rate)) == pytest.approx(speed, rel=1e-7)
    highest = float(jnp.max(jnp.abs(progress.acceleration)))
    assert highest == pytest.approx(acceleration, rel=1e-7)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_every_reference_passes_through_its_rows_and_holds_the_last(interpolation):
    reference = reference_through(TIMES, ROWS, interpolation)
    for t, row in zip(TIMES, ROWS, strict=True):
        np.testing.assert_allclose(reference.value(t), row, atol=1e-15)
    np.testing.assert_allclose(reference.value(9.0), ROWS[-1], rtol=1e-14)
    np.testing.assert_array_equal(reference.rate(9.0), [0.0, 0.0])


@pytest.mark.parametrize("interpolation", ["spline", *PROFILES])
def test_rate_and_acceleration_are_derivatives(interpolation):
    reference = reference_through(TIMES, ROWS, interpolation)
    # Not at breakpoints, where a derivative has two values.
    for t in (0.31, 0.55, 0.9, 1.33):
        one = jnp.ones(())
        rate = jax.jvp(reference.value, (jnp.asarray(t),), (one,))[1]
        acceleration = jax.jvp(reference.rate, (jnp.asarray(t),), (one,))[1]
        np.testing.assert_allclose(reference.rate(t), rate, rtol=1e-12, atol=1e-12)
        got = reference.acceleration(t)
        np.testing.assert_allclose(got, acceleration, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("profile", PROFILES)
def test_speed_is_zero_at_every_row(profile):
    reference = RestToRest(TIMES, ROWS, profile)
    for t in TIMES:
        np.testing.assert_allclose(reference.rate(t), 0.0, atol=1e-14)


def test_breakpoints_are_where_the_acceleration_jumps():
    reference = RestToRest([0.0, 3.0], [[0.0], [1.0]], "trapezoid")
    np.testing.assert_allclose(reference.breakpoints, [0.0, 1.0, 2.0, 3.0])
