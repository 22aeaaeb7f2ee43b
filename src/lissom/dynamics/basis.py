"""Shapes in which the links of a robot deform, by formulation and by name."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ..bodies.assumed import assumed_modes_body, modes_per_link
from ..bodies.body import Body, measured_from_inner_node
from ..bodies.build import body_of
from ..describe.robot import Robot


class Choices(NamedTuple):
    """What a scenario or a call of `Model` chooses; each formulation takes what concerns it."""

    modes: Any = None  # kept elastic modes: one number, or one for each link
    reference: Any = None  # `tangent`, `minimum-norm` or `{"zeroed": [...]}`; None for the formulation's own
    terms: str = "consistent"  # or `published`
    basis: str | None = None  # one of `BASES`; None for the formulation's own
    stiffening: str = "none"  # or `geometric`


BASES: dict[str, Callable[[Robot, int, Any], Body]] = {
    "assumed": assumed_modes_body,
    "nodal": lambda robot, i, _: measured_from_inner_node(body_of(robot, i)),
}
OWN_BASIS = {"erls-fem": "nodal", "dual-screw": "assumed", "nonlinear": "assumed"}


def link_bodies(robot: Robot, formulation: str, choices: Choices) -> tuple[Body, ...]:
    """Bodies of all links in the coordinates of a formulation, each clamped at its inner node.

    Args:
        robot: its description.
        formulation: its name; `OWN_BASIS` says which shapes it takes unless one of `BASES` is chosen.
        choices: basis and kept elastic modes (12 for each link by default).
    """
    shaped = BASES[choices.basis or OWN_BASIS[formulation]]
    return tuple(shaped(robot, i, kept) for i, kept in enumerate(modes_per_link(robot, choices.modes)))
