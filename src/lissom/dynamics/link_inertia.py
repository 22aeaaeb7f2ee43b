"""One link alone, moving with y = (V, qd) and deformed by q: its momentum, its inertia, the forces that it needs.

With A_a = (e_a x) on every translation and rotation triplet, its velocity field is N~ y + sum_a w_a A_a N q, so that

    T = 1/2 y^T M y + sum_a w_a y^T X_a q + 1/2 sum_ab w_a w_b q^T Z_ab q

with constants of the link (Appendix D of [Vidoni2015]). Over translations X_a is e_a x the mass matrix: a field that is
moved as a whole has the first moment of its mass for momentum, whichever way it turns.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.se3 import coadjoint
from ..algebra.so3 import skew
from .links import PAIRS, Links

FIRST, SECOND = PAIRS.T
PLACE = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])  # in `PAIRS`
SHARE = np.array(
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
)  # of a pair: both of its orders have it


class Bending(NamedTuple):
    """What the constants of one link make of its coordinates q, the rigid link apart."""

    moment: Float[Array, " 3"]  # first moment of the mass
    X: Float[Array, "3 c"]  # X_a q over qd
    slope: Float[Array, "6 c"]  # of half the inertia, by q, for every pair of axes
    inertia: Float[Array, "3 3"]  # against turning


def bending(link: Links, q: Float[Array, " c"]) -> Bending:
    """Products with the constants, formed once for all that needs them."""
    slope = link.X_pairs + jnp.einsum("pcd,d->pc", link.Z_sum, q)
    inertia = _of_pairs(slope @ q + link.X_pairs @ q)
    X = jnp.einsum("aec,c->ae", link.X[:, 6:], q)
    return Bending(link.mass[:3, 6:] @ q, X, slope, inertia)


def _of_pairs(values: Float[Array, " 6"]) -> Float[Array, "3 3"]:
    """The symmetric matrix with these values of the pairs."""
    return jnp.asarray(SHARE * values)[PLACE]


def momentum(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " e"]:
    """Momentum dT/dy of one link."""
    v, w, qd = y[:3], y[3:6], y[6:]
    bent = bending(link, q)
    on_v = jnp.cross(w, bent.moment)
    on_w = jnp.cross(bent.moment, v) + bent.X @ qd + bent.inertia @ w
    return jnp.asarray(link.mass) @ y + jnp.concatenate([on_v, on_w, w @ bent.X])


def body_inertia(link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
    """Inertia of one deformed link over (V, qd): the polynomial of degree 2 in q."""
    none = jnp.zeros_like(link.mass)
    bent = bending(link, q)
    with_w = jnp.concatenate([-skew(bent.moment), jnp.zeros((3, 3)), bent.X.T])
    G = none.at[:, 3:6].set(with_w)
    Z = none.at[3:6, 3:6].set(bent.inertia)
    return jnp.asarray(link.mass) + G + G.T + Z


def inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """Kirchhoff's equations of one link: force on (V, qd) that its motion needs.

    They are written as those of Newton and Euler. The frame has the acceleration a = v_d + w x v of its origin in its
    own turning axes; with that for v_d, what Kirchhoff's equations hold of v cancels.
    """
    w, qd = y[3:6], y[6:]
    w_d, qdd = y_d[3:6], y_d[6:]
    a = y_d[:3] + jnp.cross(w, y[:3])
    mass = jnp.asarray(link.mass)
    bent = bending(link, q)
    inertia_d = 2.0 * _of_pairs(bent.slope @ qd)
    X_d = jnp.einsum("aec,c->ae", link.X[:, 6:], qd)
    # Of X_a^T qd only what makes it differ from -X_a qd is new.
    X_sum = link.X_sum @ qd
    # Momentum by turning and deforming, but for what deforming adds once more as the axes turn.
    linear = mass[:3, 3:6] @ w + jnp.cross(w, bent.moment) + 2.0 * (mass[:3, 6:] @ qd)
    angular = mass[3:6, 3:] @ y[3:] + bent.X @ qd + bent.inertia @ w
    on_v = jnp.cross(w_d, bent.moment) + jnp.cross(w, linear)
    on_w = jnp.cross(bent.moment, a) + jnp.cross(w, angular) + bent.X @ qdd
    on_w = on_w + bent.inertia @ w_d + inertia_d @ w + 0.5 * (X_sum @ qd)
    on_q = w_d @ bent.X + w @ (2.0 * X_d - X_sum)
    on_q = on_q - (w[FIRST] * w[SECOND]) @ bent.slope
    by_acceleration = mass @ jnp.concatenate([a, w_d, qdd])
    return by_acceleration + jnp.concatenate([on_v, on_w, on_q])


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
