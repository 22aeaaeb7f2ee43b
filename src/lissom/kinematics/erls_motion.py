"""Motion of the equivalent rigid-link system and of the small displacements it carries, by the geometric rule.

A twist or a small displacement (6 numbers) reaches link i through `T_i = Ad(R_i, p_i)^-1`, and moving joint i changes
it by `dT_i/dtheta_i = -ad(s_i) T_i`, s_i the joint's screw. Quantities handed from link to link obey `a_i = T_i S
a_p + b_i`, p the link that carries link i; the products of these matrices are formed once per pose, so that every such
chain, and its transpose, is one product with a matrix of 6 l rows.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.so3 import cross_matrix
from .chain import (
    Chain,
    of_parents,
    on_parents,
    outwards,
    relative_poses,
    with_frames,
)
from .compatibility import Shapes, seat_shapes
from .mechanism import AbstractJointDependence, AbstractMechanism
from .references import AbstractReference, Conditions


def transfer(R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]) -> Float[Array, "l 6 6"]:
    """T = Ad(R, p)^-1 of every link: (v, w) -> (R^T (v + w x p), R^T w)."""
    Rt = jnp.swapaxes(R, 1, 2)
    # w x p = -(p x) w
    lever = -Rt @ cross_matrix(p)
    return upper_blocks(Rt, lever)


def upper_blocks(
    diagonal: Float[Array, "l 3 3"], corner: Float[Array, "l 3 3"]
) -> Float[Array, "l 6 6"]:
    """[[diagonal, corner], [0, diagonal]] of every link."""
    above = jnp.concatenate([diagonal, corner], axis=2)
    below = jnp.concatenate([jnp.zeros_like(diagonal), diagonal], axis=2)
    return jnp.concatenate([above, below], axis=1)


def screw_matrix(chain: Chain) -> Float[Array, "L L"]:
    """Blocks ad(s) of every link on the diagonal: (v, w) -> (w_s x v + v_s x w, w_s x w)."""
    s = chain.screw
    slide = cross_matrix(s[:, :3])
    turn = cross_matrix(s[:, 3:])
    ad = upper_blocks(turn, slide)
    l = len(s)
    blocks = jnp.eye(l)[:, None, :, None] * ad[:, :, None, :]
    return blocks.reshape(6 * l, 6 * l)


def chain_product(
    G: Float[Array, "l 6 6"], parents: tuple[int, ...] | None = None
) -> Float[Array, "L L"]:
    """Phi with blocks Phi_ik = G_i ... G_(k+1): the solution a = Phi b of a_i = G_i a_p + b_i, p the parent of i."""
    l = G.shape[0]

    def step(a, link):
        G_i, own = link
        return G_i @ a + own

    # All unit vectors b at once: the rows of the identity that belong to each link.
    own = np.eye(6 * l).reshape(l, 6, 6 * l)
    rows = outwards(parents, step, jnp.zeros((6, 6 * l)), (G, own))
    return rows.reshape(6 * l, 6 * l)


class Pose(eqx.Module):
    """Everything that depends on theta alone; L = 6 l rows, six for each frame of the chain."""

    Phi: Float[Array, "L L"]  # chain of twists
    # Chain of displacements, handed over from tip to inner node.
    Psi: Float[Array, "L L"]
    J: Float[Array, "L k"]  # body Jacobian of all joints of the chain, V = J theta_d
    # Displacement of the parent's point -> of the inner node.
    shift: Float[Array, "l 6 6"]
    ad: Float[Array, "L L"]
    dependence: AbstractJointDependence
    conditions: Conditions | None  # on the displacements of the links


@eqx.filter_jit  # of every formulation's motion, in many places: traced once
def pose(
    mechanism: AbstractMechanism,
    shapes: Shapes,
    reference: AbstractReference,
    theta: Float[Array, " k"],
) -> Pose:
    """Transfer matrices and their products at one pose of all joints."""
    chain = mechanism.chain
    relative = relative_poses(chain, theta)
    shift = transfer(relative.R, relative.arm)
    # Rigid coordinates of the parent move its tip, and with it the inner node of the link.
    carried = shift @ seat_shapes(chain, shapes)[:, :, :6]
    Phi = chain_product(transfer(relative.R, relative.p), chain.parents)
    screws = chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]
    J = Phi @ screws.reshape(Phi.shape[0], -1)
    by_link = J.reshape(Phi.shape[0] // 6, 6, J.shape[1])
    dependence = mechanism.dependence(by_link)
    return Pose(
        Phi=Phi,
        Psi=chain_product(carried, chain.parents),
        J=J,
        shift=shift,
        ad=screw_matrix(chain),
        dependence=dependence,
        conditions=dependence.conditions(reference, by_link),
    )


class RigidMotion(eqx.Module):
    """Motion of the ERLS: rates of all joints of the chain, body twists of all links, and their rates."""

    theta_d: Float[Array, " k"]
    theta_dd: Float[Array, " k"]
    V: Float[Array, " L"]
    V_d: Float[Array, " L"]


def rigid_motion(
    chain: Chain,
    at: Pose,
    rate_i: Float[Array, " i"],
    acceleration_i: Float[Array, " i"],
) -> RigidMotion:
    """Joint rates and twists of the ERLS from the rates of its independent joints."""
    theta_d = at.dependence.follow(rate_i)
    V = at.J @ theta_d
    rate = jnp.repeat(chain.selection @ theta_d, 6)
    # Jdot theta_d = -turning, from dT_i/dtheta_i = -ad(s_i) T_i.
    turning = at.Phi @ (rate * (at.ad @ V))
    theta_dd = at.dependence.follow(acceleration_i, -turning)
    return RigidMotion(theta_d, theta_dd, V, at.J @ theta_dd - turning)


class Displacement(eqx.Module):
    """A displacement (six numbers per link) with its two time derivatives."""

    value: Float[Array, " L"]
    rate: Float[Array, " L"]
    acceleration: Float[Array, " L"]

    def __add__(self, other: "Displacement") -> "Displacement":
        return Displacement(
            self.value + other.value,
            self.rate + other.rate,
            self.acceleration + other.acceleration,
        )


class JointMotion(eqx.Module):
    """Joint rates and accelerations as displacements feel them, repeated for the six rows of every link."""

    rate: Float[Array, " L"]
    acceleration: Float[Array, " L"]


def second_derivative_terms(
    at: Pose, joints: JointMotion, value: Float[Array, " L"], rate: Float[Array, " L"]
) -> Float[Array, " L"]:
    """What the joints' motion adds to a second derivative: -2 rate ad a_d - rate^2 ad^2 a - acceleration ad a."""
    once = at.ad @ value
    twice = at.ad @ once
    return -(
        2.0 * joints.rate * (at.ad @ rate)
        + joints.rate**2 * twice
        + joints.acceleration * once
    )


class ErlsMotion(eqx.Module):
    """Displacements of inner nodes from the ERLS (tangent part and J phi), elastic joint displacements phi."""

    inner: Displacement
    rigid: Displacement | None
    phi: Float[Array, "3 k"]  # value, rate, acceleration
    # g of conditions J^T g = 0, which turn with the joints.
    moment: Float[Array, " L"] | None = None

    @property
    def total(self) -> Displacement:
        """Displacements of the inner nodes from the ERLS."""
        if self.rigid is None:
            return self.inner
        return self.inner + self.rigid

    def rotations(self, links: int) -> tuple[Float[Array, "b 3"], ...]:
        """Rotations of the inner nodes of the first `links` frames, their rates and accelerations."""
        total = self.total
        parts = (total.value, total.rate, total.acceleration)
        return tuple(part.reshape(-1, 6)[:links, 3:] for part in parts)


def erls_motion(
    chain: Chain,
    shapes: Shapes,
    reference: AbstractReference,
    at: Pose,
    moving: RigidMotion,
    eta: tuple[Float[Array, "b m"], ...],
    carries_acceleration: bool,
) -> ErlsMotion:
    """Displacements of the links with their velocities and accelerations.

    Args:
        chain: the ERLS.
        shapes: tip shapes of the links.
        reference: what theta means.
        at: matrices of the pose.
        moving: motion of the ERLS.
        eta: elastic coordinates of every link with their rates and accelerations.
        carries_acceleration: whether theta_dd acts on displacements; not in the terms `published` by [Boscariol2012].
    """
    joints = _joint_motion(chain, moving, carries_acceleration)
    own, own_d, own_dd = (_from_tips(chain, shapes, at, part) for part in eta)
    # The chain Psi turns with the joints as Phi does, by -rate ad on what it has carried so far.
    a = at.Psi @ own
    d = at.Psi @ (own_d - joints.rate * (at.ad @ a))
    dd = at.Psi @ (own_dd + second_derivative_terms(at, joints, a, d))
    inner = Displacement(a, d, dd)
    if at.conditions is None:
        return ErlsMotion(inner, None, jnp.zeros((3, at.J.shape[1])))
    return _with_conditions(reference, at, at.conditions, inner, joints, eta)


def _joint_motion(
    chain: Chain, moving: RigidMotion, carries_acceleration: bool
) -> JointMotion:
    rate = jnp.repeat(chain.selection @ moving.theta_d, 6)
    acceleration = jnp.repeat(chain.selection @ moving.theta_dd, 6)
    if not carries_acceleration:
        acceleration = jnp.zeros_like(acceleration)
    return JointMotion(rate, acceleration)


def _from_tips(
    chain: Chain, shapes: Shapes, at: Pose, eta: Float[Array, "b m"]
) -> Float[Array, " L"]:
    """Displacement of each inner node that the elastic coordinates of its parent cause."""
    elastic_shape = seat_shapes(chain, shapes)[:, :, 6:]
    tip = jnp.einsum("ldm,lm->ld", elastic_shape, of_parents(chain.parents, eta))
    return jnp.einsum("lab,lb->la", at.shift, tip).reshape(-1)


def _with_conditions(
    reference: AbstractReference,
    at: Pose,
    conditions: Conditions,
    inner: Displacement,
    joints: JointMotion,
    eta: tuple[Float[Array, "b m"], ...],
) -> ErlsMotion:
    """Add the rigid motion J phi that keeps Z q = 0 with its first and second derivative.

    Conditions of the form J^T g = 0 turn with the joints; their derivatives add Jdot^T g and Jddot^T g + 2 Jdot^T gdot.
    """
    rows = conditions.rows
    links = eta[0].shape[0]
    count = at.J.shape[1]
    Z_r = rows[:, :, :6].reshape(rows.shape[0], -1)
    Z_eta = rows[:, :links, 6:].reshape(rows.shape[0], -1)

    def solve(r, eta, turning=None) -> tuple[Float[Array, " k"], Float[Array, " m"]]:
        missing = Z_r @ r + Z_eta @ eta.reshape(-1)
        if turning is not None:
            missing = missing.at[:count].add(turning)
        unknowns = -conditions.solve @ missing
        return unknowns[:count], unknowns[count:]

    def moment(r, eta, multipliers) -> Float[Array, " L"] | None:
        q = jnp.concatenate([r.reshape(-1, 6)[:links], eta], axis=1)
        g = reference.moment(q)
        if g is None or conditions.wrenches is None:
            return g
        on_frames = jnp.pad(g, (0, r.shape[0] - g.shape[0]))
        return on_frames + multipliers @ conditions.wrenches

    # Value, rate and acceleration one after the other: each needs the one before it.
    phi, multipliers = solve(inner.value, eta[0])
    w = at.J @ phi
    g = moment(inner.value + w, eta[0], multipliers)

    w_d = -at.Phi @ (joints.rate * (at.ad @ w))
    turning = None if g is None else rate_of_conditions(at, joints, g)
    phi_d, multipliers = solve(inner.rate + w_d, eta[1], turning)
    w_d = w_d + at.J @ phi_d
    g_d = moment(inner.rate + w_d, eta[1], multipliers)

    w_dd = at.Phi @ second_derivative_terms(at, joints, w, w_d)
    turning = None
    if g is not None and g_d is not None:
        turning = second_rate_of_conditions(at, joints, g, g_d)
    phi_dd, _ = solve(inner.acceleration + w_dd, eta[2], turning)
    w_dd = w_dd + at.J @ phi_dd

    rigid = Displacement(w, w_d, w_dd)
    return ErlsMotion(inner, rigid, jnp.stack([phi, phi_d, phi_dd]), g)


def rate_of_conditions(
    at: Pose, joints: JointMotion, g: Float[Array, " L"]
) -> Float[Array, " k"]:
    """Jdot^T g, from Jdot = -Phi rate ad J."""
    return -at.J.T @ (at.ad.T @ (joints.rate * (at.Phi.T @ g)))


def second_rate_of_conditions(
    at: Pose, joints: JointMotion, g: Float[Array, " L"], g_d: Float[Array, " L"]
) -> Float[Array, " k"]:
    """Jddot^T g + 2 Jdot^T gdot, from Jddot = -Phi (2 rate ad Jdot + rate^2 ad^2 J + acceleration ad J)."""
    p = at.Phi.T @ g
    once = at.ad.T @ (joints.rate * p)
    twice = at.ad.T @ (joints.rate**2 * (at.ad.T @ p) + joints.acceleration * p)
    return 2.0 * rate_of_conditions(at, joints, g_d - once) - at.J.T @ twice


def erls_pull_back(
    chain: Chain,
    shapes: Shapes,
    at: Pose,
    motion: ErlsMotion,
    on_V: Float[Array, "b 6"],
    on_q: Float[Array, "b c"],
    on_encoder: Float[Array, " j"],
    complete: bool,
) -> tuple[Float[Array, " i"], Float[Array, "b m"]]:
    """Transpose of the rates' map: forces on (theta_i, eta) from forces on twists, body coordinates and encoders.

    `complete` also takes what a virtual joint motion does to the displacements it carries, and to the conditions.
    """
    links, count = on_q.shape[0], at.J.shape[1]
    on_V = with_frames(chain, on_V).reshape(-1)
    on_r = with_frames(chain, on_q[:, :6]).reshape(-1)
    on_eta = on_q[:, 6:]
    on_encoder = jnp.pad(on_encoder, (0, count - on_encoder.shape[0]))

    push = jnp.zeros(count)  # on the conditions
    if at.conditions is not None:
        rows = at.conditions.rows
        # What forces on J phi and on the encoders theta + phi do through phi = -solve Z q.
        push = at.conditions.solve[:count].T @ (at.J.T @ on_r + on_encoder)
        on_r = on_r - push @ rows[:, :, :6].reshape(rows.shape[0], -1)
        on_eta = on_eta - jnp.tensordot(push, rows[:, :links, 6:], axes=1)

    on_inner = at.Psi.T @ on_r
    on_tip = jnp.einsum("lab,la->lb", at.shift, on_inner.reshape(-1, 6))
    elastic_shape = seat_shapes(chain, shapes)[:, :, 6:]
    from_tip = jnp.einsum("ld,ldm->lm", on_tip, elastic_shape)
    on_eta = on_eta + on_parents(chain.parents, from_tip, links)

    on_theta = on_encoder + at.J.T @ on_V
    if complete:
        turned = on_inner * (at.ad @ motion.inner.value)
        if motion.rigid is not None:
            turned += (at.Phi.T @ on_r) * (at.ad @ motion.rigid.value)
        if motion.moment is not None:
            # The conditions J^T g = 0 turn with the joints, and with them what they push.
            turned -= (at.Phi.T @ motion.moment) * (at.ad @ (at.J @ push[:count]))
        on_theta -= turned.reshape(-1, 6).sum(axis=1) @ chain.selection
    return at.dependence.forces(on_theta), on_eta
