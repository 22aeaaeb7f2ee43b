"""Inverse kinematics of the rigid robot: joint coordinates that bring a node to a target.

Damped least squares (Levenberg and Marquardt): dq = J^T (J J^T + mu^2)^-1 e, within the joints' limits. Near a singular
pose the damping keeps the steps short; a target out of reach is approached as far as possible, and refused with the
remaining distance.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..algebra.so3 import logarithm
from ..types import Float
from .arguments import ModelLike, model_from
from .model import Model

REACHED = 1e-9  # distance [m] and angle [rad] at which a pose is reached
MAX_STEPS = 300
LEAST_DAMPING = 1e-12


class UnreachableError(ValueError):
    """A pose that the robot cannot reach; `q` is the nearest pose found."""

    def __init__(self, message: str, q: np.ndarray):
        super().__init__(message)
        self.q = q


class _Error(NamedTuple):
    """Remaining error to the target, and its Jacobian."""

    value: Float[np.ndarray, " e"]
    J: Float[np.ndarray, "e i"]


def inverse_kinematics(
    model: ModelLike,
    position: Any,
    *,
    rotation: Any = None,
    node: str | None = None,
    start: Any = None,
    tolerance: float = REACHED,
) -> Float[np.ndarray, " j"]:
    """Coordinates of all moving joints that bring a node of the undeformed robot to a position, or to a whole pose.

    Damped least squares on the geometric Jacobian (Levenberg and Marquardt), each step within the limits of the joints.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        position: of the node, world axes [m].
        rotation: rotation matrix (3, 3) of the node; None: any.
        node: default the last link's tip.
        start: joint coordinates where the search begins; the nearest solution is found from there.
        tolerance: distance [m], and angle [rad], at which the pose is reached.

    Returns:
        Joint coordinates [rad or m] of all moving joints, within their limits; of a closed chain, its loops closed.

    Raises:
        UnreachableError: with the distance that is left, and the joints that stand at their limits.

    Example:
        >>> import lissom as ls
        >>> model = ls.Model("double-pendulum")
        >>> q = ls.inverse_kinematics(model, [0.6, 0.4, 0.0], start=[0.3, 0.3])
        >>> [f"{place:.6f}" for place in model.fkine(q)[:2, 3]]
        ['0.600000', '0.400000']
    """
    model = model_from(model)
    target = np.asarray(position, dtype=float)
    turned = None if rotation is None else np.asarray(rotation, dtype=float)
    q = np.array(model.assemble(start), dtype=float)
    low, high = joint_limits(model)
    independent = list(model.formulation.independent)
    q[independent] = np.clip(q, low, high)[independent]
    q = np.asarray(model.assemble(q))
    error = _error(model, q, target, turned, node)
    damping = 1e-3
    for _ in range(MAX_STEPS):
        if np.max(np.abs(error.value)) < tolerance:
            return q
        trial = _damped_step(model, q, error, damping, low, high)
        new = _error(model, trial, target, turned, node)
        if np.linalg.norm(new.value) < np.linalg.norm(error.value):
            q, error = trial, new
            damping = max(0.2 * damping, LEAST_DAMPING)
        elif damping > 1e6:
            break
        else:
            damping = 5.0 * max(damping, 1e-9)
    if np.max(np.abs(error.value)) < tolerance:
        return q
    raise UnreachableError(_reason(model, q, error, low, high), q)


def _damped_step(
    model: Model, q, error: _Error, damping: float, low, high
) -> np.ndarray:
    """The joints after one damped step; those that would leave their limits stay there."""
    independent = list(model.formulation.independent)
    here = q[independent]
    at_low = here <= low[independent]
    at_high = here >= high[independent]
    free = np.ones(len(independent), dtype=bool)
    step = np.zeros(len(independent))
    for _ in range(len(independent)):
        J = error.J[:, free]
        normal = J @ J.T + damping * np.eye(len(J))
        step[:] = 0.0
        step[free] = J.T @ np.linalg.solve(normal, error.value)
        out = (at_low & (step < 0)) | (at_high & (step > 0))
        if not np.any(out & free):
            break
        free &= ~out
    moved = q.copy()
    moved[independent] = np.clip(here + step, low[independent], high[independent])
    return np.asarray(model.assemble(moved))


def _error(model: Model, q, target, turned, node) -> _Error:
    pose = np.asarray(model.fkine(q, frame=node))
    J = np.asarray(model.jacobian(q, frame=node))[:, : model.formulation.n_joints]
    left = target - pose[:3, 3]
    if turned is None:
        return _Error(left, J[:3])
    turn = np.asarray(logarithm(jnp.asarray(turned @ pose[:3, :3].T)))
    return _Error(np.concatenate([left, turn]), J)


def joint_limits(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest coordinate of every moving joint; infinite where there is no limit."""
    low = np.full(model.n_joints, -np.inf)
    high = np.full(model.n_joints, np.inf)
    moving = [link.joint for link in model.robot.links if link.joint.moves]
    for k, joint in enumerate(moving):
        limits = joint.limits
        if limits is not None and limits.position is not None:
            low[k], high[k] = limits.position
    return low, high


def _reason(model: Model, q, error: _Error, low, high) -> str:
    distance = np.linalg.norm(error.value[:3])
    text = f"out of reach: {distance:.4g} m remain"
    if len(error.value) > 3:
        text += f" and {np.linalg.norm(error.value[3:]):.4g} rad"
    stuck = (q <= low) | (q >= high)
    if np.any(stuck):
        names = [name for name, s in zip(model.joint_names, stuck, strict=True) if s]
        text += f"; at their limits: {', '.join(names)}"
    return text + ". Try another start, or a nearer target."
