"""Inverse kinematics against forward kinematics, at limits and out of reach."""

import functools

import numpy as np
import pytest

import lissom as ls
from helpers import rigid_robot, robot_named
from lissom.control.tip_motion import tip_line
from lissom.solve.inverse_kinematics import UnreachableError


@functools.cache
def arm(name="anthropomorphic"):
    return ls.Model(rigid_robot(robot_named(name)))


def test_a_pose_that_the_joints_made_is_found_again():
    model = arm()
    rng = np.random.default_rng(5)
    for _ in range(5):
        wanted = rng.uniform(-0.8, 0.8, model.n_joints)
        target = np.asarray(model.fkine(wanted))[:3, 3]
        q = ls.inverse_kinematics(model, target, start=wanted + 0.2)
        np.testing.assert_allclose(model.fkine(q)[:3, 3], target, atol=1e-9)


def test_out_of_reach_says_how_far():
    model = arm()
    reach = np.linalg.norm(np.asarray(model.fkine(np.zeros(model.n_joints)))[:3, 3])
    with pytest.raises(UnreachableError, match="out of reach: .* m remain") as failure:
        ls.inverse_kinematics(model, [3 * reach + 5.0, 0.0, 0.0])
    # As near as it comes: straight towards the target, however singular that is.
    tip = np.asarray(model.fkine(failure.value.q))[:3, 3]
    assert tip[0] > 0.5 * reach


def test_joint_limits_hold():
    robot = robot_named("double-pendulum").replace(
        {"links.upper.joint.limits": {"position": [-0.1, 0.2]}}
    )
    model = ls.Model(rigid_robot(robot))
    target = np.asarray(model.fkine([0.15, 0.7]))[:3, 3]
    q = ls.inverse_kinematics(model, target, start=[0.0, 0.5])
    assert -0.1 <= q[0] <= 0.2
    away = np.asarray(model.fkine([1.2, 0.0]))[:3, 3]
    with pytest.raises(UnreachableError, match="at their limits: upper"):
        ls.inverse_kinematics(model, away, start=[0.0, 0.5])


def test_a_line_of_the_tip_is_straight_and_at_rest_at_both_ends():
    model = arm("double-pendulum")
    start = np.array([0.3, 0.9])
    first = np.asarray(model.fkine(start))[:3, 3]
    line = tip_line(model, start, first + [-0.2, 0.1, 0.0], 0.4)
    assert line.deviation < 1e-6
    np.testing.assert_allclose(line.reference.rate(0.0), 0.0, atol=1e-12)
    end = np.asarray(model.fkine(line.reference.value(0.4)))[:3, 3]
    np.testing.assert_allclose(end, first + [-0.2, 0.1, 0.0], atol=1e-9)
