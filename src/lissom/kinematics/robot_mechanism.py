"""From the description of a robot to its mechanism."""

from typing import Any

import numpy as np

from ..describe.geometry import joint_axis, joint_frame
from ..describe.link_geometry import parent_of
from ..describe.robot import Robot
from ..types import Real, namespace
from .chain import FIXED, GROUND, Chain
from .loops.assembly import assembled_closure
from .loops.closed_chain import ClosedChain
from .loops.robot_loops import (
    closing_joints,
    closing_seats,
    closure_of,
    tip_frames,
)
from .mechanism import AbstractMechanism, OpenChain


def mechanism_of(robot: Robot, coordinates: int) -> AbstractMechanism:
    """The mechanism of a robot, put together if some of its joints follow from others.

    Args:
        robot: its description.
        coordinates: of each body.
    """
    chain = chain_of(robot)
    if not robot.loops:
        return OpenChain(chain)
    closure = closure_of(robot, coordinates)
    return ClosedChain(chain, assembled_closure(robot, chain, closure))


def chain_of(robot: Robot) -> Chain:
    """The equivalent rigid-link system of a robot, cut at the joints that close rings of links."""
    frames, axes, kinds, parents = [], [], [], []
    for i, link in enumerate(robot.links):
        frames.append(joint_frame(robot, i))
        axes.append(joint_axis(robot, i))
        kinds.append(link.joint.type)
        parents.append(parent_of(robot.links, i))
    for joint in [*closing_joints(robot), *tip_frames(robot)]:
        frames.append((joint.rotation, joint.position))
        axes.append(joint.axis)
        kinds.append(joint.kind)
        parents.append(joint.parent)
    # The two frames at which each ring is cut come last: they follow the links in the chain.
    xp = namespace(frames, axes)
    following = following_joints(robot)
    moving = [
        i for i, kind in enumerate(kinds) if kind != "fixed" and i not in following
    ]
    movers = [following.get(i, i) for i in range(len(kinds))]
    joints = tuple(moving.index(i) if i in moving else FIXED for i in movers)
    ratios, offsets = _coupling(robot, len(kinds)) if following else (None, None)
    is_serial = parents == list(range(-1, len(parents) - 1))
    numbers = tuple(GROUND if parent is None else parent for parent in parents)
    return Chain(
        rotation=xp.stack([xp.asarray(R, dtype=float) for R, _ in frames]),
        position=xp.stack([xp.asarray(p, dtype=float) for _, p in frames]),
        axis=xp.stack([xp.asarray(axis, dtype=float) for axis in axes]),
        turns=np.array([float(kind == "revolute") for kind in kinds]),
        slides=np.array([float(kind == "prismatic") for kind in kinds]),
        joints=joints,
        parents=None if is_serial else numbers,
        followers=tuple(following),
        ratios=ratios,
        offsets=offsets,
    )


def following_joints(robot: Robot) -> dict[int, int]:
    """Links whose joint follows that of another link, and the number of that link."""
    names = robot.link_names
    leaders = {}
    for i, link in enumerate(robot.links):
        if link.joint.follows is not None:
            leaders[i] = names.index(link.joint.follows.joint)
    return leaders


def _coupling(robot: Robot, count: int) -> tuple[Real, Real]:
    """Ratio and offset of the joint below each of `count` frames: 1 and 0 where it follows none."""
    rules = [link.joint.follows for link in robot.links]
    ratios = [1.0 if rule is None else rule.ratio for rule in rules]
    offsets = [0.0 if rule is None else rule.offset for rule in rules]
    xp = namespace(ratios, offsets)
    frames = count - len(rules)
    return (
        xp.asarray(ratios + [1.0] * frames, dtype=float),
        xp.asarray(offsets + [0.0] * frames, dtype=float),
    )


def seats_of(robot: Robot, node_shape: Real) -> Real:
    """Displacement of the point that carries each frame, from the body coordinates of its parent.

    Args:
        robot: its description.
        node_shape: nodal displacements of every link from body coordinates, stacked (l, k, 6, c).
    """
    parents = [parent_of(robot.links, i) for i in range(len(robot.links))]
    xp = namespace(node_shape)
    ground = xp.zeros(node_shape.shape[2:])

    def at_tip(i: int) -> Any:
        count = robot.outline.nodes[robot.link_names[i]]
        assert count is not None
        return node_shape[i, count - 1]

    seats = []
    for parent in parents:
        if parent is None or parent == GROUND:
            seats.append(ground)
        else:
            seats.append(at_tip(parent))
    seats += closing_seats(robot, node_shape, ground, at_tip)
    return xp.stack(seats)
