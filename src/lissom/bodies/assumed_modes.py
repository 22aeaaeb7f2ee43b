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

from ..describe.geometry import beam_path, beam_up
from ..describe.link import inertia_matrix
from ..describe.link_geometry import carried_by, node_count
from ..describe.modes import ALL, DEFAULT_MODES, FAMILIES
from ..describe.robot import Robot
from ..describe.section import Taper, section_values
from ..types import Float, Matrix3, Real, Scalar, namespace
from .beam import LineInertia
from .beam_modes import (
    BarModes,
    BendingModes,
    bar_modes,
    bending_modes,
    quadrature_points,
)
from .body import (
    Body,
    block_diagonal,
    chain_of_elements,
    elastic_part,
    in_basis,
    measured_from_inner_node,
    mode_names,
    rigid_coordinates,
    rigid_shapes,
    with_mass,
    with_zero_rigid_part,
)
from .link_body import TIP_NODE, complete_body
from .mesh import BeamMesh, gauss, polyline_mesh, section_inertia
from .reduce.lowest_modes import lowest_modes
from .slopes import Slopes, integral_weights

SLOPE_POINTS = 4
# A plain number of modes is distributed one by one in this order.
TURN_ORDER = ("xy", "xz", "torsion")


class TipLoad(NamedTuple):
    """Inertia carried by the tip of a link. It shapes the assumed modes alone; the dynamics uses the carried links."""

    mass: Scalar  # links outboard, masses on the tip, payload [kg]
    # of what is fixed to the tip, about it, link axes [kg m^2]
    inertia: Float[Real, "3 3"]


def modes_per_link(robot: Robot, modes: Any = None) -> tuple[Any, ...]:
    """Kept modes of each link from what a user gives: nothing (12 each), one number, or one for each link."""
    count = len(robot.links)
    if modes is None:
        modes = DEFAULT_MODES
    if modes == ALL:
        raise ValueError(
            "modes: the number of assumed modes is unlimited: write a number"
        )
    if isinstance(modes, int | Mapping):
        return (modes,) * count
    if len(modes) != count:
        raise ValueError(
            f"modes must be one number, or one for each of the {count} links, got {len(modes)}"
        )
    return tuple(modes)


def modes_per_family(modes: int | Mapping[str, int]) -> dict[str, int]:
    """Modes of each family: as named, or a plain number distributed over bending in xy, in xz, and torsion in turn.

    Six are two of each, as in [Cibicik2021]; axial modes must be named.
    """
    counts: dict[str, int] = dict.fromkeys(FAMILIES, 0)
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
        bodies: of all links, as `bodies_of` builds them; those that link i carries load its tip.
        modes: number of modes, or a number for each family (`axial`, `torsion`, `xy`, `xz`); a link that takes the
            modes of its mesh knows no families and keeps as many as they add up to, lowest first.
    """
    if robot.links[i].rigid is not None:
        return measured_from_inner_node(bodies[i])
    counts = modes_per_family(modes)
    if is_uniform_beam(robot, i):
        load = tip_load(robot, i, bodies)
        elements = bodies[i].element_stiffness
        bare = _beam_in_modes(robot, i, load, counts, elements)
        return complete_body(robot, i, bare)
    tip_mass = outboard_mass(robot, i, bodies)
    return mesh_modes_body(bodies[i], tip_mass, sum(counts.values()))


def is_uniform_beam(robot: Robot, i: int) -> bool:
    """Whether link i has analytic modes: straight, one section, Euler-Bernoulli, mass along the beam."""
    beam: Any = robot.links[i].beam
    if beam is None or robot.planar:
        return False
    if isinstance(beam.section, Taper):
        return False
    if beam.theory != "euler-bernoulli" or beam.mass != "consistent":
        return False
    return len(beam_path(robot, i)) == 2


def tip_load(robot: Robot, i: int, bodies: Sequence[Body]) -> TipLoad:
    """Mass of everything outboard of link i at its tip; inertia only of parts fixed there, since links turn at joints.

    [Cibicik2021] prints no tip masses; these make clamped-mass modes of all links but a last one without payload.
    """
    fixed = _fixed_to_tip(robot, i)
    outboard = outboard_mass(robot, i, bodies)
    xp = namespace(fixed, outboard)
    fixed_mass = 0.0
    inertia = xp.zeros((3, 3))
    for mass, tensor, offset in fixed:
        fixed_mass = fixed_mass + mass
        arm = xp.asarray(offset, dtype=float)
        own = inertia_matrix(xp.asarray(tensor, dtype=float))
        # Parallel axes: the inertia about the tip, not about the centre of the mass.
        square = arm @ arm * xp.eye(3)
        lever = mass * (square - xp.outer(arm, arm))
        inertia = inertia + own + lever
    return TipLoad(outboard + fixed_mass, inertia)


def _fixed_to_tip(robot: Robot, i: int) -> list[Any]:
    """Mass, inertia about its centre and offset of the centre of all parts fixed to the tip of link i."""
    fixed: list[Any] = []
    last = node_count(robot.links, i)
    assert last is not None
    for lump in robot.links[i].masses:
        if lump.node in ("tip", last - 1):
            fixed.append((lump.mass, lump.inertia, lump.offset))
    payload = robot.payload
    is_last = i == len(robot.links) - 1
    if payload is not None and is_last:
        fixed.append((payload.mass, payload.inertia, payload.offset))
    return fixed


def outboard_mass(robot: Robot, i: int, bodies: Sequence[Body]) -> Scalar:
    """Mass of all links that link i carries, payload included [kg]; other branches of a tree load it with nothing."""
    carried = carried_by(robot.links, i)
    return sum((bodies[j].total_mass for j in carried), 0.0)


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
        v_slope = self.xy.shape(xi, 1) / length
        w_slope = self.xz.shape(xi, 1) / length
        # The family that moves each of the six components, and by how much.
        components = (
            ("axial", self.axial.shape(xi)),
            ("xy", self.xy.shape(xi)),
            ("xz", self.xz.shape(xi)),
            ("torsion", self.torsion.shape(xi)),
            ("xz", -w_slope),
            ("xy", v_slope),
        )
        rows = []
        for mover, values in components:
            blocks = []
            for name, family in zip(self._fields, self, strict=True):
                at_rest = xp.zeros((len(xi), len(family.b)))
                blocks.append(values if name == mover else at_rest)
            rows.append(xp.hstack(blocks))
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
    section_up = xp.asarray(up, dtype=float)
    mesh = polyline_mesh(corners, section_up, beam.elements)
    L = xp.sum(mesh.length)
    # Euler-Bernoulli's theory has no rotary inertia in bending.
    none = xp.zeros(())
    inertia = LineInertia(
        mass=xp.asarray(rho * section.area),
        polar=xp.asarray(rho * section.polar_moment),
        rotary_y=none,
        rotary_z=none,
    )
    rigidity = {
        "axial": E * section.area / L,
        "torsion": G * section.torsion_constant / L,
        "xy": E * section.second_moment_z / L**3,
        "xz": E * section.second_moment_y / L**3,
    }
    return UniformBeam(
        mesh=mesh,
        length=L,
        axes=mesh.axes[0],
        mass=rho * section.area * L,
        inertia=inertia,
        rigidity=rigidity,
    )


def _loaded_modes(
    beam: UniformBeam, load: TipLoad, counts: Mapping[str, int]
) -> BeamModes:
    """Modes of the beam, clamped at its joint; torsion takes no tip inertia, since links turn at joints."""
    mass_ratio = load.mass / beam.mass
    J = beam.axes.T @ load.inertia @ beam.axes  # section axes
    unit = beam.mass * beam.length**2
    # The tip mass turns about z as the beam bends in x-y, about y as it bends in x-z.
    about_z = J[2, 2] / unit
    about_y = J[1, 1] / unit
    return BeamModes(
        axial=bar_modes(counts["axial"], mass_ratio),
        torsion=bar_modes(counts["torsion"]),
        xy=bending_modes(counts["xy"], mass_ratio, about_z),
        xz=bending_modes(counts["xz"], mass_ratio, about_y),
    )


def _beam_in_modes(
    robot: Robot,
    i: int,
    load: TipLoad,
    counts: Mapping[str, int],
    element_stiffness: Float[Real, "e 12 12"] | None,
) -> Body:
    """A uniform beam without lumped masses and damping, in its analytic modes.

    Section forces are those of the elements between its nodes: with modes as with elements, the mean curvature of an
    element is the difference of its ends' slopes over its length.
    """
    beam = _uniform_beam(robot, i)
    modes = _loaded_modes(beam, load, counts)
    mesh, L = beam.mesh, beam.length
    xp = namespace(beam, load)
    points = quadrature_points(max(counts.values()))
    xi, weight = gauss(points)
    node_shares = np.linspace(0.0, 1.0, len(mesh.points))
    turn = block_diagonal(beam.axes, beam.axes)

    def shape(share, rigid):
        elastic = turn @ modes.field(share, L)
        return xp.concatenate([rigid, elastic], axis=2)

    tip = mesh.points[-1]
    station_rigid = rigid_shapes(xi[:, None] * tip)
    D = section_inertia(beam.inertia, beam.axes)
    # The Gauss points count in shares of the length.
    length_weight = weight * L
    stiffness = _modal_stiffness(beam, modes)
    c = 6 + len(stiffness)
    return Body(
        points=mesh.points,
        node_shape=shape(node_shares, rigid_shapes(mesh.points)),
        station_shape=shape(xi, station_rigid),
        station_rigid=station_rigid,
        station_inertia=D * length_weight[:, None, None],
        stiffness=with_zero_rigid_part(xp.diag(stiffness)),
        damping=xp.zeros((c, c)),
        alpha=None,
        rigid=rigid_coordinates(c, xp),
        axes=mesh.axes,
        elements=chain_of_elements(len(mesh.points)),
        names=_family_names(counts),
        slopes=_slopes(modes, L, beam.axes, xi, node_shares),
        element_stiffness=element_stiffness,
    )


def _modal_stiffness(beam: UniformBeam, modes: BeamModes) -> Float[Real, " m"]:
    """Diagonal of K: modes of one family are orthogonal in the strain energy, families share none."""
    parts = []
    for name, family in zip(FAMILIES, modes, strict=True):
        parts.append(beam.rigidity[name] * family.stiffness)
    return namespace(parts).concatenate(parts)


def _family_names(counts: Mapping[str, int]) -> tuple[str, ...]:
    names = []
    for family in FAMILIES:
        names += [f"{family}.{k + 1}" for k in range(counts[family])]
    return tuple(names)


def _slopes(
    modes: BeamModes,
    L: Scalar,
    axes: Matrix3,
    station_shares: Float[np.ndarray, " s"],
    node_shares: Float[np.ndarray, " k"],
) -> Slopes:
    """Slopes of the axis at Gauss points of the whole beam, enough of them for the highest mode's slope squared."""
    xp = namespace(modes, L, axes)
    highest = max(len(modes.xy.b), len(modes.xz.b))
    points = SLOPE_POINTS + 3 * highest
    xi, _ = gauss(points)
    field = modes.field(xi, L)
    v_slope = field[:, 5]
    w_slope = -field[:, 4]
    local = xp.stack([v_slope, w_slope], axis=1)
    across = axes[:, 1:] @ local
    rigid = xp.zeros((points, 3, 6))
    return Slopes(
        slope=xp.concatenate([rigid, across], axis=2),
        tangent=xp.broadcast_to(axes[:, 0], (points, 3)),
        nodes=L * integral_weights(node_shares, points),
        stations=L * integral_weights(station_shares, points),
    )


def mesh_modes_body(body: Body, tip_mass: Scalar, count: int) -> Body:
    """The link in the lowest modes of its own mesh, clamped at the inner node, with a mass on its tip; `mode.1`, ...

    Mass-normalised. A traced parameter changes the link, not its assumed modes: derivatives take their shape as given.
    """
    body = measured_from_inner_node(body)
    # The tip mass shapes the modes; the body itself does not carry it.
    loaded = with_mass(body, TIP_NODE, tip_mass)
    M = elastic_part(loaded.mass_matrix)
    K = elastic_part(loaded.stiffness)
    xp = namespace(M, K)
    if xp is jnp:
        M = jax.lax.stop_gradient(M)
        K = jax.lax.stop_gradient(K)
    shapes = lowest_modes(K, M, count)[1]
    mode_count = shapes.shape[1]
    at_rest = xp.zeros((6, mode_count))
    elastic = xp.vstack([at_rest, shapes])
    return in_basis(body, elastic, mode_names(mode_count))
