"""MJCF files against the numbers that they hold, and against Pinocchio's own dynamics of them."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from lissom.describe import DescriptionError
from lissom.imports.mjcf import robot_from_mjcf
from pinocchio_robot import dynamics

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0 0 0.3">
      <inertial pos="0.2 0 0.01" mass="2.0" diaginertia="0.002 0.03 0.031"/>
      <joint name="shoulder" type="hinge" axis="0 0 1" range="-2 2" damping="0.3" armature="0.02"/>
      <body name="fore" pos="0.4 0 0" euler="0.2 0 0">
        <inertial pos="0.15 0 0" mass="1.0" diaginertia="0.001 0.01 0.01"/>
        <joint name="elbow" type="hinge" axis="0 1 0.3"/>
        <body name="tool" pos="0.3 0 0.05">
          <inertial pos="0 0 0.02" mass="0.3" diaginertia="0.0001 0.0001 0.0001"/>
        </body>
        <body name="slide" pos="0.3 0 0">
          <inertial pos="0.05 0 0" mass="0.2" diaginertia="0.0001 0.0002 0.0002"/>
          <joint name="push" type="slide" axis="1 0 0" range="0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
CAMERA = """<body name="camera" pos="0.1 0 0.2"><inertial pos="0 0 0" mass="0.1" diaginertia="1e-5 1e-5 1e-5"/>
  <joint name="pan" type="hinge" axis="0 0 1"/></body><body name="fore" """


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


def test_bodies_joints_limits_and_rotors_are_those_of_the_file(file):
    robot = ls.Robot.from_dict(robot_from_mjcf(file))
    assert robot.joint_names == ("upper", "fore", "slide")
    assert [link.joint.type for link in robot.links][-1] == "prismatic"
    upper, fore, _ = robot.links
    assert upper.joint.limits.position == (-2.0, 2.0)
    assert upper.joint.motor.inertia == 0.02
    assert upper.joint.friction.viscous == 0.3
    # The tool has no joint: it is part of the forearm.
    assert fore.rigid.mass == pytest.approx(1.3)


@pytest.mark.slow
def test_an_mjcf_arm_moves_as_in_pinocchio(file):
    robot = ls.Robot.from_dict(robot_from_mjcf(file))
    still = robot.replace({"links.upper.joint.friction": None})
    f = ls.Model(still).formulation
    model = pin.buildModelFromMJCF(str(file))
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 3))
    M, (force, _, _) = dynamics(f, q, qd, qdd)
    inertia = pin.crba(model, data, q)
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    assert_allclose(M, inertia, atol=1e-12)
    needed = pin.rnea(model, data, q, qd, qdd)
    assert_allclose(force, needed, atol=1e-10)


def test_branches_and_joints_without_a_counterpart_are_refused(file):
    file.write_text(ARM.replace('<body name="fore" ', CAMERA, 1))
    with pytest.raises(DescriptionError, match=r"--tip LINK.*camera"):
        robot_from_mjcf(file)
    chain = ls.Robot.from_dict(robot_from_mjcf(file, ["slide"]))
    assert sum(link.rigid.mass for link in chain.links) == pytest.approx(3.6)
    with pytest.raises(DescriptionError, match=r"tip: camra: .*did you mean 'camera'"):
        robot_from_mjcf(file, ["camra"])
    file.write_text(ARM.replace('type="slide"', 'type="ball"'))
    with pytest.raises(DescriptionError, match=r"push: .*only hinge and slide joints"):
        robot_from_mjcf(file)
    file.write_text("<mujoco><worldbody>")
    with pytest.raises(DescriptionError, match=r"arm.xml: .*cannot? be read|MJCF"):
        robot_from_mjcf(file)


def test_a_held_joint_stands_still(file):
    held = ls.Robot.from_dict(robot_from_mjcf(file, hold={"push": 0.05}))
    assert held.joint_names == ("upper", "fore")
    assert held.links[-1].rigid.mass == pytest.approx(1.5)
