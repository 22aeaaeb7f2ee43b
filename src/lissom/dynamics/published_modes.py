"""Inertia of a link by the nodal shortcut of [Vidoni2015]: eqs. (48)-(51) with the constants of Appendix D.

Nodal displacements turn as vectors, M (omega x) u in place of the integral of the turned displacement field. Where the
mass commutes with rotations (mass at the nodes, equal in all directions) both are the same; elsewhere the shortcut
leaks the power w^T M (omega x) w, w the nodal velocities in link axes.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..algebra.so3 import CROSS, cross
from ..bodies.body import Body
from ..bodies.inertia import Inertia, in_coordinates
from ..bodies.integrals import (
    PARTS,
    cubic_integrals,
    inertia_integrals,
    nodal_integrals,
)
from ..bodies.reduce.reduced_body import is_modal
from ..types import Float, Real, namespace


class NodalConstants(eqx.Module):
    """Constants of the nodal shortcut, beside those of every link; a link's gravity Q is in its mass and X."""

    W: Float[Real, "l 3 6 c c"]  # [Vidoni2015] eq. (96)


def nodal_constants(
    nodal: Body, reduced: Body
) -> tuple[Inertia, Float[Real, "3 6 c c"]]:
    """Constants X, Y, Z and W, Appendix D, of a link over the coordinates of its reduced body.

    Args:
        nodal: the link over the displacements of all its nodes.
        reduced: the same link in its reduced coordinates.

    A rigid link and a link known by its modes alone have no nodal mass matrix: the shortcut is exact for their mass,
    which sits at points.
    """
    if nodal.coordinates == 6 or is_modal(nodal):
        own = inertia_integrals(reduced)
        return own, commuting_cubic(own)
    change = reduced.node_shape.reshape(-1, reduced.coordinates)
    inertia = in_coordinates(nodal_integrals(nodal), change)
    W = cubic_integrals(nodal, nodal=True)[:, :, 6:, 6:]
    return inertia, change.T @ W @ change


def commuting_cubic(inertia: Inertia) -> Float[Real, "3 6 c c"]:
    """W of a mass that commutes with rotations: A_r^T S_t is a sum of A_a and A_a A_b, and W the same of X and Y."""
    xp = namespace(inertia.X)
    X = inertia.X[:, 6:, 6:]
    Y = inertia.Y[:, :, 6:, 6:]
    single, double = _expansion_coefficients()
    from_X = xp.einsum("rta,acd->rtcd", single, X)
    from_Y = xp.einsum("rtab,abcd->rtcd", double, Y)
    return from_X + from_Y


def _expansion_coefficients() -> tuple[
    Float[np.ndarray, "3 6 3"], Float[np.ndarray, "3 6 3 3"]
]:
    """Coefficients of A_r^T S_t in the matrices A_a and A_a A_b."""
    A = CROSS
    products = np.einsum("aij,bjk->abik", A, A).reshape(9, 9)
    terms = np.concatenate([A.reshape(3, 9), products])
    wanted = np.einsum("rji,tjk->rtik", A, PARTS[:, :3, :3]).reshape(18, 9)
    # Twelve matrices span all nine dimensions: the least-squares solution is exact.
    coefficients = np.linalg.lstsq(terms.T, wanted.T, rcond=None)[0].T
    single = coefficients[:, :3].reshape(3, 6, 3)
    return single, coefficients[:, 3:].reshape(3, 6, 3, 3)


def squares(w: Float[Array, "3"]) -> Float[Array, "6"]:
    """Factors of S_1 to S_6 in Omega^T Omega, [Vidoni2015] eq. (88)."""
    x, y, z = w
    return jnp.stack([y * y + z * z, x * x + z * z, x * x + y * y, x * y, x * z, y * z])


def nodal_inertial_force(
    link, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
):
    """Force on (V, qd) that the motion of one link needs, [Vidoni2015] eqs. (48)-(51).

    The acceleration a_0 of the link's origin is in link axes, the body twist's rate and w x v (erratum 5).
    """
    v, w, qd = y[:3], y[3:6], y[6:]
    alpha = y_d[3:6]
    X, Y, Z, W = (jnp.asarray(part) for part in (link.X, link.Y, link.Z, link.nodal.W))
    a = y_d.at[:3].add(cross(w, v))
    # 2 qd, and B [0; w] of eq. (37): rigid displacements are the first six.
    turned = 2.0 * qd.at[3:6].add(0.5 * w)
    force = (
        jnp.asarray(link.mass) @ a
        + jnp.einsum("a,aec,c->e", w, X, turned)
        + jnp.einsum("a,aec,c->e", alpha, X, q)
        + jnp.einsum("a,b,abec,c->e", w, w, Y, q)
    )
    # Moment of the same accelerations about the link's origin, by the displacements q.
    couple = (
        jnp.einsum("rec,c,e->r", X, q, a)
        + jnp.einsum("rbcd,c,b,d->r", Z, q, w, turned)
        + jnp.einsum("rbcd,c,b,d->r", Z, q, alpha, q)
        - jnp.einsum("rtcd,c,t,d->r", W, q, squares(w), q)
    )
    return force.at[3:6].add(couple)
