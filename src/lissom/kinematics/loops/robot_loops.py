"""From the description of a robot to the joints that close its loops."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...algebra.se3 import rigid_shape
from ...algebra.so3 import from_rpy
from ...describe.geometry import tip
from ...describe.link_geometry import unit
from ...describe.loop_checks import seat_of
from ...describe.quantity import is_traced
from ...describe.robot import Robot
from ...types import Real, namespace
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


def closing_seats(
    robot: Robot, node_shape: Real, ground: Real, at_tip: Callable[[int], Any]
) -> list[Any]:
    """Displacement of the point that carries each closing frame, from the body coordinates of the link that holds it.

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
    return seats


def closure_of(robot: Robot, tip_shape: Real) -> Closure:
    """The loops of a robot, its joints not yet put together: every joint of the robot still counts as independent.

    Args:
        robot: its description.
        tip_shape: displacement of every link's tip from its body coordinates (l, 6, c).
    """
    xp = namespace(tip_shape, robot.loops)
    names = list(robot.link_names)
    links = tuple(names.index(loop.link) for loop in robot.loops)
    moving = [link.joint.type for link in robot.links if link.joint.moves]
    closing = [loop.type for loop in robot.loops if loop.type != "fixed"]
    length = longest_link(robot)
    kinds = (*moving, *closing)
    reach = [length if kind == "prismatic" else 1.0 for kind in kinds]
    assembly = robot.assembly or {}
    guess = [assembly.get(name, 0.0) for name in robot.joint_names]
    guess += [0.0 for _ in closing]
    return Closure(
        rows=_closing_rows(robot, links, tip_shape),
        tips=xp.stack([xp.asarray(tip(robot, a), dtype=float) for a in links]),
        reach=np.array(reach),
        guess=xp.asarray(guess, dtype=float),
        links=links,
        components=PLANE if robot.planar else SPACE,
        joints=len(moving),
        independent=tuple(range(len(moving))),
    )


def _closing_rows(robot: Robot, links: tuple[int, ...], tip_shape: Real) -> Real:
    """Z: displacement of each closed link's tip minus that of its closing frame, over body coordinates."""
    xp = namespace(tip_shape, robot.loops)
    count = len(robot.links)
    total = count + len(links)
    pick = np.eye(6)[list(PLANE if robot.planar else SPACE)]
    # A closing frame is rigid: its first six coordinates are its displacement.
    frame = np.eye(6, tip_shape.shape[-1])

    def of_link(i: int, rows: Real) -> Real:
        return np.eye(total)[i][None, :, None] * rows[:, None, :]

    rows = []
    for n, a in enumerate(links):
        at_tip = of_link(a, pick @ xp.asarray(tip_shape)[a])
        at_frame = of_link(count + n, pick @ frame)
        rows.append(at_tip - at_frame)
    return xp.concatenate(rows)


def longest_link(robot: Robot) -> float:
    """A length of the robot: that of its longest link [m]."""
    tips = [tip(robot, i) for i in range(len(robot.links))]
    lengths = [np.linalg.norm(point) for point in tips if not is_traced(point)]
    return float(max(lengths, default=1.0)) or 1.0
