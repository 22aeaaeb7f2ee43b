"""Robots whose links do not bend against Pinocchio: crba, rnea, gravity."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin
import pytest

from arms import arm
from helpers import (
    ALL_ROBOTS,
    LIBRARY,
    compiled_once,
    conservative,
    relative,
    rigid_robot,
    robot_named,
)
from lissom import Model
from lissom.describe.geometry import joint_axis, joint_frame
from lissom.dynamics import engine
from lissom.dynamics.formulations import formulation_of

AGREE = 1e-9  # required; both programs work in double precision and agree to 1e-13
POSES = 5


@compiled_once
def dynamics(f, x, xd, xdd):
    """Inertia, and the force of a motion, of the same at rest, of its speed alone."""
    still = jnp.zeros_like(x)
    motions = (jnp.stack([xd, still, xd]), jnp.stack([xdd, still, still]))

    return engine.inertia_at(f, x), jax.vmap(
        lambda xd, xdd: engine.needed_force(f, f.motion(x, xd, xdd))
    )(*motions)


def pinocchio_of(robot):
    """The robot, all links rigid, in Pinocchio; fixed joints weld their link to the one before."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    parent, offset = 0, pin.SE3.Identity()
    for i, link in enumerate(robot.links):
        place = offset * pin.SE3(
            *(np.array(part, dtype=float) for part in joint_frame(robot, i))
        )
        if link.joint.moves:
            kind = (
                pin.JointModelRevoluteUnaligned
                if link.joint.type == "revolute"
                else pin.JointModelPrismaticUnaligned
            )
            parent, place, offset = (
                model.addJoint(
                    parent, kind(np.asarray(joint_axis(robot, i))), place, link.name
                ),
                None,
                None,
            )
        here = pin.SE3.Identity() if place is None else place
        body = link.rigid
        inertia = pin.Inertia(
            float(body.mass), np.array(body.com), np.array(body.inertia)
        )
        model.appendBodyToJoint(parent, inertia, here)
        offset = here
    return model, model.createData()


def check(formulation, robot, seed=0):
    model, data = pinocchio_of(robot)
    j = formulation.n_joints
    motors = np.diag(np.asarray(formulation.joints.motor_inertia))
    random = np.random.default_rng(seed)
    for _ in range(POSES):
        q, qd, qdd = random.uniform(-2, 2, (3, j))
        full = [
            jnp.concatenate([jnp.asarray(part), jnp.zeros(formulation.n_elastic)])
            for part in (q, qd, qdd)
        ]
        M, (force, gravity, bias) = dynamics(formulation, *full)
        M_pin = pin.crba(model, data, q)
        M_pin = np.triu(M_pin) + np.triu(M_pin, 1).T
        assert relative(M[:j, :j], M_pin + motors) < AGREE
        assert (
            relative(force[:j], pin.rnea(model, data, q, qd, qdd) + motors @ qdd)
            < AGREE
        )
        assert relative(bias[:j], pin.nonLinearEffects(model, data, q, qd)) < AGREE
        weight = pin.computeGeneralizedGravity(model, data, q)
        assert np.abs(gravity[:j] - weight).max() < AGREE * max(
            np.abs(weight).max(), 1e-3
        )


@functools.cache
def rigid_named(name):
    return rigid_robot(robot_named(name))


@pytest.mark.parametrize("name", (*LIBRARY, *ALL_ROBOTS))
def test_a_robot_made_rigid_has_the_dynamics_of_pinocchio(name):
    robot = rigid_named(name)
    check(conservative(formulation_of(robot, "erls-fem")), robot)


@pytest.mark.parametrize("name", ALL_ROBOTS)
def test_a_flexible_robot_held_undeformed_has_the_dynamics_of_pinocchio(name):
    check(
        conservative(formulation_of(robot_named(name), "erls-fem")),
        rigid_named(name),
        seed=1,
    )


@pytest.mark.parametrize("terms", ["consistent", "published"])
def test_dual_screws_held_undeformed_have_the_dynamics_of_pinocchio(terms):
    model = Model(arm("arm-4"), formulation="dual-screw", modes=6, terms=terms)
    check(conservative(model.formulation), rigid_robot(model.robot), seed=2)
