"""First-order motion of a chain of elastic links: screws on the rigid chain, and what the links' bending does to them.

All links are written in the frames of the rigid chain. With a_i the small displacement of the frame of link i that the
links before it cause, a twist in the link's own deformed frame is V_i = (1 - eps ad(a_i)) V~_i, and twists V~ add up
along the *rigid* chain Phi alone: the dual screw transformation of [Cibicik2021] eq. (66) is

    Phi_ik  ->  (1 - eps ad(a_i)) Phi_ik (1 + eps ad(a_k)).

In the axes of its tip, a link adds the twist (1 - phi x) udot, (1 - phi x / 2) phidot for the tip's displacement
(u, phi): eq. (71) with what first order leaves of the rotation's own Jacobian. Twists are (v, w) as everywhere here.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from .chain import Chain, of_parents, on_parents, relative_poses
from .erls_motion import chain_product, transfer

Stack = Float[Array, "l 6"]


def bracket(
    a: Float[Array, "*#n 6"], b: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """ad(a) b = (w_a x v_b + v_a x w_b, w_a x w_b)."""
    v_a, w_a = a[..., :3], a[..., 3:]
    v_b, w_b = b[..., :3], b[..., 3:]
    linear = jnp.cross(w_a, v_b) + jnp.cross(v_a, w_b)
    return jnp.concatenate([linear, jnp.cross(w_a, w_b)], axis=-1)


def cobracket(
    a: Float[Array, "*#n 6"], f: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """-ad(a)^T f = (w x l, w x h + v x l) of a force or momentum (l, h)."""
    v, w = a[..., :3], a[..., 3:]
    l, h = f[..., :3], f[..., 3:]
    angular = jnp.cross(w, h) + jnp.cross(v, l)
    return jnp.concatenate([jnp.cross(w, l), angular], axis=-1)


def turned_tip_terms(
    phi: Float[Array, "*#n 3"], b: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """(phi x b_v, phi x b_w / 2): what the turned tip takes from its own motion b; antisymmetric in b, as a matrix."""
    linear = jnp.cross(phi, b[..., :3])
    angular = 0.5 * jnp.cross(phi, b[..., 3:])
    return jnp.concatenate([linear, angular], axis=-1)


class DualPose(eqx.Module):
    """Rigid chain at theta, and the small displacements of its frames."""

    G: Float[Array, "l 6 6"]  # twist of the parent's frame -> of the link's
    B: Float[Array, "l 6 6"]  # the same from the parent's tip
    Phi: Float[Array, "L L"]  # products of G: chain of twists
    s: Stack  # joint screws
    tip: Stack  # displacement (u, phi) of the parent's tip, its axes
    a: Stack  # displacement of every link frame, its own axes


def dual_pose(chain: Chain, theta: Float[Array, " j"], tip: Stack) -> DualPose:
    """The chain at theta with the displacements `tip` of the parents' tips."""
    relative = relative_poses(chain, theta)
    G = transfer(relative.R, relative.p)
    B = transfer(relative.R, relative.arm)
    Phi = chain_product(G, chain.parents)
    (a,) = along(Phi, carry(B, tip))
    return DualPose(G, B, Phi, chain.screw, tip, a)


def along(Phi: Float[Array, "L L"], *own: Stack) -> tuple[Stack, ...]:
    """Solutions of b_i = G_i b_p + own_i, p the parent of link i, for several `own` at once."""
    # One product with a few columns costs less than several with one.
    columns = jnp.stack([part.reshape(-1) for part in own], axis=-1)
    return tuple(part.reshape(own[0].shape) for part in (Phi @ columns).T)


def transpose_along(Phi: Float[Array, "L L"], *force: Stack) -> tuple[Stack, ...]:
    """The transpose of `along`: forces gathered from the tip to the base."""
    rows = jnp.stack([part.reshape(-1) for part in force])
    return tuple(part.reshape(force[0].shape) for part in rows @ Phi)


def carry(T: Float[Array, "l 6 6"], b: Stack) -> Stack:
    """T b, link by link."""
    return jnp.einsum("lij,lj->li", T, b)


def parents_tips(
    chain: Chain, shape: Float[Array, "l 6 m"], *eta: Float[Array, "l m"]
) -> list[Stack]:
    """Displacement of every parent's tip, eq. (71), for coordinates, speeds, accelerations."""
    parts = jnp.einsum("ldm,lmk->kld", shape, jnp.stack(eta, axis=-1))
    return [of_parents(chain.parents, part) for part in parts]


def forces_on_coordinates(
    chain: Chain, at: DualPose, shape: Float[Array, "l 6 m"], F: Stack, F_1: Stack
) -> tuple[Float[Array, " j"], Float[Array, "l m"]]:
    """Forces on theta and on every link's coordinates: transpose of the projecting form, eqs. (93), (109).

    Args:
        chain: the rigid chain.
        at: pose and displacements.
        shape: displacement of every tip by the link's coordinates.
        F: forces on the first-order screws, gathered by `transpose_along`.
        F_1: forces on the screws themselves, gathered likewise.
    """
    on_screws = F_1 - cobracket(at.a, F)
    on_theta = jnp.sum(at.s * on_screws, axis=1) @ chain.selection
    tip, lean = jnp.einsum("lij,kli->klj", at.B, jnp.stack([on_screws, F]))
    on_tip = tip + turned_tip_terms(at.tip[:, 3:], lean)
    on_own_tip = on_parents(chain.parents, on_tip, shape.shape[0])
    return on_theta, jnp.einsum("ldm,ld->lm", shape, on_own_tip)
