"""Links on deformed tips: finite rotations, the rigid limit, energy, and another program's paths."""

import jax
import jax.numpy as jnp
import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from helpers import (
    bodies_of,
    compiled_once,
    homogeneous,
    model_named,
    motion_of,
    relative,
    rigid_robot,
    robot_named,
)
from lissom import Model
from lissom.algebra.so3 import (
    MOST_TURN,
    exponential,
    left_jacobian,
    logarithm,
    rotation_series,
)
from lissom.describe.geometry import joint_axis, joint_frame
from lissom.dynamics.formulation import differentiated_motion
from lissom.kinematics.chain import link_frames
from lissom.solve.state import State

ROUND = 1e-12


@compiled_once
def both_motions(f, x, xd, xdd, force):
    given, other = f.motion(x, xd, xdd), differentiated_motion(f, x, xd, xdd)
    return (given.rates, given.rates_d, given.pull_back(force)), (
        other.rates,
        other.rates_d,
        other.pull_back(force),
    )


@compiled_once
def frame_rates(f, x, xd):
    return f.differentiated_rates(x, xd)


@compiled_once
def configured(f, x):
    return f.configuration(x)


def test_the_recursion_holds_for_elastic_rotations_of_half_a_radian():
    # Two derivations: twists handed from tip to tip with the left Jacobian, and derivatives of the frames.
    f = model_named("mixed", "nonlinear").formulation
    x, xd, xdd = motion_of(f, seed=3, bend=0.5)
    rates = frame_rates(f, x, xd)
    given, other = both_motions(
        f, x, xd, xdd, jax.tree.map(lambda part: jnp.cos(7.0 * part), rates)
    )
    assert relative(given[0].V, rates.V) < ROUND
    for part, expected in zip(
        jax.tree.leaves(given), jax.tree.leaves(other), strict=True
    ):
        assert relative(part, expected) < ROUND


def test_every_link_frame_sits_on_the_turned_tip_of_the_link_before():
    # The chain written out with homogeneous matrices and another library's rotations.
    model = model_named("mixed", "nonlinear")
    f, robot = model.formulation, model.robot
    x, *_ = motion_of(f, seed=5, bend=0.4)
    place = configured(f, x)
    T, joint = np.eye(4), 0
    for i, body in enumerate(bodies_of(model)):
        T = T @ homogeneous(*joint_frame(robot, i))
        kind = robot.links[i].joint.type
        angle, axis = (
            (float(x[joint]), joint_axis(robot, i))
            if kind != "fixed"
            else (0.0, np.zeros(3))
        )
        joint += kind != "fixed"
        turn = (
            Rotation.from_rotvec(angle * axis).as_matrix()
            if kind == "revolute"
            else np.eye(3)
        )
        T = T @ homogeneous(turn, angle * axis if kind == "prismatic" else np.zeros(3))
        assert_allclose(np.asarray(place.R[i]), T[:3, :3], atol=ROUND)
        assert_allclose(np.asarray(place.p[i]), T[:3, 3], atol=ROUND)
        u = np.asarray(body.node_shape[-1]) @ np.asarray(place.q)[i, : body.coordinates]
        X = body.points[
            -1
        ]  # the next joint's origin is given from here on, in the undeformed tip's axes
        tip = homogeneous(Rotation.from_rotvec(u[3:]).as_matrix(), X + u[:3])
        T = T @ tip @ homogeneous(np.eye(3), -X)


def test_the_series_of_a_rotation_are_its_closed_forms_up_to_twelve_turns():
    for angle in (1e-3, 0.3, 1.7, np.pi, 9.0, MOST_TURN):
        a = angle
        closed = (np.sin(a) / a, (1 - np.cos(a)) / a**2, (a - np.sin(a)) / a**3)
        given = [float(part) for part in rotation_series(jnp.asarray(a * a))]
        assert_allclose(given[:3], closed, rtol=1e-12 if a > 0.1 else 1e-9, atol=1e-15)
        slope = jax.grad(lambda s: rotation_series(s)[2])(jnp.asarray(a * a))
        assert_allclose(given[4], slope, rtol=1e-12)


def test_a_rotation_vector_is_found_again_from_its_matrix():
    phi = (
        np.random.default_rng(1).normal(size=(20, 3))
        * np.linspace(1e-9, 1.3, 20)[:, None]
    )
    R = exponential(jnp.asarray(phi))
    assert_allclose(R, Rotation.from_rotvec(phi).as_matrix(), atol=1e-14)
    assert_allclose(logarithm(R), phi, atol=1e-12)


def test_the_left_jacobian_gives_the_angular_velocity_of_a_turning_frame():
    phi, phi_d = jnp.array([0.9, -1.3, 0.4]), jnp.array([0.2, 0.7, -0.5])
    R, R_d = jax.jvp(exponential, (phi,), (phi_d,))
    W = np.asarray(R_d @ R.T)
    assert_allclose(left_jacobian(phi) @ phi_d, [W[2, 1], W[0, 2], W[1, 0]], atol=1e-14)


def test_without_modes_the_arm_is_the_rigid_one():
    robot = robot_named("crane")
    bare, rigid = (
        Model(robot, "nonlinear", modes=0, basis="assumed"),
        Model(rigid_robot(robot), "erls-fem"),
    )
    q, qd, qdd = [0.3, -0.7, 1.1], [0.4, 0.2, -0.9], [1.0, -2.0, 0.5]
    assert bare.formulation.n_elastic == 0
    assert relative(bare.mass_matrix(q), rigid.mass_matrix(q)) < 1e-11
    assert (
        relative(bare.inverse_dynamics(q, qd, qdd), rigid.inverse_dynamics(q, qd, qdd))
        < 1e-10
    )


def test_first_order_and_finite_rotations_part_quadratically_as_links_bend_more():
    finite, first = model_named("mixed", "nonlinear"), model_named("mixed")
    gaps = []
    for bend in (1e-3, 2e-3, 4e-3):
        x, *_ = motion_of(finite.formulation, seed=5, bend=bend)
        gaps.append(np.abs(finite.fkine(x) - first.fkine(x)).max())
    assert (
        1e-7 < gaps[0]
        and 3.8 < gaps[1] / gaps[0] < 4.2
        and 3.8 < gaps[2] / gaps[1] < 4.2
    ), gaps


def test_the_jacobian_is_the_derivative_of_the_pose():
    model = model_named("mixed", "nonlinear")
    x, xd, _ = motion_of(model.formulation, seed=2, bend=0.2)
    step = 1e-6
    a, b = (np.asarray(model.fkine(x + sign * step * xd)) for sign in (-1, 1))
    T_d, R = (b - a) / (2 * step), np.asarray(model.fkine(x))[:3, :3]
    W = T_d[:3, :3] @ R.T
    moved = np.asarray(model.jacobian(x) @ xd)
    assert_allclose(
        moved, [*T_d[:3, 3], W[2, 1], W[0, 2], W[1, 0]], atol=1e-7 * np.abs(moved).max()
    )


def test_rotations_are_counted_from_the_rigid_robot_with_the_same_encoders():
    model = model_named("mixed", "nonlinear")
    x, *_ = motion_of(model.formulation, seed=4, bend=0.1)
    f, poses = (
        model.formulation,
        model.poses(State(x[:3], x[:3], x[3:], x[3:], x[:3], x[:3])),
    )
    R, p = link_frames(f.mechanism.chain, x[: f.n_joints])
    turned = Rotation.from_rotvec(
        np.array(poses.rotation[3, 1])
    ).as_matrix() @ np.asarray(R[3])
    assert_allclose(turned, np.asarray(model.fkine(x))[:3, :3], atol=1e-12)
    assert_allclose(poses.erls_position[3, 0], p[3], atol=1e-12)
