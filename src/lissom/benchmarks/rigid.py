"""Forward dynamics of a rigid arm: Pinocchio (extra `peers`) beside our engine in its rigid limit."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bodies.body import Body
from ..bodies.link_body import body_of
from ..describe.geometry import joint_axis, joint_frame, tip
from ..describe.robot import Robot
from ..dynamics import engine
from ..solve.model import Model
from .machine import one_core, timed

ROBOT = "anthropomorphic"
BATCH = 1000
CALLS = 2000  # single calls in one measurement


def rigid_robot(robot: Robot) -> Robot:
    """The same robot with every beam made rigid."""
    data = robot.to_dict()
    data.pop("damping", None)
    data.pop("payload", None)  # it is part of the last body
    for i, link in enumerate(data["links"]):
        mass, centre, inertia = _about_centre(body_of(robot, i))
        for key in ("beam", "masses", "damping"):
            link.pop(key, None)
        end = np.asarray(tip(robot, i)).tolist()
        link["rigid"] = {
            "mass": mass,
            "com": centre.tolist(),
            "inertia": inertia.tolist(),
            "tip": end,
        }
    return Robot.from_dict(data)


def pinocchio_model(robot: Robot) -> Any:
    """A rigid robot with revolute joints in Pinocchio, motors as rotor inertia left out."""
    pin = import_module("pinocchio")
    model, parent = pin.Model(), 0
    model.gravity.linear = np.asarray(robot.gravity, dtype=float)
    for i, link in enumerate(robot.links):
        R, p = (np.asarray(part, dtype=float) for part in joint_frame(robot, i))
        joint = pin.JointModelRevoluteUnaligned(
            np.asarray(joint_axis(robot, i), dtype=float)
        )
        parent = model.addJoint(parent, joint, pin.SE3(R, p), link.name)
        inertia = pin.Inertia(*_about_centre(body_of(robot, i)))
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def _about_centre(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre, and inertia tensor about the centre."""
    m, c = float(body.total_mass), np.asarray(body.centre)
    J = np.asarray(body.inertia) - m * (c @ c * np.eye(3) - np.outer(c, c))
    return m, c, 0.5 * (J + J.T)


def forward_dynamics(f, q, qd, torque):
    """Joint accelerations: inertia, bias, one Cholesky solve."""
    force = torque - engine.bias(f, q, qd)
    return jax.scipy.linalg.cho_solve(
        jax.scipy.linalg.cho_factor(engine.inertia_at(f, q)), force
    )


def measure_rigid(repeat: int) -> dict[str, Any]:
    """Microseconds per forward dynamics, alone and in a batch, and the largest relative difference of the results."""
    pin = import_module("pinocchio")
    robot = rigid_robot(Robot.load(ROBOT))
    f, model = Model(robot).formulation, pinocchio_model(robot)
    data, j = model.createData(), len(robot.joint_names)
    q, qd, torque = np.random.default_rng(7).uniform(-1.0, 1.0, (3, BATCH, j))
    theirs = np.array(
        [
            pin.aba(model, data, *sample).copy()
            for sample in zip(q, qd, torque, strict=True)
        ]
    )
    alone = jax.jit(
        lambda *sample: forward_dynamics(f, *sample)
    )  # compiled for this robot
    batched = jax.jit(jax.vmap(lambda *sample: forward_dynamics(f, *sample)))
    ours = np.asarray(batched(q, qd, torque))
    one = tuple(jnp.asarray(part[0]) for part in (q, qd, torque))
    many = tuple(jnp.asarray(part) for part in (q, qd, torque))
    with one_core():
        aba = _per_call(
            lambda: pin.aba(model, data, q[0], qd[0], torque[0]), CALLS, repeat
        )
        single = _per_call(lambda: alone(*one).block_until_ready(), CALLS, repeat)
        batch = (
            _per_call(lambda: batched(*many).block_until_ready(), 20, repeat) / BATCH
        )
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
    spent, _ = timed(lambda: [job() for _ in range(calls)], repeat)
    return spent.best / calls
