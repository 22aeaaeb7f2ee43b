"""Shapes in which the links of a robot deform, by formulation and by name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..bodies.assumed_modes import assumed_modes_body, modes_per_link
from ..bodies.body import Body, measured_from_inner_node
from ..bodies.link_body import bodies_of
from ..bodies.reduce.reduced_body import Reduction, reduced_body
from ..describe.link import Link
from ..describe.loop_checks import LAST_NODE
from ..describe.modes import ALL, ModeChoice
from ..describe.robot import Robot
from ..describe.segments import in_bodies, links_of_bodies
from ..describe.supported import SUPPORT
from ..files.description_files import build_from
from ..files.errors import DescriptionError, refused

TOO_FAR_APART = (
    "its modes cannot be computed: its masses or stiffnesses, with what it carries, are further apart than the 16 "
    "digits of a number: check density, E, section and masses, or make the link rigid"
)


class ModelOptions(NamedTuple):
    """Options of a model, from a scenario or a call of `Model`; a formulation uses those that concern it."""

    # Kept elastic modes: a number, `all`, how they are chosen, or one of these for each link.
    modes: Any = None
    reference: Any = None  # `tangent`, `minimum-norm` or `{"zeroed": [...]}`; None for the formulation's own
    terms: str = "consistent"  # or `published`
    basis: str | None = None  # one of `BASES`; None for the formulation's own
    stiffening: str = "none"  # or `geometric`


def craig_bampton(robot: Robot, i: int, bodies: Sequence[Body], modes: Any) -> Body:
    """Link i reduced to its lowest modes, Craig-Bampton's unless a `Reduction` says otherwise."""
    return reduced_body(bodies[i], modes)


def nodal(robot: Robot, i: int, bodies: Sequence[Body], modes: Any) -> Body:
    """Link i with the displacements of all its nodes.

    Raises:
        ValueError: some of these displacements move no mass.
    """
    link = robot.links[i]
    if link.beam is not None and link.beam.mass == "lumped-points":
        raise ValueError(
            f"links.{link.name}.beam.mass: lumped-points leaves the rotations of nodes without mass, and a nodal basis "
            "moves every one of them: use lumped or consistent, or basis: craig-bampton (nonlinear, erls-cms)"
        )
    return measured_from_inner_node(bodies[i])


# From the description, the number of a link, the unreduced bodies of all links, and the modes to keep.
BASES: dict[str, Callable[[Robot, int, Sequence[Body], Any], Body]] = {
    "assumed": assumed_modes_body,
    "craig-bampton": craig_bampton,
    "nodal": nodal,
}


def link_bodies(
    robot: Robot, formulation: str, choices: ModelOptions
) -> tuple[Body, ...]:
    """Bodies of all links in the coordinates of a formulation, each clamped at its inner node.

    Args:
        robot: its description.
        formulation: its name; its support says which shapes it takes unless one of `BASES` is chosen.
        choices: basis and kept elastic modes (12 for each link by default).

    Raises:
        DescriptionError: the numbers of a link are too far apart for its modes.
    """
    basis = choices.basis or SUPPORT[formulation].default_basis
    reductions: Sequence[Any] = [None] * len(robot.links)
    if basis == "craig-bampton":
        reductions = reductions_of(robot, choices.modes)
    elif basis == "assumed":
        reductions = modes_per_link(robot, choices.modes)
    # What is chosen for a link holds for each of its bodies.
    reductions = [reductions[i] for i in links_of_bodies(robot)]
    pieces = in_bodies(robot)
    bodies = bodies_of(pieces)
    shaped = []
    for i, modes in enumerate(reductions):
        try:
            shaped.append(BASES[basis](pieces, i, bodies, modes))
        except np.linalg.LinAlgError:
            link = robot.links[links_of_bodies(robot)[i]]
            raise _without_modes(link, formulation) from None
    return tuple(shaped)


def _without_modes(link: Link, formulation: str) -> DescriptionError:
    """A link whose matrices have no modes."""
    if link.beam is None or link.beam.mass != "lumped-points":
        return refused(f"links.{link.name}", None, TOO_FAR_APART)
    message = (
        f"lumped-points leaves the rotations of nodes without mass, which {formulation} needs: "
        "use lumped or consistent, or the formulations nonlinear or dual-screw"
    )
    return refused(f"links.{link.name}.beam.mass", link.beam.mass, message)


def reductions_of(robot: Robot, modes: Any) -> list[Reduction]:
    """Reduction of each link, from the modes of a scenario or a call."""
    count = len(robot.links)
    entries = (
        list(modes)
        if isinstance(modes, list | tuple) and not isinstance(modes, Reduction)
        else [modes] * count
    )
    if len(entries) != count:
        names = ", ".join(robot.link_names)
        raise ValueError(
            f"modes must have one entry for each of the {count} links ({names}), got {len(entries)}"
        )
    return [reduction_of(entry) for entry in entries]


def reduction_of(entry: Any) -> Reduction:
    """Reduction of one link, from a `Reduction`, a number of modes, `all`, or a mapping as in a scenario.

    Raises:
        ValueError: none of these.
    """
    if isinstance(entry, Reduction):
        return entry
    if entry is None:
        return Reduction()
    if entry == ALL:
        return Reduction(None)
    if isinstance(entry, Mapping):
        entry = build_from(ModeChoice, entry)
    if isinstance(entry, ModeChoice):
        return _chosen_reduction(entry)
    if isinstance(entry, bool) or not isinstance(entry, int | np.integer) or entry < 0:
        raise ValueError(
            f"modes must be a whole number of elastic modes, 0 for a rigid link, or all, got {entry!r}"
        )
    return Reduction(int(entry))


def _chosen_reduction(choice: ModeChoice) -> Reduction:
    nodes = [LAST_NODE if node == "tip" else node for node in choice.interface]
    return Reduction(
        modes=None if choice.count == ALL else int(choice.count),
        method=choice.method,
        interface=tuple(int(node) for node in nodes),
        normal=choice.normal,
        below_hz=choice.below,
        ranking=choice.ranking,
    )
