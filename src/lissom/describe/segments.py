"""Links in several bodies: every straight piece of a beam's path in equal segments, finite rotation between them.

A robot file knows links; a model of large deflections is made of bodies, held together by fixed joints. `in_bodies`
writes the second robot for the first, and the other functions say which body belongs to which link: all that is named
by a user (links, joints, nodes, loads) keeps the names of the first.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..types import Vector3, namespace
from .joint import DH, Joint
from .link import Link, LumpedMass
from .link_geometry import polyline, up_directions
from .loop import Loop
from .loop_checks import seat_of
from .robot import Robot
from .section import Taper, section_at

# Between the name of a link and the number of its body, from the second body on: no name of a link holds it.
SEPARATOR = ":"


class LinkSegment(NamedTuple):
    """One body of a link: a straight beam from `start`, in axes parallel to those of the link."""

    start: Vector3  # in the link frame [m]
    along: Vector3  # to its end [m]
    piece: int  # straight piece of the path on which it lies
    shares: tuple[Any, Any]  # of the whole path, before it and with it


def is_segmented(link: Link) -> bool:
    """True if the link is made of several bodies."""
    return link.beam is not None and link.beam.segments is not None


def body_counts(robot: Robot) -> tuple[int, ...]:
    """Number of bodies of each link."""
    return tuple(_body_count(robot.links, i) for i in range(len(robot.links)))


def first_bodies(robot: Robot) -> tuple[int, ...]:
    """Number of the first body of each link: the one that sits on its joint."""
    firsts = []
    start = 0
    for count in body_counts(robot):
        firsts.append(start)
        start += count
    return tuple(firsts)


def links_of_bodies(robot: Robot) -> tuple[int, ...]:
    """Number of the link that each body belongs to."""
    numbers: list[int] = []
    for i, count in enumerate(body_counts(robot)):
        numbers += [i] * count
    return tuple(numbers)


def body_of_node(robot: Robot, i: int, k: int) -> tuple[int, int]:
    """Number of the body that carries node k of link i, and the node's number there.

    A node between two bodies is the tip of the inner one.
    """
    segment, node = _in_segment(robot.links[i], k)
    return first_bodies(robot)[i] + segment, node


def body_of_element(robot: Robot, i: int, element: int) -> tuple[int, int]:
    """Number of the body that element number `element` of link i lies in, and its number there."""
    segment, node = _in_segment(robot.links[i], element + 1)
    return first_bodies(robot)[i] + segment, node - 1


def in_bodies(robot: Robot) -> Robot:
    """The robot whose links are the bodies of this one: `upper`, `upper:2`, ...; itself where no link is segmented."""
    if not any(is_segmented(link) for link in robot.links):
        return robot
    links: list[Link] = []
    for i, link in enumerate(robot.links):
        carried = _on_last_body(robot, link)
        if is_segmented(link):
            links += _bodies(robot.links, i, carried)
        else:
            links.append(carried)
    loops = tuple(_loop_between_bodies(robot, loop) for loop in robot.loops)
    return robot.model_copy(update={"links": tuple(links), "loops": loops})


def _body_count(links: Sequence[Link], i: int) -> int:
    if not is_segmented(links[i]):
        return 1
    return len(_segments(links, i))


def _in_segment(link: Link, k: int) -> tuple[int, int]:
    """Number of the segment that carries node k of a link, and the node's number there."""
    if not is_segmented(link) or k == 0:
        return 0, k
    beam: Any = link.beam
    elements = beam.elements // beam.segments
    segment = (k - 1) // elements
    return segment, k - segment * elements


def _segments(links: Sequence[Link], i: int) -> list[LinkSegment]:
    beam: Any = links[i].beam
    path = polyline(links, i)
    assert path is not None
    xp = namespace(path)
    pieces = path[1:] - path[:-1]
    lengths = xp.sqrt(xp.sum(pieces**2, axis=1))
    part = lengths / xp.sum(lengths) / beam.segments
    found = []
    share = 0.0
    for piece, (start, whole) in enumerate(zip(path[:-1], pieces, strict=True)):
        along = whole / beam.segments
        for k in range(beam.segments):
            shares = (share, share + part[piece])
            found.append(LinkSegment(start + k * along, along, piece, shares))
            share = shares[1]
    return found


def _bodies(links: Sequence[Link], i: int, link: Link) -> list[Link]:
    """The bodies of a link: the first on its joint, the others fixed to the tip of the one before."""
    beam: Any = link.beam
    segments = _segments(links, i)
    up = up_directions(links, i)
    elements = beam.elements // beam.segments
    last = len(segments) - 1
    bodies = []
    for k, segment in enumerate(segments):
        own = beam.model_copy(
            update={
                "path": _path(segment),
                "section": _section(beam.section, segment),
                "up": up[segment.piece],
                "elements": elements,
                "segments": None,
            }
        )
        entries = {
            "name": _body_name(link.name, k),
            "joint": _joint(link.joint, is_first=k == 0, is_last=k == last),
            "beam": own,
            "masses": _masses(link, k, last),
        }
        if k > 0:
            entries["parent"] = None
        bodies.append(link.model_copy(update=entries))
    return bodies


def _path(segment: LinkSegment) -> Any:
    xp = namespace(segment.along)
    return xp.stack([xp.zeros(3), segment.along])


def _section(section: Any, segment: LinkSegment) -> Any:
    """Section of a segment: of a taper, the part that lies on the segment."""
    if not isinstance(section, Taper):
        return section
    before, after = segment.shares
    ends = {"start": section_at(section, before), "end": section_at(section, after)}
    return section.model_copy(update=ends)


def _joint(joint: Joint, *, is_first: bool, is_last: bool) -> Joint:
    """The link's joint under its first body, fixed ones under the others; the last hands on the twist of a DH row."""
    twist = 0.0 if joint.dh is None or not is_last else joint.dh.alpha
    if not is_first:
        return Joint(type="fixed", dh=DH(alpha=twist))
    if joint.dh is None:
        return joint
    row = joint.dh.model_copy(update={"alpha": twist})
    return joint.model_copy(update={"dh": row})


def _masses(link: Link, body: int, last: int) -> tuple[LumpedMass, ...]:
    """Lumped masses of a link that one of its bodies carries."""
    own = []
    for lump in link.masses:
        if isinstance(lump.node, str):
            segment, node = last, lump.node
        else:
            segment, node = _in_segment(link, lump.node)
        if segment == body:
            own.append(lump.model_copy(update={"node": node}))
    return tuple(own)


def _body_name(link: str, body: int) -> str:
    return link if body == 0 else f"{link}{SEPARATOR}{body + 1}"


def _last_body_name(robot: Robot, name: str) -> str:
    """The body that carries what sits on the tip of a link; other names, such as ground, stay what they are."""
    if name not in robot.link_names:
        return name
    i = robot.link_names.index(name)
    return _body_name(name, _body_count(robot.links, i) - 1)


def _on_last_body(robot: Robot, link: Link) -> Link:
    """A link that names its parent, carried by the last body of that link."""
    if link.parent is None:
        return link
    return link.model_copy(update={"parent": _last_body_name(robot, link.parent)})


def _loop_between_bodies(robot: Robot, loop: Loop) -> Loop:
    """A loop from the last body of its link to the body that holds its closing joint."""
    entries: dict[str, Any] = {"link": _last_body_name(robot, loop.link)}
    i, node = seat_of(robot.links, robot.link_names, loop)
    if i >= 0 and node is not None and is_segmented(robot.links[i]):
        segments = _segments(robot.links, i)
        held = len(segments) - 1
        if node >= 0:
            held, _ = _in_segment(robot.links[i], node)
        xp = namespace(loop.at, segments[held].start)
        entries["to"] = _body_name(loop.to, held)
        entries["at"] = xp.asarray(loop.at, dtype=float) - segments[held].start
    return loop.model_copy(update=entries)
