"""From the description of a robot to its formulation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..bodies.integrals import inertia_integrals
from ..bodies.link_body import body_of
from ..describe.chain import parent_of
from ..describe.errors import refused
from ..describe.outline import DOFS
from ..describe.robot import Robot
from ..kinematics.build import chain_of, closure_of, seats_of
from ..kinematics.chain import Chain
from ..kinematics.compatibility import AbstractReference, MinimumNorm, Tangent, Zeroed
from ..kinematics.loops.assembly import put_together
from ..kinematics.loops.closure import Closure
from ..types import Real, namespace
from .basis import Choices, link_bodies
from .dual_screw import DualScrew
from .erls import Erls
from .formulation import AbstractFormulation, Joints
from .links import Links, stack_links
from .nonlinear import Nonlinear
from .published_modes import nodal_constants
from .stiffening import stiffened_links
from .truncated import TruncatedDualScrew, bent_links


def formulation_of(robot: Robot, name: str, choices: Choices) -> AbstractFormulation:
    """The robot in the formulation of that name."""
    return BUILDERS[name](robot, choices)


def erls_fem(
    robot: Robot,
    reference: Any = None,
    terms: str = "consistent",
    stiffening: str = "none",
) -> Erls:
    """The robot in the formulation of [Boscariol2012].

    Args:
        robot: its description.
        reference: `tangent` (default), `minimum-norm` or `{"zeroed": ["link/node.component", ...]}`.
        terms: `consistent`, the complete virtual work, or `published`, as printed in the paper.
        stiffening: `none`, or `geometric`: axial loads stiffen bent links.
    """
    for link in robot.links:
        if link.beam is not None and link.beam.mass == "lumped-points":
            raise ValueError(
                f"links.{link.name}.beam.mass: lumped-points leaves the rotations of nodes without mass, and erls-fem "
                "moves every one of them: use lumped or consistent, or the formulation erls-cms"
            )
    choices = Choices(None, reference, terms, stiffening=stiffening)
    bodies = link_bodies(robot, "erls-fem", choices)
    return _erls(
        robot, bodies, links_of(bodies, choices), reference, terms == "published"
    )


def erls_cms(
    robot: Robot,
    modes: Any = None,
    reference: Any = None,
    terms: str = "consistent",
    stiffening: str = "none",
) -> Erls:
    """The robot in the formulation of [Vidoni2015]: every link by its rigid motion and a few elastic modes.

    Args:
        robot: its description.
        modes: elastic modes of each link, a number or a `Reduction`, one for all links or one for each; default 12, or
            all if there are fewer; 0 is a rigid link. The paper counts the six rigid modes too: its 18 is 12 here.
        reference: `minimum-norm` (default), `tangent` or `{"zeroed": ["link/node.component", ...]}`.
        terms: `consistent`, by integrals of the displacement field, or `published`, by the nodal constants of App. D.
        stiffening: `none`, or `geometric`: axial loads stiffen bent links.
    """
    choices = Choices(modes, reference, terms, stiffening=stiffening)
    bodies = link_bodies(robot, "erls-cms", choices)
    if terms == "published":
        spatial = robot.model_copy(
            update={"planar": False}
        )  # the nodal mass matrix has all dofs
        nodal = [body_of(spatial, i) for i in range(len(robot.links))]
        inertias, cubic = zip(*map(nodal_constants, nodal, bodies), strict=True)
        links = stack_links(bodies, inertias, cubic)
    else:
        links = links_of(bodies, choices)
    return _erls(robot, bodies, links, reference or "minimum-norm", False)


def _erls(
    robot: Robot, bodies: Sequence[Body], links: Links, reference: Any, published: bool
) -> Erls:
    """The robot with these bodies as its links; `published` leaves out what [Boscariol2012] does."""
    xp = namespace(robot.gravity)
    if robot.loops and links.slopes is not None:
        message = "stiffening: geometric counts slopes from the inner node, which loops turn: not for closed chains"
        raise refused("loops", None, message)
    chain, seat, closure = tied(robot, links)
    return Erls(
        chain=chain,
        links=links,
        joints=joints_of(robot),
        reference=reference_of(robot, links, reference),
        gravity=xp.asarray(robot.gravity, dtype=float),
        published=published,
        elastic_names=elastic_names(robot, bodies),
        seat=seat,
        closure=closure,
    )


def tied(robot: Robot, links: Links) -> tuple[Chain, Real | None, Closure | None]:
    """The chain of a robot, the shapes of the points that carry its frames, and its loops, put together."""
    chain = chain_of(robot)
    closure = put_together(robot, chain, closure_of(robot, links.shapes.tip))
    return chain, seats_of(robot, links.node_shape), closure


def check_serial(robot: Robot, formulation: str) -> None:
    """Refuse trees and loops where a formulation hands its links on one after the other."""
    if robot.loops or any(
        parent_of(robot.links, i) != i - 1 for i in range(len(robot.links))
    ):
        what = "loops" if robot.loops else "parent"
        message = f"the formulation {formulation} takes serial chains only: use erls-fem or erls-cms"
        raise refused(what, None, message)


def nonlinear(robot: Robot, choices: Choices) -> Nonlinear:
    """The robot with every link on the deformed tip of the link before it."""
    check_serial(robot, "nonlinear")
    bodies = link_bodies(robot, "nonlinear", choices)
    xp = namespace(robot.gravity)
    return Nonlinear(
        chain=chain_of(robot),
        links=links_of(bodies, choices),
        joints=joints_of(robot),
        gravity=xp.asarray(robot.gravity, dtype=float),
        elastic_names=elastic_names(robot, bodies),
    )


def dual_screw(robot: Robot, choices: Choices) -> DualScrew | TruncatedDualScrew:
    """The robot in the formulation of [Cibicik2021]: screws of first order in the elastic coordinates.

    Args:
        robot: its description.
        choices: `modes` and `basis` as `link_bodies` takes them; `terms`: `consistent`, the complete virtual work of
            these screws, or `published`, every product cut to first order in elastic coordinates and speeds.
    """
    check_serial(robot, "dual-screw")
    bodies = link_bodies(robot, "dual-screw", choices)
    links = stack_links(bodies, [inertia_integrals(body) for body in bodies])
    names = elastic_names(robot, bodies)
    xp = namespace(robot.gravity)
    common = {
        "chain": chain_of(robot),
        "links": links,
        "joints": joints_of(robot),
        "gravity": xp.asarray(robot.gravity, dtype=float),
        "elastic_names": names,
        "reference": Tangent(),
        "published": False,
    }
    if choices.terms == "published":
        return TruncatedDualScrew(**common, bent=bent_links(links, len(names)))
    return DualScrew(**common)


def links_of(bodies: Sequence[Body], choices: Choices) -> Links:
    """The bodies stacked, with their squared slopes where axial loads stiffen them."""
    if choices.stiffening == "geometric":
        return stiffened_links(bodies)
    return stack_links(bodies, [inertia_integrals(body) for body in bodies])


def elastic_names(robot: Robot, bodies: Sequence[Body]) -> tuple[str, ...]:
    """Elastic coordinates of all links, each with its link's name: `upper/2.rz`."""
    return tuple(
        f"{link}/{name}"
        for link, body in zip(robot.link_names, bodies, strict=True)
        for name in body.names
    )


def joints_of(robot: Robot) -> Joints:
    """Motor inertia, friction and torque limits of the moving joints."""
    joints = [link.joint for link in robot.links if link.joint.moves]

    def column(values):
        xp = namespace(values)
        return (
            xp.stack([xp.asarray(value, dtype=float) for value in values])
            if values
            else np.zeros(0)
        )

    motors, frictions, limits = (
        [getattr(joint, name) for joint in joints]
        for name in ("motor", "friction", "limits")
    )
    return Joints(
        motor_inertia=column(
            [0.0 if m is None else m.ratio**2 * m.inertia for m in motors]
        ),
        viscous=column([0.0 if f is None else f.viscous for f in frictions]),
        coulomb=column([0.0 if f is None else f.coulomb for f in frictions]),
        width=column([0.01 if f is None else f.width for f in frictions]),
        torque_limit=column(
            [np.inf if l is None or l.torque is None else l.torque for l in limits]
        ),
    )


def reference_of(robot: Robot, links: Links, reference: Any) -> AbstractReference:
    """The choice of the ERLS by its name."""
    if reference is None or reference == "tangent":
        return Tangent()
    if reference == "minimum-norm":
        return MinimumNorm(links.mass[:, :6, 6:])
    assert isinstance(reference, Mapping)
    return Zeroed(
        np.stack([zeroed_row(robot, links, name) for name in reference["zeroed"]])
    )


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
    "erls-fem": lambda robot, choices: erls_fem(
        robot, choices.reference, choices.terms, choices.stiffening
    ),
    "erls-cms": lambda robot, choices: erls_cms(
        robot, choices.modes, choices.reference, choices.terms, choices.stiffening
    ),
    "dual-screw": dual_screw,
    "nonlinear": nonlinear,
}
