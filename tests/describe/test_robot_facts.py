"""Facts of a robot that results carry: nodes by their names, and whether anything damps it."""

import numpy as np

from lissom.describe import Robot, robot_facts


def test_tips_stand_beside_the_numbered_nodes():
    named = robot_facts.named_nodes(["a/0", "a/1", "b/0"], np.arange(9.0).reshape(3, 3))
    assert (
        named["a/tip"] == named["a/1"] == [3, 4, 5] and named["b/tip"] == named["b/0"]
    )


def test_damping_of_links_and_friction_of_joints_both_count():
    robot = Robot.load("double-pendulum")
    bare = robot.replace({"damping": None})
    assert robot_facts.has_damping(robot) and not robot_facts.has_damping(bare)
    assert robot_facts.has_damping(
        bare.replace({"links.upper.joint.friction.viscous": 0.1})
    )
    assert robot_facts.has_damping(bare.replace({"links.upper.damping.ratio": 0.01}))
