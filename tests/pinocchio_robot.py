"""Robots whose links do not bend, in Pinocchio: chains and trees; and how far the dynamics here are from its own."""

import jax
import jax.numpy as jnp
import numpy as np
import pinocchio as pin

from helpers import compiled_once, relative
from lissom.describe.geometry import joint_axis, joint_frame
from lissom.describe.link_geometry import GROUND_NUMBER, parent_of
from lissom.dynamics import engine

KINDS = {
    "revolute": pin.JointModelRevoluteUnaligned,
    "prismatic": pin.JointModelPrismaticUnaligned,
}
SMALLEST_WEIGHT = 1e-3  # N m or N, below which weight is compared with this


@compiled_once
def dynamics(f, x, xd, xdd):
    """Inertia, and the force of a motion, of the same at rest, of its speed alone."""
    still = jnp.zeros_like(x)
    motions = (jnp.stack([xd, still, xd]), jnp.stack([xdd, still, still]))

    return engine.inertia_at(f, x), jax.vmap(
        lambda xd, xdd: engine.needed_force(f, f.motion(x, xd, xdd))
    )(*motions)


def pinocchio_of(robot):
    """The robot, all links rigid, in Pinocchio; fixed joints weld their link to the one that carries it."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    # Joint of Pinocchio that moves each link, and the link frame in that joint's frame.
    carriers = {GROUND_NUMBER: (0, pin.SE3.Identity())}
    for i, link in enumerate(robot.links):
        joint, offset = carriers[parent_of(robot.links, i)]
        frame = [np.array(part, dtype=float) for part in joint_frame(robot, i)]
        place = offset * pin.SE3(*frame)
        if link.joint.moves:
            kind = KINDS[link.joint.type](np.asarray(joint_axis(robot, i)))
            joint = model.addJoint(joint, kind, place, link.name)
            place = pin.SE3.Identity()
        body = link.rigid
        inertia = pin.Inertia(
            float(body.mass), np.array(body.com), np.array(body.inertia)
        )
        model.appendBodyToJoint(joint, inertia, place)
        carriers[i] = (joint, place)
    return model, model.createData()


def inertia_of(model, data, q):
    """M by columns, the torques of unit accelerations: unlike crba this asks for no order among branches."""
    still = np.zeros(model.nv)
    weight = pin.rnea(model, data, q, still, still)
    columns = [pin.rnea(model, data, q, still, unit) for unit in np.eye(model.nv)]
    return np.stack(columns, axis=1) - weight[:, None]


def worst_differences(formulation, robot, seed, poses):
    """Largest relative difference of inertia, force, bias and weight over random motions of rigid links."""
    model, data = pinocchio_of(robot)
    j = formulation.n_joints
    motors = np.diag(np.asarray(formulation.joints.motor_inertia))
    random = np.random.default_rng(seed)
    worst = dict.fromkeys(("inertia", "force", "bias", "weight"), 0.0)
    for _ in range(poses):
        q, qd, qdd = random.uniform(-2, 2, (3, j))
        still = jnp.zeros(formulation.n_elastic)
        full = [jnp.concatenate([jnp.asarray(part), still]) for part in (q, qd, qdd)]
        M, (force, gravity, bias) = dynamics(formulation, *full)
        weight = pin.computeGeneralizedGravity(model, data, q)
        size = max(np.abs(weight).max(), SMALLEST_WEIGHT)
        needed = pin.rnea(model, data, q, qd, qdd) + motors @ qdd
        free = pin.nonLinearEffects(model, data, q, qd)
        found = {
            "inertia": relative(M[:j, :j], inertia_of(model, data, q) + motors),
            "force": relative(force[:j], needed),
            "bias": relative(bias[:j], free),
            "weight": np.abs(gravity[:j] - weight).max() / size,
        }
        worst = {name: max(worst[name], found[name]) for name in worst}
    return worst
