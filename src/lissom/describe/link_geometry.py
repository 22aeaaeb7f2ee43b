"""Where the links of a chain are: tips, joint frames and beam axes in each link's own frame.

Every function takes the sequence of links, so that a file can be checked link by link before it is a `Robot`;
`geometry` offers the same for robots. An entry of the sequence is `None` where that link is itself in error.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.so3 import elementary, from_rpy
from ..files.quantity import is_jax_value
from ..types import Matrix3, Real, Vector3, namespace
from .joint import DH, Joint
from .link import Link

# Sine of the angle below which a section's up direction counts as along the beam.
PARALLEL = 1e-6

GROUND = "ground"  # its name in a file, as the parent of a link or the end of a loop
GROUND_NUMBER = -1  # its number, where links are counted from 0

PartialLinks = Sequence[Link | None]


def array(value: Any) -> Real:
    """Nested numbers as one array, of NumPy or JAX as `namespace` says."""
    xp = namespace(value)
    return xp.asarray(value, dtype=float)


def lengths(rows: Any) -> np.ndarray:
    """Length of each of several vectors."""
    return np.linalg.norm(rows, axis=1)


def parent_of(links: PartialLinks, i: int) -> int | None:
    """Number of the link that carries link i: the one it names, else the one before it; -1 is the ground."""
    link = links[i]
    if link is None or link.parent is None:
        # The link before the first one is number -1: the ground.
        return i - 1
    if link.parent == GROUND:
        return GROUND_NUMBER
    for j, other in enumerate(links[:i]):
        if other is not None and other.name == link.parent:
            return j
    return None


def branches(links: PartialLinks) -> bool:
    """True if some link is carried by another one than the link before it."""
    for i in range(len(links)):
        parent = parent_of(links, i)
        # `None` stands for an unknown parent: an error that is reported on its own.
        if parent is not None and parent != i - 1:
            return True
    return False


def children_of(links: PartialLinks, i: int) -> list[int]:
    """Numbers of the links that link i carries."""
    later = range(i + 1, len(links))
    return [j for j in later if parent_of(links, j) == i]


def carried_by(links: PartialLinks, i: int) -> list[int]:
    """Numbers of all links that link i carries, those on its tip and everything on them."""
    carriers = {i}
    # A link comes after the one that carries it.
    for j in range(i + 1, len(links)):
        if parent_of(links, j) in carriers:
            carriers.add(j)
    return sorted(carriers - {i})


def next_origin(links: PartialLinks, i: int) -> Any:
    """Origin of a joint on link i as it is written, `None` if none is."""
    for j in children_of(links, i):
        child = links[j]
        if child is not None and child.joint.position is not None:
            return child.joint.position
    return None


def link_tip(links: PartialLinks, i: int) -> Real | None:
    """The last node of link i in its frame; `None` where the description leaves it open."""
    link = links[i]
    if link is None:
        return None
    # What the body says counts before what its neighbours say.
    if link.beam is not None and link.beam.path is not None:
        return array(link.beam.path)[-1]
    if link.rigid is not None and link.rigid.tip is not None:
        return array(link.rigid.tip)
    if link.fe is not None:
        return fe_points(link)[-1]
    if link.joint.dh is not None:
        return array(link.joint.dh.end)
    origin = next_origin(links, i)
    if origin is not None:
        return array(origin)
    # A rigid link without any of these is a point at its joint; a beam has no length yet.
    return np.zeros(3) if link.rigid is not None else None


def link_length(links: Sequence[Link], i: int) -> float | None:
    """Length of a link from its joint to its tip, along its path [m]; `None` where it is traced or open."""
    link = links[i]
    if link.fe is not None:
        points = np.asarray(link.fe.nodes.points, dtype=float)
        return float(np.linalg.norm(points - points[0], axis=1).max())
    if link.beam is not None:
        path = polyline(links, i)
        if path is None or is_jax_value(path):
            return None
        return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
    tip = link_tip(links, i)
    if tip is None or is_jax_value(tip):
        return None
    return float(np.linalg.norm(tip))


def fe_points(link: Link) -> Real:
    """Nodes (k, 3) of a link from finite elements, in the link frame."""
    assert link.fe is not None
    R = from_rpy(link.fe.rpy)
    return array(link.fe.nodes.points) @ R.T


def joint_rotation(links: PartialLinks, i: int) -> Matrix3 | None:
    """Rotation of joint frame i in the frame of the link that carries it, `None` where one of them is in error."""
    link = links[i]
    parent = parent_of(links, i)
    if link is None or parent is None:
        return None
    if parent == GROUND_NUMBER:
        return _turn(link.joint, None)
    carrier = links[parent]
    return None if carrier is None else _turn(link.joint, carrier.joint)


def joint_pose(links: Sequence[Link], i: int) -> tuple[Matrix3, Vector3]:
    """Rotation and position of joint frame i before its own motion, in the frame of the link that carries it.

    Reference: standard Denavit-Hartenberg rows as in [Boscariol2012], cut after `Rz(theta)`: the rest of a row,
    `Tz(d) Tx(a) Rx(alpha)`, lies in the link.
    """
    rotation = joint_rotation(links, i)
    parent = parent_of(links, i)
    # A robot whose file was checked has no link in error, and a tip for every parent.
    assert rotation is not None and parent is not None
    if parent == GROUND_NUMBER:
        return rotation, _position_on_ground(links[i].joint)
    position = link_tip(links, parent)
    assert position is not None
    return rotation, position


def _turn(joint: Joint, parent: Joint | None) -> Matrix3:
    """Rotation of a joint frame in the frame of the link that carries it."""
    if joint.origin is not None:
        return from_rpy(joint.origin.rpy)
    rotation = np.eye(3)
    if parent is not None and parent.dh is not None:
        rotation = elementary(0, parent.dh.alpha)
    if joint.dh is not None:
        rotation = rotation @ elementary(2, joint.dh.theta)
    return rotation


def _position_on_ground(joint: Joint) -> Vector3:
    written = joint.position
    return np.zeros(3) if written is None else array(written)


def axis(link: Link) -> Vector3:
    """Unit axis of a link's joint, in the joint frame and as well in the link frame."""
    if link.joint.axis is None:
        return np.array([0.0, 0.0, 1.0])
    return unit(array(link.joint.axis))


def unit(direction: Vector3) -> Vector3:
    """A direction scaled to unit length."""
    xp = namespace(direction)
    # By the largest component first: its square may be too large or too small for a number.
    scaled = direction / xp.max(xp.abs(direction))
    return scaled / xp.sqrt(scaled @ scaled)


def polyline(links: PartialLinks, i: int) -> Real | None:
    """Corners of the beam axis of link i, `None` where the description leaves them open."""
    link = links[i]
    if link is None or link.beam is None:
        return None
    if link.beam.path is not None:
        return array(link.beam.path)
    if link.joint.dh is not None:
        return _dh_polyline(link.joint.dh)
    tip = link_tip(links, i)
    if tip is None:
        return None
    xp = namespace(tip)
    return xp.stack([xp.zeros(3), tip])


def _dh_polyline(dh: DH) -> Real:
    """Along d (z), then along a (x); pieces of no length are left out."""
    corners = [(0.0, 0.0, 0.0)]
    if is_jax_value(dh.d) or dh.d != 0:
        corners.append((0.0, 0.0, dh.d))
    if is_jax_value(dh.a) or dh.a != 0:
        corners.append(dh.end)
    return array(corners)


def up_directions(links: PartialLinks, i: int) -> Real:
    """Direction of the section's z axis on every segment of link i, not yet at right angles to the beam.

    As written, else the joint axis; the link's x axis where the beam runs along the joint axis, and its z axis where
    both are x.
    """
    link = links[i]
    assert link is not None and link.beam is not None
    path = polyline(links, i)
    assert path is not None
    xp = namespace(path, link.beam.up, link.joint.axis)
    segments = path[1:] - path[:-1]
    if link.beam.up is not None:
        return xp.broadcast_to(array(link.beam.up), segments.shape)
    joint_axis = axis(link)[None, :]
    x_axis, z_axis = np.eye(3)[:1], np.eye(3)[2:]
    other = xp.where(_runs_along(segments, x_axis), z_axis, x_axis)
    return xp.where(_runs_along(segments, joint_axis), other, joint_axis)


def _runs_along(segments: Real, direction: Real) -> Any:
    """Which segments (k, 3) lie along a direction of unit length, as a column of truth values."""
    xp = namespace(segments, direction)
    # |s x d|^2 = |s|^2 sin^2 of the angle between them: no square root, whose slope at zero is infinite.
    across = xp.sum(xp.cross(segments, direction) ** 2, axis=1, keepdims=True)
    length = xp.sum(segments**2, axis=1, keepdims=True)
    return across < PARALLEL**2 * length


def node_count(links: PartialLinks, i: int) -> int | None:
    """Number of nodes of link i: joint to tip; `None` where the description leaves it open."""
    link = links[i]
    if link is None:
        return None
    if link.beam is not None:
        path = polyline(links, i)
        if path is None:
            return None
        segments = len(path) - 1
        return segments * link.beam.elements + 1
    if link.fe is not None:
        return len(link.fe.nodes.points)
    tip = link_tip(links, i)
    if tip is None or is_jax_value(tip):
        # A tip that is not known yet is taken to lie off the joint.
        return 2
    return 2 if np.any(tip) else 1
