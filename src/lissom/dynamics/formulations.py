"""The formulations by name: how each is built from a robot, and the one way to add another."""

import dataclasses
from collections.abc import Callable

from ..bodies.body import Body
from ..bodies.link_body import body_of
from ..describe.robot import Robot
from ..describe.supported import SUPPORT, Support, check_structure, register
from ..kinematics.references import Tangent
from ..kinematics.robot_mechanism import seats_of
from .basis import Choices, link_bodies
from .dual_screw import DualScrew
from .engine import VirtualWork
from .erls import Erls
from .formulation import AbstractFormulation
from .links import Links, stack_links
from .nonlinear import Nonlinear
from .published_modes import nodal_constants
from .published_terms import BoscariolTerms, VidoniTerms
from .robot_parts import (
    check_turned,
    elastic_seats,
    links_of,
    parts_of,
    reference_of,
    turned_links,
)
from .truncated import TruncatedScrews, modal_links

Bodies = tuple[Body, ...]
Builder = Callable[[Robot, Bodies, Choices], AbstractFormulation]
FORMULATIONS: dict[str, Builder] = {}


def register_formulation(support: Support, builder: Builder) -> None:
    """Offer a formulation under the name of its support; `builder(robot, bodies, choices)` makes it."""
    register(support)
    FORMULATIONS[support.name] = builder


def formulation_of(
    robot: Robot,
    name: str,
    choices: Choices = Choices(),  # noqa: B008 (immutable)
    bodies: Bodies | None = None,
) -> AbstractFormulation:
    """The robot in the formulation of that name.

    Args:
        robot: its description.
        name: one of `FORMULATIONS`.
        choices: modes, reference, terms, basis and stiffening.
        bodies: of its links, where they are already there (`basis.link_bodies`).
    """
    check_structure(SUPPORT[name], robot)
    if bodies is None:
        bodies = link_bodies(robot, name, choices)
    return FORMULATIONS[name](robot, bodies, choices)


def erls_fem(robot: Robot, bodies: Bodies, choices: Choices) -> Erls:
    """The robot in the formulation of [Boscariol2012]: every nodal displacement is a coordinate."""
    for link in robot.links:
        if link.beam is not None and link.beam.mass == "lumped-points":
            raise ValueError(
                f"links.{link.name}.beam.mass: lumped-points leaves the rotations of nodes without mass, and erls-fem "
                "moves every one of them: use lumped or consistent, or the formulation erls-cms"
            )
    is_complete = choices.terms != "published"
    equations = VirtualWork() if is_complete else VirtualWork(BoscariolTerms())
    support = SUPPORT["erls-fem"]
    links = _erls_links(robot, bodies, choices, support)
    return _erls(robot, bodies, links, choices, support, equations, is_complete)


def erls_cms(robot: Robot, bodies: Bodies, choices: Choices) -> Erls:
    """The robot in the formulation of [Vidoni2015]: every link by its rigid motion and a few elastic modes.

    `published` terms have the nodal constants of App. D in place of integrals of the displacement field.
    """
    support = SUPPORT["erls-cms"]
    if choices.terms != "published":
        links = _erls_links(robot, bodies, choices, support)
        return _erls(robot, bodies, links, choices, support, VirtualWork())
    # The nodal mass matrix has all dofs, those out of the plane too.
    spatial = robot.model_copy(update={"planar": False})
    inertias, cubic = [], []
    for i, body in enumerate(bodies):
        inertia, W = nodal_constants(body_of(spatial, i), body)
        inertias.append(inertia)
        cubic.append(W)
    links = stack_links(bodies, inertias, cubic)
    equations = VirtualWork(VidoniTerms())
    return _erls(robot, bodies, links, choices, support, equations)


def _erls_links(
    robot: Robot, bodies: Bodies, choices: Choices, support: Support
) -> Links:
    """The bodies stacked, those that the ERLS turns with axes that lean."""
    if choices.stiffening == "none":
        return links_of(bodies, choices)
    reference = choices.reference or support.default_reference
    turned = turned_links(robot, bodies, reference)
    check_turned(robot, turned, support.name)
    return links_of(bodies, choices, turned)


def _erls(
    robot: Robot,
    bodies: Bodies,
    links: Links,
    choices: Choices,
    support: Support,
    equations: VirtualWork,
    complete: bool = True,
) -> Erls:
    """The robot with these bodies as its links; not `complete` leaves out what [Boscariol2012] does."""
    reference = choices.reference or support.default_reference
    return Erls(
        **parts_of(robot, bodies, links),
        reference=reference_of(robot, links, reference),
        equations=equations,
        support=support,
        seat=seats_of(robot, links.node_shape),
        complete=complete,
    )


def nonlinear(robot: Robot, bodies: Bodies, choices: Choices) -> Nonlinear:
    """The robot with every link on the deformed tip of the link before it."""
    links = links_of(bodies, choices)
    parts = parts_of(robot, bodies, links)
    seats = elastic_seats(robot, parts["mechanism"], links)
    parts["mechanism"] = parts["mechanism"].on_seats(seats)
    return Nonlinear(
        **parts,
        seats=seats,
        equations=VirtualWork(),
        support=SUPPORT["nonlinear"],
    )


def dual_screw(robot: Robot, bodies: Bodies, choices: Choices) -> DualScrew | Erls:
    """The robot in the formulation of [Cibicik2021]: screws of first order in the elastic coordinates.

    Terms are `consistent`, the complete virtual work of these screws, or `published`, every product cut to first order
    in elastic coordinates and speeds.
    """
    support = SUPPORT["dual-screw"]
    parts = parts_of(robot, bodies, links_of(bodies, choices))
    if choices.terms != "published":
        return DualScrew(**parts, equations=VirtualWork(), support=support)
    return Erls(
        **parts,
        reference=Tangent(),
        equations=TruncatedScrews(
            modal_links(parts["links"], len(parts["elastic_names"]))
        ),
        # Nodes are placed to first order, as everything else.
        support=dataclasses.replace(support, finite_rotations=False),
    )


register_formulation(SUPPORT["erls-fem"], erls_fem)
register_formulation(SUPPORT["erls-cms"], erls_cms)
register_formulation(SUPPORT["dual-screw"], dual_screw)
register_formulation(SUPPORT["nonlinear"], nonlinear)
