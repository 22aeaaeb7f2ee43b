"""What can be wrong between the links of a chain: names, tips and joints, beams without a length, node numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from lissom.types import Real

from .chain import (
    PARALLEL,
    Links,
    fe_points,
    link_tip,
    node_count,
    parent_of,
    polyline,
    up_directions,
)
from .part import Finding
from .quantity import is_traced

ON_TIP = 1e-6  # [m] how far a joint may be written from its parent's tip: the rounding of a coordinate typed by hand


def chain_findings(links: Links, names: list[Any]) -> list[Finding]:
    """Everything that is wrong between links; `names` as written, also of links that are themselves in error."""
    found = list(_names(names))
    for i, link in enumerate(links):
        if link is None:
            continue
        found += [
            Finding(("links", i, *f.loc), f.value, f.message) for f in _link(links, i)
        ]
    return found


def _names(names: list[Any]) -> Iterator[Finding]:
    for i, name in enumerate(names):
        if isinstance(name, str) and name in names[:i]:
            yield Finding(
                ("links", i, "name"),
                name,
                f"link {names.index(name) + 1} has this name already",
            )


def _link(links: Links, i: int) -> Iterator[Finding]:
    yield from _parent(links, i)
    yield from _joint_on_tip(links, i)
    yield from _body_on_dh(links, i)
    yield from _beam(links, i)
    yield from _masses(links, i)


def _parent(links: Links, i: int) -> Iterator[Finding]:
    link = links[i]
    if link is None or parent_of(links, i) is not None or None in links[:i]:
        return
    before = [other.name for other in links[:i] if other is not None]
    accepted = ", ".join(["ground", *before])
    yield Finding(
        ("parent",),
        link.parent,
        f"must be a link that stands before this one: {accepted}",
    )


def _joint_on_tip(links: Links, i: int) -> Iterator[Finding]:
    link = links[i]
    origin = (
        link.joint.origin.xyz
        if link is not None and link.joint.origin is not None
        else None
    )
    before = parent_of(links, i)
    parent = links[before] if before is not None and before >= 0 else None
    tip = link_tip(links, before) if before is not None and before >= 0 else None
    if origin is None or tip is None or parent is None or _same(origin, tip):
        return
    message = (
        f"lies off the tip {_point(tip)} of the parent link {parent.name!r}: "
        "a joint sits on its parent's last node"
    )
    yield Finding(("joint", "origin", "xyz"), list(origin), message)


def _body_on_dh(links: Links, i: int) -> Iterator[Finding]:
    link = links[i]
    if link is None or link.joint.dh is None:
        return
    end = (link.joint.dh.a, 0.0, link.joint.dh.d)
    if (
        link.rigid is not None
        and link.rigid.tip is not None
        and not _same(link.rigid.tip, end)
    ):
        yield Finding(
            ("rigid", "tip"),
            list(link.rigid.tip),
            f"lies off the end {_point(end)} of its DH link",
        )
    if link.fe is not None and not _same(fe_points(link)[-1], end):
        at = _point(fe_points(link)[-1])
        yield Finding(
            ("fe",),
            None,
            f"its tip {at} lies off the end {_point(end)} of its DH link; turn it with rpy",
        )
    if (
        link.beam is not None
        and link.beam.path is not None
        and not _same(link.beam.path[-1], end)
    ):
        yield Finding(
            ("beam", "path"),
            list(link.beam.path[-1]),
            f"ends off the end {_point(end)} of its DH link",
        )


def _beam(links: Links, i: int) -> Iterator[Finding]:
    link = links[i]
    if link is None or link.beam is None:
        return
    path = polyline(links, i)
    if path is None:
        if i + 1 == len(links) or None not in links[i + 1 :]:
            yield Finding(
                ("beam", "path"),
                None,
                "missing: neither a dh row nor the next joint's origin gives the length",
            )
        return
    if is_traced(path):
        return
    if len(path) < 2 or np.linalg.norm(np.diff(path, axis=0), axis=1).min() <= 1e-9:
        yield Finding(
            ("beam",),
            None,
            "the beam has no length: give it one, or make the link rigid",
        )
        return
    yield from _up(links, i, path)


def _up(links: Links, i: int, path: Real) -> Iterator[Finding]:
    link = links[i]
    if link is None or link.beam is None or is_traced(link.beam.up, link.joint.axis):
        return
    segments, up = np.diff(path, axis=0), np.asarray(up_directions(links, i))
    size = np.linalg.norm(segments, axis=1) * np.linalg.norm(up, axis=1)
    along = np.linalg.norm(np.cross(segments, up), axis=1) <= PARALLEL * size
    if along.any():
        message = f"the section's z axis must not lie along the beam, as it does on segment {int(along.argmax()) + 1}"
        yield Finding(("beam", "up"), list(up[along.argmax()].tolist()), message)


def _masses(links: Links, i: int) -> Iterator[Finding]:
    link, count = links[i], node_count(links, i)
    if link is None or count is None:
        return
    for k, entry in enumerate(link.masses):
        if entry.node != "tip" and int(entry.node) >= count:
            message = f'link {link.name!r} has nodes 0 to {count - 1} (or "tip")'
            yield Finding(("masses", k, "node"), entry.node, message)


def _same(a: Any, b: Any) -> bool:
    return is_traced(a, b) or bool(
        np.abs(np.asarray(a, float) - np.asarray(b, float)).max() <= ON_TIP
    )


def _point(point: Any) -> str:
    return (
        "["
        + ", ".join("(traced)" if is_traced(x) else f"{float(x):.6g}" for x in point)
        + "]"
    )
