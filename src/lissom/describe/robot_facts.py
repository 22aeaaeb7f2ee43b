"""Facts of a robot for results: values by the names of its joints and nodes, and whether it is damped."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .geometry import beam_path, tip
from .robot import Robot


def has_damping(robot: Robot) -> bool:
    """True if a link or a joint takes energy out of the motion."""
    for link in robot.links:
        damping = link.damping or robot.damping
        # A rigid link has no elastic motion to damp.
        if link.flexible and damping is not None:
            if damping.alpha or damping.beta or damping.ratio:
                return True
        friction = link.joint.friction
        if friction is not None and (friction.viscous or friction.coulomb):
            return True
    return False


def values_by_name(names: Iterable[str], values: Any) -> dict[str, float]:
    """One value for each joint, or for each kind of energy, by its name."""
    numbers = np.asarray(values).tolist()
    return dict(zip(names, numbers, strict=True))


def named_nodes(names: Sequence[str], rows: np.ndarray) -> dict[str, Any]:
    """Rows by node name; the last node of each link also as `link/tip`."""
    named = {str(name): row.tolist() for name, row in zip(names, rows, strict=True)}
    # Nodes of a link are counted outwards: the last one takes the name of the tip.
    tips = {f"{name.rpartition('/')[0]}/tip": row for name, row in named.items()}
    return named | tips


def length_to_tip(robot: Robot, i: int) -> float:
    """Length along a beam's path; of other links, distance from the joint to the tip [m]."""
    if robot.links[i].beam is not None:
        path = np.asarray(beam_path(robot, i), dtype=float)
        if len(path) > 1:
            pieces = np.linalg.norm(np.diff(path, axis=0), axis=1)
            return float(pieces.sum())
    return float(np.linalg.norm(tip(robot, i)))
