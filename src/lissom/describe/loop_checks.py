"""What can be wrong with loops before any geometry is solved: names, points, axes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..files.errors import nearest
from ..files.part import Entries, Finding, Findings, finding, findings_at, is_list
from ..files.quantity import is_jax_value
from .chain_checks import ON_TIP
from .link import Link
from .link_geometry import (
    GROUND,
    GROUND_NUMBER,
    PartialLinks,
    lengths,
    link_tip,
    polyline,
    unit,
)
from .loop import Loop
from .planar_checks import IN_PLANE

LAST_NODE = -1  # of a link


def loop_findings(
    entries: Entries, links: PartialLinks, names: list[Any]
) -> list[Finding]:
    """Everything that is wrong with `loops`, `independent` and `assembly`; entries may be half-valid."""
    loops = entries.get("loops") or ()
    planar = entries.get("planar") is True
    found: list[Finding] = []
    for k, loop in enumerate(loops if is_list(loops) else ()):
        if isinstance(loop, Loop):
            of_loop = _loop(loop, planar, links, names)
            found += findings_at(("loops", k), of_loop)
    # Which joints move is known only if every link is valid.
    valid = [link for link in links if link is not None]
    if len(valid) == len(links):
        moving = [link.name for link in valid if link.joint.moves]
        found += _joints(entries, moving, bool(loops))
    return found


def _loop(loop: Loop, planar: bool, links: PartialLinks, names: list[Any]) -> Findings:
    for unknown in _names(loop, names):
        # Nothing more can be said about a loop whose links are not known.
        yield unknown
        return
    if loop.to == loop.link:
        message = "a link cannot close a loop with itself: name another link, or ground"
        yield finding(message, "to", value=loop.to)
        return
    if loop.to != GROUND:
        yield from _point(loop, links, names.index(loop.to))
    if planar:
        yield from _in_plane(loop)


def _names(loop: Loop, names: list[Any]) -> Findings:
    listed = ", ".join(str(name) for name in names)
    accepted = {"link": names, "to": [*names, GROUND]}
    for key, known in accepted.items():
        name = getattr(loop, key)
        if name not in known:
            guess = nearest(name, known) or "."
            message = f"no link is called {name!r}{guess} Links: {listed}"
            yield finding(message, key, value=name)


def _point(loop: Loop, links: PartialLinks, i: int) -> Findings:
    """A point of a beam must be one of its nodes, one of finite elements the tip; a rigid link is held anywhere."""
    link = links[i]
    if link is None:
        return
    if link.fe is not None:
        yield from _point_of_fe(loop, link_tip(links, i))
    path = polyline(links, i)
    if link.beam is not None and path is not None:
        yield from _point_of_beam(loop, path, link.beam.elements)


def _point_of_fe(loop: Loop, tip: Any) -> Findings:
    if tip is None or is_jax_value(tip, loop.at):
        return
    apart = np.abs(tip - np.asarray(loop.at))
    if apart.max() > ON_TIP:
        message = f"lies off the tip {_shown(tip)} of link {loop.to!r}"
        yield finding(message, "at", value=loop.at)


def _point_of_beam(loop: Loop, path: Any, elements: int) -> Findings:
    if is_jax_value(path, loop.at):
        return
    nodes = beam_nodes(path, elements)
    distance = lengths(nodes - np.asarray(loop.at))
    if distance.min() > ON_TIP:
        places = [f"{loop.to}/{k} at {_shown(node)}" for k, node in enumerate(nodes)]
        message = f"lies on no node of link {loop.to!r}: {', '.join(places)}"
        yield finding(message, "at", value=loop.at)


def _shown(point: Any) -> str:
    numbers = [f"{float(x):.6g}" for x in point]
    return f"[{', '.join(numbers)}]"


def beam_nodes(path: Any, elements: int) -> np.ndarray:
    """Nodes of a beam: each straight segment in equal elements."""
    corners = np.asarray(path, dtype=float)
    nodes = []
    for start, end in pairwise(corners):
        # The last node of a segment is the first one of the next.
        for k in range(elements):
            nodes.append(start + (end - start) * (k / elements))
    nodes.append(corners[-1])
    return np.stack(nodes)


def _in_plane(loop: Loop) -> Findings:
    if is_jax_value(loop.axis, loop.rpy):
        return
    x, y, z = unit(np.asarray(loop.axis, dtype=float))
    if loop.type == "revolute" and np.hypot(x, y) > IN_PLANE:
        message = "a closing revolute joint of a planar robot turns about z: [0, 0, 1]"
        yield finding(message, "axis", value=loop.axis)
    if loop.type == "prismatic" and abs(z) > IN_PLANE:
        message = "a closing prismatic joint of a planar robot slides in the x-y plane"
        yield finding(message, "axis", value=loop.axis)
    roll, pitch, _ = loop.rpy
    if max(abs(roll), abs(pitch)) > IN_PLANE:
        message = "a planar robot turns about z alone: roll and pitch must be 0"
        yield finding(message, "rpy", value=loop.rpy)


def _joints(entries: Entries, moving: list[str], closed: bool) -> Findings:
    for key, kind in (("independent", list | tuple), ("assembly", Mapping)):
        joints = entries.get(key)
        if joints is None:
            continue
        if not closed:
            message = "belongs to a closed chain: this robot has no loops"
            yield finding(message, key)
        elif isinstance(joints, kind):
            yield from _unknown_joints(key, joints, moving)


def _unknown_joints(key: str, joints: Any, moving: list[str]) -> Findings:
    for joint in joints:
        if joint in moving:
            continue
        guess = nearest(joint, moving) or "."
        message = (
            f"no moving joint is called {joint!r}{guess} Joints: {', '.join(moving)}"
        )
        # `assembly` has a key for each joint, `independent` is a list.
        loc = (key,) if key == "independent" else (key, joint)
        yield finding(message, *loc, value=joint)


def seat_of(
    links: Sequence[Link], names: Sequence[str], loop: Loop
) -> tuple[int, int | None]:
    """Link that holds a closing joint (-1 for the ground) and the node it sits on, None on a rigid link."""
    if loop.to == GROUND:
        return GROUND_NUMBER, None
    i = names.index(loop.to)
    if links[i].fe is not None:
        return i, LAST_NODE
    beam = links[i].beam
    path = polyline(links, i)
    if beam is None or path is None:
        return i, None
    if is_jax_value(path, loop.at):
        # Coordinates are not known here: loops end at tips.
        return i, LAST_NODE
    nodes = beam_nodes(path, beam.elements)
    distance = lengths(nodes - np.asarray(loop.at))
    return i, int(np.argmin(distance))
