"""Arms as their makers publish them: mass and inertia are kept, and rigid links move as in Pinocchio.

The files are those of the package `example-robot-data`, which `make test-all` installs.
"""

from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.commands.cli import main
from lissom.describe import inertia_matrix
from lissom.files.named_files import known_packages
from pinocchio_robot import dynamics

pytestmark = pytest.mark.slow

# By name: file, and where its chain ends; None where there is one end.
ARMS = {
    "ur3": ("ur_description/urdf/ur3_robot.urdf", "tool0"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0"),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", "ee_link"),
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    "kinova": ("kinova_description/robots/kinova.urdf", "j2s6s200_end_effector"),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", None),
    "z1": ("z1_description/urdf/z1.urdf", None),
    "so100": ("so_arm_description/urdf/so100.urdf", None),
    "so101": ("so_arm_description/urdf/so101.urdf", "gripper_frame_link"),
    "talos": ("talos_data/robots/talos_left_arm.urdf", "gripper_left_base_link"),
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", "wrist_ft_tool_link"),
    "baxter": ("baxter_description/urdf/baxter.urdf", "left_gripper"),
}
POSES = 5


def robots_folder() -> Path:
    for file in files("example-robot-data") or ():
        if file.name == "ur5_robot.urdf":
            return Path(str(file.locate())).parents[2]
    raise LookupError("example-robot-data holds no ur5_robot.urdf")


def path_of(name):
    return robots_folder() / ARMS[name][0]


def robot_of(name, **choices):
    return ls.Robot.from_urdf(path_of(name), ARMS[name][1], **choices)


def pinocchio_arm(name, robot):
    """The same arm read by Pinocchio, every joint that is none of ours locked at zero."""
    whole = pin.buildModelFromUrdf(str(path_of(name)))
    # A joint may be called as a link is.
    links = [frame for frame in whole.frames if frame.type == pin.FrameType.BODY]
    carrier = {frame.name: frame.parentJoint for frame in links}
    ours = {whole.names[carrier[link]] for link in robot.joint_names}
    others = [whole.getJointId(j) for j in whole.names[1:] if j not in ours]
    # Files that call a joint and a link by one name cannot be reduced, and need not be.
    model = whole
    if others:
        model = pin.buildReducedModel(whole, others, pin.neutral(whole))
    model.gravity.linear = np.array(robot.gravity)
    return model, model.createData()


@pytest.mark.parametrize("name", ARMS)
def test_every_joint_carries_the_mass_and_the_inertia_of_the_file(name):
    robot = robot_of(name, merge_fixed=True)
    model, _ = pinocchio_arm(name, robot)
    assert len(robot.links) == model.njoints - 1
    for link, joint in zip(robot.links, model.names[1:], strict=True):
        theirs = model.inertias[model.getJointId(joint)]
        body = link.rigid
        assert_allclose(body.mass, theirs.mass, rtol=1e-9)
        assert_allclose(body.com, theirs.lever, rtol=1e-9, atol=1e-12)
        inertia = np.asarray(inertia_matrix(body.inertia))
        size = np.abs(theirs.inertia).max()
        assert_allclose(inertia, theirs.inertia, atol=1e-9 * size)


@pytest.mark.parametrize("name", ARMS)
def test_the_command_writes_the_arm_to_the_last_digit(name, tmp_path):
    tip = ARMS[name][1]
    options = ["--tip", tip] if tip else []
    output = tmp_path / "arm.yaml"
    words = ["import", path_of(name), *options, "--no-meshes", "-o", output]
    assert main([str(word) for word in words]) == 0
    assert ls.Robot.load(output) == robot_of(name)


@pytest.mark.parametrize("name", ARMS)
def test_rigid_links_move_as_in_pinocchio(name):
    """Inertia and joint torques of random motions, to 1e-9 of the largest of each."""
    robot = robot_of(name)
    model, data = pinocchio_arm(name, robot)
    still = {f"links.{link}.joint.friction": None for link in robot.joint_names}
    f = ls.Model(robot.replace(still)).formulation
    random = np.random.default_rng(len(name))
    for _ in range(POSES):
        q, qd, qdd = random.uniform(-2, 2, (3, model.nv))
        M, (force, _, _) = dynamics(f, q, qd, qdd)
        there = pin.integrate(model, pin.neutral(model), q)
        inertia = pin.crba(model, data, there)
        inertia = np.triu(inertia) + np.triu(inertia, 1).T
        assert_allclose(M, inertia, atol=1e-9 * np.abs(inertia).max())
        needed = pin.rnea(model, data, there, qd, qdd)
        assert_allclose(force, needed, atol=1e-9 * np.abs(needed).max())


def test_flexible_links_keep_the_mass_and_inertia_of_a_ur5():
    sections = {
        "upper_arm_link": "tube:100mm:90mm:aluminium",
        "forearm_link": "tube:80mm:72mm:aluminium",
    }
    rigid = robot_of("ur5", merge_fixed=True)
    flexible = robot_of("ur5", merge_fixed=True, flexible=sections)
    q = [0.3, -1.1, 0.8, 0.4, -0.5, 0.2]
    before = np.asarray(ls.Model(rigid).mass_matrix(q))
    after = np.asarray(ls.Model(flexible, modes=0).mass_matrix(q))
    assert_allclose(after, before, atol=1e-9 * np.abs(before).max())


def test_modes_of_a_ur5_with_two_flexible_links_over_a_hundred_poses():
    """The first frequency of the arm with its joints held is lowest where the arm is stretched out."""
    sections = {
        "upper_arm_link": "estimate:aluminium",
        "forearm_link": "estimate:aluminium",
    }
    robot = robot_of("ur5", merge_fixed=True, flexible=sections)
    model = ls.Model(robot, modes=2)
    elbow = np.linspace(0.0, 2.6, 100)
    poses = np.zeros((100, 6))
    poses[:, 1], poses[:, 2] = -1.2, elbow
    found = ls.mode_map(model, poses, locked=True, count=3)
    lowest = np.asarray(found.frequency_hz)[:, 0]
    assert lowest.shape == (100,)
    assert np.isfinite(lowest).all() and (lowest > 1.0).all()
    assert lowest[0] == lowest.min()
    # Poses of the map asked for on their own.
    for k in (0, 37, 99):
        one = ls.modes(model, poses[k], locked=True, count=3)
        assert_allclose(one.frequency_hz[0], lowest[k], rtol=1e-6)


def test_meshes_of_a_ur5_are_carried_along(tmp_path):
    file = tmp_path / "arm.yaml"
    choices = {"tip": "tool0", "merge_fixed": True}
    with pytest.raises(
        ls.DescriptionError, match=r"--package example-robot-data=DIR"
    ) as failure:
        ls.import_robot(path_of("ur5"), **choices, meshes=True).save(file)
    assert not file.exists()
    assert "visual" in str(failure.value)
    without = ls.import_robot(path_of("ur5"), **choices)
    without.save(file)
    assert "pictures are without the mesh of shoulder_link" in without.notes[-1]
    package = {"example-robot-data": robots_folder().parent}
    with known_packages(package):
        ls.import_robot(path_of("ur5"), **choices, meshes=True).save(file)
    robot = ls.Robot.load(tmp_path / "arm.yaml")
    assert all(link.visual is not None for link in robot.links)
    assert (tmp_path / "arm-meshes" / "forearm_link.stl").stat().st_size < 60_000
