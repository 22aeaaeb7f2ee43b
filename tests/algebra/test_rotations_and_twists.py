"""Rotations, twists and rigid shapes against homogeneous matrices and SciPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from helpers import cross_matrix, homogeneous, vee
from lissom.algebra.se3 import (
    coadjoint,
    rigid_shape,
    shift_displacement,
    twist_to_child,
)
from lissom.algebra.so3 import (
    axis_rotation,
    elementary,
    from_rpy,
    skew,
)
from lissom.kinematics.recursion import transfer_matrices

# Round-off: a handful of products of numbers of order one.
ROUND = 1e-14
AXIS = np.array([0.36, -0.48, 0.8])
R = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix()
P = np.array([0.3, -0.7, 0.45])
V = np.array([0.9, -0.4, 1.3, 0.6, 1.7, -0.8])


def test_skew_is_the_cross_product():
    a, w = np.array([0.3, -1.2, 0.7]), np.array([1.1, 0.4, -0.9])
    assert_allclose(skew(w) @ a, np.cross(w, a), atol=ROUND)
    assert_allclose(skew(jnp.asarray(w)) @ a, np.cross(w, a), atol=ROUND)


@pytest.mark.parametrize("angle", [-2.9, 0.0, 1e-9, 0.8, 3.1])
def test_axis_rotation_is_a_proper_rotation_about_its_axis(angle):
    turned = np.asarray(axis_rotation(AXIS, angle))
    assert_allclose(turned.T @ turned, np.eye(3), atol=ROUND)
    assert_allclose(np.linalg.det(turned), 1.0, atol=ROUND)
    assert_allclose(turned @ AXIS, AXIS, atol=ROUND)
    assert_allclose(turned, Rotation.from_rotvec(angle * AXIS).as_matrix(), atol=ROUND)


def test_an_axis_of_zero_length_does_not_turn():
    assert_allclose(axis_rotation(np.zeros(3), 0.7), np.eye(3), atol=0)


def test_roll_pitch_yaw_are_turns_about_fixed_axes_in_that_order():
    roll, pitch, yaw = 0.3, -0.8, 1.9
    assert_allclose(
        from_rpy((roll, pitch, yaw)),
        Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix(),
        atol=ROUND,
    )
    assert_allclose(from_rpy((0.0, pitch, 0.0)), elementary(1, pitch), atol=ROUND)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_quarter_turns_are_exact(axis):
    turned = elementary(axis, np.pi / 2)
    assert set(np.unique(turned)) == {-1.0, 0.0, 1.0}
    assert_allclose(elementary(axis, jnp.asarray(np.pi / 2)), turned, atol=ROUND)


def test_twist_of_a_frame_on_a_moving_body_is_that_of_its_homogeneous_matrix():
    # A body moves with twist V: Tdot = T hat(V). A frame fixed to it at (R, p) has T' = T X and the twist vee(T'^-1
    # T'dot).
    T, X = (
        homogeneous(
            Rotation.from_rotvec([1.2, 0.3, -0.5]).as_matrix(), [0.2, 0.9, -0.4]
        ),
        homogeneous(R, P),
    )
    hat = np.block([[cross_matrix(V[3:]), V[:3, None]], [np.zeros((1, 4))]])
    expected = vee(T @ X, T @ hat @ X)
    assert_allclose(
        twist_to_child(jnp.asarray(R), jnp.asarray(P), jnp.asarray(V)),
        expected,
        atol=ROUND,
    )
    assert_allclose(
        transfer_matrices(jnp.asarray(R)[None], jnp.asarray(P)[None])[0] @ V,
        expected,
        atol=ROUND,
    )


def test_a_small_displacement_is_carried_like_a_twist():
    carried = shift_displacement(jnp.asarray(R), jnp.asarray(P), jnp.asarray(V))
    assert_allclose(
        carried,
        twist_to_child(jnp.asarray(R), jnp.asarray(P), jnp.asarray(V)),
        atol=ROUND,
    )


def test_rigid_shape_moves_a_point_as_a_small_rotation_does():
    # First order of exp(eps hat(V)) X: the remainder is eps^2 |w|^2 |X| / 2.
    eps, X = 1e-6, np.array([0.6, -0.2, 0.9])
    turned = Rotation.from_rotvec(eps * V[3:]).as_matrix() @ X + eps * V[:3] - X
    shape = rigid_shape(X) @ V
    assert_allclose(shape[:3], turned / eps, atol=eps * (V[3:] @ V[3:]) * 1.1)
    assert_allclose(shape[3:], V[3:], atol=0)


def test_momentum_of_a_free_body_stands_still_in_the_world():
    # P seen from the world is Ad^-T P; its rate vanishes when Pdot = -coadjoint(V, P). Momentum turns, it does not
    # grow.
    momentum = np.array([0.7, 0.2, -1.1, 0.4, -0.6, 0.3])
    rate = -np.asarray(coadjoint(jnp.asarray(V), jnp.asarray(momentum)))
    Rot = Rotation.from_rotvec([1.2, 0.3, -0.5]).as_matrix()
    p, p_d, R_d = np.array([0.2, 0.9, -0.4]), Rot @ V[:3], Rot @ cross_matrix(V[3:])
    linear, linear_d = Rot @ momentum[:3], R_d @ momentum[:3] + Rot @ rate[:3]
    angular_d = (
        R_d @ momentum[3:]
        + Rot @ rate[3:]
        + np.cross(p_d, linear)
        + np.cross(p, linear_d)
    )
    assert_allclose(linear_d, 0, atol=ROUND * 10)
    assert_allclose(angular_d, 0, atol=ROUND * 10)
