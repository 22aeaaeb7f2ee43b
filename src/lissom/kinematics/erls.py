"""Motion of the equivalent rigid-link system and of the small displacements it carries, by the geometric rule.

A twist or a small displacement (6 numbers) reaches link i through `T_i = Ad(R_i, p_i)^-1`, and turning or sliding joint i changes it by
`dT_i/dtheta_i = -ad(s_i) T_i`, s_i the joint's screw. Quantities handed from link to link obey `a_i = T_i S a_(i-1) + b_i`; the products
of these matrices are formed once per pose, so that every such chain, and its transpose, is one product.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .chain import Chain, Relative, relative_poses, scan_links
from .compatibility import AbstractReference, Shapes, Tangent

LEVI_CIVITA = np.array([[[0, 0, 0], [0, 0, 1], [0, -1, 0]], [[0, 0, -1], [0, 0, 0], [1, 0, 0]], [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]])
CROSS = -LEVI_CIVITA.astype(float)  # (w x) = w_a CROSS[a]


def transfer(R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]) -> Float[Array, "l 6 6"]:
    """T = Ad(R, p)^-1 of every link: (v, w) -> (R^T (v + w x p), R^T w)."""
    Rt = jnp.swapaxes(R, 1, 2)
    lever = -Rt @ jnp.einsum("la,aij->lij", p, CROSS)
    return jnp.concatenate(
        [jnp.concatenate([Rt, lever], axis=2), jnp.concatenate([jnp.zeros_like(Rt), Rt], axis=2)], axis=1
    )


def screw_matrices(chain: Chain) -> Float[Array, "l 6 6"]:
    """ad(s): (v, w) -> (w_s x v + v_s x w, w_s x w)."""
    s = chain.screw
    slide, turn = (jnp.einsum("la,aij->lij", part, CROSS) for part in (s[:, :3], s[:, 3:]))
    return jnp.concatenate(
        [jnp.concatenate([turn, slide], axis=2), jnp.concatenate([jnp.zeros_like(turn), turn], axis=2)], axis=1
    )


def chain_product(G: Float[Array, "l 6 6"]) -> Float[Array, "l 6 l 6"]:
    """Phi with Phi[i, :, k, :] = G_i ... G_(k+1): the solution a = Phi b of a_i = G_i a_(i-1) + b_i."""
    l = G.shape[0]
    places = jnp.eye(l)[:, None, :, None] * jnp.eye(6)[None, :, None, :]

    def outwards(a, link):
        G_i, own = link
        a = jnp.tensordot(G_i, a, axes=1) + own
        return a, a

    return scan_links(outwards, jnp.zeros((6, l, 6)), (G, places))[1]


class Pose(eqx.Module):
    """Everything that depends on theta alone."""

    relative: Relative
    Phi: Float[Array, "l 6 l 6"]  # of twists: V = Phi s theta_d, J = Phi s
    Psi: Float[Array, "l 6 l 6"]  # of displacements handed over at the tips
    shift: Float[Array, "l 6 6"]  # displacement of the tip before -> of the inner node
    ad: Float[Array, "l 6 6"]  # ad(s)
    screw: Float[Array, "l 6"]
    solve: Float[Array, "j j"] | None  # J_0^-1 of a zeroed reference


def pose(chain: Chain, shapes: Shapes, reference: AbstractReference, theta: Float[Array, " j"]) -> Pose:
    """Transfer matrices and their products at one pose."""
    relative = relative_poses(chain, theta)
    shift = transfer(relative.R, relative.arm)
    carried = jnp.concatenate([jnp.zeros((1, 6, 6)), shift[1:] @ jnp.asarray(shapes.tip)[:-1, :, :6]])
    Phi = chain_product(transfer(relative.R, relative.p))
    at = Pose(relative, Phi, chain_product(carried), shift, screw_matrices(chain), chain.screw, None)
    if isinstance(reference, Tangent):
        return at
    J = jnp.einsum("lakb,kb,kj->laj", Phi, at.screw, chain.selection)
    J_0 = jnp.einsum("jlc,lck,lki->ji", reference.conditions(J), shapes.rigid, J)
    return eqx.tree_at(lambda at: at.solve, at, jnp.linalg.inv(J_0), is_leaf=lambda leaf: leaf is None)


def chained(Phi: Float[Array, "l 6 l 6"], b: Float[Array, "l 6"]) -> Float[Array, "l 6"]:
    """Solution of the chain with the links' own shares b."""
    return jnp.einsum("lakb,kb->la", Phi, b)


def turned(at: Pose, rate: Float[Array, " l"], a: Float[Array, "l 6"]) -> Float[Array, "l 6"]:
    """Rate of change -rate ad(s) a that the joint's motion gives to what it hands over."""
    return -rate[:, None] * jnp.einsum("lab,lb->la", at.ad, a)


class Handed(eqx.Module):
    """A quantity of every link with its two time derivatives; in the second, theta_dd acts only if it was asked to."""

    a: Float[Array, "l 6"]
    d: Float[Array, "l 6"]
    dd: Float[Array, "l 6"]


def handed_over(at: Pose, Phi, own: Handed, rate, acceleration) -> Handed:
    """Chain of displacements with its derivatives: T' = -ad(s) T applied twice."""
    a = chained(Phi, own.a)
    d = chained(Phi, own.d + turned(at, rate, a))
    twice = turned(at, 2.0 * rate, d) - turned(at, rate, turned(at, rate, a)) + turned(at, acceleration, a)
    return Handed(a, d, chained(Phi, own.dd + twice))


class ErlsMotion(eqx.Module):
    """Twists of the ERLS, coordinates of all bodies, elastic joint displacements; value, rate and acceleration of each."""

    V: Float[Array, "l 6"]
    V_d: Float[Array, "l 6"]
    inner: Handed  # displacement of inner nodes in the tangent choice
    rigid: Handed | None  # J phi
    q: Float[Array, "l c"]
    q_d: Float[Array, "l c"]
    q_dd: Float[Array, "l c"]
    phi: Float[Array, " j"]
    phi_d: Float[Array, " j"]
    phi_dd: Float[Array, " j"]


def erls_motion(
    chain: Chain, shapes: Shapes, reference: AbstractReference, at: Pose, rates, accelerations, eta, carries_acceleration: bool
) -> ErlsMotion:
    """Velocities and accelerations of the links and of their displacements.

    Args:
        chain: the ERLS.
        shapes: tip and rigid shapes of the links.
        reference: `Tangent` or `Zeroed`.
        at: transfer matrices of the pose.
        rates: theta_d.
        accelerations: theta_dd.
        eta: elastic coordinates of every link with their rates and accelerations, three arrays (l, m).
        carries_acceleration: whether theta_dd acts on displacements; not in the terms `published` by [Boscariol2012].
    """
    rate, acceleration = chain.selection @ rates, chain.selection @ accelerations
    joint, joint_d = at.screw * rate[:, None], at.screw * acceleration[:, None]
    V = chained(at.Phi, joint)
    V_d = chained(at.Phi, joint_d + turned(at, rate, V))
    lift = acceleration if carries_acceleration else 0.0 * acceleration
    tips = [jnp.einsum("ldm,lm->ld", jnp.asarray(shapes.tip)[:-1, :, 6:], part[:-1]) for part in eta]
    own = [jnp.concatenate([jnp.zeros((1, 6)), jnp.einsum("lab,lb->la", at.shift[1:], tip)]) for tip in tips]
    # b = T tip turns with the joint as well: its own rates are those of the tip, handed over.
    inner = handed_over(at, at.Psi, Handed(*own), rate, lift)
    q, q_d, q_dd = (jnp.concatenate([r, e], axis=1) for r, e in zip((inner.a, inner.d, inner.dd), eta, strict=True))
    none = jnp.zeros(chain.selection.shape[1])
    motion = ErlsMotion(V, V_d, inner, None, q, q_d, q_dd, none, none, none)
    return motion if at.solve is None else _with_reference(chain, shapes, reference, at, motion, rate, lift)


def _with_reference(chain, shapes: Shapes, reference, at: Pose, motion: ErlsMotion, rate, lift) -> ErlsMotion:
    """Add the rigid motion J phi that keeps Z q = 0 with its first and second derivative; Z constant."""
    Z = reference.conditions(None)
    missing = lambda q, w: jnp.einsum("jlc,lc->j", Z, q + jnp.einsum("lck,lk->lc", shapes.rigid, w))  # noqa: E731
    own = lambda phi: at.screw * (chain.selection @ phi)[:, None]  # noqa: E731
    nothing = jnp.zeros_like(motion.V)
    phi = -at.solve @ missing(motion.q, nothing)
    w = chained(at.Phi, own(phi))
    w_d = chained(at.Phi, turned(at, rate, w))
    phi_d = -at.solve @ missing(motion.q_d, w_d)
    w_d = w_d + chained(at.Phi, own(phi_d))
    twice = turned(at, 2.0 * rate, w_d) - turned(at, rate, turned(at, rate, w)) + turned(at, lift, w)
    w_dd = chained(at.Phi, twice)
    phi_dd = -at.solve @ missing(motion.q_dd, w_dd)
    w_dd = w_dd + chained(at.Phi, own(phi_dd))
    add = lambda q, w: q + jnp.einsum("lck,lk->lc", shapes.rigid, w)  # noqa: E731
    return ErlsMotion(
        motion.V, motion.V_d, motion.inner, Handed(w, w_d, w_dd),
        add(motion.q, w), add(motion.q_d, w_d), add(motion.q_dd, w_dd), phi, phi_d, phi_dd,
    )  # fmt: skip


def erls_pull_back(
    chain: Chain, shapes: Shapes, reference, at: Pose, motion: ErlsMotion, on_V, on_q, on_encoder, complete: bool
) -> tuple[Float[Array, " j"], Float[Array, "l m"]]:
    """Transpose of the rates' map: forces on (theta, eta) from forces on twists, body coordinates and encoders.

    `complete` also takes what a virtual joint motion does to the displacements it carries.
    """
    on_theta = on_encoder
    if at.solve is not None:
        along = lambda f: jnp.einsum("lakb,la,kb,kj->j", at.Phi, f, at.screw, chain.selection)  # noqa: E731
        push = at.solve.T @ (along(jnp.einsum("lck,lc->lk", shapes.rigid, on_q)) + on_encoder)
        on_q = on_q - jnp.einsum("j,jlc->lc", push, reference.conditions(None))
    on_V = jnp.einsum("lakb,la->kb", at.Phi, on_V)
    on_inner = jnp.einsum("lakb,la->kb", at.Psi, on_q[:, :6])
    tip = jnp.einsum("lab,la->lb", at.shift[1:], on_inner[1:])
    from_tip = jnp.einsum("ld,ldm->lm", tip, jnp.asarray(shapes.tip)[:-1, :, 6:])
    on_eta = on_q[:, 6:] + jnp.concatenate([from_tip, jnp.zeros_like(on_q[-1:, 6:])])
    joint = jnp.sum(at.screw * on_V, axis=1)
    if complete:
        joint -= jnp.einsum("la,lab,lb->l", on_inner, at.ad, motion.inner.a)
        if motion.rigid is not None:
            on_rigid = jnp.einsum("lakb,la->kb", at.Phi, jnp.einsum("lck,lc->lk", shapes.rigid, on_q))
            joint -= jnp.einsum("la,lab,lb->l", on_rigid, at.ad, motion.rigid.a)
    return on_theta + joint @ chain.selection, on_eta
