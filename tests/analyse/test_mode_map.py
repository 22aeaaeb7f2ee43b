"""Maps of modes: every point is the mode there, and modes keep their number through crossings."""

import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.analyse.modes.grid_points import grid_of, lead_joints
from lissom.analyse.modes.tracking import neighbour
from lissom.describe import DescriptionError
from lissom.kinematics.loops.assembly_errors import AssemblyError


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


@functools.cache
def four_bar():
    return ls.Model("four-bar", "erls-fem")


@functools.cache
def turn():
    crank = np.linspace(0.0, 2 * np.pi, 61)
    return ls.mode_map(four_bar(), crank[:, None], locked=True, axes={"crank": crank})


@pytest.mark.slow
def test_a_closed_chain_stays_on_its_branch_all_the_way_round():
    # Coupler and follower meet above the ground link: x and y of the pin between them by the cosine rule.
    found = turn()
    crank, coupler, _ = found.q.T
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.25
    a, b, c, d = 0.10795, 0.2794, 0.27051, 0.254
    start = a * np.stack([np.cos(crank), np.sin(crank)])
    to_ground = np.array([[d], [0.0]]) - start
    span = np.linalg.norm(to_ground, axis=0)
    opening = np.arccos((b**2 + span**2 - c**2) / (2 * b * span))
    above = np.arctan2(to_ground[1], to_ground[0]) + opening
    assert_allclose(np.exp(1j * (crank + coupler)), np.exp(1j * above), atol=1e-9)


@pytest.mark.slow
def test_modes_of_a_closed_chain_come_back_after_a_turn_and_say_where_they_were_lost():
    found = turn()
    assert_allclose(found.frequency_hz[-1], found.frequency_hz[0], rtol=1e-6)
    followed = ~found.lost
    assert (found.mac[followed] > 0.9).all()
    assert (np.abs(found.step[followed]) < 0.15).all()
    # Two modes meet their neighbours from above: four points of 366 are flagged.
    assert found.lost.sum() <= 6 and not found.lost[:, :3].any()
    # Node displacements in world axes, which nobody weighted, agree.
    u = found.displacement.reshape(61, -1, 6)
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    mac = np.einsum("tum,tum->tm", u[1:], u[:-1]) ** 2
    assert mac[:, :3].min() > 0.9
    # Frequencies of an independent computation of the same mesh [Hz]: crank at 0, 90 and 180 degrees.
    known = [[45.94, 49.26, 109.73], [46.89, 50.28, 144.64], [47.37, 50.40, 150.52]]
    assert_allclose(found.frequency_hz[[0, 15, 30], :3], known, rtol=2e-4)


@pytest.mark.slow
def test_every_shape_has_a_name_for_each_of_its_coordinates():
    found = turn()
    assert len(found.names) == found.shapes.shape[-2]
    assert found.joints == ("crank", "coupler", "follower")
    assert found.names[0] == "crank" and "/" in found.names[1]


def test_the_first_mode_of_the_four_bar_at_half_a_radian():
    found = ls.mode_map(four_bar(), np.full((16, 1), 0.5), locked=True, count=1)
    assert found.frequency_hz[0, 0] == pytest.approx(47.47, abs=0.005)


def test_rows_that_do_not_close_the_loops_are_led_from_their_neighbours():
    crank = np.linspace(0.0, 3.0, 7)
    rough = np.stack([crank, 0 * crank, 0 * crank], axis=1)
    _, (q, _, _) = grid_of(four_bar(), rough, None, None, None)
    _, (led, _, _) = grid_of(four_bar(), crank[:, None], None, None, None)
    assert_allclose(q, led, atol=1e-12)
    assert_allclose(led[-1, 0], 3.0)


@pytest.mark.slow
def test_a_chain_is_not_led_through_its_dead_point():
    # With the follower as input the four-bar has two dead points; beyond them the loops do not close.
    model = four_bar().replace({"independent": ["follower"]})
    with pytest.raises(AssemblyError, match="cannot reach follower = -1"):
        lead_joints(model, np.asarray(model.assemble()), np.array([-1.0]))


@functools.cache
def swing(alpha, beta):
    """Locked modes along a fast motion of both joints, as they are and of frozen instants."""
    damping = {"damping.alpha": alpha, "damping.beta": beta}
    model = pendulum().replace(damping)
    t = np.linspace(0.0, 1.0, 9)
    q = np.stack([0.8 * np.sin(3 * t), 1.5 * np.cos(4 * t)], axis=1)
    qd = np.stack([2.4 * np.cos(3 * t), -6.0 * np.sin(4 * t)], axis=1)
    qdd = np.stack([-7.2 * np.sin(3 * t), -24.0 * np.cos(4 * t)], axis=1)
    found = []
    for frozen in (False, True):
        one = ls.mode_map(model, q, qd=qd, qdd=qdd, locked=True, count=4, frozen=frozen)
        found.append(one)
    return found


@pytest.mark.slow
def test_an_undamped_arm_in_motion_neither_grows_nor_decays():
    # Conservative, so that the self-adjoint problem has imaginary roots; those of frozen instants have not.
    found, frozen = swing(0.0, 0.0)
    size = 2 * np.pi * found.frequency_hz
    assert np.abs(found.growth / size).max() < 1e-8
    assert np.abs(frozen.growth / size).max() > 1e-3
    assert not found.unstable.any()


@pytest.mark.slow
def test_stiffness_damping_of_an_arm_in_motion_is_that_of_rayleigh():
    # zeta = beta omega / 2; gyroscopic terms at these speeds move it by less than a per cent.
    beta = 5e-4
    found, frozen = swing(0.0, beta)
    expected = 0.5 * beta * 2 * np.pi * found.frequency_hz
    assert_allclose(found.damping_ratio, expected, rtol=0.02)
    assert np.abs(frozen.damping_ratio / expected - 1.0).max() > 0.2
