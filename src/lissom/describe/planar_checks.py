"""What keeps a robot out of the plane of its motion: `planar: true` means motion in the world's x-y plane."""

from typing import Any

import numpy as np

from ..files.part import Entries, Finding, Findings, finding, findings_at, is_list
from ..files.quantity import is_jax_value
from ..types import Real
from .link import Link
from .link_geometry import (
    PartialLinks,
    axis,
    joint_rotation,
    lengths,
    polyline,
    up_directions,
)

# Sine of the angle, or metres, below which a direction or a point counts as in the plane.
IN_PLANE = 1e-9


def planar_findings(entries: Entries, links: PartialLinks) -> list[Finding]:
    """Gravity, joints and beams that would leave the plane."""
    found = list(_gravity(entries.get("gravity")))
    for i, link in enumerate(links):
        if link is not None:
            of_link = _link(links, i, link)
            found += findings_at(("links", i), of_link)
    return found


def _gravity(gravity: Any) -> Findings:
    if is_jax_value(gravity) or not is_list(gravity):
        return
    # A vector of another length, or one that holds text, is refused at its key.
    if len(gravity) != 3:
        return
    out_of_plane = gravity[2]
    if isinstance(out_of_plane, int | float) and out_of_plane != 0:
        message = (
            "a planar robot moves in the x-y plane: the third component must be 0 "
            "(all three in a horizontal plane)"
        )
        yield finding(message, "gravity", value=gravity)


def _link(links: PartialLinks, i: int, link: Link) -> Findings:
    yield from _frame(links, i, link)
    yield from _axis(link)
    yield from _beam(links, i, link)
    if link.fe is not None:
        message = (
            "a link from finite elements deforms in space: the robot cannot be planar"
        )
        yield finding(message, "fe")


def _frame(links: PartialLinks, i: int, link: Link) -> Findings:
    """The link frame keeps its z axis along the world's."""
    rotation = joint_rotation(links, i)
    if rotation is None or is_jax_value(rotation):
        return
    # Cosine of the angle between the two z axes; they may be opposite.
    cosine = abs(rotation[2, 2])
    if abs(cosine - 1.0) <= IN_PLANE:
        return
    has_origin = link.joint.origin is not None
    loc = ("joint", "origin", "rpy") if has_origin else ("joint", "dh")
    message = "tilts the z axis: in a planar robot every link frame has its z axis along the world's"
    yield finding(message, *loc)


def _axis(link: Link) -> Findings:
    direction = axis(link)
    if is_jax_value(direction):
        return
    x, y, z = (float(part) for part in direction)
    if link.joint.type == "revolute" and np.hypot(x, y) > IN_PLANE:
        message = "a revolute joint of a planar robot turns about the z axis: [0, 0, 1] or [0, 0, -1]"
        yield finding(message, "joint", "axis", value=[x, y, z])
    if link.joint.type == "prismatic" and abs(z) > IN_PLANE:
        message = "a prismatic joint of a planar robot slides in the x-y plane: its axis must have no z component"
        yield finding(message, "joint", "axis", value=[x, y, z])


def _beam(links: PartialLinks, i: int, link: Link) -> Findings:
    path = polyline(links, i)
    if link.beam is None or path is None or is_jax_value(path):
        return
    if len(path) < 2:
        # A beam without a length: refused on its own.
        return
    heights = np.abs(path[:, 2])
    if heights.max() > IN_PLANE:
        runs_along_dh = link.beam.path is None and link.joint.dh is not None
        loc = ("joint", "dh", "d") if runs_along_dh else ("beam", "path")
        message = "leaves the x-y plane: the beams of a planar robot lie in it"
        yield finding(message, *loc)
    elif not is_jax_value(link.beam.up, link.joint.axis):
        yield from _up(np.asarray(up_directions(links, i)))


def _up(up: Real) -> Findings:
    """The section's z axis stands upright or lies in the plane on every segment."""
    directions = up / lengths(up)[:, None]
    x, y, z = directions.T
    in_plane = np.hypot(x, y)
    upright = np.abs(z)
    in_line = np.minimum(in_plane, upright) <= IN_PLANE
    if not in_line.all():
        first = int(np.argmin(in_line))
        message = "must be along z or in the x-y plane: a tilted section bends out of the plane"
        yield finding(message, "beam", "up", value=up[first].tolist())
