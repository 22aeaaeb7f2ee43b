"""Geometric stiffening: links that bend are shortened, and axial loads work along the shortening.

A point X of a bent link moves by -1/2 int_0^X |slope|^2 t ds towards the joint, beside its displacement linear in eta.
That shift is linear in the squared slopes sigma_p = |A_p eta|^2 at a few points along the axis. So a stiffened link is
a body with more coordinates, q = (r, eta, sigma), whose inertia has the constants of any other; that sigma follows eta
is a matter of kinematics. A link of finite elements has second-order displacements f_p |A_p eta|^2 of the same kind,
from static solutions of its mesh (`bodies/fe/second_order.py`). No term is left out: kinetic energy, weight, tip motion
and loads all see the shortened link, and the geometric stiffness of axial and centrifugal loads comes out of the
equations of motion.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import numpy as np

from ..algebra.so3 import CROSS
from ..bodies.body import Body
from ..bodies.integrals import inertia_integrals
from ..bodies.second_order_fields import with_further_coordinates
from ..bodies.slopes import Slopes
from ..types import Float, Real, namespace
from .links import Links, stack_links

NO_SECOND_ORDER = (
    "stiffening: geometric needs the second-order displacements of a link of finite elements, and its file has none: "
    "write it again with `lissom reduce` from a mesh or geometry (.msh, .step, .geo) with --material, or describe the "
    "link as a beam, or set stiffening: none"
)


class Shortening(NamedTuple):
    """How a bent body moves to second order: by the shifts of each field times its square |A_p eta + L_p phi|^2."""

    factors: Float[Real, "p d m"]  # A_p over eta
    leans: Float[Real, "p d 3"]  # L_p, over the rotation of the inner node
    nodes: Float[Real, "k 6 p"]
    stations: Float[Real, "s 6 p"]


def shortening_of(body: Body) -> Shortening | None:
    """Second-order displacements of a body; None of a rigid one.

    Raises:
        ValueError: the link bends, but neither its axis nor its second-order displacements are known.
    """
    if body.slopes is not None:
        slopes = body.slopes
        return Shortening(
            factors=slopes.slope[:, :, 6:],
            # phi x t = -(t x) phi
            leans=-np.einsum("pa,aij->pij", slopes.tangent, CROSS),
            nodes=_shifts(slopes.nodes, slopes.tangent),
            stations=_shifts(slopes.stations, slopes.tangent),
        )
    if body.second_order is not None:
        second = body.second_order
        factors = second.factors[:, :, 6:]
        return Shortening(factors, second.leans, second.nodes, second.stations)
    if body.coordinates > 6:
        raise ValueError(NO_SECOND_ORDER)
    return None


def _shifts(
    weights: Float[Real, "n p"], tangent: Float[Real, "p 3"]
) -> Float[Real, "n 6 p"]:
    """-1/2 int t ds for unit squared slopes; the shortening turns nothing."""
    xp = namespace(weights, tangent)
    shift = -0.5 * xp.einsum("np,pk->nkp", weights, tangent)
    return xp.pad(shift, ((0, 0), (0, 3), (0, 0)))


def stiffened_links(bodies: Sequence[Body], carried: bool = False) -> Links:
    """The bodies stacked, each with its squares as further coordinates.

    Args:
        bodies: of all links.
        carried: whether small displacements carry and turn the links, so that their axes lean with their inner nodes.

    Raises:
        ValueError: a link bends, but its second-order displacements are not known.
    """
    if carried:
        bodies = [with_axes(body) for body in bodies]
    counts = tuple(body.coordinates - 6 for body in bodies)
    slots = max(counts)
    shortenings = [shortening_of(body) for body in bodies]
    longer = [
        with_square_coordinates(body, shortening, slots)
        for body, shortening in zip(bodies, shortenings, strict=True)
    ]
    links = stack_links(longer, [inertia_integrals(body) for body in longer])
    factors = [None if part is None else part.factors for part in shortenings]
    leans = [None if part is None else part.leans for part in shortenings]
    # The squares follow eta: only eta has places among the coordinates of the robot.
    return dataclasses.replace(
        links,
        counts=counts,
        slopes=_stack_padded(factors, slots),
        leans=_stack_padded(leans, 3) if carried else None,
    )


def _stack_padded(
    factors: Sequence[Float[Real, "_ _ _"] | None], columns: int
) -> Float[Real, "l p d m"]:
    """Factors of all bodies, filled up with zeros: squares of nothing."""
    shapes = [part.shape for part in factors if part is not None]
    points = max((shape[0] for shape in shapes), default=0)
    rows = max((shape[1] for shape in shapes), default=1)
    stack = []
    for part in factors:
        own = np.zeros((0, 0, 0)) if part is None else part
        whole = (points, rows, columns)
        widths = [(0, n - m) for n, m in zip(whole, own.shape, strict=True)]
        stack.append(namespace(own).pad(own, widths))
    return namespace(stack).stack(stack)


def with_axes(body: Body) -> Body:
    """A rigid body with three axes that lean as it is turned: its points then come nearer to the joint as they must."""
    knows = body.slopes is not None or body.second_order is not None
    if knows or body.coordinates > 6:
        return body
    xp = namespace(body)
    none = xp.zeros((3, 3, 6))
    slopes = Slopes(none, np.eye(3), body.points, points_of(body.station_rigid))
    return eqx.tree_at(lambda b: b.slopes, body, slopes, is_leaf=lambda x: x is None)


def points_of(rigid: Float[Real, "s 6 6"]) -> Float[Real, "s 3"]:
    """Where stations are, from the displacements (v + w x X, w) of rigid twists."""
    xp = namespace(rigid)
    return xp.stack([rigid[:, 1, 5], rigid[:, 2, 3], rigid[:, 0, 4]], axis=1)


def with_square_coordinates(
    body: Body, shortening: Shortening | None, slots: int
) -> Body:
    """The body over (r, eta, sigma): eta filled up to `slots` coordinates, sigma the squares that shorten it."""
    xp = namespace(body)
    c = body.coordinates
    # eta is filled up so that sigma begins at the same coordinate in every link.
    spare = 6 + slots - c

    def longer(shape, shifts):
        gap = xp.zeros((*shape.shape[:2], spare))
        parts = [xp.asarray(shape), gap]
        return xp.concatenate([*parts, *shifts], axis=2)

    at_nodes = [] if shortening is None else [shortening.nodes]
    at_stations = [] if shortening is None else [shortening.stations]
    node_shape = longer(body.node_shape, at_nodes)
    more = node_shape.shape[2] - c
    extra_inertia = body.extra_inertia
    if body.second_order is not None:
        squares = body.second_order.nodes.shape[-1]
        inertia = body.second_order.inertia
        extra_inertia = with_further_coordinates(inertia, spare, squares)
    elif extra_inertia is not None:
        extra_inertia = with_further_coordinates(extra_inertia, more)
    return Body(
        points=body.points,
        node_shape=node_shape,
        station_shape=longer(body.station_shape, at_stations),
        station_rigid=body.station_rigid,
        station_inertia=body.station_inertia,
        stiffness=xp.pad(body.stiffness, (0, more)),
        damping=xp.pad(body.damping, (0, more)),
        alpha=body.alpha,
        rigid=xp.pad(xp.asarray(body.rigid), ((0, more), (0, 0))),
        axes=body.axes,
        elements=body.elements,
        names=(*body.names, *(f"square.{k}" for k in range(more))),
        extra_inertia=extra_inertia,
    )
