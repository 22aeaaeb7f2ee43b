"""Joint frames, beam paths and tips against transforms written out by hand."""

import jax
import numpy as np
import pytest

from lissom.describe import DescriptionError, Robot
from lissom.describe.geometry import (
    beam_path,
    beam_up,
    joint_axis,
    joint_frame,
    node_count,
    node_names,
    tip,
)

BEAM = {
    "section": {"shape": "circle", "diameter": 0.02},
    "material": "steel",
    "elements": 3,
}
A1, ALPHA1, D1, THETA1 = 0.37, 0.61, 0.23, -0.44
A2, ALPHA2, D2, THETA2 = 0.29, -1.13, 0.0, 0.83


def dh_robot():
    rows = [(A1, ALPHA1, D1, THETA1), (A2, ALPHA2, D2, THETA2)]
    joints = [
        {
            "type": "revolute",
            "dh": dict(zip(("a", "alpha", "d", "theta"), row, strict=True)),
        }
        for row in rows
    ]
    links = [
        {"name": name, "joint": joint, "beam": BEAM}
        for name, joint in zip(("one", "two"), joints, strict=True)
    ]
    return Robot.from_dict({"name": "generic", "links": links})


def dh_matrix(a, alpha, d, theta):
    """The standard Denavit-Hartenberg matrix as textbooks print it."""
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st * ca, st * sa, a * ct],
            [st, ct * ca, -ct * sa, a * st],
            [0, sa, ca, d],
            [0, 0, 0, 1],
        ]
    )


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def turn_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return pose(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.zeros(3))


def test_two_dh_rows_chain_to_the_product_of_their_printed_matrices():
    robot, q = dh_robot(), (0.71, -1.27)
    first = pose(*joint_frame(robot, 0)) @ turn_z(q[0])
    second = first @ pose(*joint_frame(robot, 1)) @ turn_z(q[1])
    end = second @ np.append(tip(robot, 1), 1)
    expected = dh_matrix(A1, ALPHA1, D1, THETA1 + q[0]) @ dh_matrix(
        A2, ALPHA2, D2, THETA2 + q[1]
    )
    np.testing.assert_allclose(end[:3], expected[:3, 3], rtol=0, atol=1e-15)


def test_a_dh_beam_runs_along_d_then_a_and_drops_pieces_of_no_length():
    robot = dh_robot()
    np.testing.assert_allclose(
        beam_path(robot, 0), [[0, 0, 0], [0, 0, D1], [A1, 0, D1]]
    )
    np.testing.assert_allclose(beam_path(robot, 1), [[0, 0, 0], [A2, 0, 0]])
    assert (node_count(robot, 0), node_count(robot, 1)) == (7, 4)


def test_the_default_up_is_the_joint_axis_or_x_where_the_beam_runs_along_it():
    np.testing.assert_allclose(beam_up(dh_robot(), 0), [[1, 0, 0], [0, 0, 1]])


def origin_robot(**second):
    first = {
        "name": "one",
        "joint": {"type": "revolute", "axis": [1, 2, 2]},
        "beam": BEAM,
    }
    joint = {
        "type": "prismatic",
        "origin": {"xyz": [0.3, -0.1, 0.2], "rpy": [0.3, -0.5, 0.9]},
    }
    return Robot.from_dict(
        {
            "name": "o",
            "links": [
                first,
                {
                    "name": "two",
                    "joint": joint,
                    "rigid": {"mass": 1, "tip": [0, 0.1, 0]},
                },
            ],
        }
    )


def test_an_origin_places_the_joint_by_fixed_axis_roll_pitch_yaw():
    R, p = joint_frame(origin_robot(), 1)
    cr, sr, cp, sp, cy, sy = (
        np.cos(0.3),
        np.sin(0.3),
        np.cos(-0.5),
        np.sin(-0.5),
        np.cos(0.9),
        np.sin(0.9),
    )
    expected = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    np.testing.assert_allclose(R, expected, atol=1e-15)
    np.testing.assert_allclose(p, [0.3, -0.1, 0.2])


def test_a_beam_without_path_runs_straight_to_the_next_joint():
    np.testing.assert_allclose(
        beam_path(origin_robot(), 0), [[0, 0, 0], [0.3, -0.1, 0.2]]
    )


def test_the_joint_axis_is_of_unit_length():
    np.testing.assert_allclose(joint_axis(origin_robot(), 0), [1 / 3, 2 / 3, 2 / 3])
    np.testing.assert_allclose(joint_axis(origin_robot(), 1), [0, 0, 1])


def test_a_dh_row_after_a_link_with_origin_starts_at_the_tip_with_the_parents_axes():
    data = origin_robot().to_dict()
    data["links"].append(
        {
            "name": "three",
            "joint": {"type": "revolute", "dh": {"theta": 0.4}},
            "rigid": {"mass": 1},
        }
    )
    R, p = joint_frame(Robot.from_dict(data), 2)
    np.testing.assert_allclose(R, turn_z(0.4)[:3, :3])
    np.testing.assert_allclose(p, [0, 0.1, 0])


def test_an_origin_after_a_dh_row_is_in_the_parents_link_frame_without_alpha():
    data = dh_robot().to_dict()
    joint = {"type": "fixed", "origin": {"xyz": [A2, 0, 0], "rpy": [0, 0, 0.2]}}
    data["links"].append({"name": "three", "joint": joint, "rigid": {"mass": 1}})
    np.testing.assert_allclose(
        joint_frame(Robot.from_dict(data), 2)[0], turn_z(0.2)[:3, :3]
    )


def test_nodes_are_numbered_from_each_joint_outwards():
    names = node_names(origin_robot())
    assert names == ("one/0", "one/1", "one/2", "one/3", "two/0", "two/1")


def test_geometry_is_numpy_for_numbers_and_jax_for_traced_lengths():
    robot = dh_robot()
    assert isinstance(tip(robot, 0), np.ndarray)
    assert isinstance(
        tip(robot.replace({"links.one.joint.dh.a": jax.numpy.asarray(0.2)}), 0),
        jax.Array,
    )


@pytest.mark.parametrize(
    "key, value", [("a", A1), ("alpha", ALPHA1), ("theta", THETA1), ("d", D1)]
)
def test_gradient_of_the_next_joints_frame_matches_a_finite_difference(key, value):
    robot = dh_robot()

    def number(x):
        changed = robot.replace({f"links.one.joint.dh.{key}": x})
        frames = [joint_frame(changed, i) for i in (0, 1)]
        return sum(
            (R[0, 1] + 2 * R[2, 1] + 3 * R[1, 0] + p @ np.array([1.0, 2.0, 4.0]))
            for R, p in frames
        )

    step = 1e-6
    difference = (number(value + step) - number(value - step)) / (2 * step)
    assert float(jax.grad(number)(value)) == pytest.approx(
        float(difference), rel=1e-6, abs=1e-8
    )


def test_a_link_that_is_no_beam_has_no_beam_path():
    with pytest.raises(ValueError, match="'two' is not a beam"):
        beam_path(origin_robot(), 1)


def test_a_joint_without_a_place_sits_on_its_parents_tip():
    data = origin_robot().to_dict()
    data["links"].append(
        {"name": "three", "joint": {"type": "fixed"}, "rigid": {"mass": 1}}
    )
    R, p = joint_frame(Robot.from_dict(data), 2)
    np.testing.assert_allclose(R, np.eye(3))
    np.testing.assert_allclose(p, [0, 0.1, 0])


def test_a_beam_of_open_length_is_refused():
    with pytest.raises(
        DescriptionError,
        match="path: missing: neither a dh row nor the next joint's origin",
    ):
        Robot.from_dict(
            {
                "name": "x",
                "links": [{"name": "a", "joint": {"type": "revolute"}, "beam": BEAM}],
            }
        )


@pytest.mark.parametrize("turned", ["x", "y", "z"])
def test_a_beam_along_the_axis_of_its_joint_has_a_default_direction_of_its_section(
    turned,
):
    axis = np.eye(3)["xyz".index(turned)]
    joint = {"type": "revolute", "origin": {}, "axis": axis.tolist()}
    path = [[0, 0, 0], (0.4 * axis).tolist(), (0.4 * axis + [0.1, 0.2, 0.3]).tolist()]
    section = {"shape": "rectangle", "y": 0.01, "z": 0.03}
    beam = BEAM | {"path": path, "section": section}
    link = {"name": "shaft", "joint": joint, "beam": beam}
    robot = Robot.from_dict({"name": "shaft", "links": [link]})
    # Along the first piece the link's x axis, its z axis where that is the joint's; then the joint axis.
    first = [0.0, 0.0, 1.0] if turned == "x" else [1.0, 0.0, 0.0]
    np.testing.assert_array_equal(beam_up(robot, 0), [first, axis])
