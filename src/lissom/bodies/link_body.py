"""From the description of a link to its body."""

from typing import Any

import numpy as np

from ..algebra.so3 import from_rpy
from ..describe.geometry import beam_path, beam_up, tip
from ..describe.link import Damping
from ..describe.outline import PLANAR
from ..describe.robot import Robot
from ..describe.section import Taper, section_at, section_values
from ..files.errors import refused
from .body import Body, with_kept_coordinates, with_mass
from .damping import with_modal_ratio, with_rayleigh
from .fe.described_link import described_link
from .fe.fe_error import FeError
from .fe.reduced_link import fe_link_body
from .mesh import beam_body
from .rigid_body import rigid_body

TIP_NODE = -1


def bodies_of(robot: Robot) -> tuple[Body, ...]:
    """Bodies of all links, each built once; see `body_of`."""
    count = len(robot.links)
    return tuple(body_of(robot, i) for i in range(count))


def body_of(robot: Robot, i: int) -> Body:
    """Body of link i: beam, meshed or rigid, with its lumped masses, the payload on the last link, and its damping.

    Modal damping is that of the link as it stands, masses and payload included. A rigid link has no elastic motion of
    its own; Rayleigh's alpha acts on its mass, which the links before it move. For a planar robot only the elastic
    coordinates out of the plane are left out.
    """
    link = robot.links[i]
    if link.beam is not None:
        bare = _beam_link(robot, i)
    elif link.fe is not None:
        bare = _fe_link(robot, i)
    else:
        bare = _rigid_link(robot, i)
    return complete_body(robot, i, bare)


def complete_body(robot: Robot, i: int, bare: Body) -> Body:
    """The bare body of link i, in any coordinates, with its lumped masses, payload (last link) and damping."""
    body = _with_masses(robot, i, bare)
    link = robot.links[i]
    # Masses first: modal damping is that of the modes with them.
    body = _with_damping(body, link.damping or robot.damping)
    # Last: damping and masses are not formulated in a plane.
    return in_plane(body) if robot.planar else body


def in_plane(body: Body) -> Body:
    """The same body with the displacements (x, y, rz) of its nodes alone; eta is counted from the inner node."""
    planar = []
    for k, name in enumerate(body.names):
        component = name.rpartition(".")[2]
        if component in PLANAR:
            planar.append(k)
    return with_kept_coordinates(body, planar)


def _beam_link(robot: Robot, i: int) -> Body:
    beam: Any = robot.links[i].beam
    section = beam.section
    material = beam.material

    def values_at(s):
        return section_values(section_at(section, s), material.nu)

    return beam_body(
        beam_path(robot, i),
        values_at,
        youngs_modulus=material.E,
        shear_modulus=material.shear_modulus,
        density=material.density,
        up=beam_up(robot, i),
        elements=beam.elements,
        uniform=not isinstance(section, Taper),
        theory=beam.theory,
        mass=beam.mass,
    )


def _fe_link(robot: Robot, i: int) -> Body:

    link = robot.links[i]
    fe: Any = link.fe
    axes = np.asarray(from_rpy(fe.rpy))
    try:
        reduced = described_link(fe)
    except FeError as failure:
        # The matrices of a file are read only when a robot is built.
        field = f"links.{link.name}.fe.file"
        raise refused(field, str(fe.file), str(failure)) from None
    return fe_link_body(reduced, axes)


def _rigid_link(robot: Robot, i: int) -> Body:
    rigid: Any = robot.links[i].rigid
    next_joint = tip(robot, i)
    return rigid_body(rigid.mass, rigid.com, rigid.inertia, next_joint)


def _with_masses(robot: Robot, i: int, body: Body) -> Body:
    for lump in robot.links[i].masses:
        node = TIP_NODE if isinstance(lump.node, str) else lump.node
        body = with_mass(body, node, lump.mass, lump.inertia, lump.offset)
    payload = robot.payload
    is_last = i == len(robot.links) - 1
    if payload is None or not is_last:
        return body
    return with_mass(body, TIP_NODE, payload.mass, payload.inertia, payload.offset)


def _with_damping(body: Body, damping: Damping | None) -> Body:
    if damping is None:
        return body
    if damping.ratio is not None:
        return with_modal_ratio(body, damping.ratio)
    # A given coefficient is kept even if it is zero: a family of robots may vary it.
    is_given = "alpha" in damping.model_fields_set
    alpha = damping.alpha if is_given else None
    return with_rayleigh(body, alpha, damping.beta)
