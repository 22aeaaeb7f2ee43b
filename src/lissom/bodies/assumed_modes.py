"""Links in assumed modes, [Cibicik2021] section VI: modes of the link clamped at its joint.

A straight uniform Euler-Bernoulli beam takes the analytic modes of `beam_modes`: bending in its two planes, clamped
and loaded at the tip by the mass of everything that the link carries, and torsion, clamped and free. Any other
flexible link (bent or tapered, with shear, with lumped mass, from finite elements) takes the modes of its own mesh,
clamped at the inner node and loaded in the same way.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..describe.geometry import beam_path, beam_up
from ..describe.link import inertia_matrix
from ..describe.robot import Robot
from ..describe.section import Taper, section_values
from ..types import Matrix3, Real, Scalar, namespace
from .beam import LineInertia
from .beam_modes import (
    BarModes,
    BendingModes,
    bar_modes,
    bending_modes,
    quadrature_points,
)
from .body import Body, in_basis, measured_from_inner_node, rigid_shapes, with_mass
from .link_body import TIP_NODE, complete_body
from .mesh import BeamMesh, gauss, polyline_mesh, section_inertia
from .reduce.eigen import lowest_modes
from .slopes import Slopes, integral_weights

DEFAULT_MODES = 12
SLOPE_POINTS = 4
FAMILIES = ("axial", "torsion", "xy", "xz")  # also the order of the coordinates
# A plain number of modes is handed out one by one in this order.
TURN_ORDER = ("xy", "xz", "torsion")


class TipLoad(NamedTuple):
    """What a link carries at its tip, for the shape of its modes alone: the dynamics has the real thing."""

    mass: Scalar  # links outboard, masses on the tip, payload [kg]
    # of what is fixed to the tip, about it, link axes [kg m^2]
    inertia: Float[Real, "3 3"]


def modes_per_link(robot: Robot, modes: Any = None) -> tuple[Any, ...]:
    """Kept modes of each link from what a user gives: nothing (12 each), one number, or one for each link."""
    count = len(robot.links)
    if modes is None:
        modes = DEFAULT_MODES
    if isinstance(modes, int | Mapping):
        return (modes,) * count
    if len(modes) != count:
        raise ValueError(
            f"modes must be one number, or one for each of the {count} links, got {len(modes)}"
        )
    return tuple(modes)


def modes_per_family(modes: int | Mapping[str, int]) -> dict[str, int]:
    """Modes of each family: as named, or a plain number handed out to bending in xy, in xz, and torsion in turn.

    Six are two of each, as in [Cibicik2021]; axial modes must be named.
    """
    counts = dict.fromkeys(FAMILIES, 0)
    if not isinstance(modes, Mapping):
        for k in range(modes):
            family = TURN_ORDER[k % len(TURN_ORDER)]
            counts[family] += 1
        return counts
    unknown = set(modes) - set(FAMILIES)
    if unknown:
        raise ValueError(
            f"modes: {', '.join(sorted(unknown))} unknown; families are {', '.join(FAMILIES)}"
        )
    for family, count in modes.items():
        counts[family] = int(count)
    return counts


def assumed_modes_body(
    robot: Robot,
    i: int,
    bodies: Sequence[Body],
    modes: int | Mapping[str, int] = DEFAULT_MODES,
) -> Body:
    """Link i in assumed modes, eta their amplitudes: lumped masses, payload and damping included.

    Args:
        robot: its description.
        i: number of the link.
        bodies: of all links, as `bodies_of` builds them; those behind link i load its tip.
        modes: number of modes, or a number for each family (`axial`, `torsion`, `xy`, `xz`); a link that takes the
            modes of its mesh knows no families and keeps as many as they add up to, lowest first.
    """
    if robot.links[i].rigid is not None:
        return measured_from_inner_node(bodies[i])
    counts = modes_per_family(modes)
    if is_uniform_beam(robot, i):
        load = tip_load(robot, i, bodies)
        return complete_body(robot, i, _beam_in_modes(robot, i, load, counts))
    return mesh_modes_body(bodies[i], outboard_mass(bodies, i), sum(counts.values()))


def is_uniform_beam(robot: Robot, i: int) -> bool:
    """Whether link i has analytic modes: straight, one section, Euler-Bernoulli, mass along the beam."""
    beam: Any = robot.links[i].beam
    if beam is None or robot.planar or isinstance(beam.section, Taper):
        return False
    if beam.theory != "euler-bernoulli" or beam.mass != "consistent":
        return False
    return len(beam_path(robot, i)) == 2


def tip_load(robot: Robot, i: int, bodies: Sequence[Body]) -> TipLoad:
    """Mass of everything outboard of link i at its tip; inertia only of what is fixed there, for joints let links turn.

    [Cibicik2021] prints no tip masses; these make clamped-mass modes of all links but a last one without payload.
    """
    fixed: list[Any] = []  # mass, inertia about its centre, offset of the centre
    for lump in robot.links[i].masses:
        if lump.node == "tip":
            fixed.append((lump.mass, lump.inertia, np.zeros(3)))
    payload = robot.payload
    if payload is not None and i == len(robot.links) - 1:
        fixed.append((payload.mass, payload.inertia, payload.offset))
    outboard = outboard_mass(bodies, i)
    xp = namespace(fixed, outboard)
    fixed_mass = sum((mass for mass, _, _ in fixed), 0.0)
    inertia = xp.zeros((3, 3))
    for mass, tensor, offset in fixed:
        arm = xp.asarray(offset, dtype=float)
        # Parallel axes: the inertia about the tip, not about the centre of the mass.
        lever = mass * (arm @ arm * xp.eye(3) - xp.outer(arm, arm))
        inertia = inertia + inertia_matrix(xp.asarray(tensor, dtype=float)) + lever
    return TipLoad(outboard + fixed_mass, inertia)


def outboard_mass(bodies: Sequence[Body], i: int) -> Scalar:
    """Mass of all links after link i, payload included [kg]."""
    return sum((body.total_mass for body in bodies[i + 1 :]), 0.0)


class BeamModes(NamedTuple):
    """Analytic modes of one straight uniform beam, family by family."""

    axial: BarModes
    torsion: BarModes
    xy: BendingModes
    xz: BendingModes

    def field(self, xi: Float[Real, " p"], length: Scalar) -> Float[Real, "p 6 m"]:
        """Displacement (u, v, w, rx, ry, rz) of the sections at shares xi, section axes, for each amplitude.

        A positive slope of w turns about -y: [Cibicik2021] eq. (71) with the sign put right.
        """
        xp = namespace(self, xi, length)
        axial, torsion, xy, xz = range(4)
        # The family that moves each of the six components, and by how much.
        components = (
            (axial, self.axial.shape(xi)),
            (xy, self.xy.shape(xi)),
            (xz, self.xz.shape(xi)),
            (torsion, self.torsion.shape(xi)),
            (xz, -self.xz.shape(xi, 1) / length),
            (xy, self.xy.shape(xi, 1) / length),
        )
        zeros = [xp.zeros((len(xi), len(family.b))) for family in self]
        rows = []
        for family, values in components:
            blocks = list(zeros)
            blocks[family] = values
            rows.append(xp.concatenate(blocks, axis=1))
        return xp.stack(rows, axis=1)


class UniformBeam(NamedTuple):
    """A straight beam of one section: its mesh for pictures and outputs, and its resistance along the whole length."""

    mesh: BeamMesh
    length: Scalar  # L [m]
    axes: Float[Real, "3 3"]  # columns: section axes in the link frame
    mass: Scalar  # rho A L [kg]
    inertia: LineInertia
    rigidity: dict[
        str, Scalar
    ]  # of the modes of each family, per int phi'^2 or phi''^2


def _uniform_beam(robot: Robot, i: int) -> UniformBeam:
    beam: Any = robot.links[i].beam
    section = section_values(beam.section, beam.material.nu)
    E = beam.material.E
    G = beam.material.shear_modulus
    rho = beam.material.density
    path = beam_path(robot, i)
    up = beam_up(robot, i)
    xp = namespace(path, up, section, E, G, rho)
    corners = xp.asarray(path, dtype=float)
    mesh = polyline_mesh(corners, xp.asarray(up, dtype=float), beam.elements)
    L = xp.sum(mesh.length)
    # Euler-Bernoulli's theory has no rotary inertia in bending.
    per_length = (rho * section.area, rho * section.polar_moment, 0.0, 0.0)
    inertia = [xp.asarray(value, dtype=float) for value in per_length]
    rigidity = {
        "axial": E * section.area / L,
        "torsion": G * section.torsion_constant / L,
        "xy": E * section.second_moment_z / L**3,
        "xz": E * section.second_moment_y / L**3,
    }
    mass = rho * section.area * L
    return UniformBeam(mesh, L, mesh.axes[0], mass, LineInertia(*inertia), rigidity)


def _loaded_modes(
    beam: UniformBeam, load: TipLoad, counts: Mapping[str, int]
) -> BeamModes:
    """Modes of the beam, clamped at its joint; torsion takes no tip inertia, for joints let links turn."""
    mass_ratio = load.mass / beam.mass
    J = beam.axes.T @ load.inertia @ beam.axes  # section axes
    unit = beam.mass * beam.length**2
    return BeamModes(
        axial=bar_modes(counts["axial"], mass_ratio),
        torsion=bar_modes(counts["torsion"]),
        xy=bending_modes(counts["xy"], mass_ratio, J[2, 2] / unit),
        xz=bending_modes(counts["xz"], mass_ratio, J[1, 1] / unit),
    )


def _beam_in_modes(
    robot: Robot, i: int, load: TipLoad, counts: Mapping[str, int]
) -> Body:
    """A uniform beam without lumped masses and damping, in its analytic modes."""
    beam = _uniform_beam(robot, i)
    modes = _loaded_modes(beam, load, counts)
    mesh, L = beam.mesh, beam.length
    xp = namespace(beam, load)
    xi, weight = gauss(quadrature_points(max(counts.values())))
    elements = len(mesh.length)
    node_shares = np.linspace(0.0, 1.0, elements + 1)
    turn = xp.einsum("ab,ij->aibj", np.eye(2), beam.axes).reshape(6, 6)

    def shape(share, rigid):
        return xp.concatenate([rigid, turn @ modes.field(share, L)], axis=2)

    station_rigid = rigid_shapes(xi[:, None] * mesh.points[-1])
    D = section_inertia(beam.inertia, beam.axes)
    stiffness = _modal_stiffness(beam, modes)
    m = len(stiffness)
    return Body(
        points=mesh.points,
        node_shape=shape(node_shares, rigid_shapes(mesh.points)),
        station_shape=shape(xi, station_rigid),
        station_rigid=station_rigid,
        station_inertia=D * (weight * L)[:, None, None],
        stiffness=xp.pad(xp.diag(stiffness), ((6, 0), (6, 0))),
        damping=xp.zeros((6 + m, 6 + m)),
        alpha=0.0,
        rigid=xp.eye(6 + m)[:, :6],
        axes=mesh.axes,
        elements=tuple((k, k + 1) for k in range(elements)),
        names=_mode_names(counts),
        slopes=_slopes(modes, L, beam.axes, xi, node_shares),
    )


def _modal_stiffness(beam: UniformBeam, modes: BeamModes) -> Float[Real, " m"]:
    """Diagonal of K: modes of one family are orthogonal in the strain energy, families share none."""
    parts = []
    for name, family in zip(FAMILIES, modes, strict=True):
        parts.append(beam.rigidity[name] * family.stiffness)
    return namespace(parts).concatenate(parts)


def _mode_names(counts: Mapping[str, int]) -> tuple[str, ...]:
    names = []
    for family in FAMILIES:
        names += [f"{family}.{k + 1}" for k in range(counts[family])]
    return tuple(names)


def _slopes(
    modes: BeamModes,
    L: Scalar,
    axes: Matrix3,
    station_shares: Float[Real, " s"],
    node_shares: Float[Real, " k"],
) -> Slopes:
    """Slopes of the axis at Gauss points of the whole beam, enough of them for the highest mode's slope squared."""
    xp = namespace(modes, L, axes)
    points = SLOPE_POINTS + 3 * max(len(modes.xy.b), len(modes.xz.b))
    field = modes.field(gauss(points)[0], L)
    across = xp.stack([field[:, 5], -field[:, 4]], axis=1)  # v', w'
    rigid = xp.zeros((points, 3, 6))
    slope = xp.concatenate([rigid, axes[:, 1:] @ across], axis=2)
    tangent = xp.broadcast_to(axes[:, 0], (points, 3))
    nodes = L * integral_weights(node_shares, points)
    stations = L * integral_weights(station_shares, points)
    return Slopes(slope, tangent, nodes, stations)


def mesh_modes_body(body: Body, tip_mass: Scalar, count: int) -> Body:
    """The link in the lowest modes of its own mesh, clamped at the inner node, with a mass on its tip; `mode.1`, ...

    Mass-normalised. A traced parameter changes the link, not its assumed modes: derivatives take their shape as given.
    """
    body = measured_from_inner_node(body)
    loaded = with_mass(body, TIP_NODE, tip_mass)
    M = loaded.mass_matrix[6:, 6:]
    K = loaded.stiffness[6:, 6:]
    xp = namespace(M, K)
    if xp is jnp:
        M = jax.lax.stop_gradient(M)
        K = jax.lax.stop_gradient(K)
    shapes = lowest_modes(K, M, count)[1]
    # A mode's sign is free: its largest component is made positive.
    row = xp.argmax(xp.abs(shapes), axis=0)[None]
    largest = xp.take_along_axis(shapes, row, axis=0)
    shapes = shapes * xp.sign(largest)
    kept = shapes.shape[1]
    elastic = xp.concatenate([xp.zeros((6, kept)), shapes])
    return in_basis(body, elastic, [f"mode.{k + 1}" for k in range(kept)])
