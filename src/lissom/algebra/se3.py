"""Twists and wrenches. Component order, declared here once: linear part first, (v, w) and (f, m), as nodal dofs."""

import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float, Real, namespace
from .so3 import cross, skew


def twist_to_child(
    R: Float[Array, "3 3"], p: Float[Array, " 3"], V: Float[Array, " 6 *m"]
) -> Float[Array, " 6 *m"]:
    """Twist of a body seen from a frame fixed to it at (R, p): `R^T (v + w x p)`, `R^T w`; columns are allowed."""
    v, w = V[:3], V[3:]
    at_p = v - skew(p) @ w
    return jnp.concatenate([R.T @ at_p, R.T @ w])


def shift_displacement(
    R: Float[Array, "3 3"], arm: Float[Array, " 3"], u: Float[Array, " 6"]
) -> Float[Array, " 6"]:
    """Small displacement of a point, carried over a rigid arm and turned into the axes of R."""
    d, phi = u[:3], u[3:]
    at_end = d + cross(phi, arm)
    return jnp.concatenate([R.T @ at_end, R.T @ phi])


def bracket(
    a: Float[Array, "*#n 6"], b: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """ad(a) b = (w_a x v_b + v_a x w_b, w_a x w_b): rate of a twist b that the motion a carries along."""
    v_a, w_a = a[..., :3], a[..., 3:]
    v_b, w_b = b[..., :3], b[..., 3:]
    linear = cross(w_a, v_b) + cross(v_a, w_b)
    return jnp.concatenate([linear, cross(w_a, w_b)], axis=-1)


def coadjoint(
    V: Float[Array, "*#n 6"], P: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """-ad(V)^T P: rate of a momentum P = (l, h) by the turning of its frame, `(w x l, w x h + v x l)`."""
    v, w = V[..., :3], V[..., 3:]
    l, h = P[..., :3], P[..., 3:]
    force = cross(w, l)
    moment = cross(w, h) + cross(v, l)
    return jnp.concatenate([force, moment], axis=-1)


def rigid_shape(X: Float[Real, "3"]) -> Float[Real, "6 6"]:
    """Displacement of the point X for a small rigid displacement (v, w): translation `v + w x X`, rotation `w`."""
    xp = namespace(X)
    one = xp.eye(3)
    # w x X = -X x w: the matrix on w carries a minus sign.
    translation = xp.concatenate([one, -skew(X)], axis=1)
    rotation = xp.concatenate([xp.zeros((3, 3)), one], axis=1)
    return xp.concatenate([translation, rotation])
