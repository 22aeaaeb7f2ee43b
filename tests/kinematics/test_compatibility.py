"""Displacements that agree at the joints, whatever theta means."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from helpers import (
    ALL_REFERENCES,
    ALL_ROBOTS,
    ZEROED,
    compiled_once,
    cross_matrix,
    model_named,
    motion_of,
    relative,
)
from lissom.bodies.body import measured_from_inner_node
from lissom.bodies.link_body import body_of
from lissom.dynamics.nodes import find_node, node_displacements
from lissom.kinematics.chain import relative_poses

BEND = 1e-3
# Displacements of size BEND pass some dozen products and one small solve (condition below 1e3).
ROUND = 1e-12 * BEND


@compiled_once
def displaced(f, x):
    """Poses of links on their parents, configuration, nodal displacements."""
    place = f.configuration(x)
    return (
        relative_poses(f.mechanism.chain, x[: f.n_joints]),
        place,
        node_displacements(f, place.q),
    )


@pytest.fixture(
    params=[(robot, reference) for robot in ALL_ROBOTS for reference in ALL_REFERENCES],
    ids="-".join,
)
def case(request):
    model = model_named(*request.param)
    x, *_ = motion_of(model.formulation, seed=3, bend=BEND)
    return request.param, model, x, *displaced(model.formulation, x)


def carried(R, arm, u):
    """Displacement of a point handed over a rigid arm into the axes of R."""
    return np.concatenate([R.T @ (u[:3] + np.cross(u[3:], arm)), R.T @ u[3:]])


def test_displacements_agree_at_every_joint_but_along_its_free_direction(case):
    (_, _), model, x, relative_pose, place, u = case
    f = model.formulation
    phi = np.asarray(place.encoder) - np.asarray(x[: f.n_joints])
    tip = np.zeros(6)  # the ground does not move
    for i, link in enumerate(model.robot.links):
        gap = np.asarray(u[i, 0]) - carried(
            *(np.asarray(a[i]) for a in (relative_pose.R, relative_pose.arm)), tip
        )
        assert_allclose(
            gap,
            np.asarray(f.mechanism.chain.screw[i])
            * (np.asarray(f.mechanism.chain.selection)[i] @ phi),
            atol=ROUND,
        )
        tip = np.asarray(u[i, find_node(model.robot, f"{link.name}/tip")[1]])


def test_encoders_read_theta_only_with_the_tangent_choice(case):
    (_, reference), model, x, _, place, _ = case
    phi = np.asarray(place.encoder) - np.asarray(x[: model.n_joints])
    if reference == "tangent":
        assert_allclose(phi, 0, atol=0)
    else:
        assert np.abs(phi).max() > 0.05 * BEND


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_zeroed_displacements_are_zero(name):
    model = model_named(name, "zeroed")
    x, *_ = motion_of(model.formulation, seed=5, bend=BEND)
    *_, u = displaced(model.formulation, x)
    for zeroed in ZEROED[name]:
        node, _, dof = zeroed.rpartition(".")
        i, k = find_node(model.robot, node)
        assert_allclose(
            u[i, k, ("x", "y", "z", "rx", "ry", "rz").index(dof)], 0, atol=ROUND
        )
    assert np.abs(u).max() > 0.1 * BEND


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_minimum_norm_is_the_pseudo_inverse_over_mass_normalised_rigid_modes(name):
    # [Vidoni2015] eq. (11): u_i = Phi_i a_i + elastic part, Phi_i^T M_i Phi_i = I, elastic shapes without rigid share
    # (M-orthogonal); the locked directions of all joints read C_r a + C_d = 0, and a = -C_r^T (C_r C_r^T)^-1 C_d.
    model = model_named(name, "minimum-norm")
    f = model.formulation
    x, *_ = motion_of(f, seed=4, bend=BEND)
    relative_pose, place, u = displaced(f, x)
    eta = np.append(np.asarray(x[f.n_joints :]), 0.0)[f.links.place]
    rows, right, modes = [], [], []
    for i in range(len(model.robot.links)):
        body = measured_from_inner_node(body_of(model.robot, i))
        M, B = np.asarray(body.mass_matrix), np.asarray(body.rigid)
        Phi = B @ np.linalg.inv(np.linalg.cholesky(B.T @ M @ B)).T
        bent = np.concatenate([np.zeros(6), eta[i, : body.coordinates - 6]])
        bent = bent - Phi @ (Phi.T @ M @ bent)
        modes.append((body, Phi, bent))
        s = np.asarray(f.mechanism.chain.screw[i])
        locked = scipy.linalg.null_space(s[None]).T if np.any(s) else np.eye(6)
        block = np.zeros((len(locked), 6 * len(model.robot.links)))
        block[:, 6 * i : 6 * i + 6] = locked @ body.node_shape[0] @ Phi
        known = locked @ body.node_shape[0] @ bent
        if i:
            R, arm = np.asarray(relative_pose.R[i]), np.asarray(relative_pose.arm[i])
            over = np.block([[R.T, -R.T @ cross_matrix(arm)], [np.zeros((3, 3)), R.T]])
            before, Phi_before, bent_before = modes[i - 1]
            block[:, 6 * i - 6 : 6 * i] = (
                -locked @ over @ before.node_shape[-1] @ Phi_before
            )
            known = known - locked @ over @ before.node_shape[-1] @ bent_before
        rows.append(block)
        right.append(known)
    a = -np.linalg.pinv(np.concatenate(rows)) @ np.concatenate(right)
    for i, (body, Phi, bent) in enumerate(modes):
        expected = body.node_shape @ (Phi @ a[6 * i : 6 * i + 6] + bent)
        assert (
            relative(np.asarray(u)[i, : len(expected)], expected) < 1e-10
        )  # condition of C_r, some 1e3, times round-off


def test_every_choice_gives_the_same_shape_of_each_link(case):
    # The choice of the ERLS adds rigid displacements only: strain, hence elastic coordinates, stay what they are.
    (_, _), model, x, _, place, _ = case
    f = model.formulation
    eta = np.append(np.asarray(x[f.n_joints :]), 0.0)[f.links.place]
    assert_allclose(place.q[:, 6:], eta, atol=0)
