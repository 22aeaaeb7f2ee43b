"""A robot in one table: its links, their joints and bodies."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from ..files.quantity import is_jax_value
from ..files.summary import Summary, count, number, numbers
from .link import Beam, Link, Payload
from .link_geometry import link_length, parent_of
from .section import section_text

COLUMNS = ("link", "carried by", "joint", "body", "length [m]")
GIGAPASCAL = 1e9


def robot_summary(robot: Any) -> Summary:
    """Links, joints and bodies of a robot, its gravity and payload."""
    links = robot.links
    moving = sum(link.joint.moves for link in links)
    bending = sum(link.flexible for link in links)
    size = f"{count(len(links), 'link')} ({bending} flexible), {count(moving, 'joint')}"
    kind = ", planar" if robot.planar else ""
    return Summary(
        f"Robot {robot.name}: {size}{kind}",
        tuple(_facts(robot)),
        COLUMNS,
        tuple(_row(links, i) for i in range(len(links))),
    )


def _facts(robot: Any):
    yield "gravity", f"{numbers(robot.gravity)} m/s^2"
    if robot.damping is not None:
        yield "damping", _damping(robot.damping)
    if robot.payload is not None:
        yield "payload", _payload(robot.payload)
    if robot.loops:
        yield "closed chain", count(len(robot.loops), "loop")


def _damping(damping: Any) -> str:
    if damping.ratio is not None:
        return f"ratio {number(damping.ratio)} of every mode"
    return f"alpha {number(damping.alpha)} 1/s, beta {number(damping.beta)} s"


def _payload(payload: Payload) -> str:
    return f"{number(payload.mass)} kg at the tip"


def _row(links: Sequence[Link], i: int) -> tuple[str, ...]:
    link = links[i]
    parent = parent_of(links, i)
    carrier = "ground"
    if parent is not None and parent >= 0:
        carrier = links[parent].name
    return (link.name, carrier, _joint(link), _body(link), _length(links, i))


def _joint(link: Link) -> str:
    joint = link.joint
    if joint.follows is not None:
        rule = joint.follows
        offset = "" if rule.offset == 0.0 else f" + {number(rule.offset)}"
        return f"{joint.type}, {number(rule.ratio)} {rule.joint}{offset}"
    passive = joint.moves and not joint.actuated
    return f"{joint.type}, passive" if passive else joint.type


def _body(link: Link) -> str:
    if link.beam is not None:
        return _beam(link.beam)
    if link.rigid is not None:
        return f"rigid, {number(link.rigid.mass)} kg"
    assert link.fe is not None
    return f"finite elements, {PurePath(link.fe.file).name}"


def _beam(beam: Beam) -> str:
    E = beam.material.E
    stiffness = "traced" if is_jax_value(E) else number(E / GIGAPASCAL)
    elements = count(beam.elements, "element")
    return f"beam, {section_text(beam.section)}, E {stiffness} GPa, {elements}"


def _length(links: Sequence[Link], i: int) -> str:
    length = link_length(links, i)
    return "traced" if length is None else number(length)
