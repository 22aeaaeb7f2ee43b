"""The contract of a body: one link in its own frame, with its shapes, stiffness and inertia."""

from collections.abc import Sequence

import equinox as eqx
import numpy as np

from ..algebra.products import clean_product
from ..algebra.se3 import rigid_shape
from ..describe.link import inertia_matrix
from ..types import Float, Matrix3, Real, Scalar, Vector3, namespace
from . import second_order_fields
from .inertia import Inertia, in_coordinates
from .second_order_fields import SecondOrderFields
from .slopes import Slopes, in_shapes, with_station

# A rigid shape is affine in its point: I6 plus one lever for each coordinate of the point.
_UNIT_POINTS = [rigid_shape(e) for e in np.eye(3)]
LEVERS = np.stack(_UNIT_POINTS) - np.eye(6)


def block_diagonal(
    first: Float[Real, "*n 3 3"], second: Float[Real, "*n 3 3"]
) -> Float[Real, "*n 6 6"]:
    """6 x 6 matrix of a translational and a rotational 3 x 3 block."""
    xp = namespace(first, second)
    zero = xp.zeros_like(first)
    upper = xp.concatenate([first, zero], axis=-1)
    lower = xp.concatenate([zero, second], axis=-1)
    return xp.concatenate([upper, lower], axis=-2)


def rigid_shapes(points: Float[Real, "n 3"]) -> Float[Real, "n 6 6"]:
    """Displacement (v + w x X, w) at each point X for a rigid twist (v, w) about the origin: [[I, -X x], [0, I]]."""
    xp = namespace(points)
    levers = xp.einsum("na,aij->nij", points, LEVERS)
    return np.eye(6) + levers


def mode_names(count: int) -> tuple[str, ...]:
    """Names of modal coordinates: `mode.1`, `mode.2`, ..."""
    return tuple(f"mode.{k + 1}" for k in range(count))


def chain_of_elements(nodes: int) -> tuple[tuple[int, int], ...]:
    """Elements that join each node to the next one."""
    return tuple((k, k + 1) for k in range(nodes - 1))


def elastic_part(A: Float[Real, "c c"]) -> Float[Real, "n n"]:
    """A matrix of a body over eta alone."""
    return A[6:, 6:]


def with_zero_rigid_part(A: Float[Real, "n n"]) -> Float[Real, "c c"]:
    """A matrix over eta as one over q = (r, eta), where a rigid displacement r takes no part."""
    before = (6, 0)
    return namespace(A).pad(A, (before, before))


class Body(eqx.Module):
    """One link in its own frame, small displacements about its undeformed shape.

    Coordinates q = (r, eta): r the displacement of node 0 (3 translations, 3 rotations), eta the rest. Component
    order is translations, then rotations, everywhere; all quantities are in link axes, SI. Every body satisfies:

    - node 0 moves with r alone: `node_shape[0] = [I6 | 0]`;
    - a rigid displacement (v, w) is q = rigid (v, w): it moves every node and every station as a rigid body does,
      `node_shape @ rigid = rigid_shapes(points)`, `station_shape @ rigid = station_rigid`, and neither stiffness nor
      damping feels it;
    - inertia sits at the stations (Gauss points of elements, lumped masses): the kinetic energy of the link is the
      sum of 1/2 V^T D V over them, V the velocity of the field there. Inertia that is known only through the constants
      of its matrices (links from finite-element programs) is `extra_inertia`, and is added.

    `axes` and `elements` are for pictures and section forces; they take no part in the dynamics.
    """

    points: Float[Real, "k 3"]  # X, nodes, undeformed [m]
    node_shape: Float[Real, "k 6 c"]  # U, nodal displacement = U q
    station_shape: Float[Real, "s 6 c"]  # N, displacement field at the stations = N q
    # B, the same field for a rigid twist (v, w): v + w x X, w
    station_rigid: Float[Real, "s 6 6"]
    # D, weight * blockdiag(rho A I3, rho J): [kg], [kg m^2]
    station_inertia: Float[Real, "s 6 6"]
    stiffness: Float[Real, "c c"]  # K
    damping: Float[Real, "c c"]  # internal: beta K or modal
    alpha: Scalar | None  # Rayleigh mass coefficient [1/s]; None: none is given
    rigid: Float[Real, "c 6"]  # coordinates of a rigid displacement
    # columns: local x, y, z of each element in the link frame
    axes: Float[Real, "e 3 3"]
    # nodes at the ends of each element
    elements: tuple[tuple[int, int], ...] = eqx.field(static=True)
    # of the elastic coordinates eta: `2.rz` or `mode.3`
    names: tuple[str, ...] = eqx.field(static=True)
    # inertia beside that of the stations, over (rigid twist, q)
    extra_inertia: Inertia | None = None
    slopes: Slopes | None = None  # of the axis of a beam: for geometric stiffening
    # the same of a link known by its constants
    second_order: SecondOrderFields | None = None
    # of beam elements, in their axes: for section forces
    element_stiffness: Float[Real, "e 12 12"] | None = None

    def __check_init__(self):
        for name, expected in self._expected_shapes().items():
            shape = getattr(self, name).shape
            if shape != expected:
                raise ValueError(f"body: {name} has shape {shape}, expected {expected}")
        elastic = self.coordinates - 6
        if len(self.names) != elastic:
            raise ValueError(
                f"body: {len(self.names)} names for {elastic} elastic coordinates"
            )

    def _expected_shapes(self) -> dict[str, tuple[int, ...]]:
        k = self.points.shape[0]
        c = self.coordinates
        s = self.station_shape.shape[0]
        e = len(self.elements)
        return {
            "points": (k, 3),
            "node_shape": (k, 6, c),
            "station_shape": (s, 6, c),
            "station_rigid": (s, 6, 6),
            "station_inertia": (s, 6, 6),
            "stiffness": (c, c),
            "damping": (c, c),
            "rigid": (c, 6),
            "axes": (e, 3, 3),
        }

    @property
    def coordinates(self) -> int:
        """Number c of body coordinates q = (r, eta)."""
        return self.node_shape.shape[-1]

    @property
    def mass_matrix(self) -> Float[Real, "c c"]:
        """M = sum N^T D N."""
        M = weighted_product(
            self.station_shape, self.station_inertia, self.station_shape
        )
        if self.extra_inertia is None:
            return M
        # The first six of its columns are a rigid twist, the others q.
        return M + elastic_part(self.extra_inertia.mass)

    @property
    def rigid_inertia(self) -> Float[Real, "6 6"]:
        """Inertia of the undeformed link for a twist (v, w) about the origin of its frame: sum B^T D B."""
        M = weighted_product(
            self.station_rigid, self.station_inertia, self.station_rigid
        )
        if self.extra_inertia is None:
            return M
        return M + self.extra_inertia.mass[:6, :6]

    @property
    def total_mass(self) -> Scalar:
        """Mass of the link, its lumped masses included [kg]."""
        return self.rigid_inertia[0, 0]

    @property
    def centre(self) -> Vector3:
        """Centre of mass in the link frame [m]; the link must have mass."""
        first_moment = self.rigid_inertia[3:, :3]  # m [c x]
        m_x = first_moment[2, 1]
        m_y = first_moment[0, 2]
        m_z = first_moment[1, 0]
        xp = namespace(first_moment)
        return xp.stack([m_x, m_y, m_z]) / self.total_mass

    @property
    def inertia(self) -> Matrix3:
        """Inertia tensor about the origin of the link frame, link axes [kg m^2]."""
        return self.rigid_inertia[3:, 3:]


def weighted_product(
    left: Float[Real, "s 6 a"],
    weight: Float[Real, "s 6 6"],
    right: Float[Real, "s 6 b"],
) -> Float[Real, "a b"]:
    """Sum over the stations of left^T weight right."""
    return clean_product(in_rows(left).T, in_rows(weight @ right))


def in_rows(field: Float[Real, "s 6 m"]) -> Float[Real, "rows m"]:
    """Stations and components in one axis: a sum over both is then a single product of matrices."""
    return field.reshape(-1, field.shape[-1])


def station_inertia(
    mass: Scalar, inertia: Float[Real, "..."] | Sequence
) -> Float[Real, "6 6"]:
    """D of a station that carries a rigid mass, its inertia (3, 6 or 3x3 values) about its own centre."""
    xp = namespace(mass, inertia)
    tensor = inertia_matrix(xp.asarray(inertia, dtype=float))
    return block_diagonal(mass * xp.eye(3), tensor)


def with_mass(
    body: Body,
    node: int,
    mass: Scalar,
    inertia: Float[Real, "..."] | Sequence = (0.0, 0.0, 0.0),
    offset: Vector3 | Sequence = (0.0, 0.0, 0.0),
) -> Body:
    """Body that also carries a rigid mass fixed to a node.

    Args:
        body: the link.
        node: number of the node, 0 at the joint; -1 is the tip.
        mass: [kg].
        inertia: about the centre of the added mass, link axes: 3, 6 or 3x3 values [kg m^2].
        offset: from the node to the centre of the added mass, link axes [m].
    """
    xp = namespace(body, mass, inertia, offset)
    arm = xp.asarray(offset, dtype=float)
    shape = rigid_shape(arm) @ body.node_shape[node]
    rigid = rigid_shape(body.points[node] + arm)
    D = station_inertia(mass, inertia)
    slopes = body.slopes
    if slopes is not None:
        slopes = with_station(slopes, node)
    second_order = body.second_order
    if second_order is not None:
        second_order = second_order_fields.with_station(second_order, node, arm)

    def with_one_more(stations, one):
        return xp.concatenate([stations, one[None]])

    def stations(b):
        return (
            b.station_shape,
            b.station_rigid,
            b.station_inertia,
            b.slopes,
            b.second_order,
        )

    new = (
        with_one_more(body.station_shape, shape),
        with_one_more(body.station_rigid, rigid),
        with_one_more(body.station_inertia, D),
        slopes,
        second_order,
    )
    # A body without slopes has None there, which is a leaf too.
    return eqx.tree_at(stations, body, new, is_leaf=lambda leaf: leaf is None)


def in_basis(body: Body, elastic: Float[Real, "c m"], names: Sequence[str]) -> Body:
    """The same body with u = U (rigid r + elastic eta): r moves it as a rigid body, eta bends it.

    The columns of `elastic` must leave the inner node at rest, so that r is the displacement of that node. Strain then
    depends on eta alone, and the stiffness of a whole robot is the same in every pose. Fewer columns than coordinates
    make a reduced body, [Vidoni2015] eq. (2). `names` are those of its new coordinates.
    """
    xp = namespace(body.rigid, body.stiffness, elastic)
    rigid = xp.asarray(body.rigid)
    change = xp.hstack([rigid, elastic])

    def over_eta(A):
        # A rigid displacement r strains nothing: its rows and columns are exactly zero.
        return with_zero_rigid_part(clean_product(elastic.T, A, elastic))

    extra_inertia, slopes = body.extra_inertia, body.slopes
    if extra_inertia is not None:
        extra_inertia = in_coordinates(extra_inertia, change)
    if slopes is not None:
        slopes = in_shapes(slopes, elastic)
    second_order = body.second_order
    if second_order is not None:
        second_order = second_order_fields.in_shapes(second_order, rigid, elastic)
    return Body(
        points=body.points,
        node_shape=clean_product(body.node_shape, change),
        station_shape=body.station_shape @ change,
        station_rigid=body.station_rigid,
        station_inertia=body.station_inertia,
        stiffness=over_eta(body.stiffness),
        damping=over_eta(body.damping),
        alpha=body.alpha,
        rigid=rigid_coordinates(change.shape[1], xp),
        axes=body.axes,
        elements=body.elements,
        names=tuple(names),
        extra_inertia=extra_inertia,
        slopes=slopes,
        second_order=second_order,
        element_stiffness=body.element_stiffness,
    )


def measured_from_inner_node(body: Body) -> Body:
    """The same body with eta relative to its inner node, all coordinates kept."""
    every = range(body.coordinates - 6)
    return with_kept_coordinates(body, every)


def with_kept_coordinates(body: Body, selection: Sequence[int]) -> Body:
    """The same body with some of its elastic coordinates (numbered from 0), counted from its inner node."""
    columns = [6 + k for k in selection]
    unit = namespace(body.rigid).eye(body.coordinates)
    names = [body.names[k] for k in selection]
    return in_basis(body, unit[:, columns], names)


def rigid_coordinates(coordinates: int, xp=np) -> Float[Real, "c 6"]:
    """Coordinates of a rigid displacement where r alone makes it: [I6; 0]."""
    return xp.eye(coordinates)[:, :6]
