"""Maps of modes: every point is the mode there, and modes keep their number through crossings."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.analyse.modes.tracking import neighbour
from lissom.describe import DescriptionError


@functools.cache
def pendulum():
    return ls.Model("double-pendulum", "erls-fem")


@functools.cache
def elbow():
    angle = np.linspace(-2.5, 2.5, 33)
    return ls.mode_map(
        pendulum(),
        np.stack([0 * angle, angle], axis=1),
        locked=True,
        count=6,
        axes={"lower": angle},
    )


def test_every_point_has_the_frequencies_of_its_own_modes():
    found = elbow()
    for k in (0, 11, 32):
        exact = ls.modes(
            pendulum(), pendulum().static(found.q[k]), locked=True
        ).frequency_hz
        for f in found.frequency_hz[k]:
            assert np.abs(exact - f).min() < 1e-6 * f


def test_modes_keep_their_number_where_they_cross():
    # In-plane and out-of-plane bending cross near 2 rad: every mode stays in the plane, or out of it.
    found = elbow()
    f, names = found.frequency_hz, np.array(found.names)
    order = np.argsort(f, axis=1)
    assert not np.array_equal(order[0], order[16])
    in_plane = np.isin(
        [name.rpartition(".")[2] for name in names], ["x", "y", "rz"]
    ) | (np.char.find(names, "/") < 0)
    weight = np.abs(found.shapes[:, in_plane]).max(axis=1) / np.abs(found.shapes).max(
        axis=1
    )
    assert np.all((weight > 0.99) | (weight < 1e-6))
    assert np.all((weight > 0.5) == (weight[:1] > 0.5))
    # Modes 5 and 6 turn into each other at the straight arm: mode 5 alone changes by more than it may there.
    assert np.argwhere(found.lost).tolist() == [[16, 4], [17, 4]]


def test_a_heavier_payload_lowers_every_frequency():
    masses = np.linspace(0.0, 1.0, 4)
    found = ls.mode_map(
        pendulum(), [0.0, 1.0], changes={"payload.mass": masses}, locked=True, count=3
    )
    assert np.all(np.diff(found.frequency_hz, axis=0) < 0)
    heavy = pendulum().replace({"payload.mass": 1.0})
    exact = ls.modes(heavy, heavy.static([0.0, 1.0]), locked=True, count=3).frequency_hz
    assert_allclose(np.sort(found.frequency_hz[-1]), exact, rtol=1e-8)


def test_a_grid_is_walked_from_neighbour_to_neighbour():
    assert (
        neighbour((0, 3)) == (0, 2)
        and neighbour((2, 0)) == (1, 0)
        and neighbour((2, 1)) == (2, 0)
    )


def test_maps_go_through_files_and_refuse_what_the_robot_has_not(tmp_path):
    found = elbow()
    found.save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz") as data:
        assert np.array_equal(data["frequency_hz"], found.frequency_hz) and data[
            "axis_names"
        ].tolist() == ["lower"]
    with pytest.raises(DescriptionError):
        ls.mode_map(pendulum(), [0.0, 0.0], changes={"payload.colour": [1.0]})
    with pytest.raises(ValueError, match=r"one for each joint \(upper, lower\)"):
        ls.mode_map(pendulum(), np.zeros((4, 3)))
