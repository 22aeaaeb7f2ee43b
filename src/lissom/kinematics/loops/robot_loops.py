"""From the description of a robot to the joints that close its loops."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...algebra.se3 import rigid_shape
from ...algebra.so3 import from_rpy
from ...describe.geometry import tip
from ...describe.link_geometry import unit
from ...describe.loop_checks import seat_of
from ...describe.robot import Robot
from ...files.quantity import is_jax_value
from ...types import Float, Real, namespace
from .closure import PLANE, SPACE, Closure


class ClosingJoint(NamedTuple):
    """A joint that closes a loop: its frame on the body that holds it, and its axis in that frame."""

    rotation: Real
    position: Real
    axis: Real
    kind: str  # revolute, prismatic or fixed
    parent: int  # number of the link that holds it, -1 for the ground


def closing_joints(robot: Robot) -> list[ClosingJoint]:
    """The joints at which the loops of a robot are cut; none in an open chain."""
    joints = []
    for loop in robot.loops:
        R = from_rpy(loop.rpy)
        xp = namespace(R, loop.at, loop.axis)
        position = xp.asarray(loop.at, dtype=float)
        axis = R.T @ unit(xp.asarray(loop.axis, dtype=float))
        parent, _ = seat_of(robot.links, list(robot.link_names), loop)
        joints.append(ClosingJoint(R, position, axis, loop.type, parent))
    return joints


def tip_frames(robot: Robot) -> list[ClosingJoint]:
    """The frames on the tips that close the loops of a robot: fixed on their links."""
    frames = []
    for loop in robot.loops:
        i = robot.link_names.index(loop.link)
        xp = namespace(loop.axis)
        position = tip(robot, i)
        axis = xp.asarray(loop.axis, dtype=float)
        frames.append(ClosingJoint(np.eye(3), position, axis, "fixed", i))
    return frames


def closing_seats(
    robot: Robot, node_shape: Real, ground: Real, at_tip: Callable[[int], Any]
) -> list[Any]:
    """Displacement of the points that carry the closing frames, then of those that carry the frames on the tips.

    Args:
        robot: its description.
        node_shape: nodal displacements of every link from body coordinates, stacked (l, k, 6, c).
        ground: zeros (6, c).
        at_tip: the displacement of a link's tip.
    """
    xp = namespace(node_shape)
    seats = []
    for loop in robot.loops:
        i, node = seat_of(robot.links, list(robot.link_names), loop)
        if i < 0:
            seats.append(ground)
        elif node is None:
            # A rigid link carries the closing joint at any point: there it moves with the inner node.
            at = xp.asarray(loop.at, dtype=float)
            seats.append(rigid_shape(at) @ node_shape[i, 0])
        else:
            seats.append(at_tip(i) if node < 0 else node_shape[i, node])
    tips = [at_tip(robot.link_names.index(loop.link)) for loop in robot.loops]
    return seats + tips


def closure_of(robot: Robot, coordinates: int) -> Closure:
    """The loops of a robot, its joints not yet put together: every joint of the robot still counts as independent.

    Args:
        robot: its description.
        coordinates: of each body.
    """
    moving = [link.joint.type for link in robot.links if link.joint.moves]
    closing = [loop.type for loop in robot.loops if loop.type != "fixed"]
    length = longest_link(robot)
    kinds = (*moving, *closing)
    reach = [length if kind == "prismatic" else 1.0 for kind in kinds]
    assembly = robot.assembly or {}
    guess = [assembly.get(name, 0.0) for name in robot.joint_names]
    guess += [0.0 for _ in closing]
    return Closure(
        rows=_closing_rows(robot, coordinates),
        reach=np.array(reach),
        guess=namespace(guess).asarray(guess, dtype=float),
        loops=len(robot.loops),
        components=PLANE if robot.planar else SPACE,
        joints=len(moving),
        independent=tuple(range(len(moving))),
    )


def _closing_rows(robot: Robot, coordinates: int) -> Float[np.ndarray, "r l c"]:
    """Z: displacement of the frame on each tip minus that of its closing frame, over body coordinates."""
    loops = len(robot.loops)
    count = len(robot.links)
    # A frame is rigid: its first six coordinates are its displacement.
    pick = np.eye(6, coordinates)[list(PLANE if robot.planar else SPACE)]
    rows = []
    for k in range(loops):
        difference = np.zeros(count + 2 * loops)
        difference[count + k] = -1.0
        difference[count + loops + k] = 1.0
        rows.append(difference[None, :, None] * pick[:, None, :])
    return np.concatenate(rows)


def longest_link(robot: Robot) -> float:
    """A length of the robot: that of its longest link [m]."""
    tips = [tip(robot, i) for i in range(len(robot.links))]
    lengths = [np.linalg.norm(point) for point in tips if not is_jax_value(point)]
    return float(max(lengths, default=1.0)) or 1.0
