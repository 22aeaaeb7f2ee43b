"""Forward dynamics of a rigid arm: Pinocchio (extra `peers`) beside our engine in its rigid limit."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_factor, cho_solve

from lissom.bench.machine import one_core, timed
from lissom.bodies.body import Body
from lissom.bodies.link_body import body_of
from lissom.describe.geometry import joint_axis, joint_frame, tip
from lissom.describe.robot import Robot
from lissom.dynamics import engine
from lissom.solve.model import Model

ROBOT = "anthropomorphic"
BATCH = 1000
CALLS = 2000  # single calls in one measurement
BATCH_CALLS = 20  # calls with a whole batch in one measurement


def rigid_robot(robot: Robot) -> Robot:
    """The same robot with every beam made rigid."""
    data = robot.to_dict()
    data.pop("damping", None)
    # The payload is part of the last body, and so of the rigid link made of it.
    data.pop("payload", None)
    for i, link in enumerate(data["links"]):
        mass, centre, inertia = _about_centre(body_of(robot, i))
        for key in ("beam", "masses", "damping"):
            link.pop(key, None)
        link["rigid"] = {
            "mass": mass,
            "com": centre.tolist(),
            "inertia": inertia.tolist(),
            "tip": np.asarray(tip(robot, i)).tolist(),
        }
    return Robot.from_dict(data)


def pinocchio_model(robot: Robot) -> Any:
    """A rigid robot with revolute joints in Pinocchio, motors as rotor inertia left out."""
    pin = import_module("pinocchio")
    model = pin.Model()
    model.gravity.linear = np.asarray(robot.gravity, dtype=float)
    parent = 0
    for i, link in enumerate(robot.links):
        rotation, origin = joint_frame(robot, i)
        placement = pin.SE3(
            np.asarray(rotation, dtype=float), np.asarray(origin, dtype=float)
        )
        axis = np.asarray(joint_axis(robot, i), dtype=float)
        joint = pin.JointModelRevoluteUnaligned(axis)
        parent = model.addJoint(parent, joint, placement, link.name)
        inertia = pin.Inertia(*_about_centre(body_of(robot, i)))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def _about_centre(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre, and inertia tensor about the centre."""
    m = float(body.total_mass)
    c = np.asarray(body.centre)
    # Parallel axes, from the joint to the centre; round-off leaves J a little unsymmetric.
    shift = m * (c @ c * np.eye(3) - np.outer(c, c))
    J = np.asarray(body.inertia) - shift
    return m, c, 0.5 * (J + J.T)


def forward_dynamics(f, q, qd, torque):
    """Joint accelerations: inertia, bias, one Cholesky solve."""
    force = torque - engine.bias(f, q, qd)
    factor = cho_factor(engine.inertia_at(f, q))
    return cho_solve(factor, force)


def measure_rigid(repeat: int) -> dict[str, Any]:
    """Microseconds per forward dynamics, alone and in a batch, and the largest relative difference of the results."""
    pin = import_module("pinocchio")
    robot = rigid_robot(Robot.load(ROBOT))
    f = Model(robot, "erls-fem").formulation
    model = pinocchio_model(robot)
    data = model.createData()
    size = (3, BATCH, len(robot.joint_names))
    samples = np.random.default_rng(7).uniform(-1.0, 1.0, size)
    theirs = []
    for q, qd, torque in zip(*samples, strict=True):
        # The peer gives the same array back in every call, overwritten.
        theirs.append(pin.aba(model, data, q, qd, torque).copy())
    theirs = np.array(theirs)

    # The formulation is no argument: the code is compiled for this robot, as the peer's model is made for it.
    def accelerations(q, qd, torque):
        return forward_dynamics(f, q, qd, torque)

    alone = jax.jit(accelerations)
    batched = jax.jit(jax.vmap(accelerations))
    many = tuple(jnp.asarray(part) for part in samples)
    one = tuple(part[0] for part in many)
    first = samples[:, 0]
    ours = np.asarray(batched(*many))
    with one_core():
        aba = _per_call(lambda: pin.aba(model, data, *first), CALLS, repeat)
        single = _per_call(lambda: alone(*one).block_until_ready(), CALLS, repeat)
        whole = _per_call(
            lambda: batched(*many).block_until_ready(), BATCH_CALLS, repeat
        )
    batch = whole / BATCH
    return {
        "robot": ROBOT,
        "pinocchio_aba_us": 1e6 * aba,
        "lissom_us": 1e6 * single,
        "lissom_batch_us": 1e6 * batch,
        "batch": BATCH,
        "ratio": aba / single,
        "ratio_batch": aba / batch,
        "largest_relative_difference": float(
            np.abs(ours - theirs).max() / np.abs(theirs).max()
        ),
        "note": "called from Python; lissom's engine keeps its flexible structure, here without elastic coordinates",
    }


def _per_call(job: Callable[[], Any], calls: int, repeat: int) -> float:
    """Seconds per call, the best of the repeats."""
    job()

    def many_calls() -> None:
        for _ in range(calls):
            job()

    spent, _ = timed(many_calls, repeat)
    return spent.best / calls
