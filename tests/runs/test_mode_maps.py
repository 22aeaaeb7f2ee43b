"""Axes of maps and ranges of polynomials."""

import numpy as np
import pytest

import lissom as ls
from lissom.describe import DescriptionError
from lissom.runs.mode_maps import ranges_of

PENDULUM = ls.Robot.load("double-pendulum")


def test_degrees_turn_the_ranges_of_revolute_joints_alone():
    over = [ls.MapAxis("upper", -90, 90), ls.MapAxis("payload.mass", 0, 2, 9)]
    ranges = ranges_of(PENDULUM, over, degrees=True)
    assert ranges["upper"] == pytest.approx((-np.pi / 2, np.pi / 2))
    assert ranges["payload.mass"] == (0, 2)


def test_a_range_goes_upwards_and_a_grid_has_points():
    with pytest.raises(DescriptionError, match="START < STOP"):
        ranges_of(PENDULUM, [ls.MapAxis("upper", 1.0, -1.0)], degrees=False)
    with pytest.raises(DescriptionError, match="START:STOP:POINTS"):
        ls.map_modes("simple-pendulum", over=[ls.MapAxis("rod", 0.0, 1.0)])
