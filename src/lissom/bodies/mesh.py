"""From a polyline to a body: elements in link axes, assembled in the full nodal basis."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..describe.outline import DOFS
from ..types import Float, Real, Scalar, Vector3, namespace
from .beam import (
    LineInertia,
    element_shape,
    element_stiffness,
    element_strain,
    shear_parameter,
)
from .body import Body, block_diagonal, chain_of_elements, rigid_shapes
from .profile import Profile, line_inertia, profile_namespace, rigidity
from .slopes import Slopes, integral_weights

Theory = Literal["euler-bernoulli", "timoshenko"]
MassModel = Literal["consistent", "lumped", "lumped-points"]
PerElement = Float[Real, "e"]
Shear = tuple[PerElement, PerElement]
Axes = Float[Real, "e 3 3"]  # columns: local x, y, z in the link frame
ElementMatrices = Float[Real, "e 12 12"]
GaussRule = Float[np.ndarray, "g"]

UNIFORM_POINTS = 4  # Gauss points per element: exact for a product of two cubics
# Exact for two cubics times a quartic, the I of a section whose sides are linear.
TAPERED_POINTS = 6
SLOPE_POINTS = 3  # Gauss points per element for squared slopes: exact for a quartic
PARALLEL = 1e-6  # sine of the angle below which a beam counts as running along `up`


class BeamMesh(NamedTuple):
    """Elements along a polyline; element i joins nodes i and i + 1."""

    points: Float[Real, "k 3"]  # nodes [m]
    length: PerElement  # [m]
    axes: Axes
    start: PerElement  # share of the whole path that lies before the element
    share: PerElement  # share of the whole path that the element is


class Stations(NamedTuple):
    """Stations of a body, which carry its inertia; see `Body`."""

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
        uniform: the section is the same everywhere; `sections` then gives the same at any s.
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
    section_up = xp.asarray(up, dtype=float)
    mesh = polyline_mesh(corners, section_up, elements)
    Phi = shear_parameters(mesh, profile, theory)
    if mass == "consistent":
        stations = gauss_stations(mesh, profile, Phi, theory)
    else:
        stations = lumped_stations(mesh, profile, rotary=mass == "lumped")
    element_matrices = stiffness_matrices(mesh, profile, Phi)
    k = len(mesh.points)
    c = 6 * k
    names = []
    for node in range(1, k):
        names += [f"{node}.{dof}" for dof in DOFS]
    return Body(
        points=mesh.points,
        node_shape=xp.eye(c).reshape(k, 6, c),
        station_shape=stations.shape,
        station_rigid=stations.rigid,
        station_inertia=stations.inertia,
        stiffness=assemble(in_link_axes(element_matrices, mesh.axes)),
        damping=xp.zeros((c, c)),
        alpha=None,
        rigid=rigid_shapes(mesh.points).reshape(c, 6),
        axes=mesh.axes,
        elements=chain_of_elements(k),
        names=tuple(names),
        slopes=path_slopes(mesh, Phi, mass, len(stations.shape)),
        element_stiffness=element_matrices,
    )


def path_slopes(mesh: BeamMesh, Phi: Shear, mass: MassModel, stations: int) -> Slopes:
    """Slopes (v', w') of the axis at the Gauss points of all elements, shear included, and how they add up.

    The parabola through the three Gauss points of an element leaves out of a quartic (slope squared) what has neither
    integral nor first moment: the shift of every node, and the moments of the mass against it, are exact.
    """
    xp = namespace(mesh, Phi)
    e = len(mesh.length)
    g = SLOPE_POINTS
    _, weight = gauss(g)
    length_weight = mesh.length[:, None] * weight
    # Node k has k elements before it.
    before = np.tri(e + 1, e, -1)
    nodes = before[:, :, None] * length_weight[None]
    nodes = nodes.reshape(e + 1, e * g)
    if mass == "consistent":
        inside = _station_weights(mesh, nodes, stations)
    else:
        # Lumped masses sit at the nodes.
        inside = nodes
    along = mesh.axes[:, :, 0]
    return Slopes(
        slope=_slope_shapes(mesh, Phi),
        tangent=xp.repeat(along, g, axis=0),
        nodes=nodes,
        stations=inside,
    )


def _slope_shapes(mesh: BeamMesh, Phi: Shear) -> Float[Real, "p 3 c"]:
    """Slope of the axis at the Gauss points of all elements, link axes, over all nodal dofs."""
    xp = namespace(mesh, Phi)
    e = len(mesh.length)
    xi, _ = gauss(SLOPE_POINTS)
    turn = _at_points(element_shape, xi, mesh, Phi)
    strain = _at_points(element_strain, xi, mesh, Phi)
    # v' is the rotation rz and the shear strain v' - rz; w' is -ry and the shear strain w' + ry.
    _, _, _, _, ry, rz = xp.moveaxis(turn, -2, 0)
    _, v_shear, w_shear, _, _, _ = xp.moveaxis(strain, -2, 0)
    v_slope = rz + v_shear
    w_slope = w_shear - ry
    local = xp.stack([v_slope, w_slope], axis=-2)
    yz_axes = mesh.axes[:, None, :, 1:]
    to_local = element_rotations(mesh.axes).mT[:, None]
    slope = yz_axes @ local @ to_local
    slope = slope.reshape(e, -1, 12)
    slope = slope @ dof_selectors(e)
    return slope.reshape(e * SLOPE_POINTS, 3, -1)


def _station_weights(
    mesh: BeamMesh, nodes: Float[Real, "k p"], stations: int
) -> Float[Real, "s p"]:
    """Weights of the integral from the joint to each Gauss station: elements before its own, and a part of its own."""
    xp = namespace(mesh, nodes)
    e = len(mesh.length)
    per_element = stations // e
    xi, _ = gauss(per_element)
    weights = integral_weights(xi, SLOPE_POINTS)
    part = weights * mesh.length[:, None, None]
    own_element = xp.einsum("ab,agh->agbh", np.eye(e), part)
    elements_before = xp.repeat(nodes[:-1], per_element, axis=0)
    return elements_before + own_element.reshape(-1, e * SLOPE_POINTS)


def polyline_mesh(
    path: Float[Real, "p 3"], up: Float[Real, "*#segments 3"], elements: int
) -> BeamMesh:
    """Equal elements on each straight segment of the path."""
    xp = namespace(path, up)
    starts = path[:-1]
    tip = path[-1]
    segments = path[1:] - starts
    lengths = lengths_of(segments)
    steps = np.arange(elements) / elements
    along = segments[:, None] * steps[None, :, None]
    nodes = starts[:, None] + along
    directions = segments / lengths[:, None]
    ups = xp.broadcast_to(up, segments.shape)
    axes = []
    for direction, segment_up in zip(directions, ups, strict=True):
        axes.append(section_axes(direction, segment_up))
    per_segment = xp.stack(axes)
    length = xp.repeat(lengths / elements, elements)
    share = length / xp.sum(lengths)
    return BeamMesh(
        points=xp.vstack([nodes.reshape(-1, 3), tip]),
        length=length,
        axes=xp.repeat(per_segment, elements, axis=0),
        start=xp.cumsum(share) - share,
        share=share,
    )


def section_axes(direction: Vector3, up: Vector3) -> Float[Real, "3 3"]:
    """Local axes as columns: x the unit direction of the beam, z the part of `up` across it, y = z x x."""
    xp = namespace(direction, up)
    link_x = xp.asarray([1.0, 0.0, 0.0])
    z_like = xp.asarray([0.0, 0.0, 1.0])
    # The last reference that is not along the beam wins: `up`, else the link's x axis, else its z axis.
    for reference in (link_x, _unit(up)):
        sine = xp.cross(direction, reference)
        is_across = xp.sum(sine**2) > PARALLEL**2
        z_like = xp.where(is_across, reference, z_like)
    along = z_like @ direction
    z = _unit(z_like - along * direction)
    y = xp.cross(z, direction)
    return xp.stack([direction, y, z], axis=1)


def _unit(vector: Vector3) -> Vector3:
    return vector / lengths_of(vector[None])


def lengths_of(vectors: Float[Real, "n 3"]) -> Float[Real, " n"]:
    """Euclidean length of each vector."""
    xp = namespace(vectors)
    squares = xp.sum(vectors**2, axis=1)
    return xp.sqrt(squares)


def shear_parameters(mesh: BeamMesh, profile: Profile, theory: Theory) -> Shear:
    """Phi_y and Phi_z of each element, from its middle section; zero in Euler-Bernoulli's theory."""
    if theory == "euler-bernoulli":
        zero = 0.0 * mesh.length
        return zero, zero
    middle = mesh.start + mesh.share / 2
    section = rigidity(profile, middle)
    L = mesh.length
    Phi_y = shear_parameter(section.bending_z, section.shear_y, L)
    Phi_z = shear_parameter(section.bending_y, section.shear_z, L)
    return Phi_y, Phi_z


def stiffness_matrices(mesh: BeamMesh, profile: Profile, Phi: Shear) -> ElementMatrices:
    """Stiffness of each element, local axes: the printed matrix, or the integral of B^T D B over a taper."""
    Phi_y, Phi_z = Phi
    if profile.is_uniform:
        section = rigidity(profile, mesh.start)
        return element_stiffness(section, mesh.length, Phi_y, Phi_z)
    xp = namespace(mesh, Phi)
    xi, weight = gauss(TAPERED_POINTS)
    length = mesh.length[:, None]
    B = _at_points(element_strain, xi, mesh, Phi)
    sections = rigidity(profile, _path_shares(mesh, xi))
    D = xp.stack(sections, axis=-1)
    D = D * (weight * length)[..., None]
    return xp.einsum("egia,egi,egib->eab", B, D, B)


def gauss_stations(
    mesh: BeamMesh, profile: Profile, Phi: Shear, theory: Theory
) -> Stations:
    """Shape, rigid shape and inertia at the Gauss points: their sum is the consistent mass."""
    xi, weight = gauss(UNIFORM_POINTS if profile.is_uniform else TAPERED_POINTS)
    inertia = line_inertia(profile, _path_shares(mesh, xi))
    if theory == "euler-bernoulli":
        zero = 0.0 * inertia.mass
        inertia = inertia._replace(rotary_y=zero, rotary_z=zero)
    N = _at_points(element_shape, xi, mesh, Phi)
    T = element_rotations(mesh.axes)[:, None]
    # The field has one translation and one rotation: the first two of the four blocks of T turn it.
    field_turn = T[..., :6, :6]
    in_link = field_turn @ N @ T.mT
    e = len(mesh.length)
    shape = in_link.reshape(e, -1, 12)
    shape = shape @ dof_selectors(e)
    starts = mesh.points[:-1]
    along = mesh.points[1:] - starts
    points = starts[:, None] + along[:, None] * xi[:, None]
    points = points.reshape(-1, 3)
    D = section_inertia(inertia, mesh.axes[:, None])
    length_weight = weight * mesh.length[:, None]
    D = D * length_weight[..., None, None]
    return Stations(
        shape=shape.reshape(len(points), 6, -1),
        rigid=rigid_shapes(points),
        inertia=D.reshape(-1, 6, 6),
    )


def lumped_stations(mesh: BeamMesh, profile: Profile, rotary: bool = True) -> Stations:
    """Shape, rigid shape and inertia at the nodes: each takes the half elements beside it, and their rotary part."""
    xp = namespace(mesh)
    xi, weight = gauss(TAPERED_POINTS)
    first = xi / 2
    second = (1 + xi) / 2
    halves = np.stack([first, second])
    start = mesh.start[:, None, None]
    share = mesh.share[:, None, None]
    inertia = line_inertia(profile, start + share * halves)
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
    c = 6 * k
    return Stations(
        shape=xp.eye(c).reshape(k, 6, c),
        rigid=rigid_shapes(mesh.points),
        inertia=behind + before,
    )


def _path_shares(mesh: BeamMesh, xi: GaussRule) -> Float[Real, "e g"]:
    """Share of the whole path at the places xi of each element."""
    start = mesh.start[:, None]
    return start + mesh.share[:, None] * xi


def _at_points(
    function: Callable, xi: GaussRule, mesh: BeamMesh, Phi: Shear
) -> Float[Real, "e g 6 12"]:
    """`element_shape` or `element_strain` of all elements at the places xi of each of them."""
    Phi_y, Phi_z = Phi
    length = mesh.length[:, None]
    return function(xi, length, Phi_y[:, None], Phi_z[:, None])


def section_inertia(
    inertia: LineInertia, axes: Float[Real, "*#n 3 3"]
) -> Float[Real, "*n 6 6"]:
    """blockdiag(rho A I3, rho J) per unit length, turned from section to link axes."""
    xp = namespace(inertia, axes)
    moments = [inertia.polar, inertia.rotary_y, inertia.rotary_z]
    J = xp.stack(moments, axis=-1)
    # R diag(J) R^T
    rotation = (axes * J[..., None, :]) @ axes.mT
    mass = inertia.mass[..., None, None]
    translation = mass * xp.eye(3)
    return block_diagonal(translation, rotation)


def element_rotations(axes: Axes) -> ElementMatrices:
    """blockdiag(R, R, R, R): dofs of an element in link axes from those in local axes."""
    xp = namespace(axes)
    blocks = xp.einsum("ab,eij->eaibj", np.eye(4), axes)
    return blocks.reshape(-1, 12, 12)


def in_link_axes(matrices: ElementMatrices, axes: Axes) -> ElementMatrices:
    """Element matrices in link axes."""
    T = element_rotations(axes)
    return T @ matrices @ T.mT


def assemble(matrices: ElementMatrices) -> Float[Real, "c c"]:
    """Matrix of the chain of elements in the nodal basis."""
    P = dof_selectors(len(matrices))
    c = P.shape[-1]
    columns = (matrices @ P).reshape(-1, c)
    return P.reshape(-1, c).T @ columns


def dof_selectors(elements: int) -> Float[np.ndarray, "e 12 c"]:
    """Picks the twelve dofs of each element of the chain from all nodal dofs."""
    first = 6 * np.arange(elements)
    dofs = first[:, None] + np.arange(12)
    nodes = elements + 1
    return np.eye(6 * nodes)[dofs]


def gauss(points: int) -> tuple[GaussRule, GaussRule]:
    """Gauss points and weights on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(points)
    return (1 + x) / 2, w / 2
