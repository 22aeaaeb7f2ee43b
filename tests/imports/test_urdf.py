"""A URDF file against the same robot written by hand."""

import numpy as np
import pytest

import lissom as ls
from lissom.algebra.so3 import from_rpy
from lissom.describe import DescriptionError, Robot, inertia_matrix
from lissom.describe.geometry import beam_path, joint_axis, joint_frame, tip
from lissom.imports.body_tree import rpy_of
from lissom.imports.urdf import UrdfChoices, robot_from_urdf
from urdf_arm import BODY, BRANCH, LINK, joint, urdf_text

AXIS = '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>'


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
        match="the URDF branches: choose .* tip=... .--tip LINK., one or several of flange, camera",
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
            BODY.replace('<limit effort="9"', '<mimic joint="j11"/><limit effort="9"'),
            "j2: j11: follows a joint that does not exist, did you mean 'j1'",
        ),
        (
            BODY.replace('value="1.5"', 'value="heavy"'),
            r"arm.urdf:\d+: <mass value>: heavy: must be a number",
        ),
        (
            BODY.replace('xyz="0.4 0.1 0"', 'xyz="0.4 0.1"'),
            r"<origin xyz>: 0.4 0.1: must be 3 numbers",
        ),
        (
            BODY.replace('<parent link="shoulder"/>', ""),
            "<joint>: a joint needs its <parent link=...>",
        ),
        (
            BODY.replace('value="1.5"', 'value="-1.5"'),
            "links.fore_arm.rigid.mass: -1.5: must be zero or positive",
        ),
        ('<link name="base"/>', "is the base: there is no joint to it"),
        ("", "without links"),
        (
            BODY
            + '<joint name="j6" type="fixed"><parent link="slide"/><child link="shoulder"/></joint>',
            "j6: carries link 'shoulder' as joint 'j1' does: a loop",
        ),
        (
            BODY
            + '<joint name="j6" type="fixed"><parent link="flange"/><child link="base"/></joint>',
            "the links form a ring",
        ),
        (
            BODY.replace('value="1.5"', 'value="0"').replace(
                'value="2.5"', 'value="0"'
            ),
            "no link has a mass .shoulder, fore_arm, slide, flange.: .* <inertial>",
        ),
        (
            BODY
            + '<joint name="j6" type="fixed"><parent link="flange"/><child link="ghost"/></joint>',
            "does not exist",
        ),
        ("<link name='a'", "is not a URDF file that can be read"),
    ],
)
def test_a_urdf_without_a_counterpart_here_is_refused(tmp_path, body, message):
    with pytest.raises(DescriptionError, match=message):
        Robot.load(write(tmp_path, body))


HAND = (
    LINK.format(name="hand", mass=0.4)
    + LINK.format(name="finger", mass=0.2)
    + joint("j6", "fixed", "fore.arm", "hand", "0.1 0 0.2", "0.4 0 0.1")
    + joint("j7", "prismatic", "hand", "finger", "0 0.05 0", more=AXIS)
)


def mass_of(robot):
    return sum(link.rigid.mass for link in robot.links)


def test_links_beside_the_chain_ride_along_or_are_left_out(tmp_path):
    path = write(tmp_path, BODY + HAND)
    welded = Robot.from_urdf(path, tip="flange")
    assert mass_of(welded) == pytest.approx(2.5 + 1.5 + 0.4 + 0.2)
    dropped = Robot.from_urdf(path, tip="flange", branches="drop")
    assert mass_of(dropped) == pytest.approx(2.5 + 1.5)
    notes = robot_from_urdf(path, UrdfChoices(("flange",))).notes
    assert notes[0] == "off the chain, welded to fore_arm: hand, finger"


def test_links_without_mass_on_moving_joints_are_reported(tmp_path):
    hook = '<link name="hook"/>' + joint(
        "j8", "revolute", "flange", "hook", "0 0 0.1", more=AXIS
    )
    (note,) = robot_from_urdf(write(tmp_path, BODY + hook), UrdfChoices(())).notes
    assert note == "without mass, as the file has no <inertial>: slide, hook"


def test_a_held_joint_stays_at_its_given_value(tmp_path):
    """The centre of the finger moves along the hand's axis by what its joint is told."""
    path = write(tmp_path, BODY + HAND)
    centres = []
    for value in (0.0, 0.3):
        held = Robot.from_urdf(path, tip="flange", hold={"j7": value})
        centres.append(np.array(held.links[1].rigid.com))
    R = np.asarray(from_rpy((0.4, 0.0, 0.1)))
    shift = 0.2 / 2.1 * 0.3 * R @ [0.0, 1.0, 0.0]
    np.testing.assert_allclose(centres[1] - centres[0], shift, atol=1e-12)
    with pytest.raises(DescriptionError, match="hold: j77: no such moving joint"):
        Robot.from_urdf(path, tip="flange", hold={"j77": 0.0})


def test_a_mimic_joint_stands_as_the_joint_that_it_follows_tells(tmp_path):
    follower = HAND.replace(
        AXIS, AXIS + '<mimic joint="j2" multiplier="2" offset="0.1"/>'
    )
    path = write(tmp_path, BODY + follower)
    told = Robot.from_urdf(path, tip="slide", hold={"j7": 0.1})
    as_followed = Robot.from_urdf(path, tip="slide")
    np.testing.assert_allclose(
        as_followed.links[1].rigid.com, told.links[1].rigid.com, atol=1e-15
    )


def test_several_tips_make_a_tree(tmp_path):
    path = write(tmp_path, BODY + HAND)
    robot = Robot.from_urdf(path, tip=["flange", "finger"])
    assert robot.joint_names == ("shoulder", "fore_arm", "slide", "finger")
    # The hand sits beside the tip of the forearm: a massless link leads there.
    bracket = next(link for link in robot.links if link.name == "to_hand")
    assert bracket.parent == "fore_arm" and bracket.rigid.mass == 0.0
    np.testing.assert_allclose(bracket.rigid.tip, [0.1, 0.0, -0.05])
    assert mass_of(robot) == pytest.approx(4.6)


@pytest.mark.slow
def test_merged_links_move_as_they_did_on_their_fixed_joints(tmp_path):
    path = write(tmp_path, BODY + HAND)
    q = [0.3, -0.6, 0.1]
    kept = ls.Model(Robot.from_urdf(path, tip="flange"))
    merged = ls.Model(Robot.from_urdf(path, tip="flange", merge_fixed=True))
    assert len(merged.robot.links) == 3
    moving = slice(0, 2)  # the slide has no mass
    before = np.asarray(kept.mass_matrix(q))[moving, moving]
    after = np.asarray(merged.mass_matrix(q))[moving, moving]
    np.testing.assert_allclose(after, before, rtol=1e-12)


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
