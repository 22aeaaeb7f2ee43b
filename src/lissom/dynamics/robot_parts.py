"""From the description of a robot to the parts that every formulation is made of."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..bodies.integrals import inertia_integrals
from ..describe.errors import refused
from ..describe.link_geometry import parent_of
from ..describe.outline import DOFS
from ..describe.robot import Robot
from ..kinematics.chain import GROUND
from ..kinematics.mechanism import AbstractMechanism
from ..kinematics.references import AbstractReference, MinimumNorm, Tangent, Zeroed
from ..kinematics.robot_mechanism import mechanism_of, seats_of
from ..types import Real, namespace
from .basis import Choices
from .elastic import ElasticSeats
from .formulation import Joints
from .links import Links, stack_links
from .nodes import find_node
from .stiffening import stiffened_links

FRICTION_WIDTH = (
    0.01  # [rad/s or m/s] of joints without friction, whose width is never seen
)


def parts_of(robot: Robot, bodies: Sequence[Body], links: Links) -> dict[str, Any]:
    """The fields that every formulation has: mechanism, links, joints, gravity and names."""
    xp = namespace(robot.gravity)
    return {
        "mechanism": mechanism_of(robot, links.stiffness.shape[-1]),
        "links": links,
        "joints": joints_of(robot),
        "gravity": xp.asarray(robot.gravity, dtype=float),
        "elastic_names": elastic_names(robot, bodies),
    }


def elastic_seats(
    robot: Robot, mechanism: AbstractMechanism, links: Links
) -> ElasticSeats:
    """What the elastic coordinates of the links do to the points that carry the frames of a mechanism."""
    shape = seats_of(robot, links.node_shape)[:, :, 6:]
    return ElasticSeats(shape, links.place, links.slopes, mechanism.chain.parents)


def links_of(
    bodies: Sequence[Body], choices: Choices, turned: Sequence[bool] | None = None
) -> Links:
    """The bodies stacked, with their squared slopes where axial loads stiffen them.

    Args:
        bodies: of all links.
        choices: the stiffening among them.
        turned: which of them small displacements turn, as in the ERLS; None where links turn by finite angles.
    """
    if choices.stiffening == "geometric":
        return stiffened_links(bodies, turned)
    return stack_links(bodies, [inertia_integrals(body) for body in bodies])


def turned_links(
    robot: Robot, bodies: Sequence[Body], reference: Any
) -> tuple[bool, ...]:
    """Which links small displacements turn against the equivalent rigid-link system (ERLS).

    In an open chain whose encoders read theta, those on links that bend; in all others, any.
    """
    if robot.loops or reference != "tangent":
        return (True,) * len(bodies)
    turned = []
    for i in range(len(bodies)):
        parent = parent_of(robot.links, i)
        if parent is None or parent == GROUND:
            turned.append(False)
        else:
            turned.append(turned[parent] or bodies[parent].coordinates > 6)
    return tuple(turned)


def check_turned(robot: Robot, turned: Sequence[bool], formulation: str) -> None:
    """Refuse links of finite elements whose second-order displacements would be counted from another axis.

    Raises:
        DescriptionError: with the name of the link.
    """
    for link, is_turned in zip(robot.links, turned, strict=True):
        if link.fe is not None and is_turned:
            message = (
                f"{formulation} turns the link against the rigid robot, and the second-order displacements of finite "
                "elements are counted from the link's own inner node: use nonlinear, or say stiffening: none"
            )
            raise refused(f"links.{link.name}.fe", None, message)


def elastic_names(robot: Robot, bodies: Sequence[Body]) -> tuple[str, ...]:
    """Elastic coordinates of all links, each with its link's name: `upper/2.rz`."""
    names = []
    for link, body in zip(robot.link_names, bodies, strict=True):
        names += [f"{link}/{name}" for name in body.names]
    return tuple(names)


def joints_of(robot: Robot) -> Joints:
    """Motor inertia, friction and torque limits of the moving joints."""
    inertia, viscous, coulomb, width, limit = [], [], [], [], []
    for link in robot.links:
        joint = link.joint
        if not joint.moves:
            continue
        # The joint feels the rotor's inertia times the gear ratio squared.
        motor, friction, limits = joint.motor, joint.friction, joint.limits
        inertia.append(0.0 if motor is None else motor.ratio**2 * motor.inertia)
        viscous.append(0.0 if friction is None else friction.viscous)
        coulomb.append(0.0 if friction is None else friction.coulomb)
        width.append(FRICTION_WIDTH if friction is None else friction.width)
        torque = None if limits is None else limits.torque
        limit.append(np.inf if torque is None else torque)
    return Joints(
        motor_inertia=_column(inertia),
        viscous=_column(viscous),
        coulomb=_column(coulomb),
        width=_column(width),
        torque_limit=_column(limit),
        actuated=tuple(robot.joint_names.index(name) for name in robot.actuated_names),
    )


def _column(values: list[Any]) -> Real:
    if not values:
        return np.zeros(0)
    xp = namespace(values)
    return xp.stack([xp.asarray(value, dtype=float) for value in values])


def reference_of(robot: Robot, links: Links, reference: Any) -> AbstractReference:
    """The choice of the ERLS by its name."""
    if reference == "tangent":
        return Tangent()
    if reference == "minimum-norm":
        return MinimumNorm(links.mass[:, :6, 6:])
    assert isinstance(reference, Mapping)
    rows = [zeroed_row(robot, links, name) for name in reference["zeroed"]]
    return Zeroed(np.stack(rows))


def zeroed_row(robot: Robot, links: Links, name: str) -> np.ndarray:
    """Row over all body coordinates of a nodal displacement such as `upper/tip.rz`, in its link's axes."""
    node, _, component = name.rpartition(".")
    i, k = find_node(robot, node)
    xp = namespace(links.node_shape)
    # One link's shape, zeros for all others.
    here = np.eye(len(robot.links))[i][:, None]
    shape = xp.asarray(links.node_shape)[i, k, DOFS.index(component)]
    return here * shape[None, :]
