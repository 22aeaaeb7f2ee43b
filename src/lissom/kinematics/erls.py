"""Motion of the equivalent rigid-link system and of the small displacements it carries, by the geometric rule.

A twist or a small displacement (6 numbers) reaches link i through `T_i = Ad(R_i, p_i)^-1`, and moving joint i changes
it by `dT_i/dtheta_i = -ad(s_i) T_i`, s_i the joint's screw. Quantities handed from link to link obey `a_i = T_i S
a_(i-1) + b_i`; the products of these matrices are formed once per pose, so that every such chain, and its transpose,
is one product with a matrix of 6 l rows.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.linear import inverse
from .chain import Chain, relative_poses, scan_links
from .compatibility import AbstractReference, Shapes, Tangent

LEVI_CIVITA = np.array(
    [[[0, 0, 0], [0, 0, 1], [0, -1, 0]], [[0, 0, -1], [0, 0, 0], [1, 0, 0]], [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]]
)
CROSS = -LEVI_CIVITA.astype(float)  # (w x) = w_a CROSS[a]


def transfer(R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]) -> Float[Array, "l 6 6"]:
    """T = Ad(R, p)^-1 of every link: (v, w) -> (R^T (v + w x p), R^T w)."""
    Rt = jnp.swapaxes(R, 1, 2)
    lever = -Rt @ jnp.einsum("la,aij->lij", p, CROSS)
    return jnp.concatenate(
        [jnp.concatenate([Rt, lever], axis=2), jnp.concatenate([jnp.zeros_like(Rt), Rt], axis=2)], axis=1
    )


def screw_matrix(chain: Chain) -> Float[Array, "L L"]:
    """Blocks ad(s) of every link on the diagonal: (v, w) -> (w_s x v + v_s x w, w_s x w)."""
    s = chain.screw
    slide, turn = (jnp.einsum("la,aij->lij", part, CROSS) for part in (s[:, :3], s[:, 3:]))
    ad = jnp.concatenate(
        [jnp.concatenate([turn, slide], axis=2), jnp.concatenate([jnp.zeros_like(turn), turn], axis=2)], axis=1
    )
    l = len(s)
    return (jnp.eye(l)[:, None, :, None] * ad[:, :, None, :]).reshape(6 * l, 6 * l)


def chain_product(G: Float[Array, "l 6 6"]) -> Float[Array, "L L"]:
    """Phi with blocks Phi_ik = G_i ... G_(k+1): the solution a = Phi b of a_i = G_i a_(i-1) + b_i."""
    l = G.shape[0]

    def outwards(a, link):
        G_i, own = link
        a = G_i @ a + own
        return a, a

    return scan_links(outwards, jnp.zeros((6, 6 * l)), (G, np.eye(6 * l).reshape(l, 6, 6 * l)))[1].reshape(6 * l, 6 * l)


class Pose(eqx.Module):
    """Everything that depends on theta alone; L = 6 l rows, six for each link."""

    Phi: Float[Array, "L L"]  # chain of twists
    Psi: Float[Array, "L L"]  # chain of displacements, handed over from tip to inner node
    J: Float[Array, "L j"]  # body Jacobian, V = J theta_d
    shift: Float[Array, "l 6 6"]  # displacement of the tip before -> of the inner node
    ad: Float[Array, "L L"]
    rows: Float[Array, "j l c"] | None  # Z, the conditions of the reference; the tangent choice has none
    solve: Float[Array, "j j"] | None  # J_0^-1


def pose(chain: Chain, shapes: Shapes, reference: AbstractReference, theta: Float[Array, " j"]) -> Pose:
    """Transfer matrices and their products at one pose."""
    relative = relative_poses(chain, theta)
    shift = transfer(relative.R, relative.arm)
    carried = jnp.concatenate([jnp.zeros((1, 6, 6)), shift[1:] @ jnp.asarray(shapes.tip)[:-1, :, :6]])
    Phi = chain_product(transfer(relative.R, relative.p))
    J = Phi @ (chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]).reshape(Phi.shape[0], -1)
    rows = solve = None
    if not isinstance(reference, Tangent):
        rows = reference.conditions(J.reshape(-1, 6, J.shape[1]))
        solve = inverse(_rigid_rows(rows) @ J)
    return Pose(Phi, chain_product(carried), J, shift, screw_matrix(chain), rows, solve)


def _rigid_rows(rows: Float[Array, "j l c"]) -> Float[Array, "j L"]:
    """Rows Z over the displacements of the inner nodes."""
    return rows[:, :, :6].reshape(rows.shape[0], -1)


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
    return -(2.0 * rate.d * (at.ad @ d) + rate.d**2 * (at.ad @ turned) + rate.dd * turned)


class ErlsMotion(eqx.Module):
    """Twists of the ERLS, displacements of inner nodes (tangent part and J phi), elastic joint displacements phi."""

    V: Float[Array, " L"]
    V_d: Float[Array, " L"]
    inner: Handed
    rigid: Handed | None
    phi: Float[Array, "3 j"]  # value, rate, acceleration
    moment: Float[Array, " L"] | None = None  # g of conditions J^T g = 0, which turn with the joints

    @property
    def total(self) -> Handed:
        """Displacements of the inner nodes from the ERLS."""
        if self.rigid is None:
            return self.inner
        return Handed(self.inner.a + self.rigid.a, self.inner.d + self.rigid.d, self.inner.dd + self.rigid.dd)


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
        theta_d: joint rates.
        theta_dd: joint accelerations.
        eta: elastic coordinates of every link with their rates and accelerations, three arrays (l, m).
        carries_acceleration: whether theta_dd acts on displacements; not in the terms `published` by [Boscariol2012].
    """
    rate_d, rate_dd = (jnp.repeat(chain.selection @ part, 6) for part in (theta_d, theta_dd))
    V = at.J @ theta_d
    V_d = at.J @ theta_dd - at.Phi @ (rate_d * (at.ad @ V))
    rate = Rate(rate_d, rate_dd if carries_acceleration else jnp.zeros_like(rate_dd))
    own, own_d, own_dd = (_from_tips(shapes, at, part) for part in eta)
    a = at.Psi @ own
    d = at.Psi @ (own_d - rate.d * (at.ad @ a))
    inner = Handed(a, d, at.Psi @ (own_dd + bent(at, rate, a, d)))
    motion = ErlsMotion(V, V_d, inner, None, jnp.zeros((3, at.J.shape[1])))
    return motion if at.solve is None else _with_reference(reference, at, motion, rate, eta)


def _from_tips(shapes: Shapes, at: Pose, eta: Float[Array, "l m"]) -> Float[Array, " L"]:
    """Displacement of each inner node that the elastic coordinates of the link before it cause."""
    tip = jnp.einsum("ldm,lm->ld", jnp.asarray(shapes.tip)[:-1, :, 6:], eta[:-1])
    return jnp.concatenate([jnp.zeros((1, 6)), jnp.einsum("lab,lb->la", at.shift[1:], tip)]).reshape(-1)


def _with_reference(reference: AbstractReference, at: Pose, motion: ErlsMotion, rate: Rate, eta) -> ErlsMotion:
    """Add the rigid motion J phi that keeps Z q = 0 with its first and second derivative.

    Conditions of the form J^T g = 0 turn with the joints; their derivatives add Jdot^T g and Jddot^T g + 2 Jdot^T gdot.
    """
    rows, inverse = jnp.asarray(at.rows), jnp.asarray(at.solve)
    Z_r, Z_eta = _rigid_rows(rows), rows[:, :, 6:].reshape(rows.shape[0], -1)
    still = jnp.zeros(rows.shape[0])
    solve = lambda r, eta, turning: -inverse @ (Z_r @ r + Z_eta @ eta.reshape(-1) + turning)  # noqa: E731
    moment = lambda r, eta: reference.moment(jnp.concatenate([r.reshape(-1, 6), eta], axis=1))  # noqa: E731
    phi = solve(motion.inner.a, eta[0], still)
    w = at.J @ phi
    w_d = -at.Phi @ (rate.d * (at.ad @ w))
    g = moment(motion.inner.a + w, eta[0])
    phi_d = solve(motion.inner.d + w_d, eta[1], still if g is None else turned_moment(at, rate, g))
    w_d = w_d + at.J @ phi_d
    g_d = moment(motion.inner.d + w_d, eta[1])
    w_dd = at.Phi @ bent(at, rate, w, w_d)
    phi_dd = solve(motion.inner.dd + w_dd, eta[2], still if g_d is None else bent_moment(at, rate, g, g_d))
    w_dd = w_dd + at.J @ phi_dd
    return ErlsMotion(motion.V, motion.V_d, motion.inner, Handed(w, w_d, w_dd), jnp.stack([phi, phi_d, phi_dd]), g)


def turned_moment(at: Pose, rate: Rate, g) -> Float[Array, " j"]:
    """Jdot^T g, from Jdot = -Phi rate ad J."""
    return -at.J.T @ (at.ad.T @ (rate.d * (at.Phi.T @ g)))


def bent_moment(at: Pose, rate: Rate, g, g_d) -> Float[Array, " j"]:
    """Jddot^T g + 2 Jdot^T gdot, from Jddot = -Phi (2 rate ad Jdot + rate^2 ad^2 J + acceleration ad J)."""
    p = at.Phi.T @ g
    pushed = at.ad.T @ (rate.d * p)
    still = at.ad.T @ (rate.d**2 * (at.ad.T @ p) + rate.dd * p)
    return 2.0 * turned_moment(at, rate, g_d - pushed) - at.J.T @ still


def erls_pull_back(
    chain: Chain, shapes: Shapes, reference, at: Pose, motion: ErlsMotion, on_V, on_q, on_encoder, complete: bool
) -> tuple[Float[Array, " j"], Float[Array, "l m"]]:
    """Transpose of the rates' map: forces on (theta, eta) from forces on twists, body coordinates and encoders.

    `complete` also takes what a virtual joint motion does to the displacements it carries, and to the conditions.
    """
    on_r, on_eta = on_q[:, :6].reshape(-1), on_q[:, 6:]
    push = jnp.zeros(at.J.shape[1])
    if at.solve is not None:
        rows = jnp.asarray(at.rows)
        push = at.solve.T @ (at.J.T @ on_r + on_encoder)
        on_r = on_r - push @ _rigid_rows(rows)
        on_eta = on_eta - jnp.tensordot(push, rows[:, :, 6:], axes=1)
    on_inner = at.Psi.T @ on_r
    tip = jnp.einsum("lab,la->lb", at.shift[1:], on_inner.reshape(-1, 6)[1:])
    from_tip = jnp.einsum("ld,ldm->lm", tip, jnp.asarray(shapes.tip)[:-1, :, 6:])
    on_eta = on_eta + jnp.concatenate([from_tip, jnp.zeros_like(on_eta[-1:])])
    on_theta = on_encoder + at.J.T @ on_V.reshape(-1)
    if complete:
        turned = on_inner * (at.ad @ motion.inner.a)
        if motion.rigid is not None:
            turned += (at.Phi.T @ on_r) * (at.ad @ motion.rigid.a)
        if motion.moment is not None:
            turned -= (at.Phi.T @ motion.moment) * (at.ad @ (at.J @ push))
        on_theta -= turned.reshape(-1, 6).sum(axis=1) @ chain.selection
    return on_theta, on_eta
