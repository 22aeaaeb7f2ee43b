"""Shapes in which the links of a robot deform, by name."""

from collections.abc import Callable
from typing import Any

from ..bodies.body import Body, measured_from_inner_node
from ..bodies.build import body_of
from ..bodies.clamped import clamped_modes
from ..describe.robot import Robot

MODES = 12  # kept elastic modes of a link, unless a scenario says otherwise


def link_bodies(robot: Robot, basis: str | None = None, modes: Any = None) -> list[Body]:
    """Bodies of all links in a basis of `BASES`, each clamped at its inner node.

    Args:
        robot: its description.
        basis: name of the basis; the first of `BASES` by default.
        modes: kept elastic modes, one number or one for each link; 12 by default, or all if there are fewer.
    """
    shaped = BASES[basis or DEFAULT_BASIS]
    return [shaped(body_of(robot, i), modes_of_link(modes, i)) for i in range(len(robot.links))]


def modes_of_link(modes: Any, i: int) -> int:
    """Kept elastic modes of link i."""
    if modes is None:
        return MODES
    return modes if isinstance(modes, int) else modes[i]


BASES: dict[str, Callable[[Body, int], Body]] = {
    "clamped": clamped_modes,
    "nodal": lambda body, _: measured_from_inner_node(body),
}
DEFAULT_BASIS = "clamped"
