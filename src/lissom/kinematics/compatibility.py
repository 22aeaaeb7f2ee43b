"""Displacements of the links that agree at the joints.

Body coordinates of link i are q_i = (r_i, eta_i): r_i the displacement of its inner node from the equivalent rigid-link
system (ERLS), which carries the link as a rigid body, eta_i the displacements counted from there. With the `tangent`
choice of the ERLS the inner node of a link simply moves with the tip of its parent. Any other choice adds the rigid
motion J phi of the ERLS that satisfies one more condition per joint,

    r = r_t + J phi,      Z(theta) q = 0      =>      phi = -(Z J)^-1 Z q_t,

and `Z J` is the matrix J_0 of [Boscariol2012] eq. (6), which must not be singular. A mechanism whose joints depend on
each other has conditions of its own beside those of the choice (`AbstractJointDependence.conditions`).
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.se3 import shift_displacement
from ..types import Float, Real
from .chain import (
    Chain,
    Relative,
    body_jacobian,
    of_parents,
    outwards,
    relative_poses,
    with_frames,
)
from .mechanism import AbstractMechanism
from .references import AbstractReference


class Shapes(eqx.Module):
    """Displacements of tips and seats from body coordinates, for compatibility; l frames of the chain."""

    tip: Float[Real, "b 6 c"]  # displacement of the tip node from body coordinates
    # The same of the parent's point that carries each frame; None: the parent's tip.
    seat: Float[Real, "l 6 c"] | None = None


def seat_shapes(chain: Chain, shapes: Shapes) -> Float[Array, "l 6 c"]:
    """Displacement of the point that carries each frame, from the body coordinates of its parent."""
    if shapes.seat is None:
        return of_parents(chain.parents, jnp.asarray(shapes.tip))
    return jnp.asarray(shapes.seat)


def tangent_coordinates(
    chain: Chain, relative: Relative, shapes: Shapes, eta: Float[Array, "l m"]
) -> Float[Array, "l c"]:
    """Body coordinates when inner nodes follow the tips before them, [Vidoni2015] eqs. (3)-(8) in all directions."""

    def step(q, link):
        pose, shape, eta = link
        inner = shift_displacement(pose.R, pose.arm, shape @ q)
        return jnp.concatenate([inner, eta])

    ground = jnp.zeros(shapes.tip.shape[-1])
    links = (relative, seat_shapes(chain, shapes), eta)
    return outwards(chain.parents, step, ground, links)


def reference_matrix(
    mechanism: AbstractMechanism,
    reference: AbstractReference,
    theta: Float[Real, " k"],
) -> Float[Array, "r d"]:
    """J_0 = Z J of [Boscariol2012] eq. (6): singular where the chosen conditions do not define an ERLS."""
    relative = relative_poses(mechanism.chain, jnp.asarray(theta))
    J = body_jacobian(mechanism.chain, relative)
    conditions = mechanism.dependence(J).conditions(reference, J)
    assert conditions is not None
    return conditions.matrix


def elastic_coordinates(
    mechanism: AbstractMechanism,
    shapes: Shapes,
    reference: AbstractReference,
    theta: Float[Array, " k"],
    eta: Float[Array, "b m"],
) -> tuple[Float[Array, "b c"], Float[Array, " k"]]:
    """Body coordinates q = H(theta) eta and the elastic joint displacements phi (encoder angle minus theta)."""
    chain = mechanism.chain
    relative = relative_poses(chain, theta)
    q = tangent_coordinates(chain, relative, shapes, with_frames(chain, eta))
    J = body_jacobian(chain, relative)
    conditions = mechanism.dependence(J).conditions(reference, J)
    if conditions is None:
        return q, jnp.zeros_like(theta)
    # Any multipliers among the unknowns come after the joints.
    solve = conditions.solve[: theta.shape[0]]
    phi = -solve @ jnp.einsum("jlc,lc->j", conditions.rows, q)
    q = q.at[:, :6].add(J @ phi)
    return q[: eta.shape[0]], phi
