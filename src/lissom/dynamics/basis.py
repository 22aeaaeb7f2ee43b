"""Shapes in which the links of a robot deform, by name."""

from collections.abc import Callable
from typing import Any

from ..bodies.assumed import assumed_modes_body, modes_per_link
from ..bodies.body import Body, measured_from_inner_node
from ..bodies.build import body_of
from ..describe.robot import Robot

DEFAULT_BASIS = "assumed"
BASES: dict[str, Callable[[Robot, int, Any], Body]] = {
    "assumed": assumed_modes_body,
    "nodal": lambda robot, i, _: measured_from_inner_node(body_of(robot, i)),
}


def link_bodies(robot: Robot, basis: str | None = None, modes: Any = None) -> list[Body]:
    """Bodies of all links in a basis of `BASES`, each clamped at its inner node.

    Args:
        robot: its description.
        basis: `assumed` (default), modes of the clamped links, or `nodal`, every nodal displacement.
        modes: kept elastic modes, one number or one for each link; 12 by default.
    """
    shaped = BASES[basis or DEFAULT_BASIS]
    return [shaped(robot, i, kept) for i, kept in enumerate(modes_per_link(robot, modes))]
