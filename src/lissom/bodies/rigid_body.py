"""A link that does not bend: mass, centre, inertia tensor."""

from collections.abc import Sequence

import jax
import numpy as np
from jax.core import Tracer

from ..types import Float, Real, Scalar, Vector3, namespace
from .body import Body, rigid_shapes, station_inertia


def rigid_body(
    mass: Scalar,
    com: Vector3 | Sequence = (0.0, 0.0, 0.0),
    inertia: Float[Real, "..."] | Sequence = (0.0, 0.0, 0.0),
    tip: Vector3 | Sequence = (0.0, 0.0, 0.0),
) -> Body:
    """Rigid link: six coordinates, one station at its centre, a node at the joint and one at the tip.

    Args:
        mass: [kg]; zero makes a massless link.
        com: centre of mass in the link frame [m].
        inertia: about the centre of mass, link axes: 3, 6 or 3x3 values [kg m^2].
        tip: where the next joint sits, link frame [m]; at the origin the link has one node only.
    """
    xp = namespace(mass, com, inertia, tip)
    points = [xp.zeros(3)]
    if not _is_origin(tip):
        points.append(xp.asarray(tip, dtype=float))
    nodes = xp.stack(points)
    centre = xp.asarray(com, dtype=float)
    at_centre = rigid_shapes(centre[None])
    return Body(
        points=nodes,
        node_shape=rigid_shapes(nodes),
        # The six coordinates are the rigid twist itself.
        station_shape=at_centre,
        station_rigid=at_centre,
        station_inertia=station_inertia(mass, inertia)[None],
        stiffness=xp.zeros((6, 6)),
        damping=xp.zeros((6, 6)),
        alpha=None,
        rigid=xp.eye(6),
        axes=xp.zeros((0, 3, 3)),
        elements=(),
        names=(),
    )


def _is_origin(tip: Vector3 | Sequence) -> bool:
    """True if the tip is the origin; a traced tip is taken to be elsewhere, since the number of nodes is structure."""
    for leaf in jax.tree.leaves(tip):
        if isinstance(leaf, Tracer):
            return False
    return not np.any(np.asarray(tip))
