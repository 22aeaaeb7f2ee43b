"""Numbers that laws are tuned by."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.tuning import (
    best_gain,
    driven_modes,
    driven_shapes,
    held_modes,
    modal_filter,
)

POSE = [0.5, -0.3]


@pytest.mark.slow
def test_modes_that_no_joint_feels_are_not_driven():
    # Holding the joints changes a mode that moves them, and no other.
    model = ls.Model("double-pendulum", "nonlinear", modes=3)
    free = 2 * np.pi * np.asarray(ls.modes(model, POSE).frequency_hz)
    driven = driven_modes(model, POSE)
    held = held_modes(model, POSE)
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
