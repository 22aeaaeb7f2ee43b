"""Geometric stiffening: links that bend are shortened, and axial loads work along the shortening.

A point X of a bent link moves by -1/2 int_0^X |slope|^2 t ds towards the joint, beside its displacement linear in eta.
That shift is linear in the squared slopes sigma_p = |A_p eta|^2 at a few points along the axis. So a stiffened link is
a body with more coordinates, q = (r, eta, sigma), whose inertia has the constants of any other; that sigma follows eta
is a matter of kinematics. No term is left out: kinetic energy, weight, tip motion and loads all see the shortened
link, and the geometric stiffness of axial and centrifugal loads comes out of the equations of motion.
"""

from collections.abc import Sequence

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..algebra.so3 import CROSS
from ..bodies.body import Body
from ..bodies.integrals import inertia_integrals
from ..bodies.slopes import Slopes
from ..types import Real, namespace
from .links import Links, coordinate_places, stack_links


def stiffened_links(
    bodies: Sequence[Body], turned: Sequence[bool] | None = None
) -> Links:
    """The bodies stacked, each with its squared slopes as further coordinates.

    Args:
        bodies: of all links.
        turned: which of them lean as small displacements turn their inner nodes; None where links lean by finite
            rotations of their frames.

    Raises:
        ValueError: a link bends, but its axis is not known.
    """
    if turned is not None:
        bodies = [with_axes(body) for body in bodies]
    counts = [body.coordinates - 6 for body in bodies]
    slots = max(counts)
    longer = [with_squared_slopes(body, slots) for body in bodies]
    links = stack_links(longer, [inertia_integrals(body) for body in longer])
    xp = namespace(links.mass)
    points = max(_slope_points(body) for body in bodies)
    rows = []
    for body, count in zip(bodies, counts, strict=True):
        if body.slopes is None:
            rows.append(xp.zeros((points, 3, slots)))
            continue
        slope = body.slopes.slope[:, :, 6:]
        missing = (points - len(slope), slots - count)
        rows.append(xp.pad(slope, ((0, missing[0]), (0, 0), (0, missing[1]))))
    # The squared slopes follow eta: only eta has places among the coordinates of the robot.
    leans = None if turned is None else leans_of(bodies, points)
    return eqx.tree_at(
        lambda l: (l.place, l.slopes, l.leans),
        links,
        (coordinate_places(counts, slots), xp.stack(rows), leans),
        is_leaf=lambda leaf: leaf is None,
    )


def with_axes(body: Body) -> Body:
    """A rigid body with three axes that lean as it is turned: its points then come nearer to the joint as they must."""
    if body.slopes is not None or body.coordinates > 6:
        return body
    xp = namespace(body)
    none = xp.zeros((3, 3, 6))
    slopes = Slopes(none, np.eye(3), body.points, points_of(body.station_rigid))
    return eqx.tree_at(lambda b: b.slopes, body, slopes, is_leaf=lambda x: x is None)


def points_of(rigid: Float[Real, "s 6 6"]) -> Float[Real, "s 3"]:
    """Where stations are, from the displacements (v + w x X, w) of rigid twists."""
    xp = namespace(rigid)
    return xp.stack([rigid[:, 1, 5], rigid[:, 2, 3], rigid[:, 0, 4]], axis=1)


def leans_of(bodies: Sequence[Body], points: int) -> Float[Real, "l p 3 3"]:
    """Slopes phi x t of the axes of all bodies for unit rotations phi of their inner nodes, at `points` points."""
    rows = []
    for body in bodies:
        # A link of finite elements knows no axis: it is not turned, see `check_turned`.
        tangent = np.zeros((0, 3)) if body.slopes is None else body.slopes.tangent
        # phi x t = -(t x) phi
        lean = -namespace(tangent).einsum("pa,aij->pij", tangent, CROSS)
        rows.append(
            namespace(lean).pad(lean, ((0, points - len(lean)), (0, 0), (0, 0)))
        )
    return namespace(rows).stack(rows)


def _slope_points(body: Body) -> int:
    """Number of points along the axis at which slopes are squared."""
    return 0 if body.slopes is None else len(body.slopes.slope)


def with_squared_slopes(body: Body, slots: int) -> Body:
    """The body over (r, eta, sigma): eta filled up to `slots` coordinates, sigma the squared slopes along its axis."""
    xp = namespace(body)
    c, slopes = body.coordinates, body.slopes
    if slopes is None and (c > 6 or body.extra_inertia is not None):
        raise ValueError(
            "stiffening: geometric needs beams; a link given by its matrices has no axis to shorten"
        )
    # eta is filled up so that sigma begins at the same coordinate in every link.
    spare = 6 + slots - c

    def longer(shape, weights):
        gap = xp.zeros((*shape.shape[:2], spare))
        if slopes is None:
            return xp.concatenate([shape, gap], axis=2)
        shift = -0.5 * xp.einsum("np,pk->nkp", weights, slopes.tangent)
        return xp.concatenate(
            [shape, gap, xp.pad(shift, ((0, 0), (0, 3), (0, 0)))], axis=2
        )

    node_shape = longer(
        xp.asarray(body.node_shape), None if slopes is None else slopes.nodes
    )
    more = node_shape.shape[2] - c
    return Body(
        points=body.points,
        node_shape=node_shape,
        station_shape=longer(
            xp.asarray(body.station_shape), None if slopes is None else slopes.stations
        ),
        station_rigid=body.station_rigid,
        station_inertia=body.station_inertia,
        stiffness=xp.pad(body.stiffness, (0, more)),
        damping=xp.pad(body.damping, (0, more)),
        alpha=body.alpha,
        rigid=xp.pad(xp.asarray(body.rigid), ((0, more), (0, 0))),
        axes=body.axes,
        elements=body.elements,
        names=(*body.names, *(f"slope.{k}" for k in range(more))),
    )
