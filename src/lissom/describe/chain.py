"""Where the links of a chain are: tips, joint frames and beam axes in each link's own frame.

Every function takes the sequence of links, so that a file can be checked link by link before it is a `Robot`;
`geometry` offers the same for robots. An entry of the sequence is `None` where that link is itself in error.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..algebra.so3 import elementary, from_rpy
from ..types import Matrix3, Real, Vector3, namespace
from .link import Link
from .quantity import is_traced

PARALLEL = 1e-6  # sine of the angle below which a section's up direction counts as along the beam

Links = Sequence[Link | None]


def array(value: Any) -> Real:
    """Nested numbers as one array, of NumPy or JAX as `namespace` says."""
    xp = namespace(value)
    return xp.asarray(value, dtype=float)


def parent_of(links: Links, i: int) -> int | None:
    """Number of the link that carries link i: the one it names, else the one before it; -1 is the ground."""
    link = links[i]
    if link is None or link.parent is None:
        return i - 1
    if link.parent == "ground":
        return -1
    known = [
        j
        for j, other in enumerate(links[:i])
        if other is not None and other.name == link.parent
    ]
    return known[0] if known else None


def branches(links: Links) -> bool:
    """True if some link is carried by another one than the link before it."""
    # `None` stands for a parent that cannot be told yet: an error that is reported on its own.
    return any(parent_of(links, i) not in (i - 1, None) for i in range(len(links)))


def children_of(links: Links, i: int) -> list[int]:
    """Numbers of the links that link i carries."""
    return [j for j in range(i + 1, len(links)) if parent_of(links, j) == i]


def next_origin(links: Links, i: int) -> Any:
    """Origin of a joint on link i as it is written, `None` if none is."""
    for j in children_of(links, i):
        following = links[j]
        origin = following.joint.origin if following is not None else None
        if origin is not None and origin.xyz is not None:
            return origin.xyz
    return None


def link_tip(links: Links, i: int) -> Real | None:
    """The last node of link i in its frame; `None` where the description leaves it open."""
    link = links[i]
    if link is None:
        return None
    if link.beam is not None and link.beam.path is not None:
        return array(link.beam.path)[-1]
    if link.rigid is not None and link.rigid.tip is not None:
        return array(link.rigid.tip)
    if link.fe is not None:
        return fe_points(link)[-1]
    if link.joint.dh is not None:
        return array((link.joint.dh.a, 0.0, link.joint.dh.d))
    origin = next_origin(links, i)
    if origin is not None:
        return array(origin)
    return np.zeros(3) if link.rigid is not None else None


def fe_points(link: Link) -> Real:
    """Nodes (k, 3) of a link from finite elements, in the link frame."""
    assert link.fe is not None
    return array(link.fe.nodes.points) @ from_rpy(link.fe.rpy).T


def joint_pose(links: Sequence[Link], i: int) -> tuple[Matrix3, Vector3]:
    """Rotation and position of joint frame i before its own motion, in the frame of the link that carries it.

    Reference: standard Denavit-Hartenberg rows as in [Boscariol2012], cut after `Rz(theta)`: the rest of a row,
    `Tz(d) Tx(a) Rx(alpha)`, lies in the link.
    """
    joint, before = links[i].joint, parent_of(links, i)
    assert before is not None
    position = _first_position(joint) if before < 0 else link_tip(links, before)
    assert (
        position is not None
    )  # a robot whose file was checked has a tip for every parent
    if joint.origin is not None:
        return from_rpy(joint.origin.rpy), position
    parent = links[before].joint.dh if before >= 0 else None
    rotation = elementary(0, parent.alpha) if parent is not None else np.eye(3)
    return (
        rotation @ elementary(2, joint.dh.theta) if joint.dh is not None else rotation
    ), position


def _first_position(joint: Any) -> Real:
    written = joint.origin.xyz if joint.origin is not None else None
    return array(written) if written is not None else np.zeros(3)


def axis(link: Link) -> Vector3:
    """Unit axis of a link's joint, in the joint frame and as well in the link frame."""
    direction = array(
        link.joint.axis if link.joint.axis is not None else (0.0, 0.0, 1.0)
    )
    return direction / namespace(direction).sqrt(direction @ direction)


def polyline(links: Links, i: int) -> Real | None:
    """Corners of the beam axis of link i, `None` where the description leaves them open."""
    link = links[i]
    if link is None or link.beam is None:
        return None
    if link.beam.path is not None:
        return array(link.beam.path)
    if link.joint.dh is not None:
        return _dh_polyline(link.joint.dh.a, link.joint.dh.d)
    tip = link_tip(links, i)
    if tip is None:
        return None
    xp = namespace(tip)
    return xp.stack([xp.zeros(3), tip])


def _dh_polyline(a: Any, d: Any) -> Real:
    """Along d (z), then along a (x); pieces of no length are left out."""
    corners = [(0.0, 0.0, 0.0)]
    if is_traced(d) or abs(d) > 0:
        corners.append((0.0, 0.0, d))
    if is_traced(a) or abs(a) > 0:
        corners.append((a, 0.0, d))
    return array(corners)


def up_directions(links: Links, i: int) -> Real:
    """Direction of the section's z axis on every segment of link i, not yet at right angles to the beam.

    As written, else the joint axis, or the link's x axis where the beam runs along the joint axis.
    """
    link = links[i]
    assert link is not None and link.beam is not None
    path = polyline(links, i)
    assert path is not None
    xp = namespace(path, link.beam.up, link.joint.axis)
    segments = path[1:] - path[:-1]
    if link.beam.up is not None:
        return xp.broadcast_to(array(link.beam.up), segments.shape)
    joint_axis = axis(link)
    square = xp.sum(xp.cross(segments, joint_axis[None, :]) ** 2, axis=1)
    parallel = square < PARALLEL**2 * xp.sum(segments**2, axis=1)
    return xp.where(
        parallel[:, None], xp.asarray([1.0, 0.0, 0.0])[None, :], joint_axis[None, :]
    )


def node_count(links: Links, i: int) -> int | None:
    """Number of nodes of link i: joint to tip; `None` where the description leaves it open."""
    link = links[i]
    if link is None:
        return None
    if link.beam is not None:
        path = polyline(links, i)
        return None if path is None else (len(path) - 1) * link.beam.elements + 1
    if link.fe is not None:
        return len(link.fe.nodes.points)
    tip = link_tip(links, i)
    return 1 if tip is not None and not is_traced(tip) and not np.any(tip) else 2
