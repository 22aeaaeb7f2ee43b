"""From the description of a link to its body."""

from typing import Any

import numpy as np

from ..algebra.so3 import from_rpy
from ..describe.geometry import beam_path, beam_up, tip
from ..describe.link import Damping
from ..describe.outline import PLANAR
from ..describe.robot import Robot
from ..describe.section import Taper, section_at, section_values
from ..types import namespace
from .body import Body, in_basis, with_mass
from .damping import with_modal_ratio, with_rayleigh
from .mesh import beam_body
from .rigid import rigid_body

TIP = -1


def body_of(robot: Robot, i: int) -> Body:
    """Body of link i: beam, meshed or rigid, with its lumped masses, the payload on the last link, and its damping.

    Modal damping is that of the link as it stands, masses and payload included. A rigid link has no elastic motion to
    damp. Of a planar robot the elastic coordinates that leave the plane are left out, and nothing else is different.
    """
    link = robot.links[i]
    make = (
        _flexible
        if link.beam is not None
        else _meshed
        if link.fe is not None
        else _rigid
    )
    return finished(robot, i, make(robot, i))


def finished(robot: Robot, i: int, body: Body) -> Body:
    """The bare body of link i, in any coordinates, with its lumped masses, payload (last link) and damping."""
    link = robot.links[i]
    for lump in link.masses:
        body = with_mass(
            body,
            TIP if isinstance(lump.node, str) else lump.node,
            lump.mass,
            lump.inertia,
        )
    if robot.payload is not None and i == len(robot.links) - 1:
        body = with_mass(
            body, TIP, robot.payload.mass, robot.payload.inertia, robot.payload.offset
        )
    body = _damped(body, link.damping or robot.damping) if link.flexible else body
    return in_plane(body) if robot.planar else body


def in_plane(body: Body) -> Body:
    """The same body with the displacements (x, y, rz) of its nodes alone; eta is counted from the inner node."""
    kept = [k for k, name in enumerate(body.names) if name.rpartition(".")[2] in PLANAR]
    elastic = namespace(body.rigid).eye(body.coordinates)[:, [6 + k for k in kept]]
    return in_basis(body, elastic, [body.names[k] for k in kept])


def _flexible(robot: Robot, i: int) -> Body:
    beam: Any = robot.links[i].beam
    section, material = beam.section, beam.material
    return beam_body(
        beam_path(robot, i),
        lambda s: section_values(section_at(section, s), material.nu),
        youngs_modulus=material.E,
        shear_modulus=material.shear_modulus,
        density=material.density,
        up=beam_up(robot, i),
        elements=beam.elements,
        uniform=not isinstance(section, Taper),
        theory=beam.theory,
        mass=beam.mass,
    )


def _meshed(robot: Robot, i: int) -> Body:
    from .fe.described import described_link  # few robots need it
    from .fe.link import link_body

    fe: Any = robot.links[i].fe
    return link_body(described_link(fe), np.asarray(from_rpy(fe.rpy)))


def _rigid(robot: Robot, i: int) -> Body:
    rigid: Any = robot.links[i].rigid
    return rigid_body(rigid.mass, rigid.com, rigid.inertia, tip(robot, i))


def _damped(body: Body, damping: Damping | None) -> Body:
    if damping is None:
        return body
    if damping.ratio is not None:
        return with_modal_ratio(body, damping.ratio)
    return with_rayleigh(body, damping.alpha, damping.beta)
