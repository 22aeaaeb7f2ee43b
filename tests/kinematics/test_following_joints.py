"""Joints that follow others, by a ratio and an offset: the robot whose joints are free, projected on their rule."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import lissom as ls
from helpers import MIXED, relative, weightless
from lissom.describe import DescriptionError
from lissom.kinematics.chain import link_frames
from lissom.kinematics.robot_mechanism import chain_of
from motion_checks import checks, motion_near
from pinocchio_robot import dynamics
from urdf_arm import BODY, LINK, joint, urdf_text

TABLE = {"t": [0, 1], "value": [0, 1]}
RATIO, OFFSET = -0.7, 0.2
FORMULATIONS = {
    "erls-fem": {"formulation": "erls-fem"},
    "stiffened": {"formulation": "erls-fem", "stiffening": "geometric"},
    "dual-screw": {"formulation": "dual-screw", "basis": "nodal"},
    "nonlinear": {"formulation": "nonlinear", "basis": "nodal"},
}


def moving_names():
    return [link["name"] for link in MIXED["links"] if link["joint"]["type"] != "fixed"]


def with_follower(rule):
    """The mixed robot, without motors and friction; its last joint follows its first."""
    first, *_, last = moving_names()
    links = []
    for link in MIXED["links"]:
        kept = ("type", "origin", "axis", "dh")
        joint = {key: value for key, value in link["joint"].items() if key in kept}
        if link["name"] == last and rule is not None:
            joint["follows"] = {"joint": first, **rule}
        links.append({**link, "joint": joint})
    return ls.Robot.from_dict({**MIXED, "links": links})


@functools.cache
def pair():
    """The robot with a joint that follows, and the same with all joints free."""
    rule = {"ratio": RATIO, "offset": OFFSET}
    return with_follower(rule), with_follower(None)


def projection(n, n_free):
    """x_free = G x + g, and g: joints first, then elastic coordinates."""
    joints = n_free - n + len(moving_names()) - 1
    G = np.zeros((n_free, n))
    G[: joints - 1, : joints - 1] = np.eye(joints - 1)
    G[joints - 1, 0] = RATIO
    G[joints:, joints - 1 :] = np.eye(n - joints + 1)
    g = np.zeros(n_free)
    g[joints - 1] = OFFSET
    return G, g


def test_frames_are_those_of_free_joints_that_stand_as_the_rule_says():
    led, free = pair()
    assert led.joint_names == free.joint_names[:-1]
    q = jnp.asarray(np.random.default_rng(3).uniform(-1, 1, len(led.joint_names)))
    R, p = link_frames(chain_of(led), q)
    R_free, p_free = link_frames(chain_of(free), jnp.append(q, RATIO * q[0] + OFFSET))
    assert_allclose(R, R_free, atol=1e-14)
    assert_allclose(p, p_free, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULATIONS)
def test_inertia_and_forces_are_those_of_free_joints_projected(name):
    led, free = (ls.Model(robot, **FORMULATIONS[name]) for robot in pair())
    f, f_free = led.formulation, free.formulation
    n, n_free = f.n_joints + f.n_elastic, f_free.n_joints + f_free.n_elastic
    G, g = projection(n, n_free)
    scale = np.where(np.arange(n) < f.n_joints, 1.0, 1e-3)
    x, xd, xdd = jnp.asarray(np.random.default_rng(5).uniform(-1, 1, (3, n)) * scale)
    M, (force, _, bias) = dynamics(f, x, xd, xdd)
    M_free, (force_free, _, bias_free) = dynamics(f_free, G @ x + g, G @ xd, G @ xdd)
    assert_allclose(M, G.T @ M_free @ G, atol=1e-11 * np.abs(M_free).max())
    size = np.abs(force_free).max()
    assert_allclose(force, G.T @ force_free, atol=1e-11 * size)
    assert_allclose(bias, G.T @ bias_free, atol=1e-11 * size)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMULATIONS)
def test_the_contract_of_formulations_holds(name):
    led, _ = pair()
    f, x, xd, xdd = motion_near(ls.Model(led, **FORMULATIONS[name]), seed=4)
    if name == "dual-screw":
        # Weight works to first order only on screws of first order.
        f = weightless(f)
    found = checks(f, x, xd, xdd)
    given, expected = (
        jax.tree.leaves(found[key]) for key in ("given", "differentiated")
    )
    for mine, theirs in zip(given, expected, strict=True):
        assert relative(mine, theirs) < 1e-9
    assert abs(found["work"] - found["power"]) < 1e-9 * found["size"]
    assert relative(found["acceleration"], xdd) < 1e-7


LIMIT = '<limit lower="0" upper="0.2" effort="9" velocity="1"/>'
FINGERS = (
    LINK.format(name="left", mass=0.3)
    + LINK.format(name="right", mass=0.2)
    + joint("j6", "prismatic", "fore.arm", "left", "0 0.1 0.2", more="<axis xyz='0 1 0'/>" + LIMIT)
    + joint("j7", "revolute", "fore.arm", "right", "0 -0.1 0.2", "0.4 0 0.1",
            LIMIT + "<axis xyz='0 1 0.3'/><dynamics damping='0.5' friction='0.1'/>"
            "<mimic joint='j6' multiplier='-2.5' offset='0.15'/>")
)  # fmt: skip


@pytest.fixture
def hand(tmp_path):
    """A file whose right finger turns as the left one slides."""
    path = tmp_path / "hand.urdf"
    body = BODY.replace('<dynamics damping="0.7" friction="0.2"/>', "")
    # Pinocchio asks for whole limits.
    body = body.replace('<limit upper="0.2"/>', LIMIT)
    path.write_text(urdf_text(body + FINGERS))
    return path


def test_a_mimic_joint_of_a_urdf_follows_its_leader(hand):
    robot = ls.Robot.from_urdf(hand, ["left", "right"])
    assert robot.joint_names == ("shoulder", "fore_arm", "left")
    rule = next(link for link in robot.links if link.name == "right").joint.follows
    assert (rule.joint, rule.ratio, rule.offset) == ("left", -2.5, 0.15)
    assert "revolute, -2.5 left + 0.15" in str(robot)
    # Its friction is felt by the joint that leads it.
    braked = next(link for link in robot.links if link.name == "left").joint.friction
    assert braked.viscous == pytest.approx(2.5**2 * 0.5)
    assert braked.coulomb == pytest.approx(2.5 * 0.1)
    # Where the leader stands still, so does the follower.
    held = ls.Robot.from_urdf(hand, ["left", "right"], hold={"j6": 0.05})
    assert held.joint_names == ("shoulder", "fore_arm")


@pytest.mark.slow
def test_a_hand_whose_fingers_follow_each_other_moves_as_in_pinocchio(hand):
    robot = ls.Robot.from_urdf(hand, ["left", "right"])
    still = {f"links.{name}.joint.friction": None for name in robot.joint_names}
    f = ls.Model(robot.replace(still)).formulation
    whole = pin.buildModelFromUrdf(str(hand), True)
    slide = whole.getJointId("j3")
    model = pin.buildReducedModel(whole, [slide], pin.neutral(whole))
    model.gravity.linear = np.array(robot.gravity)
    data = model.createData()
    q, qd, qdd = np.random.default_rng(7).uniform(-1, 1, (3, 3))
    there = pin.integrate(model, pin.neutral(model), q)
    M, (force, _, _) = dynamics(f, q, qd, qdd)
    inertia = pin.crba(model, data, there)
    inertia = np.triu(inertia) + np.triu(inertia, 1).T
    assert_allclose(M, inertia, atol=1e-9 * np.abs(inertia).max())
    needed = pin.rnea(model, data, there, qd, qdd)
    assert_allclose(force, needed, atol=1e-9 * np.abs(needed).max())


@pytest.mark.parametrize(
    "rule, message",
    [
        ({"ratio": 0.0}, "follows.ratio: 0.0: must not be 0"),
        ({"joint": "nobody"}, "follows.joint: nobody: must be a joint with a"),
        ({"ratio": "fast"}, "follows.ratio: fast: must be a number"),
    ],
)
def test_rules_that_cannot_hold_are_refused(rule, message):
    with pytest.raises(DescriptionError, match=message):
        with_follower(rule)


def test_a_joint_that_follows_has_nothing_of_its_own(hand):
    robot = ls.Robot.from_urdf(hand, ["left", "right"])
    for key, value in {"motor": {"inertia": 1e-4}, "actuated": False}.items():
        with pytest.raises(DescriptionError, match=f"right.joint.{key}.* has no {key}"):
            robot.replace({f"links.right.joint.{key}": value})
    with pytest.raises(DescriptionError, match="'right' follows another one"):
        ls.Scenario(robot=robot, t_end=1.0, inputs={"torque": {"right": TABLE}})


def test_mimic_joints_that_lead_nowhere_are_refused(hand):
    text = hand.read_text()
    hand.write_text(text.replace("mimic joint='j6'", "mimic joint='j66'"))
    with pytest.raises(
        DescriptionError, match="j7: j66: .*does not exist, did you mean"
    ):
        ls.Robot.from_urdf(hand, ["left", "right"])
    hand.write_text(text.replace("mimic joint='j6'", "mimic joint='j7'"))
    with pytest.raises(DescriptionError, match="j7: j7: .*in a ring"):
        ls.Robot.from_urdf(hand, ["left", "right"])


def rod(name, length, **others):
    body = {"mass": 0.1, "com": [length / 2, 0, 0], "inertia": [0, 0, 1e-3]}
    return {"name": name, "rigid": body | {"tip": [length, 0, 0]}, **others}


def geared_five_bar():
    """Two cranks that gears turn against each other, two rods that meet: the point where they do moves up and down."""
    turning = {"type": "revolute"}
    left = {**turning, "origin": {"xyz": [0, 0, 0]}}
    against = {"joint": "left", "ratio": -1, "offset": math.pi}
    right = {**turning, "origin": {"xyz": [0.3, 0, 0]}, "follows": against}
    meeting = {"link": "right_rod", "to": "left_rod", "at": [0.4, 0, 0]}
    return ls.Robot.from_dict(
        {
            "name": "geared-five-bar",
            "planar": True,
            "gravity": [0, -9.81, 0],
            "links": [
                rod("left", 0.2, joint=left),
                rod("left_rod", 0.4, joint=turning),
                rod("right", 0.2, joint=right, parent="ground"),
                rod("right_rod", 0.4, joint=turning),
            ],
            "loops": [{**meeting, "type": "revolute", "axis": [0, 0, 1]}],
            "independent": ["left"],
            "assembly": {"left": 2.0, "left_rod": -1.0, "right_rod": 1.0},
        }
    )


@pytest.mark.slow
def test_gears_in_a_closed_chain_keep_its_symmetry_and_its_energy():
    model = ls.Model(geared_five_bar())
    for angle in (1.7, 2.0, 2.3):
        meeting = model.position(model.at([angle]), "right_rod/tip")
        # Pythagoras: the rods reach from the cranks to the line of symmetry.
        across, up = 0.15 - 0.2 * math.cos(angle), 0.2 * math.sin(angle)
        expected = [0.15, up + math.sqrt(0.4**2 - across**2), 0.0]
        assert_allclose(meeting, expected, atol=1e-12)
    solver = {"rtol": 1e-9, "atol": 1e-11}
    run = ls.simulate(model, [2.0], t_end=0.2, output_dt=0.01, solver=solver)
    assert_allclose(run.position("right_rod/tip")[:, 0], 0.15, atol=1e-9)
    kinetic = np.ptp(run.energy("kinetic"))
    assert kinetic > 0.01
    # What random robots are held to at these tolerances.
    assert np.abs(run.energy("residual")).max() < 1e-6 * kinetic
