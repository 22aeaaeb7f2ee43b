"""From the description of a robot to its formulation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..bodies.body import Body, measured_from_inner_node
from ..bodies.build import body_of
from ..bodies.integrals import inertia_integrals
from ..bodies.reduce.body import MODES, Reduction, reduced_body
from ..describe.outline import DOFS
from ..describe.robot import Robot
from ..kinematics.build import chain_of
from ..kinematics.compatibility import AbstractReference, MinimumNorm, Tangent, Zeroed
from ..types import namespace
from .basis import link_bodies
from .erls import Erls
from .formulation import AbstractFormulation, Joints
from .links import Links, stack_links
from .nonlinear import Nonlinear
from .published_modes import nodal_constants


class Choices(NamedTuple):
    """What a scenario or a call of `Model` chooses; each formulation takes what concerns it."""

    modes: Any = None  # kept elastic modes: one number, or one for each link
    reference: Any = None  # `tangent`, `minimum-norm` or `{"zeroed": [...]}`; None for the formulation's own
    terms: str = "consistent"  # or `published`
    basis: str | None = None  # shapes of the links, see `basis.BASES`; None for the formulation's own


def formulation_of(robot: Robot, name: str, choices: Choices) -> AbstractFormulation:
    """The robot in the formulation of that name."""
    return BUILDERS[name](robot, choices)


def erls_fem(robot: Robot, reference: Any = None, terms: str = "consistent") -> Erls:
    """The robot in the formulation of [Boscariol2012].

    Args:
        robot: its description.
        reference: `tangent` (default), `minimum-norm` or `{"zeroed": ["link/node.component", ...]}`.
        terms: `consistent`, the complete virtual work, or `published`, as printed in the paper.
    """
    for link in robot.links:
        if link.beam is not None and link.beam.mass == "lumped-points":
            raise ValueError(
                f"links.{link.name}.beam.mass: lumped-points leaves the rotations of nodes without mass, and erls-fem "
                "moves every one of them: use lumped or consistent, or the formulation erls-cms"
            )
    bodies = nodal_bodies(robot)
    links = stack_links(bodies, [inertia_integrals(body) for body in bodies])
    return _erls(robot, bodies, links, reference, terms == "published")


def erls_cms(robot: Robot, modes: Any = None, reference: Any = None, terms: str = "consistent") -> Erls:
    """The robot in the formulation of [Vidoni2015]: every link by its rigid motion and a few elastic modes.

    Args:
        robot: its description.
        modes: elastic modes of each link, a number or a `Reduction`, one for all links or one for each; default 12, or
            all if there are fewer; 0 is a rigid link. The paper counts the six rigid modes too: its 18 is 12 here.
        reference: `minimum-norm` (default), `tangent` or `{"zeroed": ["link/node.component", ...]}`.
        terms: `consistent`, by integrals of the displacement field, or `published`, by the nodal constants of App. D.
    """
    bodies = reduced_bodies(robot, modes)
    if terms == "published":
        spatial = robot.model_copy(update={"planar": False})  # the nodal mass matrix has all dofs
        nodal = [body_of(spatial, i) for i in range(len(robot.links))]
        inertias, cubic = zip(*map(nodal_constants, nodal, bodies), strict=True)
        links = stack_links(bodies, inertias, cubic)
    else:
        links = stack_links(bodies, [inertia_integrals(body) for body in bodies])
    return _erls(robot, bodies, links, reference or "minimum-norm", False)


def nodal_bodies(robot: Robot) -> list[Body]:
    """The links with every nodal displacement, measured from their inner nodes."""
    return [measured_from_inner_node(body_of(robot, i)) for i in range(len(robot.links))]


def reduced_bodies(robot: Robot, modes: Any) -> list[Body]:
    """The links in component modes."""
    reductions = enumerate(reductions_of(robot, modes))
    return [reduced_body(body_of(robot, i), reduction) for i, reduction in reductions]


def bodies_of(robot: Robot, name: str, choices: Choices) -> tuple[Body, ...]:
    """The links of a robot in the coordinates of a formulation: for section forces and pictures."""
    if name == "erls-fem":
        return tuple(nodal_bodies(robot))
    if name == "erls-cms":
        return tuple(reduced_bodies(robot, choices.modes))
    return tuple(link_bodies(robot, choices.basis, choices.modes))


def reductions_of(robot: Robot, modes: Any) -> list[Reduction]:
    """How each link is reduced, from what a scenario or a call says."""
    count = len(robot.links)
    entries = list(modes) if isinstance(modes, list | tuple) and not isinstance(modes, Reduction) else [modes] * count
    if len(entries) != count:
        names = ", ".join(robot.link_names)
        raise ValueError(f"modes must have one entry for each of the {count} links ({names}), got {len(entries)}")
    return [_reduction_of(entry) for entry in entries]


def _reduction_of(entry: Any) -> Reduction:
    if isinstance(entry, Reduction):
        return entry
    if entry is None:
        return Reduction(MODES)
    if isinstance(entry, bool) or not isinstance(entry, int | np.integer) or entry < 0:
        raise ValueError(f"modes must be a whole number of elastic modes, 0 for a rigid link, got {entry!r}")
    return Reduction(int(entry))


def _erls(robot: Robot, bodies: Sequence[Body], links: Links, reference: Any, published: bool) -> Erls:
    """The robot with these bodies as its links; `published` leaves out what [Boscariol2012] does."""
    xp = namespace(robot.gravity)
    return Erls(
        chain=chain_of(robot),
        links=links,
        joints=joints_of(robot),
        reference=reference_of(robot, links, reference),
        gravity=xp.asarray(robot.gravity, dtype=float),
        published=published,
        elastic_names=elastic_names(robot, bodies),
    )


def nonlinear(robot: Robot, modes: Any = None, basis: str | None = None) -> Nonlinear:
    """The robot with every link on the deformed tip of the link before it.

    Args:
        robot: its description.
        modes: kept elastic modes, one number or one for each link; 12 by default.
        basis: shapes of the links, see `link_bodies`.
    """
    bodies = link_bodies(robot, basis, modes)
    xp = namespace(robot.gravity)
    return Nonlinear(
        chain=chain_of(robot),
        links=stack_links(bodies, [inertia_integrals(body) for body in bodies]),
        joints=joints_of(robot),
        gravity=xp.asarray(robot.gravity, dtype=float),
        elastic_names=elastic_names(robot, bodies),
    )


def elastic_names(robot: Robot, bodies: Sequence[Body]) -> tuple[str, ...]:
    """Elastic coordinates of all links, each with its link's name: `upper/2.rz`."""
    return tuple(f"{link}/{name}" for link, body in zip(robot.link_names, bodies, strict=True) for name in body.names)


def joints_of(robot: Robot) -> Joints:
    """Motor inertia, friction and torque limits of the moving joints."""
    joints = [link.joint for link in robot.links if link.joint.moves]

    def column(values):
        xp = namespace(values)
        return xp.stack([xp.asarray(value, dtype=float) for value in values]) if values else np.zeros(0)

    motors, frictions, limits = ([getattr(joint, name) for joint in joints] for name in ("motor", "friction", "limits"))
    return Joints(
        motor_inertia=column([0.0 if m is None else m.ratio**2 * m.inertia for m in motors]),
        viscous=column([0.0 if f is None else f.viscous for f in frictions]),
        coulomb=column([0.0 if f is None else f.coulomb for f in frictions]),
        width=column([0.01 if f is None else f.width for f in frictions]),
        torque_limit=column([np.inf if l is None or l.torque is None else l.torque for l in limits]),
    )


def reference_of(robot: Robot, links: Links, reference: Any) -> AbstractReference:
    """The choice of the ERLS by its name."""
    if reference is None or reference == "tangent":
        return Tangent()
    if reference == "minimum-norm":
        return MinimumNorm(links.mass[:, :6, 6:])
    assert isinstance(reference, Mapping)
    return Zeroed(np.stack([zeroed_row(robot, links, name) for name in reference["zeroed"]]))


def zeroed_row(robot: Robot, links: Links, name: str) -> np.ndarray:
    """Row over all body coordinates of a nodal displacement such as `upper/tip.rz`, in its link's axes."""
    node, _, component = name.rpartition(".")
    i, k = find_node(robot, node)
    xp = namespace(links.node_shape)
    here = np.eye(len(robot.links))[i][:, None]
    return here * xp.asarray(links.node_shape)[i, k, DOFS.index(component)][None, :]


def find_node(robot: Robot, node: str) -> tuple[int, int]:
    """Link and node number of a name such as `upper/2` or `upper/tip`."""
    link, _, number = node.partition("/")
    problem = robot.outline.node_problem(node)
    if problem:
        raise ValueError(f"{node}: {problem}")
    count = robot.outline.nodes[link]
    assert count is not None
    return robot.link_names.index(link), count - 1 if number == "tip" else int(number)


BUILDERS: dict[str, Callable[[Robot, Choices], AbstractFormulation]] = {
    "erls-fem": lambda robot, choices: erls_fem(robot, choices.reference, choices.terms),
    "erls-cms": lambda robot, choices: erls_cms(robot, choices.modes, choices.reference, choices.terms),
    "nonlinear": lambda robot, choices: nonlinear(robot, choices.modes, choices.basis),
}
