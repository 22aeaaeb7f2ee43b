"""What can be wrong with loops before any geometry is solved: names, points, axes."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .chain import Links, link_tip, polyline
from .chain_checks import ON_TIP
from .errors import nearest
from .loop import Loop
from .part import Finding
from .planar_checks import IN_PLANE
from .quantity import is_traced

GROUND = "ground"


def loop_findings(
    entries: Mapping[str, Any], links: Links, names: list[Any]
) -> list[Finding]:
    """Everything that is wrong with `loops`, `independent` and `assembly`; entries may be half-valid."""
    loops = entries.get("loops") or ()
    found: list[Finding] = []
    for k, loop in enumerate(loops if isinstance(loops, list | tuple) else ()):
        if isinstance(loop, Loop):
            found += [
                Finding(("loops", k, *f.loc), f.value, f.message)
                for f in _loop(loop, entries, links, names)
            ]
    moving = [link.name for link in links if link is not None and link.joint.moves]
    if None not in links:
        found += _joints(entries, moving, bool(loops))
    return found


def _loop(
    loop: Loop, entries: Mapping[str, Any], links: Links, names: list[Any]
) -> Iterator[Finding]:
    for key in ("link", "to"):
        name = getattr(loop, key)
        if name not in names and not (key == "to" and name == GROUND):
            known = [*names, GROUND] if key == "to" else names
            yield Finding(
                (key,),
                name,
                f"no link is called {name!r}{nearest(name, known) or '.'} {_known(names)}",
            )
            return
    if loop.to == loop.link:
        yield Finding(
            ("to",),
            loop.to,
            "a link cannot close a loop with itself: name another link, or ground",
        )
        return
    if loop.to != GROUND:
        yield from _point(loop, links, names)
    if entries.get("planar") is True:
        yield from _in_plane(loop)


def _known(names: list[Any]) -> str:
    return f"Links: {', '.join(str(name) for name in names)}"


def _point(loop: Loop, links: Links, names: list[Any]) -> Iterator[Finding]:
    """A point of a beam must be one of its nodes; a rigid link is held anywhere."""
    i = names.index(loop.to)
    link, path = links[i], polyline(links, i)
    if link is not None and link.fe is not None:
        tip = link_tip(links, i)
        if (
            tip is not None
            and not is_traced(tip, loop.at)
            and np.abs(tip - np.asarray(loop.at)).max() > ON_TIP
        ):
            shown = ", ".join(f"{float(x):.6g}" for x in tip)
            yield Finding(
                ("at",),
                list(loop.at),
                f"lies off the tip [{shown}] of link {loop.to!r}",
            )
        return
    if link is None or link.beam is None or path is None or is_traced(path, loop.at):
        return
    nodes = beam_nodes(path, link.beam.elements)
    if np.linalg.norm(nodes - np.asarray(loop.at), axis=1).min() > ON_TIP:
        shown = ", ".join(
            f"{loop.to}/{k} at [{', '.join(f'{x:.6g}' for x in node)}]"
            for k, node in enumerate(nodes)
        )
        yield Finding(
            ("at",), list(loop.at), f"lies on no node of link {loop.to!r}: {shown}"
        )


def beam_nodes(path: Any, elements: int) -> np.ndarray:
    """Nodes of a beam: each straight segment in equal elements."""
    path = np.asarray(path, dtype=float)
    steps = np.arange(elements) / elements
    inner = path[:-1, None] + np.diff(path, axis=0)[:, None] * steps[None, :, None]
    return np.concatenate([inner.reshape(-1, 3), path[-1:]])


def _in_plane(loop: Loop) -> Iterator[Finding]:
    if is_traced(loop.axis, loop.rpy):
        return
    axis = np.asarray(loop.axis) / np.linalg.norm(loop.axis)
    if loop.type == "revolute" and np.hypot(axis[0], axis[1]) > IN_PLANE:
        yield Finding(
            ("axis",),
            list(loop.axis),
            "a closing revolute joint of a planar robot turns about z: [0, 0, 1]",
        )
    if loop.type == "prismatic" and abs(axis[2]) > IN_PLANE:
        yield Finding(
            ("axis",),
            list(loop.axis),
            "a closing prismatic joint of a planar robot slides in the x-y plane",
        )
    if max(abs(loop.rpy[0]), abs(loop.rpy[1])) > IN_PLANE:
        yield Finding(
            ("rpy",),
            list(loop.rpy),
            "a planar robot turns about z alone: roll and pitch must be 0",
        )


def _joints(
    entries: Mapping[str, Any], moving: list[str], closed: bool
) -> Iterator[Finding]:
    for key in ("independent", "assembly"):
        given = entries.get(key)
        if given is None:
            continue
        if not closed:
            yield Finding(
                (key,), None, "belongs to a closed chain: this robot has no loops"
            )
            continue
        for joint in given if isinstance(given, list | tuple | Mapping) else ():
            if joint not in moving:
                message = (
                    f"no moving joint is called {joint!r}{nearest(joint, moving) or '.'} "
                    f"Joints: {', '.join(moving)}"
                )
                yield Finding(
                    (key,) if key == "independent" else (key, joint), joint, message
                )


def seat_of(links: Links, names: list[str], loop: Loop) -> tuple[int, int | None]:
    """Link that holds a closing joint (-1 for the ground) and the node it sits on, None on a rigid link."""
    if loop.to == GROUND:
        return -1, None
    i = names.index(loop.to)
    link, path = links[i], polyline(links, i)
    if link is not None and link.fe is not None:
        return i, -1
    if link is None or link.beam is None or path is None:
        return i, None
    if is_traced(path, loop.at):  # coordinates are not known here: loops end at tips
        return i, -1
    nodes = beam_nodes(path, link.beam.elements)
    return i, int(np.argmin(np.linalg.norm(nodes - np.asarray(loop.at), axis=1)))
