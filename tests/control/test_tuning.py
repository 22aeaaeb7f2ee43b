"""Numbers that laws are tuned by."""

import numpy as np
import pytest

import lissom as ls
from lissom.control.tuning import driven_modes, held_modes

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
