"""One link alone, moving with y = (V, qd) and deformed by q: its momentum, its inertia, the forces that it needs.

With A_a = (e_a x) on every translation and rotation triplet, its velocity field is N~ y + sum_a w_a A_a N q, so that

    T = 1/2 y^T M y + sum_a w_a y^T X_a q + 1/2 sum_ab w_a w_b q^T Z_ab q

with constants of the link (Appendix D of [Vidoni2015]).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.se3 import coadjoint
from .links import Links


def momentum(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " e"]:
    """Momentum dT/dy of one link."""
    w = y[3:6]
    Xq = jnp.einsum("aec,c->ae", link.X, q)
    turning = Xq @ y + jnp.einsum("abcd,c,d->ab", link.Z, q, q) @ w
    on_w = jnp.zeros_like(y).at[3:6].set(turning)
    return jnp.asarray(link.mass) @ y + w @ Xq + on_w


def kinetic_slope(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " c"]:
    """dT/dq of one link."""
    w = y[3:6]
    first = jnp.einsum("a,aec,e->c", w, link.X, y)
    second = jnp.einsum("a,b,abcd,d->c", w, w, link.Z, q)
    return first + second


def body_inertia(link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
    """Inertia of one deformed link over (V, qd): the polynomial of degree 2 in q."""
    none = jnp.zeros_like(link.mass)
    G = none.at[:, 3:6].set(jnp.einsum("aec,c->ea", link.X, q))
    Z = none.at[3:6, 3:6].set(jnp.einsum("abcd,c,d->ab", link.Z, q, q))
    return jnp.asarray(link.mass) + G + G.T + Z


def inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """Kirchhoff's equations of one link: force on (V, qd) that its motion needs."""
    qd = y[6:]
    # Momentum and its rate in link axes; the axes turn, which adds the coadjoint term.
    P, P_d = jax.jvp(lambda y, q: momentum(link, y, q), (y, q), (y_d, qd))
    turning = coadjoint(y[:6], P[:6])
    return P_d + jnp.concatenate([turning, -kinetic_slope(link, y, q)])


def elastic_force(link: Links, q: Float[Array, " c"]) -> Float[Array, " e"]:
    """Restoring force K q; rigid motion stores no strain."""
    return jnp.concatenate([jnp.zeros(6), link.stiffness @ q])
