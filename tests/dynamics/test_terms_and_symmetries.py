"""Printed against complete terms, the symmetry of the world, and what carried masses add."""

import copy

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers import (
    ALL_ROBOTS,
    MIXED,
    compiled_once,
    cross_matrix,
    model_named,
    motion_of,
    relative,
    robot_named,
)
from lissom import Model, Robot
from lissom.dynamics import engine
from lissom.dynamics.basis import ModelOptions
from lissom.dynamics.formulations import formulation_of

ROUND = 1e-11  # relative: sums of some hundred terms


def erls_fem(robot, choices=ModelOptions()):  # noqa: B008 (immutable)
    return formulation_of(robot, "erls-fem", choices)


@compiled_once
def dynamics(f, x, xd, xdd):
    """Inertia and the force of a motion."""
    return engine.inertia_at(f, x), engine.needed_force(f, f.motion(x, xd, xdd))


@pytest.mark.parametrize("reference", ["tangent", "zeroed"])
@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_printed_terms_are_complete_where_nothing_is_bent(name, reference):
    # They differ by terms in u and ud: of an undeformed robot at any joint speed and any acceleration they say the
    # same.
    printed, complete = (
        model_named(name, reference, terms).formulation
        for terms in ("published", "consistent")
    )
    x, xd, xdd = motion_of(complete, seed=6)
    straight = [part.at[complete.n_joints :].set(0.0) for part in (x, xd)]
    for given, expected in zip(
        dynamics(printed, *straight, xdd),
        dynamics(complete, *straight, xdd),
        strict=True,
    ):
        assert relative(given, expected) < ROUND


@pytest.mark.parametrize(
    "name, pose", [("mixed", [0.7, 0.15, -1.1]), ("crane", [0.4, -0.7, 1.1])]
)
def test_printed_terms_approach_complete_ones_linearly_with_stiffness(name, pose):
    # Joint accelerations of a robot let go from its sagging shape at speed: the sag falls as 1/E, and with it what
    # the printed terms leave out, for every joint. Softer arms add quadratic terms of either sign: measured 7 to 11
    # between E and 10 E.
    flexible = [link.name for link in robot_named(name).links if link.beam]
    difference = []
    for modulus in (2e13, 2e14):
        robot = robot_named(name).replace(
            {f"links.{link}.beam.material.E": modulus for link in flexible}
        )
        state = Model(robot, "erls-fem").static(pose)
        x, xd = state.x, jnp.zeros_like(state.x).at[:3].set(jnp.array([0.3, -1.2, 0.9]))
        accelerations = []
        for terms in ("published", "consistent"):
            M, h = dynamics(
                erls_fem(robot, ModelOptions(terms=terms)), x, xd, jnp.zeros_like(x)
            )
            accelerations.append(-np.linalg.solve(M, h)[:3])
        difference.append(np.abs(accelerations[0] - accelerations[1]))
    falls = difference[0] / difference[1]
    assert np.all((falls > 9.5) & (falls < 10.5)), (difference, falls)


def test_turning_base_and_gravity_together_changes_nothing():
    turn, turned = Rotation.from_rotvec([0.9, -0.4, 1.3]), copy.deepcopy(MIXED)
    origin = turned["links"][0]["joint"]["origin"]
    rpy = (turn * Rotation.from_euler("xyz", origin["rpy"])).as_euler("xyz")
    origin |= {"xyz": turn.apply(origin["xyz"]).tolist(), "rpy": rpy.tolist()}
    turned["gravity"] = turn.apply(MIXED["gravity"]).tolist()
    before, after = (erls_fem(Robot.from_dict(data)) for data in (MIXED, turned))
    motion = motion_of(before, seed=9)
    for given, expected in zip(
        dynamics(after, *motion), dynamics(before, *motion), strict=True
    ):
        assert relative(given, expected) < ROUND


def test_a_payload_adds_its_mass_at_its_centre_and_its_inertia():
    # M grows by m J_c^T J_c + J_w^T R I R^T J_w, J_c the Jacobian of the payload's centre, from the tip's by the
    # lever of its offset.
    loaded = model_named("mixed")
    empty = erls_fem(robot_named("mixed").replace({"payload": None}))
    payload = MIXED["payload"]
    x, xd, xdd = motion_of(empty, seed=8)
    x = x.at[3:].set(0.0)
    added = np.asarray(dynamics(loaded.formulation, x, xd, xdd)[0]) - np.asarray(
        dynamics(empty, x, xd, xdd)[0]
    )
    J, R = (
        np.asarray(loaded.jacobian(x, "hand/tip")),
        np.asarray(loaded.fkine(x, "hand/tip"))[:3, :3],
    )
    xx, yy, zz, xy, xz, yz = payload["inertia"]
    inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    centre = J[:3] - cross_matrix(R @ payload["offset"]) @ J[3:]
    expected = payload["mass"] * centre.T @ centre + J[3:].T @ inertia @ J[3:]
    assert relative(added, expected) < ROUND


def test_a_lumped_mass_adds_its_inertia_at_its_node():
    loaded = model_named("mixed")
    empty = erls_fem(robot_named("mixed").replace({"links.base.masses": []}))
    x, xd, xdd = motion_of(empty, seed=8)
    lump = MIXED["links"][0]["masses"][0]
    # The node's own displacement tilts the axes of the lump's inertia; its translation is free of that even when bent.
    x = x.at[3:].set(0.0)
    added = np.asarray(dynamics(loaded.formulation, x, xd, xdd)[0]) - np.asarray(
        dynamics(empty, x, xd, xdd)[0]
    )
    J, R = (
        np.asarray(loaded.jacobian(x, "base/1")),
        np.asarray(loaded.fkine(x, "base/1"))[:3, :3],
    )
    expected = (
        lump["mass"] * J[:3].T @ J[:3]
        + J[3:].T @ R @ np.diag(lump["inertia"]) @ R.T @ J[3:]
    )
    assert relative(added, expected) < ROUND


def test_weight_of_a_payload_bends_the_arm_and_turns_the_joints():
    # d/dm of the resting force is -J^T g, J the Jacobian of the payload's centre: tip, offset zero.
    robot = robot_named("mixed")
    light, heavy = (
        erls_fem(robot.replace({"payload": {"mass": mass}})) for mass in (0.2, 0.7)
    )
    x, *_ = motion_of(light, seed=10)
    x, still = x.at[3:].set(0.0), jnp.zeros_like(x)
    needed = [np.asarray(dynamics(f, x, still, still)[1]) for f in (light, heavy)]
    J = np.asarray(model_named("mixed").jacobian(x, "hand/tip"))[:3]
    assert (
        relative(needed[1] - needed[0], -0.5 * J.T @ np.array(MIXED["gravity"])) < ROUND
    )
