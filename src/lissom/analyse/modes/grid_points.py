"""Joint motions at the points of a grid; closed chains are led from point to point, on one assembly branch."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import compiled_quickly

from ...dynamics.formulation import AbstractFormulation, on_branch_near
from ...files.errors import shortened
from ...files.summary import named_numbers
from ...kinematics.loops.assembly_errors import AssemblyError
from ...kinematics.loops.robot_loops import longest_link
from ...solve.model import Model
from ...types import Float
from .tracking import neighbour

# [rad, or part of the reach] A closed pose this close to the given one is on its branch.
NEAR = 0.1
# [rad, or part of the reach] Departure of a closed pose from the tangent to the pose before it: more may be a jump.
STRAIGHT = 0.05
SHORTEST = 1e-4  # [rad, or part of the reach] step of the independent joints below which a chain cannot be led on


def grid_of(
    model: Model, q: Any, qd: Any, qdd: Any, changes: Mapping[str, Any] | None
) -> tuple[tuple[int, ...], list[Float[np.ndarray, "N j"]]]:
    """Shape of the grid, and q, qd, qdd at every point of it in a row.

    Raises:
        AssemblyError: a closed chain cannot reach a point.
    """
    parts = []
    for name, value in (("q", q), ("qd", qd), ("qdd", qdd)):
        parts.append(_all_joints(model, name, value))
    shapes = [part.shape[:-1] for part in parts]
    shapes += [np.shape(value) for value in (changes or {}).values()]
    grid = np.broadcast_shapes(*shapes) or (1,)
    motion = []
    for part in parts:
        over_grid = np.broadcast_to(part, (*grid, model.n_joints))
        motion.append(over_grid.reshape(-1, model.n_joints))
    if model.closed:
        motion[0] = closed_poses(model, grid, motion[0])
    return grid, motion


def _all_joints(model: Model, name: str, value: Any) -> np.ndarray:
    """Values of all joints; NaN where those of a closed chain follow from the independent ones that are given."""
    j = model.n_joints
    if value is None:
        unknown = model.closed and name == "q"
        return np.asarray(model.assemble()) if unknown else np.zeros(j)
    try:
        values = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        message = "must be an array of joint coordinates, one row for each point"
        raise ValueError(f"{name}: {shortened(value)}: {message}") from None
    independent = list(model.formulation.independent)
    if model.closed and values.shape[-1:] == (len(independent),):
        whole = np.full((*values.shape[:-1], j), np.nan if name == "q" else 0.0)
        whole[..., independent] = values
        return whole
    if values.shape[-1:] != (j,):
        names = ", ".join(model.joint_names)
        raise ValueError(
            f"{name} must have {j} values at each point, one for each joint ({names}), got {values.shape}"
        )
    return values


def closed_poses(
    model: Model, grid: tuple[int, ...], rows: Float[np.ndarray, "N j"]
) -> Float[np.ndarray, "N j"]:
    """Joint coordinates with the loops closed at every point.

    A row whose own dependent joints nearly close the loops is closed there. All others are reached from the
    neighbouring point, the first one from the assembled robot, by steps short enough to stay on its branch.
    """
    closed: dict[tuple[int, ...], np.ndarray] = {}
    for index, row in zip(np.ndindex(*grid), rows, strict=True):
        own = _closed_nearby(model, row)
        if own is None:
            home = np.asarray(model.assemble())
            start = closed[neighbour(index)] if any(index) else home
            own = lead_joints(model, start, row[list(model.formulation.independent)])
        closed[index] = own
    return np.stack(list(closed.values()))


def _closed_nearby(
    model: Model, row: Float[np.ndarray, " j"]
) -> Float[np.ndarray, " j"] | None:
    """The closed pose near these joint coordinates; None if there is none."""
    if not np.isfinite(row).all():
        return None
    try:
        pose = np.asarray(model.assemble(row))
    except AssemblyError:
        return None
    away = np.abs(pose - row) / joint_reach(model)
    return pose if away.max() < NEAR else None


def joint_reach(model: Model) -> Float[np.ndarray, " j"]:
    """1 for an angle, the length of the longest link for a slide: makes joint motions comparable."""
    length = longest_link(model.robot)
    joints = [link.joint for link in model.robot.links if link.joint.moves]
    reach = [length if joint.type == "prismatic" else 1.0 for joint in joints]
    return np.array(reach)


def lead_joints(
    model: Model, start: Float[np.ndarray, " j"], target: Float[np.ndarray, " i"]
) -> Float[np.ndarray, " j"]:
    """All joints when the independent ones are led from a closed pose to `target`, on the branch of that pose.

    Every step is compared with the tangent of the pose before it, and halved where the two differ: near a dead point
    the loops could otherwise close on the other branch.

    Raises:
        AssemblyError: the way there meets a dead point, or a pose where the loops do not close.
    """
    independent = list(model.formulation.independent)
    reach = joint_reach(model)
    pose = np.array(start, dtype=float)
    part = 1.0
    while True:
        way = target - pose[independent]
        step = part * way
        if not np.any(way):
            return pose
        next_pose = _one_step(model, pose, pose[independent] + step)
        if next_pose is not None:
            pose = next_pose
            # The last step ends at the target itself, not at a rounded sum.
            if part == 1.0:
                return pose
            part = min(1.0, 2.0 * part)
        elif np.abs(step / reach[independent]).max() < SHORTEST:
            raise AssemblyError(_stuck(model, pose, target))
        else:
            part = 0.5 * part


def _one_step(
    model: Model, pose: Float[np.ndarray, " j"], target: Float[np.ndarray, " i"]
) -> Float[np.ndarray, " j"] | None:
    """The closed pose at `target`; None where it is not the continuation of `pose`."""
    independent = list(model.formulation.independent)
    f = on_branch_near(model.formulation, jnp.asarray(pose))
    slope = np.asarray(_joint_slopes(f, jnp.asarray(pose[independent])))
    expected = pose + slope @ (target - pose[independent])
    expected[independent] = target
    try:
        candidate = np.asarray(f.mechanism.assemble(model.robot, jnp.asarray(expected)))
    except AssemblyError:
        return None
    away = np.abs(candidate - expected) / joint_reach(model)
    return candidate if away.max() < STRAIGHT else None


@compiled_quickly
def _joint_slopes(f: AbstractFormulation, theta_i):
    """Rates of all moving joints for unit rates of the independent ones, the links undeformed."""
    x = jnp.concatenate([theta_i, jnp.zeros(f.n_elastic)])
    return f.mechanism.joint_map(x)[:, : f.n_joints]


def _stuck(model: Model, pose: np.ndarray, target: np.ndarray) -> str:
    wanted = named_numbers(model.independent_names, target)
    reached = named_numbers(model.joint_names, pose)
    return (
        f"{model.robot.name} cannot reach {wanted}: its loops stay closed only up to "
        f"{reached}. There is a dead point there, or the loops do not reach further: "
        "choose other independent joints (`independent`), or a smaller range."
    )
