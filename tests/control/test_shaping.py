"""Input shapers against their closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from lissom.control.references import RestToRest
from lissom.control.shaping import (
    SHAPERS,
    Mode,
    convolved,
    insensitivity,
    residual_vibration,
    shape_signal,
    shaper_for,
    specified_insensitivity,
    zv,
    zvd,
)

MODE = Mode(2 * np.pi * 1.3)
DAMPED = Mode(2 * np.pi * 1.3, 0.05)

# Width of the band with at most 5 % residual, and residual at -10 % frequency (closed forms, undamped).
CLOSED_FORM = {
    "zv": (0.064, 0.156),
    "zvd": (0.287, 0.024),
    "ei": (0.400, 0.024),
    "two-hump-ei": (0.725, 0.039),
}


@pytest.mark.parametrize("kind", SHAPERS)
def test_bands_and_residuals_are_those_of_the_closed_form(kind):
    impulses = SHAPERS[kind](MODE)
    width, residual = CLOSED_FORM[kind]
    assert insensitivity(impulses, MODE) == pytest.approx(width, abs=6e-4)
    at_lower = residual_vibration(impulses, 0.9 * MODE.omega)
    assert at_lower == pytest.approx(residual, abs=6e-4)


@pytest.mark.parametrize("kind", SHAPERS)
@pytest.mark.parametrize("mode", [MODE, DAMPED], ids=["undamped", "damped"])
def test_a_shaper_moves_the_whole_way(kind, mode):
    impulses = SHAPERS[kind](mode)
    assert impulses.amplitudes.sum() == pytest.approx(1.0, abs=1e-15)
    assert np.all(impulses.amplitudes > 0)


@pytest.mark.parametrize("shaper", [zv, zvd])
def test_zero_vibration_is_zero_with_damping_too(shaper):
    assert residual_vibration(shaper(DAMPED), *DAMPED) < 1e-15


def test_zvd_has_no_slope_over_frequency():
    step = 1e-5
    beside = residual_vibration(zvd(MODE), MODE.omega * (1 + step))
    # (pi/2 step)^2 of the closed form cos^2(pi/2 (1 + step)).
    assert beside == pytest.approx((np.pi / 2 * step) ** 2, rel=1e-3)


def test_a_shaper_for_two_modes_silences_both():
    other = Mode(2 * np.pi * 4.1, 0.02)
    both = shaper_for("zv", [DAMPED, other])
    assert len(both.amplitudes) == 4
    for mode in (DAMPED, other):
        assert residual_vibration(both, *mode) < 1e-14


def test_impulses_at_one_time_are_one_impulse():
    assert len(convolved(zv(MODE), zv(MODE)).times) == 3


@pytest.mark.parametrize("width", [0.2, 0.5])
def test_specified_insensitivity_keeps_its_band_and_is_short(width):
    found = specified_insensitivity(MODE, width)
    ratios = np.linspace(1 - width / 2, 1 + width / 2, 200)
    worst = max(residual_vibration(found, MODE.omega * r) for r in ratios)
    assert worst < 0.05 + 1e-4
    # No longer than the closed form whose band is wider.
    wider = SHAPERS["ei"] if width < 0.4 else SHAPERS["two-hump-ei"]
    assert found.duration <= wider(MODE).duration * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["ei", "two-hump-ei"])
def test_the_band_of_a_closed_form_gives_back_its_shaper(kind):
    """Extra-insensitive shapers are the shortest ones for their own bands."""
    closed = SHAPERS[kind](MODE)
    found = specified_insensitivity(MODE, 0.999 * insensitivity(closed, MODE))
    assert found.duration == pytest.approx(closed.duration, rel=3e-3)
    np.testing.assert_allclose(found.amplitudes, closed.amplitudes, atol=5e-3)


def test_a_shaper_of_unknown_kind_or_without_its_band_is_refused():
    with pytest.raises(ValueError, match="or specified-insensitivity with a width"):
        shaper_for("specified-insensitivity", [MODE])
    assert len(shaper_for("specified-insensitivity", [MODE], 0.2).times) == 3


def test_a_shaped_motion_leaves_an_oscillator_at_rest():
    motion = RestToRest([0.0, 0.3], [[0.0], [1.0]], "trapezoid")
    plain, quiet = (
        _residual(signal) for signal in (motion, shape_signal(motion, zvd(DAMPED)))
    )
    assert quiet < 1e-12 * plain


def _residual(signal):
    """Amplitude of an oscillator after the motion of its base has ended, by its convolution integral."""
    omega, zeta = DAMPED
    ends = np.unique(signal.breakpoints)
    points, weights = np.polynomial.legendre.leggauss(20)
    pole = -zeta * omega + 1j * omega * np.sqrt(1 - zeta**2)
    total = 0.0
    for start, end in zip(ends[:-1], ends[1:], strict=True):
        t = start + (end - start) * (points + 1) / 2
        acceleration = jax.vmap(signal.acceleration)(jnp.asarray(t))[:, 0]
        answer = np.asarray(acceleration) * np.exp(pole * (ends[-1] - t))
        total = total + (end - start) / 2 * np.sum(weights * answer)
    return abs(total)
