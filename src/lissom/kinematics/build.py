"""From the description of a robot to its chain."""

import numpy as np

from ..describe.geometry import joint_axis, joint_frame
from ..describe.robot import Robot
from ..types import namespace
from .chain import Chain


def chain_of(robot: Robot) -> Chain:
    """The equivalent rigid-link system of a robot."""
    frames = [joint_frame(robot, i) for i in range(len(robot.links))]
    axes = [joint_axis(robot, i) for i in range(len(robot.links))]
    xp = namespace(frames, axes)
    kinds = [link.joint.type for link in robot.links]
    moving = [kind != "fixed" for kind in kinds]
    selection = np.eye(len(kinds))[:, moving]
    return Chain(
        rotation=xp.stack([xp.asarray(R, dtype=float) for R, _ in frames]),
        position=xp.stack([xp.asarray(p, dtype=float) for _, p in frames]),
        axis=xp.stack([xp.asarray(axis, dtype=float) for axis in axes]),
        turns=np.array([float(kind == "revolute") for kind in kinds]),
        slides=np.array([float(kind == "prismatic") for kind in kinds]),
        selection=selection,
    )
