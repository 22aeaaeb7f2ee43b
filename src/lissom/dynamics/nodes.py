"""Where every node is, how it moves, and what a wrench on it does: pictures, loads, outputs."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.so3 import exponential, left_jacobian, logarithm
from .formulation import AbstractFormulation, Configuration, OwnDynamics, Rates


class Poses(eqx.Module):
    """Nodes of all links in world axes; padded nodes of shorter links repeat nothing of interest."""

    position: Float[Array, "l k 3"]  # of the deformed robot [m]
    erls_position: Float[Array, "l k 3"]  # of the equivalent rigid-link system [m]
    rotation: Float[Array, "l k 3"]  # from the ERLS [rad]


def node_displacements(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, "l k 6"]:
    """Displacement of every node from the ERLS in link axes, u = U q."""
    return jnp.einsum(
        "lkdc,lc->lkd", jnp.asarray(formulation.links.node_shape), place.q
    )


def node_poses(formulation: AbstractFormulation, place: Configuration) -> Poses:
    """B = r + u, [Boscariol2012] eq. (1); with finite rotations, rotation vectors from the rigid robot."""
    u = node_displacements(formulation, place)
    X = jnp.asarray(formulation.links.points)

    def turn(a):
        return jnp.einsum("lij,lkj->lki", place.R, a)

    erls = place.p[:, None, :] + turn(X)
    if not formulation.finite_rotations:
        return Poses(erls + turn(u[..., :3]), erls, turn(u[..., 3:]))
    R, p = formulation.rigid_frames(place)
    turned = place.R[:, None] @ exponential(u[..., 3:]) @ jnp.swapaxes(R, 1, 2)[:, None]
    return Poses(
        erls + turn(u[..., :3]),
        p[:, None, :] + jnp.einsum("lij,lkj->lki", R, X),
        logarithm(turned),
    )


def node_wrench(
    formulation: AbstractFormulation,
    place: Configuration,
    link: int,
    node: int,
    wrench: Float[Array, " 6"],
    in_world: bool,
) -> Rates:
    """Forces on (V, qd) of a wrench at a node, [Vidoni2015] eqs. (64)-(68); `published` without the arm u."""
    if isinstance(formulation, OwnDynamics):
        return formulation.node_wrench(place, link, node, wrench, in_world)
    links = formulation.links
    R = place.R[link] if in_world else jnp.eye(3)
    f, m = R.T @ wrench[:3], R.T @ wrench[3:]
    U = jnp.asarray(links.node_shape)[link, node]
    u = (U @ place.q[link])[:3]
    arm = jnp.asarray(links.points)[link, node] + (0.0 if formulation.published else u)
    on_V = jnp.concatenate([f, m + jnp.cross(arm, f)])
    if formulation.finite_rotations:
        m = left_jacobian((U @ place.q[link])[3:]).T @ m
    on_q = U.T @ jnp.concatenate([f, m])
    V = jnp.zeros((place.q.shape[0], 6)).at[link].set(on_V)
    q = jnp.zeros_like(place.q).at[link].set(on_q)
    return Rates(V, q, jnp.zeros_like(place.encoder))
