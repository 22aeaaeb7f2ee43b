"""From the description of a robot to the parts that every formulation is made of."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..bodies.integrals import inertia_integrals
from ..describe.joint import Joint
from ..describe.outline import DOFS
from ..describe.robot import Robot
from ..kinematics.mechanism import AbstractMechanism
from ..kinematics.references import AbstractReference, MinimumNorm, Tangent, Zeroed
from ..kinematics.robot_mechanism import mechanism_of, seats_of
from ..types import Real, namespace
from .basis import ModelOptions
from .elastic import ElasticSeats
from .formulation import Joints
from .links import Links, stack_links
from .nodes import find_node
from .stiffening import stiffened_links
from .stops import Stops

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
    """Effect of the elastic coordinates on the points that carry the frames of a mechanism."""
    shape = seats_of(robot, links.node_shape)[:, :, 6:]
    return ElasticSeats(shape, links.slopes, links.counts, mechanism.chain.parents)


def links_of(
    bodies: Sequence[Body], choices: ModelOptions, carried: bool = False
) -> Links:
    """The bodies stacked, with their squared slopes where axial loads stiffen them.

    Args:
        bodies: of all links.
        choices: the stiffening among them.
        carried: whether small displacements carry and turn them, as in the ERLS.
    """
    if choices.stiffening == "geometric":
        return stiffened_links(bodies, carried)
    return stack_links(bodies, [inertia_integrals(body) for body in bodies])


def elastic_names(robot: Robot, bodies: Sequence[Body]) -> tuple[str, ...]:
    """Elastic coordinates of all bodies, each with its name: `upper/2.rz`, `upper:2/mode.1`."""
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
        stops=stops_of(robot),
    )


def stops_of(robot: Robot) -> Stops | None:
    """The end stops of all moving joints; None where there is not one."""
    rows = []
    for link in robot.links:
        limits = link.joint.limits
        if not link.joint.moves:
            continue
        if limits is None or limits.stop is None:
            rows.append((-np.inf, np.inf, 0.0, 0.0))
            continue
        assert limits.position is not None
        rows.append((*limits.position, limits.stop_stiffness, limits.stop.damping))
    if not any(_has_stop(link.joint) for link in robot.links):
        return None
    return Stops(*(_column(list(column)) for column in zip(*rows, strict=True)))


def _has_stop(joint: Joint) -> bool:
    return joint.limits is not None and joint.limits.stop is not None


def _column(values: list[Any]) -> Real:
    if not values:
        return np.zeros(0)
    xp = namespace(values)
    return xp.stack([xp.asarray(value, dtype=float) for value in values])


def erls_reference(robot: Robot, links: Links, reference: Any) -> AbstractReference:
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
