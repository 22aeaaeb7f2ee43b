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
Stations = tuple[Float[Real, "s 6 c"], Float[Real, "s 6 6"], Float[Real, "s 6 6"]]

UNIFORM_POINTS = 4  # Gauss points per element: exact for a product of two cubics
TAPERED_POINTS = (
    6  # exact for two cubics times a quartic, the I of a section whose sides are linear
)
SLOPE_POINTS = 3  # Gauss points per element for squared slopes: exact for a quartic
PARALLEL = 1e-6  # sine of the angle below which a beam counts as running along `up`


class Mesh(NamedTuple):
    """Elements along a polyline; element i joins nodes i and i + 1."""

    points: Float[Real, "k 3"]  # nodes [m]
    length: Float[Real, "e"]  # of each element [m]
    axes: Float[Real, "e 3 3"]  # columns: local x, y, z in the link frame
    start: Float[Real, "e"]  # share of the whole path that lies before the element
    share: Float[Real, "e"]  # share of the whole path that the element is


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
    mesh = polyline_mesh(
        xp.asarray(path, dtype=float), xp.asarray(up, dtype=float), elements
    )
    Phi = shear_parameters(mesh, profile, theory)
    stations = (
        gauss_stations(mesh, profile, Phi, theory)
        if mass == "consistent"
        else lumped_stations(mesh, profile, rotary=mass == "lumped")
    )
    element_matrices = stiffness_matrices(mesh, profile, Phi)
    k = len(mesh.points)
    return Body(
        points=mesh.points,
        node_shape=xp.eye(6 * k).reshape(k, 6, 6 * k),
        station_shape=stations[0],
        station_rigid=stations[1],
        station_inertia=stations[2],
        stiffness=assemble(turn_to_link(element_matrices, mesh.axes)),
        damping=xp.zeros((6 * k, 6 * k)),
        alpha=0.0,
        rigid=rigid_shapes(mesh.points).reshape(6 * k, 6),
        axes=mesh.axes,
        elements=tuple((i, i + 1) for i in range(k - 1)),
        names=tuple(f"{node}.{dof}" for node in range(1, k) for dof in DOFS),
        slopes=path_slopes(mesh, Phi, mass, len(stations[0])),
        element_stiffness=element_matrices,
    )


def path_slopes(mesh: Mesh, Phi: Shear, mass: MassModel, stations: int) -> Slopes:
    """Slopes (v', w') of the axis at the Gauss points of all elements, shear included, and how they add up.

    The parabola through the three Gauss points of an element leaves out of a quartic (slope squared) what has neither
    integral nor first moment: the shift of every node, and the moments of the mass against it, are exact.
    """
    xp = namespace(mesh, Phi)
    e, g = len(mesh.length), SLOPE_POINTS
    xi, weight = gauss(g)
    length, shear = mesh.length[:, None], (Phi[0][:, None], Phi[1][:, None])
    turn, strain = element_shape(xi, length, *shear), element_strain(xi, length, *shear)
    across = xp.stack(
        [turn[..., 5, :] + strain[..., 1, :], strain[..., 2, :] - turn[..., 4, :]],
        axis=-2,
    )  # v', w'
    slope = (
        mesh.axes[:, None, :, 1:]
        @ across
        @ xp.swapaxes(turns(mesh.axes), 1, 2)[:, None]
    )
    slope = (slope.reshape(e, -1, 12) @ gather(e)).reshape(e * g, 3, -1)
    before = np.tri(e + 1, e, -1)  # elements that lie before each node
    nodes = (before[:, :, None] * (mesh.length[:, None] * weight)[None]).reshape(
        e + 1, e * g
    )
    if mass != "consistent":
        inside = nodes
    else:
        at = stations // e
        part = integral_weights(gauss(at)[0], g) * mesh.length[:, None, None]
        inside = xp.repeat(nodes[:-1], at, axis=0) + xp.einsum(
            "ab,agh->agbh", np.eye(e), part
        ).reshape(-1, e * g)
    return Slopes(slope, xp.repeat(mesh.axes[:, :, 0], g, axis=0), nodes, inside)


def polyline_mesh(
    path: Float[Real, "p 3"], up: Float[Real, "*#segments 3"], elements: int
) -> Mesh:
    """Equal elements on each straight segment of the path."""
    xp = namespace(path, up)
    segments = path[1:] - path[:-1]
    lengths = xp.sqrt(xp.sum(segments**2, axis=1))
    steps = np.arange(elements) / elements
    inner = path[:-1, None] + segments[:, None] * steps[None, :, None]
    length = xp.repeat(lengths / elements, elements)
    directions, ups = segments / lengths[:, None], xp.broadcast_to(up, segments.shape)
    axes = xp.stack([section_axes(d, u) for d, u in zip(directions, ups, strict=True)])
    share = length / xp.sum(lengths)
    return Mesh(
        points=xp.concatenate([inner.reshape(-1, 3), path[-1:]]),
        length=length,
        axes=xp.repeat(axes, elements, axis=0),
        start=xp.cumsum(share) - share,
        share=share,
    )


def section_axes(direction: Vector3, up: Vector3) -> Float[Real, "3 3"]:
    """Local axes as columns: x the unit direction of the beam, z the part of `up` across it, y = z x x."""
    xp = namespace(direction, up)
    z_like = xp.asarray([0.0, 0.0, 1.0])
    for reference in (xp.asarray([1.0, 0.0, 0.0]), up / xp.sqrt(xp.sum(up**2))):
        across = xp.sum(xp.cross(direction, reference) ** 2) > PARALLEL**2
        z_like = xp.where(across, reference, z_like)
    z = z_like - (z_like @ direction) * direction
    z = z / xp.sqrt(xp.sum(z**2))
    return xp.stack([direction, xp.cross(z, direction), z], axis=1)


def shear_parameters(mesh: Mesh, profile: Profile, theory: Theory) -> Shear:
    """Phi_y and Phi_z of each element, from its middle section; zero in Euler-Bernoulli's theory."""
    if theory == "euler-bernoulli":
        return 0.0 * mesh.length, 0.0 * mesh.length
    middle = rigidity(profile, mesh.start + mesh.share / 2)
    return (
        shear_parameter(middle.bending_z, middle.shear_y, mesh.length),
        shear_parameter(middle.bending_y, middle.shear_z, mesh.length),
    )


def stiffness_matrices(
    mesh: Mesh, profile: Profile, Phi: Shear
) -> Float[Real, "e 12 12"]:
    """Stiffness of each element, local axes: the printed matrix, or the integral of B^T D B over a taper."""
    if profile.is_uniform:
        return element_stiffness(rigidity(profile, mesh.start), mesh.length, *Phi)
    xp = namespace(mesh, Phi)
    xi, weight = gauss(TAPERED_POINTS)
    B = element_strain(xi, mesh.length[:, None], Phi[0][:, None], Phi[1][:, None])
    D = xp.stack(
        rigidity(profile, mesh.start[:, None] + mesh.share[:, None] * xi), axis=-1
    )
    D = D * (weight * mesh.length[:, None])[..., None]
    return xp.einsum("egia,egi,egib->eab", B, D, B)


def gauss_stations(
    mesh: Mesh, profile: Profile, Phi: Shear, theory: Theory
) -> Stations:
    """Shape, rigid shape and inertia at the Gauss points: their sum is the consistent mass."""
    xp = namespace(mesh, Phi)
    xi, weight = gauss(UNIFORM_POINTS if profile.is_uniform else TAPERED_POINTS)
    inertia = line_inertia(profile, mesh.start[:, None] + mesh.share[:, None] * xi)
    if theory == "euler-bernoulli":
        inertia = inertia._replace(
            rotary_y=0.0 * inertia.mass, rotary_z=0.0 * inertia.mass
        )
    N = element_shape(xi, mesh.length[:, None], Phi[0][:, None], Phi[1][:, None])
    T = turns(mesh.axes)
    e, c = len(mesh.length), 6 * len(mesh.points)
    local = (T[:, :6, :6][:, None] @ N @ xp.swapaxes(T, 1, 2)[:, None]).reshape(
        e, -1, 12
    )
    points = (
        mesh.points[:-1, None]
        + (mesh.points[1:] - mesh.points[:-1])[:, None] * xi[:, None]
    )
    D = (
        section_inertia(inertia, mesh.axes[:, None])
        * (weight * mesh.length[:, None])[..., None, None]
    )
    return (
        (local @ gather(e)).reshape(-1, 6, c),
        rigid_shapes(points.reshape(-1, 3)),
        D.reshape(-1, 6, 6),
    )


def lumped_stations(mesh: Mesh, profile: Profile, rotary: bool = True) -> Stations:
    """Shape, rigid shape and inertia at the nodes: each takes the half elements beside it, and their rotary part."""
    xp = namespace(mesh)
    xi, weight = gauss(TAPERED_POINTS)
    halves = np.stack([xi / 2, (1 + xi) / 2])
    inertia = line_inertia(
        profile, mesh.start[:, None, None] + mesh.share[:, None, None] * halves
    )
    if not rotary:
        inertia = LineInertia(inertia.mass, *(0.0 * inertia.mass for _ in range(3)))
    D = section_inertia(inertia, mesh.axes[:, None, None])
    D = xp.einsum("ehgij,g,e->heij", D, weight / 2, mesh.length)
    none = xp.zeros((1, 6, 6))
    k = len(mesh.points)
    return (
        xp.eye(6 * k).reshape(k, 6, 6 * k),
        rigid_shapes(mesh.points),
        xp.concatenate([D[0], none]) + xp.concatenate([none, D[1]]),
    )


def section_inertia(
    inertia: LineInertia, axes: Float[Real, "*#n 3 3"]
) -> Float[Real, "*n 6 6"]:
    """blockdiag(rho A I3, rho J) per unit length, turned from section to link axes."""
    xp = namespace(inertia, axes)
    J = xp.stack([inertia.polar, inertia.rotary_y, inertia.rotary_z], axis=-1)
    turned = (axes * J[..., None, :]) @ xp.swapaxes(axes, -1, -2)
    return block_diagonal(inertia.mass[..., None, None] * xp.eye(3), turned)


def turns(axes: Float[Real, "e 3 3"]) -> Float[Real, "e 12 12"]:
    """blockdiag(R, R, R, R): dofs of an element in link axes from those in local axes."""
    xp = namespace(axes)
    blocks = xp.einsum("ab,eij->eaibj", np.eye(4), axes)
    return blocks.reshape(-1, 12, 12)


def turn_to_link(
    matrices: Float[Real, "e 12 12"], axes: Float[Real, "e 3 3"]
) -> Float[Real, "e 12 12"]:
    """Element matrices in link axes."""
    xp = namespace(matrices, axes)
    T = turns(axes)
    return T @ matrices @ xp.swapaxes(T, 1, 2)


def assemble(matrices: Float[Real, "e 12 12"]) -> Float[Real, "c c"]:
    """Matrix of the chain of elements in the nodal basis."""
    P = gather(len(matrices))
    c = P.shape[-1]
    return P.reshape(-1, c).T @ (matrices @ P).reshape(-1, c)


def gather(elements: int) -> Float[np.ndarray, "e 12 c"]:
    """Picks the twelve dofs of each element of the chain from all nodal dofs."""
    dofs = 6 * np.arange(elements)[:, None] + np.arange(12)
    return np.eye(6 * (elements + 1))[dofs]


def gauss(points: int) -> tuple[Float[np.ndarray, "g"], Float[np.ndarray, "g"]]:
    """Gauss points and weights on (0, 1)."""
    x, w = np.polynomial.legendre.leggauss(points)
    return (1 + x) / 2, w / 2
