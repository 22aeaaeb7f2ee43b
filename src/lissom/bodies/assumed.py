"""Links in assumed modes, [Cibicik2021] section VI: modes of the link clamped at its joint.

A straight uniform Euler-Bernoulli beam takes the analytic modes of `beam_modes`: bending in its two planes, clamped
and loaded at the tip by the mass of everything that the link carries, and torsion, clamped and free. Any other
flexible link (bent or tapered, with shear, with lumped mass, from finite elements) takes the modes of its own mesh,
clamped at the inner node and loaded in the same way.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from ..describe.geometry import beam_path, beam_up
from ..describe.link import inertia_matrix
from ..describe.robot import Robot
from ..describe.section import Taper, section_values
from ..types import Real, Scalar, namespace
from .beam import LineInertia
from .beam_modes import (
    BarModes,
    BendingModes,
    bar_modes,
    bending_modes,
    quadrature_points,
)
from .body import Body, in_basis, measured_from_inner_node, rigid_shapes, with_mass
from .build import TIP, body_of, finished
from .mesh import gauss, polyline_mesh, section_inertia
from .slopes import Slopes, integral_weights

DEFAULT_MODES = 12
SLOPE_POINTS = 4
FAMILIES = ("axial", "torsion", "xy", "xz")  # also the order of the coordinates
DEALT = (
    "xy",
    "xz",
    "torsion",
)  # a plain number of modes is dealt out one by one in this order


class TipLoad(NamedTuple):
    """What a link carries at its tip, for the shape of its modes alone: the dynamics has the real thing."""

    mass: Scalar  # links outboard, masses on the tip, payload [kg]
    inertia: Float[
        Real, "3 3"
    ]  # of what is fixed to the tip, about it, link axes [kg m^2]


def modes_per_link(robot: Robot, modes: Any = None) -> tuple[Any, ...]:
    """Kept modes of each link from what a user gives: nothing (12 each), one number, or one for each link."""
    count = len(robot.links)
    if modes is None or isinstance(modes, int | Mapping):
        return (DEFAULT_MODES if modes is None else modes,) * count
    if len(modes) != count:
        raise ValueError(
            f"modes must be one number, or one for each of the {count} links, got {len(modes)}"
        )
    return tuple(modes)


def dealt(modes: int | Mapping[str, int]) -> dict[str, int]:
    """Modes of each family: as named, or a plain number dealt out to bending in xy, in xz, and torsion in turn.

    Six are two of each, as in [Cibicik2021]; axial modes must be named.
    """
    if isinstance(modes, Mapping):
        unknown = set(modes) - set(FAMILIES)
        if unknown:
            raise ValueError(
                f"modes: {', '.join(sorted(unknown))} unknown; families are {', '.join(FAMILIES)}"
            )
        return {family: int(modes.get(family, 0)) for family in FAMILIES}
    shares = {
        family: (modes + len(DEALT) - 1 - k) // len(DEALT)
        for k, family in enumerate(DEALT)
    }
    return {family: shares.get(family, 0) for family in FAMILIES}


def assumed_modes_body(
    robot: Robot, i: int, modes: int | Mapping[str, int] = DEFAULT_MODES
) -> Body:
    """Link i in assumed modes, eta their amplitudes: lumped masses, payload and damping included.

    Args:
        robot: its description.
        i: number of the link.
        modes: number of modes, or a number for each family (`axial`, `torsion`, `xy`, `xz`); a link that takes the
            modes of its mesh knows no families and keeps as many as they add up to, lowest first.
    """
    if robot.links[i].rigid is not None:
        return measured_from_inner_node(body_of(robot, i))
    if is_uniform_beam(robot, i):
        return finished(robot, i, _beam_in_modes(robot, i, dealt(modes)))
    return mesh_modes_body(robot, i, sum(dealt(modes).values()))


def is_uniform_beam(robot: Robot, i: int) -> bool:
    """Whether link i has analytic modes: straight, one section, Euler-Bernoulli, mass along the beam."""
    beam: Any = robot.links[i].beam
    return (
        beam is not None
        and not robot.planar
        and not isinstance(beam.section, Taper)
        and beam.theory == "euler-bernoulli"
        and beam.mass == "consistent"
        and len(beam_path(robot, i)) == 2
    )


def tip_load(robot: Robot, i: int) -> TipLoad:
    """Mass of everything outboard of link i at its tip; inertia only of what is fixed there, for joints let links turn.

    [Cibicik2021] prints no tip masses; these make clamped-mass modes of all links but a last one without payload.
    """
    link, last = robot.links[i], len(robot.links) - 1
    fixed: list[Any] = [
        (lump.mass, lump.inertia, np.zeros(3))
        for lump in link.masses
        if lump.node == "tip"
    ]
    if robot.payload is not None and i == last:
        fixed.append((robot.payload.mass, robot.payload.inertia, robot.payload.offset))
    outboard = outboard_mass(robot, i)
    xp = namespace(fixed, outboard)
    inertia = xp.zeros((3, 3))
    for mass, tensor, offset in fixed:
        arm = xp.asarray(offset, dtype=float)
        lever = mass * (arm @ arm * xp.eye(3) - xp.outer(arm, arm))
        inertia = inertia + inertia_matrix(xp.asarray(tensor, dtype=float)) + lever
    return TipLoad(outboard + sum((part[0] for part in fixed), 0.0), inertia)


def outboard_mass(robot: Robot, i: int) -> Scalar:
    """Mass of all links after link i, payload included [kg]."""
    return sum(
        (body_of(robot, k).total_mass for k in range(i + 1, len(robot.links))), 0.0
    )


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
        v, w = self.xy.shape(xi), self.xz.shape(xi)
        rows = {0: self.axial.shape(xi), 1: v, 2: w, 3: self.torsion.shape(xi)}
        slopes = {5: self.xy.shape(xi, 1) / length, 4: -self.xz.shape(xi, 1) / length}
        column = {0: 0, 3: 1, 1: 2, 5: 2, 2: 3, 4: 3}
        counts = [len(family.b) for family in self]
        blank = [xp.zeros((len(xi), n)) for n in counts]
        lines = []
        for row in range(6):
            blocks = list(blank)
            blocks[column[row]] = (rows | slopes)[row]
            lines.append(xp.concatenate(blocks, axis=1))
        return xp.stack(lines, axis=1)


def _beam_in_modes(robot: Robot, i: int, counts: Mapping[str, int]) -> Body:
    """A uniform beam without lumped masses and damping, in its analytic modes."""
    beam: Any = robot.links[i].beam
    values = section_values(beam.section, beam.material.nu)
    E, G, rho = beam.material.E, beam.material.shear_modulus, beam.material.density
    path, up, load = beam_path(robot, i), beam_up(robot, i), tip_load(robot, i)
    xp = namespace(path, up, values, E, G, rho, load)
    mesh = polyline_mesh(
        xp.asarray(path, dtype=float), xp.asarray(up, dtype=float), beam.elements
    )
    L, axes = xp.sum(mesh.length), mesh.axes[0]
    mass = rho * values.area * L
    J = axes.T @ load.inertia @ axes
    modes = BeamModes(
        axial=bar_modes(counts["axial"], load.mass / mass),
        torsion=bar_modes(counts["torsion"]),
        xy=bending_modes(counts["xy"], load.mass / mass, J[2, 2] / (mass * L**2)),
        xz=bending_modes(counts["xz"], load.mass / mass, J[1, 1] / (mass * L**2)),
    )
    rigidities = (
        E * values.area / L,
        G * values.torsion_constant / L,
        E * values.second_moment_z / L**3,
        E * values.second_moment_y / L**3,
    )
    strain = xp.concatenate(
        [k * family.stiffness for k, family in zip(rigidities, modes, strict=True)]
    )
    turn = xp.einsum("ab,ij->aibj", np.eye(2), axes).reshape(6, 6)
    xi, weight = gauss(quadrature_points(max(counts.values())))
    line = (
        rho * values.area,
        rho * values.polar_moment,
        0.0,
        0.0,
    )  # no rotary inertia in bending
    D = section_inertia(
        LineInertia(*(xp.asarray(value, dtype=float) for value in line)), axes
    )
    tip = mesh.points[-1]
    rigid = rigid_shapes(xi[:, None] * tip)

    def shape(share, at):
        return xp.concatenate([at, turn @ modes.field(share, L)], axis=2)

    nodes = np.linspace(0.0, 1.0, beam.elements + 1)
    m = len(strain)
    return Body(
        points=mesh.points,
        node_shape=shape(nodes, rigid_shapes(mesh.points)),
        station_shape=shape(xi, rigid),
        station_rigid=rigid,
        station_inertia=D * (weight * L)[:, None, None],
        stiffness=xp.pad(xp.diag(strain), ((6, 0), (6, 0))),
        damping=xp.zeros((6 + m, 6 + m)),
        alpha=0.0,
        rigid=xp.eye(6 + m)[:, :6],
        axes=mesh.axes,
        elements=tuple((k, k + 1) for k in range(beam.elements)),
        names=tuple(
            f"{family}.{k + 1}" for family in FAMILIES for k in range(counts[family])
        ),
        slopes=_slopes(modes, L, axes, xi, nodes),
    )


def _slopes(modes: BeamModes, L: Scalar, axes: Float[Real, "3 3"], xi, nodes) -> Slopes:
    """Slopes of the axis at Gauss points of the whole beam, enough of them for the highest mode's slope squared."""
    xp = namespace(modes, L, axes)
    points = SLOPE_POINTS + 3 * max(len(modes.xy.b), len(modes.xz.b))
    at = gauss(points)[0]
    field = modes.field(at, L)
    across = xp.stack([field[:, 5], -field[:, 4]], axis=1)  # v', w'
    slope = xp.concatenate([xp.zeros((points, 3, 6)), axes[:, 1:] @ across], axis=2)
    inside, before = (L * integral_weights(to, points) for to in (xi, nodes))
    return Slopes(slope, xp.broadcast_to(axes[:, 0], (points, 3)), before, inside)


def mesh_modes_body(robot: Robot, i: int, count: int) -> Body:
    """Link i in the lowest modes of its own mesh, clamped at the inner node, with its tip load; `mode.1`, ...

    Mass-normalised. A traced parameter changes the link, not its assumed modes: derivatives take their shape as given.
    """
    body = measured_from_inner_node(body_of(robot, i))
    own = with_mass(body, TIP, outboard_mass(robot, i))
    M, K = own.mass_matrix[6:, 6:], own.stiffness[6:, 6:]
    count = min(count, len(M))
    xp = namespace(M, K)
    if xp is np:
        shapes = scipy.linalg.eigh(K, M)[1][:, :count]
    else:
        L = jnp.linalg.cholesky(jax.lax.stop_gradient(M))
        half = jax.scipy.linalg.solve_triangular(
            L, jax.lax.stop_gradient(K), lower=True
        )
        V = jnp.linalg.eigh(jax.scipy.linalg.solve_triangular(L, half.T, lower=True))[1]
        shapes = jax.scipy.linalg.solve_triangular(L.T, V[:, :count], lower=False)
    largest = xp.take_along_axis(
        shapes, xp.argmax(xp.abs(shapes), axis=0)[None], axis=0
    )
    elastic = xp.concatenate([xp.zeros((6, count)), shapes * xp.sign(largest)])
    return in_basis(body, elastic, [f"mode.{k + 1}" for k in range(count)])
