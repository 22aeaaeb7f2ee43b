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
from jaxtyping import Array

from ..algebra.se3 import coadjoint
from ..algebra.so3 import cross, skew
from ..types import Float, Matrix3
from .links import PAIRS, Links

FIRST, SECOND = PAIRS.T
PLACE = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])  # in `PAIRS`
SHARE = np.array(
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
)  # of a pair: both of its orders have it


class DeformedInertia(NamedTuple):
    """One link deformed by q: the parts of its inertia that depend on it."""

    moment: Float[Array, " 3"]  # first moment of the mass
    inertia: Float[Array, "3 3"]  # against turning
    coupling: Float[Array, "3 c"]  # of turning and qd
    slope: Float[Array, "6 c"]  # of half the inertia by q, for every pair of axes


def deformed_inertia(link: Links, q: Float[Array, " c"]) -> DeformedInertia:
    """Products of the constants with q, computed once for momentum, inertia and forces."""
    mass = jnp.asarray(link.mass)
    # Momentum w x moment of a rigid link that turns.
    rigid_moment = -mass[(2, 0, 1), (4, 5, 3)]
    rigid_inertia = mass[3 + FIRST, 3 + SECOND]
    slope = jnp.asarray(link.X_pairs) + jnp.einsum("pcd,d->pc", link.Z_sum, q)
    by_q = slope @ q + link.X_pairs @ q
    return DeformedInertia(
        rigid_moment + mass[:3, 6:] @ q,
        (rigid_inertia + SHARE * by_q)[PLACE],
        mass[3:6, 6:] + jnp.einsum("aec,c->ae", link.X, q)[:, 6:],
        slope,
    )


def momentum(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " e"]:
    """Momentum dT/dy of one link."""
    if link.nodal is not None:
        return body_inertia(link, q) @ y
    return _inertia_times(link, deformed_inertia(link, q), y[:3], y[3:6], y[6:])


def body_inertia(link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
    """Inertia of one deformed link over (V, qd): the polynomial of degree 2 in q."""
    at = deformed_inertia(link, q)
    if link.nodal is None:
        return _inertia_of(link, at, skew(at.moment))
    # The nodal shortcut turns displacements of nodes as vectors: X_a is not e_a x the mass matrix.
    lever = jnp.asarray(link.mass)[3:6, :3] + (jnp.asarray(link.X)[:, :3] @ q)
    return _inertia_of(link, at, lever)


def _inertia_of(
    link: Links, at: DeformedInertia, lever: Matrix3
) -> Float[Array, "e e"]:
    """Inertia over (V, qd) from its parts, `lever` that of w against v."""
    mass = jnp.asarray(link.mass)
    on_v = jnp.concatenate([mass[:3, :3], lever.T, mass[:3, 6:]], axis=1)
    on_w = jnp.concatenate([lever, at.inertia, at.coupling], axis=1)
    on_q = jnp.concatenate([mass[6:, :3], at.coupling.T, mass[6:, 6:]], axis=1)
    return jnp.concatenate([on_v, on_w, on_q])


def _inertia_times(
    link: Links,
    at: DeformedInertia,
    v: Float[Array, " 3"],
    w: Float[Array, " 3"],
    qd: Float[Array, " c"],
) -> Float[Array, " e"]:
    """The inertia times (v, w, qd), block by block: derivatives leave the constant blocks alone."""
    mass = jnp.asarray(link.mass)
    on_v = mass[:3, :3] @ v + cross(w, at.moment) + mass[:3, 6:] @ qd
    on_w = cross(at.moment, v) + at.inertia @ w + at.coupling @ qd
    on_q = mass[6:, :3] @ v + at.coupling.T @ w + mass[6:, 6:] @ qd
    return jnp.concatenate([on_v, on_w, on_q])


def inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """Kirchhoff's equations of one link: force on (V, qd) that its motion needs.

    They are written as those of Newton and Euler: with the acceleration a = v_d + w x v of the origin, in the turning
    axes of the link, all else that they hold of v cancels.
    """
    v, w, qd = y[:3], y[3:6], y[6:]
    v_d, w_d, qdd = y_d[:3], y_d[3:6], y_d[6:]
    a = v_d + cross(w, v)
    mass = jnp.asarray(link.mass)
    at = deformed_inertia(link, q)
    inertia_d = (2.0 * SHARE * (at.slope @ qd))[PLACE]
    coupling_d = jnp.einsum("aec,c->ae", link.X, qd)[:, 6:]
    # Of X_a^T qd only what makes it differ from -X_a qd is new.
    X_sum = link.X_sum @ qd
    moment_d = mass[:3, 6:] @ qd
    linear = cross(w, at.moment) + 2.0 * moment_d
    angular = at.inertia @ w + at.coupling @ qd

    on_w = inertia_d @ w + 0.5 * (X_sum @ qd) + cross(w, angular)
    on_q = (2.0 * w) @ coupling_d - w @ X_sum
    on_q = on_q - (w[FIRST] * w[SECOND]) @ at.slope
    by_rates = jnp.concatenate([cross(w, linear), on_w, on_q])
    return _inertia_times(link, at, a, w_d, qdd) + by_rates


def differentiated_inertial_force(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"], y_d: Float[Array, " e"]
) -> Float[Array, " e"]:
    """`inertial_force` by automatic differentiation of momentum and kinetic energy: its oracle."""
    at, along = (y, q), (y_d, y[6:])
    P, P_d = jax.jvp(lambda y, q: momentum(link, y, q), at, along)
    # T = 1/2 y^T P, homogeneous of degree two in y.
    slope = jax.grad(lambda q: 0.5 * y @ momentum(link, y, q))(q)
    return P_d + jnp.concatenate([coadjoint(y[:6], P[:6]), -slope])


def elastic_force(link: Links, q: Float[Array, " c"]) -> Float[Array, " e"]:
    """Restoring force K q; rigid motion stores no strain."""
    return jnp.concatenate([jnp.zeros(6), link.stiffness @ q])
