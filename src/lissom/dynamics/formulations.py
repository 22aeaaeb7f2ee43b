"""The formulations by name: how each is built from a robot, and the one way to add another.

Each is imported by the function that builds it: a run has one of them, and all take 40 ms to import.
"""

import dataclasses
from collections.abc import Callable

from ..bodies.body import Body
from ..bodies.link_body import body_of
from ..describe.robot import Robot
from ..describe.segments import in_bodies
from ..describe.stiffening_checks import check_stiffening
from ..describe.supported import (
    SUPPORT,
    Support,
    check_structure,
    check_terms,
    register,
)
from ..kinematics.references import Tangent
from ..kinematics.robot_mechanism import seats_of
from .basis import ModelOptions, link_bodies
from .engine import VirtualWork
from .formulation import AbstractFormulation
from .links import Links, stack_links
from .robot_parts import elastic_seats, erls_reference, links_of, parts_of

Bodies = tuple[Body, ...]
Builder = Callable[[Robot, Bodies, ModelOptions], AbstractFormulation]
FORMULATIONS: dict[str, Builder] = {}


def register_formulation(support: Support, builder: Builder) -> None:
    """Offer a formulation under the name of its support; `builder(robot, bodies, choices)` makes it."""
    register(support)
    FORMULATIONS[support.name] = builder


def formulation_of(
    robot: Robot,
    name: str,
    choices: ModelOptions = ModelOptions(),  # noqa: B008 (immutable)
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
    check_terms(choices.terms, robot)
    if choices.stiffening == "geometric":
        check_stiffening(robot)
    if bodies is None:
        bodies = link_bodies(robot, name, choices)
    return FORMULATIONS[name](in_bodies(robot), bodies, choices)


def erls_fem(
    robot: Robot, bodies: Bodies, choices: ModelOptions
) -> AbstractFormulation:
    """The robot in the formulation of [Boscariol2012]: every nodal displacement is a coordinate."""
    if choices.terms == "published-planar":
        return planar_erls(robot, bodies, choices)
    is_complete = choices.terms != "published"
    equations = VirtualWork() if is_complete else _boscariol_work()
    support = SUPPORT["erls-fem"]
    links = links_of(bodies, choices, carried=True)
    return _erls(robot, bodies, links, choices, support, equations, is_complete)


def _boscariol_work(**options: bool) -> VirtualWork:
    from .published_terms import BoscariolTerms

    return VirtualWork(BoscariolTerms(**options))


def planar_erls(
    robot: Robot, bodies: Bodies, choices: ModelOptions
) -> AbstractFormulation:
    """A planar robot in the model of [Boscariol2017] and [Palomba2019]: nodal displacements along world axes."""
    from .world_axes import WorldAxes

    support = SUPPORT["erls-fem"]
    links = links_of(bodies, choices)
    reference = choices.reference or support.default_reference
    return WorldAxes(
        **parts_of(robot, bodies, links),
        reference=erls_reference(robot, links, reference),
        equations=_boscariol_work(centrifugal=False),
        support=support,
        seat=seats_of(robot, links.node_shape),
    )


def erls_cms(
    robot: Robot, bodies: Bodies, choices: ModelOptions
) -> AbstractFormulation:
    """The robot in the formulation of [Vidoni2015]: every link by its rigid motion and a few elastic modes.

    `published` terms have the nodal constants of App. D in place of integrals of the displacement field.
    """
    support = SUPPORT["erls-cms"]
    if choices.terms != "published":
        links = links_of(bodies, choices, carried=True)
        return _erls(robot, bodies, links, choices, support, VirtualWork())
    from .published_modes import nodal_constants
    from .published_terms import VidoniTerms

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


def _erls(
    robot: Robot,
    bodies: Bodies,
    links: Links,
    choices: ModelOptions,
    support: Support,
    equations: VirtualWork,
    complete: bool = True,
) -> AbstractFormulation:
    """The robot with these bodies as its links; not `complete` leaves out what [Boscariol2012] does."""
    from .erls import Erls

    reference = choices.reference or support.default_reference
    return Erls(
        **parts_of(robot, bodies, links),
        reference=erls_reference(robot, links, reference),
        equations=equations,
        support=support,
        seat=seats_of(robot, links.node_shape),
        complete=complete,
    )


def nonlinear(
    robot: Robot, bodies: Bodies, choices: ModelOptions
) -> AbstractFormulation:
    """The robot with every link on the deformed tip of the link before it."""
    from .nonlinear import Nonlinear

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


def dual_screw(
    robot: Robot, bodies: Bodies, choices: ModelOptions
) -> AbstractFormulation:
    """The robot in the formulation of [Cibicik2021]: screws of first order in the elastic coordinates.

    Terms are `consistent`, the complete virtual work of these screws, or `published`, every product cut to first order
    in elastic coordinates and speeds.
    """
    support = SUPPORT["dual-screw"]
    parts = parts_of(robot, bodies, links_of(bodies, choices))
    if choices.terms != "published":
        from .dual_screw import DualScrew

        return DualScrew(**parts, equations=VirtualWork(), support=support)
    from .erls import Erls
    from .truncated import TruncatedScrews, modal_links

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
