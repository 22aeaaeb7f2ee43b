"""What can be wrong between the links of a chain: names, tips and joints, beams without a length, node numbers."""

from typing import Any

import numpy as np

from ..files.errors import nearest
from ..files.part import Finding, Findings, finding, findings_at
from ..files.quantity import is_jax_value
from ..types import Real
from .link import Link
from .link_geometry import (
    GROUND,
    GROUND_NUMBER,
    PARALLEL,
    PartialLinks,
    fe_points,
    lengths,
    link_tip,
    node_count,
    parent_of,
    polyline,
    up_directions,
)

# [m] How far a joint may be written from its parent's tip: the rounding of a coordinate typed by hand.
ON_TIP = 1e-6

# [m] Corners of a beam that are closer than this are the same point.
SAME_CORNER = 1e-9


def chain_findings(links: PartialLinks, names: list[Any]) -> list[Finding]:
    """Everything that is wrong between links; `names` as written, also of links that are themselves in error."""
    found = list(_names(names))
    for i, link in enumerate(links):
        if link is not None:
            of_link = _link(links, i, link)
            found += findings_at(("links", i), of_link)
    return found


def _names(names: list[Any]) -> Findings:
    for i, name in enumerate(names):
        if isinstance(name, str) and name in names[:i]:
            first = names.index(name) + 1
            message = f"link {first} already has this name"
            yield finding(message, "links", i, "name", value=name)


def _link(links: PartialLinks, i: int, link: Link) -> Findings:
    yield from _parent(links, i, link)
    yield from _joint_on_tip(links, i, link)
    yield from _body_on_dh(link)
    yield from _beam(links, i, link)
    yield from _masses(links, i, link)
    yield from _followed(links, link)


def _parent(links: PartialLinks, i: int, link: Link) -> Findings:
    # A link that is itself in error may be the parent that seems to be missing.
    if parent_of(links, i) is not None or None in links[:i]:
        return
    before = [other.name for other in links[:i] if other is not None]
    accepted = ", ".join([GROUND, *before])
    message = f"must be a link listed before this one: {accepted}"
    yield finding(message, "parent", value=link.parent)


def _joint_on_tip(links: PartialLinks, i: int, link: Link) -> Findings:
    parent = parent_of(links, i)
    if parent is None or parent == GROUND_NUMBER:
        return
    carrier = links[parent]
    tip = link_tip(links, parent)
    origin = link.joint.position
    if carrier is None or tip is None or origin is None:
        return
    if _same(origin, tip):
        return
    message = (
        f"lies off the tip {_point(tip)} of the parent link {carrier.name!r}: "
        "a joint sits on its parent's last node"
    )
    yield finding(message, "joint", "origin", "xyz", value=origin)


def _body_on_dh(link: Link) -> Findings:
    if link.joint.dh is None:
        return
    end = link.joint.dh.end
    off = f"off the end {_point(end)} of its DH link"
    if link.rigid is not None and link.rigid.tip is not None:
        tip = link.rigid.tip
        if not _same(tip, end):
            yield finding(f"lies {off}", "rigid", "tip", value=tip)
    if link.fe is not None:
        tip = fe_points(link)[-1]
        if not _same(tip, end):
            message = f"its tip {_point(tip)} lies {off}; rotate it with rpy"
            yield finding(message, "fe")
    if link.beam is not None and link.beam.path is not None:
        last = link.beam.path[-1]
        if not _same(last, end):
            yield finding(f"ends {off}", "beam", "path", value=last)


def _beam(links: PartialLinks, i: int, link: Link) -> Findings:
    if link.beam is None:
        return
    path = polyline(links, i)
    if path is None:
        # A later link that is itself in error may hold the joint to which this beam leads.
        if None not in links[i + 1 :]:
            message = (
                "missing: neither a dh row nor the next joint's origin gives the length"
            )
            yield finding(message, "beam", "path")
        return
    if is_jax_value(path):
        return
    steps = lengths(np.diff(path, axis=0))
    if len(steps) == 0 or steps.min() <= SAME_CORNER:
        message = "the beam has no length: give it one, or make the link rigid"
        yield finding(message, "beam")
        return
    if not is_jax_value(link.beam.up, link.joint.axis):
        yield from _up(links, i, path)


def _up(links: PartialLinks, i: int, path: Real) -> Findings:
    segments = np.diff(path, axis=0)
    up = np.asarray(up_directions(links, i))
    size = lengths(segments) * lengths(up)
    across = lengths(np.cross(segments, up))
    along = across <= PARALLEL * size
    if along.any():
        first = int(along.argmax())
        message = f"the section's z axis must not lie along the beam, as it does on segment {first + 1}"
        yield finding(message, "beam", "up", value=up[first].tolist())


def _masses(links: PartialLinks, i: int, link: Link) -> Findings:
    count = node_count(links, i)
    if count is None:
        return
    for k, entry in enumerate(link.masses):
        if entry.node != "tip" and int(entry.node) >= count:
            message = f'link {link.name!r} has nodes 0 to {count - 1} (or "tip")'
            yield finding(message, "masses", k, "node", value=entry.node)


def _followed(links: PartialLinks, link: Link) -> Findings:
    rule = link.joint.follows
    # A link that is itself in error may be the one that seems to be missing.
    if rule is None or None in links:
        return
    leading = [other.name for other in links if other is not None and other.joint.moves]
    if rule.joint not in leading:
        guess = nearest(rule.joint, leading) or "."
        message = f"must be a joint with a coordinate of its own{guess} These are: {', '.join(leading)}"
        yield finding(message, "joint", "follows", "joint", value=rule.joint)


def _same(a: Any, b: Any) -> bool:
    if is_jax_value(a, b):
        return True
    distances = np.abs(np.subtract(a, b))
    return bool(distances.max() <= ON_TIP)


def _point(point: Any) -> str:
    numbers = ["(traced)" if is_jax_value(x) else f"{float(x):.6g}" for x in point]
    return f"[{', '.join(numbers)}]"
