"""A URDF file against the same robot written by hand."""

import numpy as np
import pytest

from lissom.algebra.so3 import from_rpy
from lissom.describe import DescriptionError, Robot, inertia_matrix
from lissom.describe.geometry import beam_path, joint_axis, joint_frame, tip
from lissom.describe.urdf import rpy_of
from urdf_arm import BODY, BRANCH, urdf_text


def write(tmp_path, body, name="arm.urdf"):
    path = tmp_path / name
    path.write_text(urdf_text(body))
    return path


@pytest.fixture
def arm(tmp_path):
    return Robot.load(write(tmp_path, BODY))


def test_links_and_joints_come_in_order_with_their_kinds(arm):
    assert arm.link_names == ("shoulder", "fore_arm", "slide", "flange")
    assert [link.joint.type for link in arm.links] == [
        "revolute",
        "revolute",
        "prismatic",
        "fixed",
    ]
    assert arm.joint_names == ("shoulder", "fore_arm", "slide")


def test_origins_axes_limits_and_friction_are_those_of_the_file(arm):
    R, p = joint_frame(arm, 0)
    np.testing.assert_allclose(R, from_rpy((0.1, 0.2, 0.3)), atol=1e-15)
    np.testing.assert_allclose(p, [0, 0, 0.3])
    np.testing.assert_allclose(joint_axis(arm, 0), [0, 1, 0])
    np.testing.assert_allclose(joint_axis(arm, 1), [1, 0, 0])  # the default of URDF
    first = arm.links[0].joint
    assert (first.limits.position, first.limits.torque) == ((-1.5, 2.5), 40.0)
    assert (first.friction.viscous, first.friction.coulomb) == (0.7, 0.2)
    assert (arm.links[1].joint.limits.position, arm.links[1].joint.limits.torque) == (
        None,
        9.0,
    )
    assert arm.links[2].joint.limits.position == (0.0, 0.2)


def test_a_links_tip_is_the_next_joint(arm):
    np.testing.assert_allclose(tip(arm, 0), [0.4, 0.1, 0])
    np.testing.assert_allclose(tip(arm, 2), [0, 0.05, 0])
    np.testing.assert_allclose(tip(arm, 3), [0, 0, 0])


def test_inertia_is_turned_into_link_axes(arm):
    rigid = arm.links[0].rigid
    R = from_rpy((0.3, -0.4, 0.5))
    printed = np.array(
        [[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]]
    )
    assert rigid.mass == 2.5 and rigid.com == (0.1, 0.02, -0.03)
    np.testing.assert_allclose(
        inertia_matrix(rigid.inertia), R @ printed @ R.T, atol=1e-15
    )
    assert arm.links[2].rigid.mass == 0.0


def test_an_imported_link_is_made_flexible(arm):
    beam = {
        "section": {"shape": "tube", "outer": 0.05, "inner": 0.04},
        "material": "aluminium",
        "elements": 2,
    }
    flexible = arm.replace({"links.fore_arm.rigid": None, "links.fore_arm.beam": beam})
    np.testing.assert_allclose(beam_path(flexible, 1), [[0, 0, 0], [0, 0, 0.25]])


def test_an_imported_robot_saves_and_loads_as_yaml(arm, tmp_path):
    arm.save(tmp_path / "arm.yaml")
    assert Robot.load(tmp_path / "arm.yaml") == arm


def test_several_tips_need_a_choice(tmp_path):
    path = write(tmp_path, BODY + BRANCH)
    with pytest.raises(
        DescriptionError,
        match="the URDF branches: choose .* tip=..., one of flange, camera",
    ):
        Robot.from_urdf(path)
    assert Robot.from_urdf(path, tip="camera").link_names == ("shoulder", "camera")
    with pytest.raises(
        DescriptionError, match="tip: camra: no such link, did you mean 'camera'?"
    ):
        Robot.from_urdf(path, tip="camra")


@pytest.mark.parametrize(
    "body, message",
    [
        (
            BODY.replace("continuous", "planar"),
            "j2: planar: only revolute, continuous, prismatic, fixed joints",
        ),
        (
            BODY.replace('<limit effort="9"', '<mimic joint="j1"/><limit effort="9"'),
            "j2: mimic: joints that follow",
        ),
        (
            BODY.replace('value="1.5"', 'value="-1.5"'),
            "links.fore_arm.rigid.mass: -1.5: must be zero or positive",
        ),
        ('<link name="base"/>', "is the base: there is no joint to it"),
        ("", "without links"),
        (
            BODY
            + '<joint name="j6" type="fixed"><parent link="flange"/><child link="ghost"/></joint>',
            "not there",
        ),
        ("<link name='a'", "is not a URDF file that can be read"),
    ],
)
def test_a_urdf_without_a_counterpart_here_is_refused(tmp_path, body, message):
    with pytest.raises(DescriptionError, match=message):
        Robot.load(write(tmp_path, body))


@pytest.mark.parametrize(
    "rpy",
    [
        (0.3, -0.4, 0.5),
        (2.9, 1.2, -3.0),
        (0.7, np.pi / 2, 0.0),
        (-0.7, -np.pi / 2, 0.0),
    ],
)
def test_roll_pitch_yaw_give_back_their_rotation(rpy):
    R = from_rpy(rpy)
    np.testing.assert_allclose(from_rpy(rpy_of(R)), R, atol=1e-8)
