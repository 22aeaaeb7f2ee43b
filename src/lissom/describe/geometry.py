"""The robot's geometry in each link's own frame: joint frames, axes, beam paths, tips.

Pure functions of the description, in NumPy while every number is concrete and in JAX as soon as one is traced. Lengths
live in a link's `dh`, in its `path` (or `tip`), or, where neither is written, in the next joint's origin.
"""

from ..types import Matrix3, Real, Vector3
from . import link_geometry
from .robot import Robot


def joint_frame(robot: Robot, i: int) -> tuple[Matrix3, Vector3]:
    """Rotation and position of joint frame i before its own motion, in the parent link's frame (the world's for 0).

    A joint with `dh` sits at its parent's tip, turned by Rx(alpha) of the parent's row (where it has one) and by
    Rz(theta) of its own; one with `origin` at its parent's tip too, turned by `rpy`.
    """
    return link_geometry.joint_pose(robot.links, i)


def joint_axis(robot: Robot, i: int) -> Vector3:
    """Unit axis of joint i in the joint frame; its own motion leaves it fixed, so it is the same in the link frame."""
    return link_geometry.axis(robot.links[i])


def beam_path(robot: Robot, i: int) -> Real:
    """Corners (P, 3) of the beam axis of link i in its frame, from the joint to the tip  [m]."""
    path = link_geometry.polyline(robot.links, i)
    if path is None:
        raise ValueError(f"Link {robot.links[i].name!r} is not a beam.")
    return path


def beam_up(robot: Robot, i: int) -> Real:
    """Directions (P - 1, 3) of the section's z axis, one per straight segment, not yet at right angles to it."""
    return link_geometry.up_directions(robot.links, i)


def tip(robot: Robot, i: int) -> Vector3:
    """The last node of link i in its frame, where the next joint sits  [m]."""
    point = link_geometry.link_tip(robot.links, i)
    if point is None:
        raise ValueError(f"Link {robot.links[i].name!r} has no tip.")
    return point


def node_count(robot: Robot, i: int) -> int:
    """Number of nodes of link i, from the joint to the tip; a rigid link with its tip at the joint has one."""
    count = link_geometry.node_count(robot.links, i)
    if count is None:
        raise ValueError(f"Link {robot.links[i].name!r} has no nodes.")
    return count


def node_names(robot: Robot) -> tuple[str, ...]:
    """Every node as `link/k`, k from 0 at the joint, link by link."""
    names = []
    for i, link in enumerate(robot.links):
        for k in range(node_count(robot, i)):
            names.append(f"{link.name}/{k}")
    return tuple(names)
