"""Forces in the sections of a beam, and its strains, from the displacements of its nodes."""

from ..types import Float, Real, namespace
from .body import Body
from .mesh import element_rotations, lengths_of


def section_force_shape(body: Body) -> Float[Real, "e 2 6 c"]:
    r"""The linear map from body coordinates to section forces, see `section_forces`."""
    return forces_of_displacements(body, body.node_shape)


def forces_of_displacements(
    body: Body, shape: Float[Real, "k 6 c"]
) -> Float[Real, "e 2 6 c"]:
    """Section forces for each of several displacements of the nodes, in link axes."""
    own = element_force_shape(body)
    xp = namespace(shape, own)
    return own @ displacements_of_ends(body, xp.asarray(shape))[:, None]


def element_force_shape(body: Body) -> Float[Real, "e 2 6 12"]:
    """The linear map from the displacements of both nodes of each element, link axes, to its section forces."""
    if body.element_stiffness is None or not body.elements:
        raise ValueError(
            "section forces need a link made of beam elements: this one has none"
        )
    xp = namespace(body.element_stiffness, body.axes)
    to_local = element_rotations(body.axes).mT
    at_nodes = xp.asarray(body.element_stiffness) @ to_local
    # What acts on the first node acts on a section whose outward normal is -x: the force on +x is its opposite.
    at_start = -at_nodes[:, :6]
    at_end = at_nodes[:, 6:]
    return xp.stack([at_start, at_end], axis=1)


def displacements_of_ends(
    body: Body, shape: Float[Real, "k 6 c"]
) -> Float[Real, "e 12 c"]:
    """Displacements of both nodes of each element, one after the other."""
    first = [start for start, _ in body.elements]
    second = [end for _, end in body.elements]
    return namespace(shape).concatenate([shape[first], shape[second]], axis=1)


def section_forces(body: Body, q: Float[Real, " c"]) -> Float[Real, "e 2 6"]:
    """N, Vy, Vz, T, My, Mz at both ends of each element, in its local axes [N, N m].

    They act on the section whose outward normal is the element's x axis: tension is positive. They are what the
    displacement field of the elements holds: exact where loads act at nodes alone. A load w spread over an element of
    length h (its weight, its inertia) leaves w h^2 / 12 out of the moments at its ends; that falls with the square of
    the mesh. A reduced body answers with the strain of its retained modes.

    Args:
        body: one link made of beam elements, whole or reduced.
        q: its coordinates, the six rigid ones first [m, rad or modal].

    Returns:
        Forces [N] and moments [N m] over elements, their two ends and the six components.

    Raises:
        ValueError: the link is not made of beam elements.

    Example:
        >>> import numpy as np, lissom as ls
        >>> from lissom.bodies.link_body import body_of
        >>> body = body_of(ls.Robot.load("simple-pendulum"), 0)
        >>> q = np.zeros(body.coordinates)
        >>> q[6] = 1e-6  # the first node after the inner one moves along the beam [m]
        >>> bool(ls.section_forces(body, q)[0, 0, 0] > 0)
        True
    """
    return section_force_shape(body) @ q


def section_strains(body: Body, q: Float[Real, " c"]) -> Float[Real, "e 2 4"]:
    """Axial strain, twist rate [rad/m] and curvatures about local y and z [1/m] at both ends of each element.

    The strain at a point (y, z) of the section along the beam is `axial - y curvature_z + z curvature_y`. A tapered
    element takes the mean rigidity of its ends.

    Args:
        body: one link made of beam elements, whole or reduced.
        q: its coordinates, the six rigid ones first [m, rad or modal].

    Returns:
        Strains over elements, their two ends and the four components.

    Raises:
        ValueError: the link is not made of beam elements.

    Example:
        >>> import numpy as np, lissom as ls
        >>> from lissom.bodies.link_body import body_of
        >>> body = body_of(ls.Robot.load("simple-pendulum"), 0)
        >>> q = np.zeros(body.coordinates)
        >>> q[6] = 1e-6  # the first node after the inner one moves along the beam [m]
        >>> f"{ls.section_strains(body, q)[0, 0, 0]:.1e}"  # over an element of 0.25 m
        '4.0e-06'
    """
    forces = section_forces(body, q)
    # N, T, My, Mz: those of the six forces that strain, twist and bend.
    straining = forces[:, :, [0, 3, 4, 5]]
    return straining / section_rigidities(body)[:, None]


def section_rigidities(body: Body) -> Float[Real, "e 4"]:
    """E A, G J, E I_y and E I_z of each element [N, N m^2]."""
    xp = namespace(body.points, body.element_stiffness)
    points = xp.asarray(body.points)
    first = [start for start, _ in body.elements]
    second = [end for _, end in body.elements]
    L = lengths_of(points[second] - points[first])
    K = xp.asarray(body.element_stiffness)

    def bending(i, j):
        # u^T K u for opposite unit rotations of the ends, which is pure bending: 4 E I / L, whatever the shear.
        own = K[:, i, i] + K[:, j, j]
        pure_bending = own - 2 * K[:, i, j]
        return 0.25 * L * pure_bending

    EA = K[:, 0, 0] * L
    GJ = K[:, 3, 3] * L
    EI_y = bending(4, 10)
    EI_z = bending(5, 11)
    return xp.stack([EA, GJ, EI_y, EI_z], axis=1)
