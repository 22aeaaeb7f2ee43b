"""One link alone, moving with y = (V, qd) and deformed by q: its momentum, its inertia, the forces that it needs.

With A_a = (e_a x) on every translation and rotation triplet, its velocity field is N~ y + sum_a w_a A_a N q, so that

    T = 1/2 y^T M y + sum_a w_a y^T X_a q + 1/2 sum_ab w_a w_b q^T Z_ab q

with constants of the link (Appendix D of [Vidoni2015]).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..algebra.se3 import coadjoint
from ..types import Float
from .links import PAIRS, Links

FIRST, SECOND = PAIRS.T
PLACE = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])  # in `PAIRS`
SHARE = np.array(
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
)  # of a pair: both of its orders have it


class Bending(NamedTuple):
    """What the constants of one link make of its coordinates q: X_a q, Z_ab q of every pair, and q^T Z_ab q."""

    X: Float[Array, "3 e"]
    Z: Float[Array, "6 c"]
    turning: Float[Array, "3 3"]


def bending(link: Links, q: Float[Array, " c"]) -> Bending:
    """Products with the constants, formed once for all that needs them."""
    Zq = jnp.einsum("pcd,d->pc", link.Z_sum, q)
    return Bending(jnp.einsum("aec,c->ae", link.X, q), Zq, _of_pairs(Zq @ q))


def _of_pairs(values: Float[Array, " 6"]) -> Float[Array, "3 3"]:
    """The symmetric matrix with these values of the pairs."""
    return jnp.asarray(SHARE * values)[PLACE]


def momentum(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " e"]:
    """Momentum dT/dy of one link."""
    return _momentum(link, y, bending(link, q))


def _momentum(link: Links, y: Float[Array, " e"], bent: Bending) -> Float[Array, " e"]:
    w = y[3:6]
    on_w = bent.X @ y + bent.turning @ w
    return (jnp.asarray(link.mass) @ y + w @ bent.X).at[3:6].add(on_w)


def body_inertia(link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
    """Inertia of one deformed link over (V, qd): the polynomial of degree 2 in q."""
    none = jnp.zeros_like(link.mass)
    bent = bending(link, q)
    G = none.at[:, 3:6].set(bent.X.T)
    Z = none.at[3:6, 3:6].set(bent.turning)
    return jnp.asarray(link.mass) + G + G.T + Z


def inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """Kirchhoff's equations of one link: force on (V, qd) that its motion needs."""
    w, qd = y[3:6], y[6:]
    bent = bending(link, q)
    # How the momentum in link axes changes with y, and with q.
    P_d = _momentum(link, y_d, bent)
    X_d = jnp.einsum("aec,c->ae", link.X, qd)
    wX_d = w @ X_d
    turning_d = 2.0 * _of_pairs(bent.Z @ qd)
    P_d = (P_d + wX_d).at[3:6].add(X_d @ y + turning_d @ w)
    # The axes turn, which adds the coadjoint term.
    turning = coadjoint(y[:6], _momentum(link, y, bent)[:6])
    # dT/dq = sum_a w_a X_a^T y + sum_ab w_a w_b Z_ab q pulls on the coordinates. Of X_a^T qd only what makes it differ
    # from -X_a qd is new.
    slope = jnp.einsum("ae,aec->c", jnp.outer(w, y[:6]), link.X[:, :6])
    slope = slope + w @ (link.X_sum @ qd) - wX_d[6:]
    slope = slope + (w[FIRST] * w[SECOND]) @ bent.Z
    return P_d + jnp.concatenate([turning, -slope])


def differentiated_inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """The same by automatic differentiation of the momentum and of the kinetic energy: the oracle."""
    at, along = (y, q), (y_d, y[6:])
    P, P_d = jax.jvp(lambda y, q: momentum(link, y, q), at, along)
    # T = 1/2 y^T P, homogeneous of degree two in y.
    slope = jax.grad(lambda q: 0.5 * y @ momentum(link, y, q))(q)
    return P_d + jnp.concatenate([coadjoint(y[:6], P[:6]), -slope])


def elastic_force(link: Links, q: Float[Array, " c"]) -> Float[Array, " e"]:
    """Restoring force K q; rigid motion stores no strain."""
    return jnp.concatenate([jnp.zeros(6), link.stiffness @ q])
