"""Frames, twists and Jacobians of the chain against products of homogeneous matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from helpers import (
    ALL_ROBOTS,
    CRANE,
    LIBRARY,
    MIXED,
    compiled_once,
    homogeneous,
    relative,
    robot_named,
    vee,
)
from lissom.kinematics.chain import (
    body_jacobian,
    link_frames,
    link_twists,
    relative_poses,
)
from lissom.kinematics.robot_mechanism import chain_of

# Round-off of some dozen products of numbers of order one.
ROUND = 1e-13
THETA, THETA_D, THETA_DD = (
    np.array([0.7, 0.4, -1.3]),
    np.array([-0.9, 0.6, 1.4]),
    np.array([2.1, -1.7, 0.8]),
)


@compiled_once
def kinematics(chain, theta, theta_d, theta_dd):
    """Frames with their rates by differentiation, twists, Jacobians; twists' rates by differentiation."""
    (R, p), (R_d, p_d) = jax.jvp(
        lambda theta: link_frames(chain, theta), (theta,), (theta_d,)
    )

    def J(theta):
        return body_jacobian(chain, relative_poses(chain, theta))

    J_0, J_d = jax.jvp(J, (theta,), (theta_d,))

    def twists(theta, theta_d):
        return link_twists(chain, relative_poses(chain, theta), theta_d)

    V, V_d = jax.jvp(twists, (theta, theta_d), (theta_d, theta_dd))
    return R, p, R_d, p_d, V, V_d, J_0, J_d


def of(name):
    return kinematics(
        chain_of(robot_named(name)), *map(jnp.asarray, (THETA, THETA_D, THETA_DD))
    )


def turn(axis, angle):
    return homogeneous(
        Rotation.from_rotvec(
            angle * np.asarray(axis) / np.linalg.norm(axis)
        ).as_matrix(),
        np.zeros(3),
    )


def move(*xyz):
    return homogeneous(np.eye(3), xyz)


def frames_of_mixed(theta):
    """`mixed` by hand: origin in the parent's frame, roll-pitch-yaw, then the joint's own motion."""
    theta = iter(theta)
    T, tip, frames = np.eye(4), np.zeros(3), []
    for link in MIXED["links"]:
        joint, body = link["joint"], link.get("beam") or link["rigid"]
        xyz = joint["origin"].get("xyz", tip)
        T = T @ homogeneous(
            Rotation.from_euler("xyz", joint["origin"]["rpy"]).as_matrix(), xyz
        )
        if joint["type"] != "fixed":
            q, axis = (
                next(theta),
                np.array(joint["axis"]) / np.linalg.norm(joint["axis"]),
            )
            T = T @ (
                turn(axis, q) if joint["type"] == "revolute" else move(*(q * axis))
            )
        tip = body["path"][-1] if "path" in body else body["tip"]
        frames.append(T)
    return np.stack(frames)


def frames_of_crane(theta):
    """`crane` by hand: A_i = Rz(theta + q) Tz(d) Tx(a) Rx(alpha), prismatic d + q; a link frame precedes its Tz(d)."""
    x, z = (1, 0, 0), (0, 0, 1)
    T, frames = np.eye(4), []
    for q, link in zip(theta, CRANE["links"][:3], strict=True):
        dh, slides = link["joint"]["dh"], link["joint"]["type"] == "prismatic"
        frames.append(
            T
            @ turn(z, dh["theta"] + (0 if slides else q))
            @ move(0, 0, q if slides else 0)
        )
        T = frames[-1] @ move(dh["a"], 0, dh["d"]) @ turn(x, dh["alpha"])
    # The last link is fixed with an origin: its rpy counts from the parent's link frame, its place is the parent's tip.
    fixed = Rotation.from_euler(
        "xyz", CRANE["links"][3]["joint"]["origin"]["rpy"]
    ).as_matrix()
    return np.stack([*frames, homogeneous(frames[-1][:3, :3] @ fixed, T[:3, 3])])


@pytest.mark.parametrize(
    "name, frames", [("mixed", frames_of_mixed), ("crane", frames_of_crane)]
)
def test_link_frames_are_products_of_homogeneous_matrices(name, frames):
    R, p, *_ = of(name)
    expected = frames(THETA)
    assert_allclose(R, expected[:, :3, :3], atol=ROUND)
    assert_allclose(p, expected[:, :3, 3], atol=ROUND)


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_body_twists_are_the_rates_of_the_frames(name):
    R, p, R_d, p_d, V, *_ = of(name)
    for i in range(len(R)):
        T_d = homogeneous(R_d[i], p_d[i])
        T_d[3, 3] = 0.0
        assert_allclose(V[i], vee(homogeneous(R[i], p[i]), T_d), atol=ROUND)


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_body_jacobian_gives_the_twists_and_its_rate_their_rates(name):
    *_, V, V_d, J, J_d = of(name)
    assert relative(J @ THETA_D, V) < ROUND
    assert relative(J @ THETA_DD + J_d @ THETA_D, V_d) < ROUND


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_a_link_does_not_feel_the_joints_beyond_it(name):
    J = np.asarray(of(name)[6])
    joint = -1
    for i, link in enumerate(robot_named(name).links):
        joint += link.joint.moves
        assert_allclose(J[i, :, joint + 1 :], 0, atol=0)


@pytest.mark.parametrize("name", LIBRARY)
def test_dh_chains_of_the_library_are_products_of_dh_matrices(name):
    robot = robot_named(name)
    theta = np.linspace(0.4, -1.1, len(robot.joint_names))
    T, expected = np.eye(4), []
    for q, link in zip(theta, robot.links, strict=True):
        dh = link.joint.dh
        expected.append(T @ turn((0, 0, 1), dh.theta + q))
        T = expected[-1] @ move(dh.a, 0, dh.d) @ turn((1, 0, 0), dh.alpha)
    R, p = jax.jit(link_frames)(chain_of(robot), jnp.asarray(theta))
    assert_allclose(R, np.stack(expected)[:, :3, :3], atol=ROUND)
    assert_allclose(p, np.stack(expected)[:, :3, 3], atol=ROUND)
