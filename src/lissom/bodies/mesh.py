"""From a polyline to a body: elements in link axes, assembled in the full nodal basis."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from ..describe.outline import DOFS
from ..types import Real, Scalar, Vector3, namespace
from .beam import (
    LineInertia,
    element_shape,
    element_stiffness,
    element_strain,
    shear_parameter,
)
from .body import Body, block_diagonal, rigid_shapes
from .profile import Profile, line_inertia, profile_namespace, rigidity
from .slopes import Slopes, integral_weights

Theory = Literal["euler-bernoulli", "timoshenko"]
MassModel = Literal["consistent", "lumped", "lumped-points"]
Shear = tuple[Float[Real, "e"], Float[Real, "e"]]

UNIFORM_POINTS = 4  # Gauss points per element: exact for a product of two cubics
# Exact for two cubics times a quartic, the I of a section whose sides are linear.
TAPERED_POINTS = 6
SLOPE_POINTS = 3  # Gauss points per element for squared slopes: exact for a quartic
PARALLEL = 1e-6  # sine of the angle below which a beam counts as running along `up`


class BeamMesh(NamedTuple):
    """Elements along a polyline; element i joins nodes i and i + 1."""

    points: Float[Real, "k 3"]  # nodes [m]
    length: Float[Real, "e"]  # of each element [m]
    axes: Float[Real, "e 3 3"]  # columns: local x, y, z in the link frame
    start: Float[Real, "e"]  # share of the whole path that lies before the element
    share: Float[Real, "e"]  # share of the whole path that the element is


class Stations(NamedTuple):
    """Where the inertia of a body sits, see `Body`."""

    shape: Float[Real, "s 6 c"]
    rigid: Float[Real, "s 6 6"]
    inertia: Float[Real, "s 6 6"]


def beam_body(
    path: Float[Real, "p 3"] | Sequence,
    sections: Callable[[Any], Any],
    *,
    youngs_modulus: Scalar,
    shear_modulus: Scalar,
    density: Scalar,
    up: Float[Real, "3"] | Float[Real, "p-1 3"] | Sequence = (0.0, 0.0, 1.0),
    elements: int = 4,
    uniform: bool = True,
    theory: Theory = "euler-bernoulli",
    mass: MassModel = "consistent",
) -> Body:
    """Flexible link along a polyline, undamped; its coordinates are the displacements of all its nodes (c = 6 k).

    Args:
        path: corners of the polyline, link frame [m].
        sections: `SectionValues` at the share s of the path length, 0 at the joint, 1 at the tip.
        youngs_modulus: E [Pa].
        shear_modulus: G [Pa].
        density: [kg/m^3].
        up: direction of the section's z axis, one or one per segment, made orthogonal to the beam; where the beam runs
            along it, the link's x axis takes its place (and its z axis where the beam runs along x too).
        elements: per straight segment.
        uniform: the section is the same everywhere; `sections` then answers at any s alike.
        theory: `euler-bernoulli` (no shear, no rotary inertia in bending) or `timoshenko` (both).
        mass: `consistent` (the displacement field carries it), `lumped` (half of each element, with the rotary
            inertia of its sections, at each of its ends) or `lumped-points` (the same without rotary inertia: the
            rotations of nodes have no mass, and must be reduced away before the link can move).

    Note:
        A tapered element uses the shape functions of the uniform element with its middle section: stiffness converges
        with the mesh; the total mass is exact on any mesh, with `consistent` mass centre and inertia too.
    """
    profile = Profile(sections, uniform, youngs_modulus, shear_modulus, density)
    xp = profile_namespace(profile, path, up)
    corners = xp.asarray(path, dtype=float)
    mesh = polyline_mesh(corners, xp.asarray(up, dtype=float), elements)
    Phi = shear_parameters(mesh, profile, theory)
    if mass == "consistent":
        stations = gauss_stations(mesh, profile, Phi, theory)
    else:
        stations = lumped_stations(mesh, profile, rotary=mass == "lumped")
    element_matrices = stiffness_matrices(mesh, profile, Phi)
    k = len(mesh.points)
    return Body(
        points=mesh.points,
        node_shape=xp.eye(6 * k).reshape(k, 6, 6 * k),
        station_shape=stations.shape,
        station_rigid=stations.rigid,
        station_inertia=stations.inertia,
        stiffness=assemble(in_link_axes(element_matrices, mesh.axes)),
        damping=xp.zeros((6 * k, 6 * k)),
        alpha=0.0,
        rigid=rigid_shapes(mesh.points).reshape(6 * k, 6),
        axes=mesh.axes,
        elements=tuple((i, i + 1) for i in range(k - 1)),
        names=tuple(f"{node}.{dof}" for node in range(1, k) for dof in DOFS),
        slopes=path_slopes(mesh, Phi, mass, len(stations.shape)),
        element_stiffness=element_matrices,
    )


def path_slopes(mesh: BeamMesh, Phi: Shear, mass: MassModel, stations: int) -> Slopes:
    """Slopes (v', w') of the axis at the Gauss points of all elements, shear included, and how they add up.

    The parabola through the three Gauss points of an element leaves out of a quartic (slope squared) what has neither
    integral nor first moment: the shift of every node, and the moments of the mass against it, are exact.
    """
    xp = namespace(mesh, Phi)
    e, g = len(mesh.length), SLOPE_POINTS
    _, weight = gauss(g)
    before = np.tri(e + 1, e, -1)  # elements that lie before each node
    length_weight = mesh.length[:, None] * weight
    nodes = before[:, :, None] * length_weight[None]
    nodes = nodes.reshape(e + 1, e * g)
    if mass == "consistent":
        inside = _station_weights(mesh, nodes, stations)
    else:
        # Lumped masses sit at the nodes.
        inside = nodes
    tangent = xp.repeat(mesh.axes[:, :, 0], g, axis=0)
    return Slopes(_slope_shapes(mesh, Phi), tangent, nodes, inside)


def _slope_shapes(mesh: BeamMesh, Phi: Shear) -> Float[Real, "p 3 c"]:
    """Slope of the axis at the Gauss points of all elements, link axes, over all nodal dofs."""
    xp = namespace(mesh, Phi)
    e = len(mesh.length)
    xi, _ = gauss(SLOPE_POINTS)
    length = mesh.length[:, None]
    shear = [phi[:, None] for phi in Phi]
    turn = element_shape(xi, length, *shear)
    strain = element_strain(xi, length, *shear)
    # v' is the rotation rz and the shear strain v' - rz; w' is -ry and the shear strain w' + ry.
    v_slope = turn[..., 5, :] + strain[..., 1, :]
    w_slope = strain[..., 2, :] - turn[..., 4, :]
    across = xp.stack([v_slope, w_slope], axis=-2)
    to_local = xp.swapaxes(element_rotations(mesh.axes), 1, 2)
    slope = mesh.axes[:, None, :, 1:] @ across @ to_local[:, None]
    slope = slope.reshape(e, -1, 12) @ dof_selectors(e)
    return slope.reshape(e * SLOPE_POINTS, 3, -1)


def _station_weights(
    mesh: BeamMesh, nodes: Float[Real, "k p"], stations: int
) -> Float[Real, "s p"]:
    """Weights of the integral from the joint to each Gauss station: elements before its own, and a part of its own."""
    xp = namespace(mesh, nodes)
    e = len(mesh.length)
    per_element = stations // e
    xi, _ = gauss(per_element)
    part = integral_weights(xi, SLOPE_POINTS) * mesh.length[:, None, None]
    own_element = xp.einsum("ab,agh->agbh", np.eye(e), part)
    elements_before = xp.repeat(nodes[:-1], per_element, axis=0)
    return elements_before + own_element.reshape(-1, e * SLOPE_POINTS)


def polyline_mesh(
    path: Float[Real, "p 3"], up: Float[Real, "*#segments 3"], elements: int
) -> BeamMesh:
    """Equal elements on each straight segment of the path."""
    xp = namespace(path, up)
    segments = path[1:] - path[:-1]
    lengths = xp.sqrt(xp.sum(segments**2, axis=1))
    steps = np.arange(elements) / elements
    inner = path[:-1, None] + segments[:, None] * steps[None, :, None]
    directions = segments / lengths[:, None]
    ups = xp.broadcast_to(up, segments.shape)
    axes = [section_axes(d, u) for d, u in zip(directions, ups, strict=True)]
    length = xp.repeat(lengths / elements, elements)
    share = length / xp.sum(lengths)
    return BeamMesh(
        points=xp.concatenate([inner.reshape(-1, 3), path[-1:]]),
        length=length,
        axes=xp.repeat(xp.stack(axes), elements, axis=0),
        start=xp.cumsum(share) - share,
        share=share,
    )


def section_axes(direction: Vector3, up: Vector3) -> Float[Real, "3 3"]:
    """Local axes as columns: x the unit direction of the beam, z the part of `up` across it, y = z x x."""
    xp = namespace(direction, up)
    link_x = xp.asarray([1.0, 0.0, 0.0])
    z_like = xp.asarray([0.0, 0.0, 1.0])
    # The last reference that is not along the beam wins: `up`, else the link's x axis, else its z axis.
    for reference in (link_x, up / xp.sqrt(xp.sum(up**2))):
        sine = xp.cross(direction, reference)
        is_across = xp.sum(sine**2) > PARALLEL**2
        z_like = xp.where(is_across, reference, z_like)
    z = z_like - (z_like @ direction) * direction
    z = z / xp.sqrt(xp.sum(z**2))
    y = xp.cross(z, direction)
    return xp.stack([direction, y, z], axis=1)


def shear_parameters(mesh: BeamMesh, profile: Profile, theory: Theory) -> Shear:
    """Phi_y and Phi_z of each element, from its middle section; zero in Euler-Bernoulli's theory."""
    if theory == "euler-bernoulli":
        zero = 0.0 * mesh.length
        return zero, zero
    middle = rigidity(profile, mesh.start + mesh.share / 2)
    Phi_y = shear_parameter(middle.bending_z, middle.shear_y, mesh.length)
    Phi_z = shear_parameter(middle.bending_y, middle.shear_z, mesh.length)
    return Phi_y, Phi_z


def stiffness_matrices(
    mesh: BeamMesh, profile: Profile, Phi: Shear
) -> Float[Real, "e 12 12"]:
    """Stiffness of each element, local axes: the printed matrix, or the integral of B^T D B over a taper."""
    Phi_y, Phi_z = Phi
    if profile.is_uniform:
        section = rigidity(profile, mesh.start)
        return element_stiffness(section, mesh.length, Phi_y, Phi_z)
    xp = namespace(mesh, Phi)
    xi, weight = gauss(TAPERED_POINTS)
    length = mesh.length[:, None]
    B = element_strain(xi, length, Phi_y[:, None], Phi_z[:, None])
    sections = rigidity(profile, _path_shares(mesh, xi))
    D = xp.stack(sections, axis=-1)
    D = D * (weight * length)[..., None]
    return xp.einsum("egia,egi,egib->eab", B, D, B)


def gauss_stations(
    mesh: BeamMesh, profile: Profile, Phi: Shear, theory: Theory
) -> Stations:
    """Shape, rigid shape and inertia at the Gauss points: their sum is the consistent mass."""
    xp = namespace(mesh, Phi)
    xi, weight = gauss(UNIFORM_POINTS if profile.is_uniform else TAPERED_POINTS)
    inertia = line_inertia(profile, _path_shares(mesh, xi))
    if theory == "euler-bernoulli":
        zero = 0.0 * inertia.mass
        inertia = inertia._replace(rotary_y=zero, rotary_z=zero)
    length = mesh.length[:, None]
    Phi_y, Phi_z = Phi
    N = element_shape(xi, length, Phi_y[:, None], Phi_z[:, None])
    T = element_rotations(mesh.axes)
    # The field has one translation and one rotation: the first two of the four blocks of T turn it.
    in_link = T[:, :6, :6][:, None] @ N @ xp.swapaxes(T, 1, 2)[:, None]
    e, c = len(mesh.length), 6 * len(mesh.points)
    shape = in_link.reshape(e, -1, 12) @ dof_selectors(e)
    along = mesh.points[1:] - mesh.points[:-1]
    points = mesh.points[:-1, None] + along[:, None] * xi[:, None]
    D = section_inertia(inertia, mesh.axes[:, None])
    D = D * (weight * length)[..., None, None]
    return Stations(
        shape=shape.reshape(-1, 6, c),
        rigid=rigid_shapes(points.reshape(-1, 3)),
        inertia=D.reshape(-1, 6, 6),
    )


def lumped_stations(mesh: BeamMesh, profile: Profile, rotary: bool = True) -> Stations:
    """Shape, rigid shape and inertia at the nodes: each takes the half elements beside it, and their rotary part."""
    xp = namespace(mesh)
    xi, weight = gauss(TAPERED_POINTS)
    halves = np.stack([xi / 2, (1 + xi) / 2])
    shares = mesh.start[:, None, None] + mesh.share[:, None, None] * halves
    inertia = line_inertia(profile, shares)
    if not rotary:
        zero = 0.0 * inertia.mass
        inertia = LineInertia(inertia.mass, zero, zero, zero)
    D = section_inertia(inertia, mesh.axes[:, None, None])
    first_half, second_half = xp.einsum("ehgij,g,e->heij", D, weight / 2, mesh.length)
    # The first node has no element before it, the last none behind it.
    none = xp.zeros((1, 6, 6))
    behind = xp.concatenate([first_half, none])
    before = xp.concatenate([none, second_half])
    k = len(mesh.points)
    return Stations(
        shape=xp.eye(6 * k).reshape(k, 6, 6 * k),
        rigid=rigid_shapes(mesh.points),
        inertia=behind + before,
    )


def _path_shares(mesh: BeamMesh, xi: Float[np.ndarray, "g"]) -> Float[Real, "e g"]:
    """Share of the whole path at the places xi of each element."""
    return mesh.start[:, None] + mesh.share[:, None] * xi


def section_inertia(
    inertia: LineInertia, axes: Float[Real, "*#n 3 3"]
) -> Float[Real, "*n 6 6"]:
    """blockdiag(rho A I3, rho J) per unit length, turned from section to link axes."""
    xp = namespace(inertia, axes)
    J = xp.stack([inertia.polar, inertia.rotary_y, inertia.rotary_z], axis=-1)
    # R diag(J) R^T
    rotation = (axes * J[..., None, :]) @ xp.swapaxes(axes, -1, -2)
    translation = inertia.mass[..., None, None] * xp.eye(3)
    return block_diagonal(translation, rotation)


def element_rotations(axes: Float[Real, "e 3 3"]) -> Float[Real, "e 12 12"]:
    """blockdiag(R, R, R, R): dofs of an element in link axes from those in local axes."""
    xp = namespace(axes)
    blocks = xp.einsum("ab,eij->eaibj", np.eye(4), axes)
    return blocks.reshape(-1, 12, 12)


def in_link_axes(
    matrices: Float[Real, "e 12 12"], axes: Float[Real, "e 3 3"]
) -> Float[Real, "e 12 12"]:
    """Element matrices in link axes."""
    xp = namespace(matrices, axes)
    T = element_rotations(axes)
    return T @ matrices @ xp.swapaxes(T, 1, 2)


def assemble(matrices: Float[Real, "e 12 12"]) -> Float[Real, "c c"]:
    """Matrix of the chain of elements in the nodal basis."""
    P = dof_selectors(len(matrices))
    c = P.shape[-1]
    columns = (matrices @ P).reshape(-1, c)
    return P.reshape(-1, c).T @ columns


def dof_selectors(elements: int) -> Float[np.ndarray, "e 12 c"]:
    """Picks the twelve dofs of each element of the chain from all nodal dofs."""
    dofs = 6 * np.arange(elements)[:, None] + np.arange(12)
    return np.eye(6 * (elements + 1))[dofs]


def gauss(points: int) -> tuple[Float[np.ndarray, "g"], Float[np.ndarray, "g"]]:
    """Gauss points and weights on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(points)
    return (1 + x) / 2, w / 2
