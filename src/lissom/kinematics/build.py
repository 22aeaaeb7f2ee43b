"""From the description of a robot to its chain and its loops."""

from typing import Any

import numpy as np

from ..algebra.se3 import rigid_shape
from ..algebra.so3 import from_rpy
from ..describe.geometry import joint_axis, joint_frame, tip
from ..describe.link_geometry import parent_of
from ..describe.loop import Loop
from ..describe.loop_checks import seat_of
from ..describe.quantity import is_traced
from ..describe.robot import Robot
from ..types import Real, namespace
from .chain import Chain
from .loops.closure import PLANE, SPACE, Closure


def chain_of(robot: Robot) -> Chain:
    """The equivalent rigid-link system of a robot, cut at the joints that close its loops."""
    frames = [joint_frame(robot, i) for i in range(len(robot.links))]
    axes = [joint_axis(robot, i) for i in range(len(robot.links))]
    kinds = [link.joint.type for link in robot.links]
    parents = [parent_of(robot.links, i) for i in range(len(robot.links))]
    for loop in robot.loops:
        R, p, along = closing_frame(loop)
        frames.append((R, p))
        axes.append(along)
        kinds.append(loop.type)
        parents.append(seat_of(robot.links, list(robot.link_names), loop)[0])
    xp = namespace(frames, axes)
    moving = [kind != "fixed" for kind in kinds]
    serial = parents == list(range(-1, len(parents) - 1))
    return Chain(
        rotation=xp.stack([xp.asarray(R, dtype=float) for R, _ in frames]),
        position=xp.stack([xp.asarray(p, dtype=float) for _, p in frames]),
        axis=xp.stack([xp.asarray(axis, dtype=float) for axis in axes]),
        turns=np.array([float(kind == "revolute") for kind in kinds]),
        slides=np.array([float(kind == "prismatic") for kind in kinds]),
        selection=np.eye(len(kinds))[:, moving],
        parents=None if serial else tuple(-1 if p is None else p for p in parents),
    )


def closing_frame(loop: Loop) -> tuple[Real, Real, Real]:
    """Pose of a closing joint on the body that holds it, and its axis in that frame, which is the closed link's."""
    R = from_rpy(loop.rpy)
    xp = namespace(R, loop.at, loop.axis)
    along = xp.asarray(loop.axis, dtype=float)
    return R, xp.asarray(loop.at, dtype=float), R.T @ (along / xp.sqrt(along @ along))


def seats_of(robot: Robot, node_shape: Real) -> Real | None:
    """Displacement of the point that carries each frame, from the body coordinates of its parent; None if serial.

    Args:
        robot: its description.
        node_shape: nodal displacements of every link from body coordinates, stacked (l, k, 6, c).
    """
    if not robot.loops and all(
        parent_of(robot.links, i) == i - 1 for i in range(len(robot.links))
    ):
        return None
    xp, counts = (
        namespace(node_shape),
        [robot.outline.nodes[name] for name in robot.link_names],
    )
    ground = xp.zeros(node_shape.shape[2:])

    def at_tip(i: int) -> Any:
        count = counts[i]
        assert count is not None
        return node_shape[i, count - 1]

    def at_loop(loop: Loop) -> Any:
        i, node = seat_of(robot.links, list(robot.link_names), loop)
        if i < 0:
            return ground
        if node is None:
            return rigid_shape(xp.asarray(loop.at, dtype=float)) @ node_shape[i, 0]
        return at_tip(i) if node < 0 else node_shape[i, node]

    parents = [parent_of(robot.links, i) for i in range(len(robot.links))]
    own = [ground if p is None or p < 0 else at_tip(p) for p in parents]
    return xp.stack([*own, *(at_loop(loop) for loop in robot.loops)])


def closure_of(robot: Robot, tip_shape: Real) -> Closure | None:
    """The loops of a robot, its joints not yet put together: every joint of the robot still counts as independent.

    Args:
        robot: its description.
        tip_shape: displacement of every link's tip from its body coordinates (l, 6, c).
    """
    if not robot.loops:
        return None
    l, k, c = len(robot.links), len(robot.loops), tip_shape.shape[-1]
    xp = namespace(tip_shape, robot.loops)
    components = PLANE if robot.planar else SPACE
    names = list(robot.link_names)
    links = tuple(names.index(loop.link) for loop in robot.loops)
    pick = np.eye(6)[list(components)]
    frame = np.zeros((6, c))
    frame[:, :6] = np.eye(6)
    rows = [
        _at(l + k, a, pick @ xp.asarray(tip_shape)[a]) - _at(l + k, l + n, pick @ frame)
        for n, a in enumerate(links)
    ]
    moving = [link.joint.type for link in robot.links if link.joint.moves]
    closing = [loop.type for loop in robot.loops if loop.type != "fixed"]
    length = reach(robot)
    given = robot.assembly or {}
    guess = [given.get(name, 0.0) for name in robot.joint_names]
    return Closure(
        rows=xp.concatenate(rows),
        tips=xp.stack([xp.asarray(tip(robot, a), dtype=float) for a in links]),
        reach=np.array(
            [length if kind == "prismatic" else 1.0 for kind in (*moving, *closing)]
        ),
        guess=xp.asarray([*guess, *(0.0 for _ in closing)], dtype=float),
        links=links,
        components=components,
        joints=len(moving),
        independent=tuple(range(len(moving))),
    )


def _at(count: int, i: int, rows: Real) -> Real:
    """Rows (r, c) of link i among those of all links (r, l, c)."""
    return np.eye(count)[i][None, :, None] * rows[:, None, :]


def reach(robot: Robot) -> float:
    """A length of the robot: that of its longest link [m]."""
    tips = [tip(robot, i) for i in range(len(robot.links))]
    return (
        float(
            max(
                (np.linalg.norm(point) for point in tips if not is_traced(point)),
                default=1.0,
            )
        )
        or 1.0
    )
