"""What keeps a robot out of the plane of its motion: `planar: true` means motion in the world's x-y plane."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .chain import Links, axis, joint_pose, polyline, up_directions
from .part import Finding
from .quantity import is_traced

IN_PLANE = 1e-9  # sine of the angle, or metres, below which a direction or a point counts as in the plane


def planar_findings(entries: Mapping[str, Any], links: Links) -> list[Finding]:
    """Gravity, joints and beams that would leave the plane."""
    found = list(_gravity(entries.get("gravity")))
    for i, link in enumerate(links):
        if link is not None:
            found += [
                Finding(("links", i, *f.loc), f.value, f.message)
                for f in _link(links, i)
            ]
    return found


def _gravity(gravity: Any) -> Iterator[Finding]:
    if (
        gravity is None
        or is_traced(gravity)
        or not isinstance(gravity, list | tuple)
        or len(gravity) != 3
    ):
        return
    if isinstance(gravity[2], int | float) and gravity[2] != 0:
        message = "a planar robot moves in the x-y plane: the third component must be 0 (all three in a level plane)"
        yield Finding(("gravity",), list(gravity), message)


def _link(links: Links, i: int) -> Iterator[Finding]:
    yield from _frame(links, i)
    yield from _axis(links, i)
    yield from _beam(links, i)
    link = links[i]
    if link is not None and link.fe is not None:
        yield Finding(
            ("fe",),
            None,
            "bends in space: a robot with links from finite elements is not planar",
        )


def _frame(links: Links, i: int) -> Iterator[Finding]:
    """The link frame keeps its z axis along the world's."""
    link = links[i]
    assert link is not None
    try:
        rotation, _ = joint_pose(links, i)  # type: ignore[arg-type]
    except (AssertionError, AttributeError):
        return  # the link before it is itself in error
    if is_traced(rotation) or abs(abs(rotation[2, 2]) - 1.0) <= IN_PLANE:
        return
    loc = (
        ("joint", "origin", "rpy") if link.joint.origin is not None else ("joint", "dh")
    )
    yield Finding(
        loc,
        None,
        "tilts the z axis: in a planar robot every link frame has its z axis along the world's",
    )


def _axis(links: Links, i: int) -> Iterator[Finding]:
    link = links[i]
    assert link is not None
    direction = axis(link)
    if is_traced(direction) or not link.joint.moves:
        return
    if (
        link.joint.type == "revolute"
        and np.hypot(direction[0], direction[1]) > IN_PLANE
    ):
        message = "a revolute joint of a planar robot turns about the z axis: [0, 0, 1] or [0, 0, -1]"
        yield Finding(("joint", "axis"), list(map(float, direction)), message)
    if link.joint.type == "prismatic" and abs(direction[2]) > IN_PLANE:
        message = "a prismatic joint of a planar robot slides in the x-y plane: its axis must have no z component"
        yield Finding(("joint", "axis"), list(map(float, direction)), message)


def _beam(links: Links, i: int) -> Iterator[Finding]:
    link, path = links[i], polyline(links, i)
    assert link is not None
    if path is None or is_traced(path) or link.beam is None or len(path) < 2:
        return
    if np.abs(path[:, 2]).max() > IN_PLANE:
        loc = (
            ("joint", "dh", "d")
            if link.beam.path is None and link.joint.dh is not None
            else ("beam", "path")
        )
        yield Finding(
            loc, None, "leaves the x-y plane: the beams of a planar robot lie in it"
        )
        return
    if is_traced(link.beam.up, link.joint.axis):
        return
    up = np.asarray(up_directions(links, i))
    across = np.hypot(up[:, 0], up[:, 1]) / np.linalg.norm(up, axis=1)
    upright = (
        np.minimum(across, np.abs(up[:, 2]) / np.linalg.norm(up, axis=1)) <= IN_PLANE
    )
    if not upright.all():
        message = "must be along z or in the x-y plane: a tilted section bends out of the plane"
        yield Finding(
            ("beam", "up"),
            [float(value) for value in up[int(np.argmin(upright))]],
            message,
        )
