"""Numbers that laws are tuned by."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.design_error import DesignError
from lissom.control.strain_filter import strain_filter
from lissom.control.tuning import (
    best_gain,
    driven_modes,
    driven_shapes,
    locked_modes,
    modal_filter,
)
from lissom.describe import DescriptionError
from sampled_laws import DESCRIBED, END, MOTION, SAMPLE, pendulum

POSE = [0.5, -0.3]


@pytest.mark.slow
def test_modes_that_no_joint_feels_are_not_driven():
    # Holding the joints changes a mode that moves them, and no other.
    model = ls.Model("double-pendulum", "nonlinear", modes=3)
    free = 2 * np.pi * np.asarray(ls.modes(model, POSE, count=None).frequency_hz)
    driven = driven_modes(model, POSE)
    held = locked_modes(model, POSE)
    assert 0 < len(driven) < len(held)
    for mode in held:
        is_free_too = np.abs(free / mode.omega - 1).min() < 1e-6
        assert is_free_too == (mode not in driven)


def test_a_modal_filter_hears_slow_modes_and_is_deaf_to_fast_ones():
    """A joint with two masses on springs: gauges on both, the second mode six times as fast as the first."""
    M = np.array([[3.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    K = np.diag([0.0, 100.0, 3600.0])
    found = driven_shapes(M, K, 1)
    np.testing.assert_allclose(found.omega, [10.0, 60.0])
    gauges = np.array([[1.0, 0.3], [0.2, 1.0]])
    W = modal_filter(gauges @ found.shapes, found.omega, found.carried)
    # Bent as a joint acceleration of 5 rad/s^2 bends the first mode: its speed in the time 1/omega.
    first = np.array([-5.0 / 100.0, 0.0])
    np.testing.assert_allclose(W @ (gauges @ first), [5.0 / 10.0])
    np.testing.assert_allclose(W @ (gauges @ [0.0, 1.0]), [0.0], atol=1e-12)


def test_only_stable_gains_are_in_the_range_that_is_reported():
    gains = np.array([0.1, 0.2, 0.4])

    def poles_of(gain):
        return np.array([0.9 + 0.5 * gain * 1j, 0.9 - 0.5 * gain * 1j]) * (1 + gain)

    found = best_gain(poles_of, gains, 1e-3, 1e9)
    assert found.least == found.largest == 0.1


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"type": "pdi"}, "type: pdi: must be one of .* did you mean 'pd'"),
        ({"sampel": 1.0}, "sampel: unknown key, did you mean 'sample'"),
        ({"sample": -1.0}, "sample: -1.0: must be positive"),
        ({"sample": 0.3}, "sample: 0.3: must not be longer than the motion of 0.2 s"),
        (
            {"shaper": {"modes": [1.5]}},
            "shaper.modes: .*: mode numbers are whole numbers",
        ),
    ],
)
def test_a_description_that_is_wrong_is_refused_in_python_as_in_a_file(
    changes, message
):
    pid = {"type": "pid", "sample": SAMPLE, "reference": MOTION, **DESCRIBED["pid"]}
    with pytest.raises(DescriptionError, match=message):
        ls.tune(pendulum(), {**pid, **changes})


@pytest.mark.parametrize(
    "wishes, message",
    [
        ((-2.0, 0.7, 0.2), "bandwidth: must be positive"),
        ((2.0, 1.5, 0.2), "damping: must lie between 0 and 1"),
        ((2.0, 0.7, -0.1), "vibration: must lie between 0 and 1"),
    ],
)
def test_poles_that_no_motion_has_are_refused(wishes, message):
    with pytest.raises(DesignError, match=message):
        ls.tune_by_poles(pendulum(), {}, *wishes)


@pytest.mark.slow
def test_a_gauge_across_the_plane_of_the_motion_sees_no_mode():
    with pytest.raises(DesignError, match="these gauges measure no mode"):
        strain_filter(pendulum(), [END], ("rod/element0.ky",))
    along = strain_filter(pendulum(), [END], ("rod/element0.kz",))
    assert np.abs(along).max() > 0


def test_a_gain_is_chosen_by_the_motion_that_it_damps():
    """The motion with the least damping is not touched by any gain: rounding of it does not decide."""
    rng = np.random.default_rng(1)

    def poles_of(gain):
        damping = 0.2 - (gain - 0.3) ** 2
        slow = -0.01 * (1 + 1e-12 * rng.normal()) + 1j
        damped = 2.0 * (-damping + 1j * np.sqrt(1 - damping**2))
        pair = np.exp(np.array([slow, damped]) * 0.1)
        return np.concatenate([pair, pair.conj()])

    found = best_gain(poles_of, np.linspace(0.0, 0.6, 7), 0.1, 100.0)
    assert found.chosen == pytest.approx(0.3)
    assert found.damping == pytest.approx(0.01, rel=1e-3)
