"""First-order motion of a chain of elastic links: screws on the rigid chain, and what the links' bending does to them.

All links are written in the frames of the rigid chain. With a_i the small displacement of the frame of link i that the
links before it cause, a twist in the link's own deformed frame is V_i = (1 - eps ad(a_i)) V~_i, and twists V~ add up
along the *rigid* chain alone, Phi_ik from link k to link i: the dual screw transformation of [Cibicik2021] eq. (66) is

    Phi_ik  ->  (1 - eps ad(a_i)) Phi_ik (1 + eps ad(a_k)).

In the axes of its tip, a link adds the twist (1 - phi x) udot, (1 - phi x / 2) phidot for the tip's displacement
(u, phi): eq. (71) with what first order leaves of the rotation's own Jacobian. Twists are (v, w) as everywhere here.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.se3 import coadjoint
from ..algebra.so3 import cross
from ..types import Float
from .chain import Chain, of_parents, on_parents, relative_poses
from .recursion import Recursion, Stack, carry, transfer_matrices


def turned_tip_terms(
    phi: Float[Array, "*#n 3"], b: Float[Array, "*#n 6"]
) -> Float[Array, "*#n 6"]:
    """(phi x b_v, phi x b_w / 2): what the turned tip takes from its own motion b; antisymmetric in b, as a matrix."""
    linear = cross(phi, b[..., :3])
    angular = 0.5 * cross(phi, b[..., 3:])
    return jnp.concatenate([linear, angular], axis=-1)


class DualPose(eqx.Module):
    """Rigid chain at theta, and the small displacements of its frames."""

    # Twists propagated from the parent's frame to the link's.
    twists: Recursion
    B: Float[Array, "l 6 6"]  # the same from the parent's tip
    s: Stack  # joint screws
    tip: Stack  # displacement (u, phi) of the parent's tip, its axes
    a: Stack  # displacement of every link frame, its own axes


def dual_pose(chain: Chain, theta: Float[Array, " j"], tip: Stack) -> DualPose:
    """The chain at theta with the displacements `tip` of the parents' tips."""
    relative = relative_poses(chain, theta)
    twists = Recursion(transfer_matrices(relative.R, relative.p), chain.parents)
    B = transfer_matrices(relative.R, relative.arm)
    (a,) = twists.solve(carry(B, tip))
    return DualPose(twists, B, chain.screw, tip, a)


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
        F: forces on the first-order screws, gathered from all links outside.
        F_1: forces on the screws themselves, gathered likewise.
    """
    on_screws = F_1 - coadjoint(at.a, F)
    on_theta = chain.on_joints(jnp.sum(at.s * on_screws, axis=1))
    tip, lean = jnp.einsum("lij,kli->klj", at.B, jnp.stack([on_screws, F]))
    on_tip = tip + turned_tip_terms(at.tip[:, 3:], lean)
    on_own_tip = on_parents(chain.parents, on_tip, shape.shape[0])
    return on_theta, jnp.einsum("ldm,ld->lm", shape, on_own_tip)
