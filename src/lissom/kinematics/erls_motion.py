"""Motion of the equivalent rigid-link system and of the small displacements it carries, by the geometric rule.

A twist or a small displacement (6 numbers) reaches link i through `T_i = Ad(R_i, p_i)^-1`, and moving joint i changes
it by `dT_i/dtheta_i = -ad(s_i) T_i`, s_i the joint's screw. Quantities handed from link to link obey `a_i = T_i S
a_p + b_i`, p the link that carries link i; the products of these matrices are formed once per pose, so that every such
chain, and its transpose, is one product with a matrix of 6 l rows.

In a closed chain the closing rows Z are constant in the frames of the links, and `Z V = 0` for the twists V of the
ERLS. Its derivative `Z V_d = 0` gives the accelerations of the dependent joints.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .chain import Chain, of_parents, on_parents, outwards, relative_poses
from .compatibility import (
    AbstractReference,
    Conditions,
    Shapes,
    conditions_at,
    seats,
    with_closing_frames,
)
from .loops.closure import Closure, Dependence, dependence

LEVI_CIVITA = np.array(
    [
        [[0, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[0, 0, -1], [0, 0, 0], [1, 0, 0]],
        [[0, 1, 0], [-1, 0, 0], [0, 0, 0]],
    ]
)
CROSS = -LEVI_CIVITA.astype(float)  # (w x) = w_a CROSS[a]


def transfer(R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]) -> Float[Array, "l 6 6"]:
    """T = Ad(R, p)^-1 of every link: (v, w) -> (R^T (v + w x p), R^T w)."""
    Rt = jnp.swapaxes(R, 1, 2)
    lever = -Rt @ jnp.einsum("la,aij->lij", p, CROSS)
    return jnp.concatenate(
        [
            jnp.concatenate([Rt, lever], axis=2),
            jnp.concatenate([jnp.zeros_like(Rt), Rt], axis=2),
        ],
        axis=1,
    )


def screw_matrix(chain: Chain) -> Float[Array, "L L"]:
    """Blocks ad(s) of every link on the diagonal: (v, w) -> (w_s x v + v_s x w, w_s x w)."""
    s = chain.screw
    slide, turn = (
        jnp.einsum("la,aij->lij", part, CROSS) for part in (s[:, :3], s[:, 3:])
    )
    ad = jnp.concatenate(
        [
            jnp.concatenate([turn, slide], axis=2),
            jnp.concatenate([jnp.zeros_like(turn), turn], axis=2),
        ],
        axis=1,
    )
    l = len(s)
    return (jnp.eye(l)[:, None, :, None] * ad[:, :, None, :]).reshape(6 * l, 6 * l)


def chain_product(
    G: Float[Array, "l 6 6"], parents: tuple[int, ...] | None = None
) -> Float[Array, "L L"]:
    """Phi with blocks Phi_ik = G_i ... G_(k+1): the solution a = Phi b of a_i = G_i a_p + b_i, p the parent of i."""
    l = G.shape[0]

    def step(a, link):
        G_i, own = link
        return G_i @ a + own

    own = np.eye(6 * l).reshape(l, 6, 6 * l)
    return outwards(parents, step, jnp.zeros((6, 6 * l)), (G, own)).reshape(
        6 * l, 6 * l
    )


class Pose(eqx.Module):
    """Everything that depends on theta alone; L = 6 l rows, six for each link and each closing frame."""

    Phi: Float[Array, "L L"]  # chain of twists
    Psi: Float[
        Array, "L L"
    ]  # chain of displacements, handed over from tip to inner node
    J: Float[Array, "L j"]  # body Jacobian of the chain as it is cut, V = J theta_d
    shift: Float[
        Array, "l 6 6"
    ]  # displacement of the parent's point -> of the inner node
    ad: Float[Array, "L L"]
    conditions: Conditions | None  # of a zeroed reference and of loops
    loops: Dependence | None  # how all joints follow from the independent ones


@eqx.filter_jit  # of every formulation's motion, in many places: traced once
def pose(
    chain: Chain,
    shapes: Shapes,
    reference: AbstractReference,
    theta: Float[Array, " j"],
    closure: Closure | None = None,
) -> Pose:
    """Transfer matrices and their products at one pose of all joints."""
    relative = relative_poses(chain, theta)
    shift = transfer(relative.R, relative.arm)
    carried = shift @ seats(chain, shapes)[:, :, :6]
    Phi = chain_product(transfer(relative.R, relative.p), chain.parents)
    J = Phi @ (
        chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]
    ).reshape(Phi.shape[0], -1)
    by_link = J.reshape(-1, 6, J.shape[1])
    loops = dependence(closure, by_link)
    conditions = conditions_at(reference, by_link, loops)
    return Pose(
        Phi,
        chain_product(carried, chain.parents),
        J,
        shift,
        screw_matrix(chain),
        conditions,
        loops,
    )


def joint_rates(at: Pose, rate_i: Float[Array, " i"]) -> Float[Array, " j"]:
    """Rates of all joints from those of the independent ones."""
    return rate_i if at.loops is None else at.loops.G @ rate_i


def joint_accelerations(
    chain: Chain,
    at: Pose,
    theta_d: Float[Array, " j"],
    acceleration_i: Float[Array, " i"],
) -> Float[Array, " j"]:
    """Accelerations of all joints: Z (J theta_dd - Phi (rate ad V)) = 0, from the rates theta_d of all joints."""
    if at.loops is None:
        return acceleration_i
    closure = at.loops.closure
    rate = jnp.repeat(chain.selection @ theta_d, 6)
    turned = at.Phi @ (rate * (at.ad @ (at.J @ theta_d)))
    Z = jnp.asarray(closure.rows)[:, :, :6].reshape(-1, turned.shape[0])
    own = (
        jnp.zeros_like(theta_d)
        .at[np.asarray(closure.dependent, dtype=int)]
        .set(at.loops.solve @ (Z @ turned))
    )
    return at.loops.G @ acceleration_i + own


class Handed(eqx.Module):
    """A displacement (six numbers per link) with its two time derivatives."""

    a: Float[Array, " L"]
    d: Float[Array, " L"]
    dd: Float[Array, " L"]


class Rate(eqx.Module):
    """Joint rates and accelerations, repeated for the six rows of every link."""

    d: Float[Array, " L"]
    dd: Float[Array, " L"]


def bent(at: Pose, rate: Rate, a, d) -> Float[Array, " L"]:
    """What the joints' motion adds to a second derivative: -2 rate ad d - rate^2 ad^2 a - acceleration ad a."""
    turned = at.ad @ a
    return -(
        2.0 * rate.d * (at.ad @ d) + rate.d**2 * (at.ad @ turned) + rate.dd * turned
    )


class ErlsMotion(eqx.Module):
    """Twists of the ERLS, displacements of inner nodes (tangent part and J phi), elastic joint displacements phi."""

    V: Float[Array, " L"]
    V_d: Float[Array, " L"]
    inner: Handed
    rigid: Handed | None
    phi: Float[Array, "3 j"]  # value, rate, acceleration
    moment: Float[Array, " L"] | None = (
        None  # g of conditions J^T g = 0, which turn with the joints
    )

    @property
    def total(self) -> Handed:
        """Displacements of the inner nodes from the ERLS."""
        if self.rigid is None:
            return self.inner
        return Handed(
            self.inner.a + self.rigid.a,
            self.inner.d + self.rigid.d,
            self.inner.dd + self.rigid.dd,
        )


def erls_motion(
    chain: Chain,
    shapes: Shapes,
    reference: AbstractReference,
    at: Pose,
    theta_d,
    theta_dd,
    eta,
    carries_acceleration: bool,
) -> ErlsMotion:
    """Velocities and accelerations of the links and of their displacements.

    Args:
        chain: the ERLS.
        shapes: tip shapes of the links.
        reference: what theta means.
        at: matrices of the pose.
        theta_d: rates of all joints.
        theta_dd: accelerations of all joints.
        eta: elastic coordinates of every link with their rates and accelerations, three arrays (l, m).
        carries_acceleration: whether theta_dd acts on displacements; not in the terms `published` by [Boscariol2012].
    """
    rate_d, rate_dd = (
        jnp.repeat(chain.selection @ part, 6) for part in (theta_d, theta_dd)
    )
    V = at.J @ theta_d
    V_d = at.J @ theta_dd - at.Phi @ (rate_d * (at.ad @ V))
    rate = Rate(rate_d, rate_dd if carries_acceleration else jnp.zeros_like(rate_dd))
    own, own_d, own_dd = (_from_tips(chain, shapes, at, part) for part in eta)
    a = at.Psi @ own
    d = at.Psi @ (own_d - rate.d * (at.ad @ a))
    inner = Handed(a, d, at.Psi @ (own_dd + bent(at, rate, a, d)))
    motion = ErlsMotion(V, V_d, inner, None, jnp.zeros((3, at.J.shape[1])))
    return (
        motion
        if at.conditions is None
        else _with_conditions(reference, at, at.conditions, motion, rate, eta)
    )


def _from_tips(
    chain: Chain, shapes: Shapes, at: Pose, eta: Float[Array, "b m"]
) -> Float[Array, " L"]:
    """Displacement of each inner node that the elastic coordinates of its parent cause."""
    tip = jnp.einsum(
        "ldm,lm->ld", seats(chain, shapes)[:, :, 6:], of_parents(chain, eta)
    )
    return jnp.einsum("lab,lb->la", at.shift, tip).reshape(-1)


def _with_conditions(
    reference: AbstractReference,
    at: Pose,
    conditions: Conditions,
    motion: ErlsMotion,
    rate: Rate,
    eta,
) -> ErlsMotion:
    """Add the rigid motion J phi that keeps Z q = 0 with its first and second derivative.

    Conditions of the form J^T g = 0 turn with the joints; their derivatives add Jdot^T g and Jddot^T g + 2 Jdot^T gdot.
    """
    rows, links, joints = conditions.rows, eta[0].shape[0], at.J.shape[1]
    Z_r = rows[:, :, :6].reshape(rows.shape[0], -1)
    Z_eta = rows[:, :links, 6:].reshape(rows.shape[0], -1)

    def solve(r, eta, turning=None) -> tuple[Float[Array, " j"], Float[Array, " m"]]:
        missing = Z_r @ r + Z_eta @ eta.reshape(-1)
        if turning is not None:
            missing = missing.at[:joints].add(turning)
        unknowns = -conditions.solve @ missing
        return unknowns[:joints], unknowns[joints:]

    def moment(r, eta, multipliers) -> Float[Array, " L"] | None:
        g = reference.moment(jnp.concatenate([r.reshape(-1, 6)[:links], eta], axis=1))
        if g is None or conditions.wrenches is None:
            return g
        return (
            jnp.pad(g, (0, r.shape[0] - g.shape[0])) + multipliers @ conditions.wrenches
        )

    phi, multipliers = solve(motion.inner.a, eta[0])
    w = at.J @ phi
    w_d = -at.Phi @ (rate.d * (at.ad @ w))
    g = moment(motion.inner.a + w, eta[0], multipliers)
    phi_d, multipliers = solve(
        motion.inner.d + w_d, eta[1], None if g is None else turned_moment(at, rate, g)
    )
    w_d = w_d + at.J @ phi_d
    g_d = moment(motion.inner.d + w_d, eta[1], multipliers)
    w_dd = at.Phi @ bent(at, rate, w, w_d)
    turning = None if g is None or g_d is None else bent_moment(at, rate, g, g_d)
    phi_dd, _ = solve(motion.inner.dd + w_dd, eta[2], turning)
    w_dd = w_dd + at.J @ phi_dd
    return ErlsMotion(
        motion.V,
        motion.V_d,
        motion.inner,
        Handed(w, w_d, w_dd),
        jnp.stack([phi, phi_d, phi_dd]),
        g,
    )


def turned_moment(at: Pose, rate: Rate, g: Float[Array, " L"]) -> Float[Array, " j"]:
    """Jdot^T g, from Jdot = -Phi rate ad J."""
    return -at.J.T @ (at.ad.T @ (rate.d * (at.Phi.T @ g)))


def bent_moment(
    at: Pose, rate: Rate, g: Float[Array, " L"], g_d: Float[Array, " L"]
) -> Float[Array, " j"]:
    """Jddot^T g + 2 Jdot^T gdot, from Jddot = -Phi (2 rate ad Jdot + rate^2 ad^2 J + acceleration ad J)."""
    p = at.Phi.T @ g
    pushed = at.ad.T @ (rate.d * p)
    still = at.ad.T @ (rate.d**2 * (at.ad.T @ p) + rate.dd * p)
    return 2.0 * turned_moment(at, rate, g_d - pushed) - at.J.T @ still


def erls_pull_back(
    chain: Chain,
    shapes: Shapes,
    at: Pose,
    motion: ErlsMotion,
    on_V,
    on_q,
    on_encoder,
    complete: bool,
) -> tuple[Float[Array, " i"], Float[Array, "b m"]]:
    """Transpose of the rates' map: forces on (theta_i, eta) from forces on twists, body coordinates and encoders.

    `complete` also takes what a virtual joint motion does to the displacements it carries, and to the conditions.
    """
    closure = None if at.loops is None else at.loops.closure
    on_r = with_closing_frames(closure, on_q[:, :6]).reshape(-1)
    on_eta, links = on_q[:, 6:], on_q.shape[0]
    on_V = with_closing_frames(closure, on_V).reshape(-1)
    joints = at.J.shape[1]
    on_encoder = jnp.pad(on_encoder, (0, joints - on_encoder.shape[0]))
    push = jnp.zeros(joints)
    if at.conditions is not None:
        rows = at.conditions.rows
        push = at.conditions.solve[:joints].T @ (at.J.T @ on_r + on_encoder)
        on_r = on_r - push @ rows[:, :, :6].reshape(rows.shape[0], -1)
        on_eta = on_eta - jnp.tensordot(push, rows[:, :links, 6:], axes=1)
    on_inner = at.Psi.T @ on_r
    tip = jnp.einsum("lab,la->lb", at.shift, on_inner.reshape(-1, 6))
    from_tip = jnp.einsum("ld,ldm->lm", tip, seats(chain, shapes)[:, :, 6:])
    on_eta = on_eta + on_parents(chain, from_tip, links)
    on_theta = on_encoder + at.J.T @ on_V
    if complete:
        turned = on_inner * (at.ad @ motion.inner.a)
        if motion.rigid is not None:
            turned += (at.Phi.T @ on_r) * (at.ad @ motion.rigid.a)
        if motion.moment is not None:
            turned -= (at.Phi.T @ motion.moment) * (at.ad @ (at.J @ push[:joints]))
        on_theta -= turned.reshape(-1, 6).sum(axis=1) @ chain.selection
    return on_theta if at.loops is None else at.loops.G.T @ on_theta, on_eta
