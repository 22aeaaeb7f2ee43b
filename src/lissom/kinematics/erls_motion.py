"""Motion of the equivalent rigid-link system and of the small displacements it carries, by the geometric rule.

A twist or a small displacement (6 numbers) reaches link i through `T_i = Ad(R_i, p_i)^-1`, and moving joint i changes
it by `dT_i/dtheta_i = -ad(s_i) T_i`, s_i the joint's screw. Quantities passed from link to link obey `a_i = T_i S
a_p + b_i`, p the link that carries link i: every such chain is one pass outwards, its transpose one pass inwards
(`recursion`). J stands for the body Jacobian, J theta_d = V, and Phi for the chain of twists.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.se3 import bracket, coadjoint
from ..types import Float
from .chain import Chain, of_parents, on_parents, relative_poses, with_frames
from .compatibility import Shapes, seat_shapes
from .mechanism import AbstractJointDependence, AbstractMechanism
from .recursion import Recursion, Stack, carry, transfer_matrices, transpose_carry
from .references import AbstractReference, Conditions


class PoseTerms(eqx.Module):
    """Everything that depends on theta alone; l frames of the chain, k joints."""

    twists: Recursion
    # Of displacements, propagated from tip to inner node.
    displacements: Recursion
    # Displacement of the parent's point -> of the inner node.
    shift: Float[Array, "l 6 6"]
    chain: Chain
    dependence: AbstractJointDependence
    conditions: Conditions | None  # on the displacements of the links

    def ad_screw(self, a: Stack) -> Stack:
        """ad(s) a, s the screw of the joint below every link."""
        return bracket(self.chain.screw, a)

    def along_joints(self, motion: Float[Array, " k"]) -> Stack:
        """J theta_d: twists of all links for a motion of the joints alone."""
        own = self.chain.screw * self.chain.below_links(motion)[:, None]
        return self.twists.solve(own)[0]

    def on_joints(self, forces: Stack) -> Float[Array, " k"]:
        """J^T f from forces gathered from all links outside: the transpose of `along_joints`."""
        return self.chain.on_joints(jnp.sum(self.chain.screw * forces, axis=1))


@eqx.filter_jit  # of every formulation's motion, in many places: traced once
def pose_terms(
    mechanism: AbstractMechanism,
    shapes: Shapes,
    reference: AbstractReference,
    theta: Float[Array, " k"],
) -> PoseTerms:
    """Transfer matrices at one pose of all joints."""
    chain = jax.tree.map(jnp.asarray, mechanism.chain)
    relative = relative_poses(chain, theta)
    shift = transfer_matrices(relative.R, relative.arm)
    # Rigid coordinates of the parent move its tip, and with it the inner node of the link.
    carried = shift @ seat_shapes(chain, shapes)[:, :, :6]
    twists = Recursion(transfer_matrices(relative.R, relative.p), chain.parents)
    # Where no joint follows another and theta is what the encoders read, the Jacobian is not used.
    screws = chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]
    J = twists.solve_columns(screws)
    dependence = mechanism.dependence(J)
    return PoseTerms(
        twists=twists,
        displacements=Recursion(carried, chain.parents),
        shift=shift,
        chain=chain,
        dependence=dependence,
        conditions=dependence.conditions(reference, J),
    )


class RigidMotion(eqx.Module):
    """Motion of the ERLS: rates of all joints of the chain, body twists of all links, and their rates."""

    theta_d: Float[Array, " k"]
    theta_dd: Float[Array, " k"]
    V: Stack
    V_d: Stack


@eqx.filter_jit
def rigid_motion(
    at: PoseTerms, rate_i: Float[Array, " i"], acceleration_i: Float[Array, " i"]
) -> RigidMotion:
    """Joint rates and twists of the ERLS from the rates of its independent joints."""
    theta_d = at.dependence.follow(rate_i)
    V = at.along_joints(theta_d)
    rate = at.chain.below_links(theta_d)[:, None]
    # Jdot theta_d = -turning, from dT_i/dtheta_i = -ad(s_i) T_i.
    (turning,) = at.twists.solve(rate * at.ad_screw(V))
    theta_dd = at.dependence.follow(acceleration_i, -turning)
    return RigidMotion(theta_d, theta_dd, V, at.along_joints(theta_dd) - turning)


class Displacement(eqx.Module):
    """A displacement (six numbers per link) with its two time derivatives."""

    value: Stack
    rate: Stack
    acceleration: Stack

    def __add__(self, other: "Displacement") -> "Displacement":
        return Displacement(
            self.value + other.value,
            self.rate + other.rate,
            self.acceleration + other.acceleration,
        )


class JointRates(eqx.Module):
    """Rate and acceleration of the joint below every link, as displacements feel them."""

    rate: Float[Array, "l 1"]
    acceleration: Float[Array, "l 1"]


def second_derivative_terms(
    at: PoseTerms, joints: JointRates, value: Stack, rate: Stack
) -> Stack:
    """Terms of the joints' motion in a second derivative: -2 rate ad a_d - rate^2 ad^2 a - acceleration ad a."""
    once = at.ad_screw(value)
    twice = at.ad_screw(once)
    return -(
        2.0 * joints.rate * at.ad_screw(rate)
        + joints.rate**2 * twice
        + joints.acceleration * once
    )


class ErlsMotion(eqx.Module):
    """Displacements of inner nodes from the ERLS (tangent part and J phi), elastic joint displacements phi."""

    inner: Displacement
    rigid: Displacement | None
    phi: Float[Array, "3 k"]  # value, rate, acceleration
    # g of conditions J^T g = 0, which turn with the joints.
    moment: Stack | None = None

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
        return tuple(part[:links, 3:] for part in parts)


@eqx.filter_jit
def erls_motion(
    shapes: Shapes,
    reference: AbstractReference,
    at: PoseTerms,
    moving: RigidMotion,
    eta: tuple[Float[Array, "b m"], ...],
    carries_acceleration: bool,
) -> ErlsMotion:
    """Displacements of the links with their velocities and accelerations.

    Args:
        shapes: tip shapes of the links.
        reference: what theta means.
        at: the pose of the ERLS.
        moving: motion of the ERLS.
        eta: elastic coordinates of every link with their rates and accelerations.
        carries_acceleration: whether theta_dd acts on displacements; not in the terms `published` by [Boscariol2012].
    """
    joints = _joint_motion(at.chain, moving, carries_acceleration)
    own, own_d, own_dd = (_from_tips(shapes, at, part) for part in eta)
    # Displacements that propagate turn with the joints as twists do: by -rate ad, on what has come so far.
    (a,) = at.displacements.solve(own)
    (d,) = at.displacements.solve(own_d - joints.rate * at.ad_screw(a))
    (dd,) = at.displacements.solve(own_dd + second_derivative_terms(at, joints, a, d))
    inner = Displacement(a, d, dd)
    if at.conditions is None:
        return ErlsMotion(inner, None, jnp.zeros((3, at.chain.n_joints)))
    return _with_conditions(reference, at, at.conditions, inner, joints, eta)


def _joint_motion(
    chain: Chain, moving: RigidMotion, carries_acceleration: bool
) -> JointRates:
    rate = chain.below_links(moving.theta_d)[:, None]
    acceleration = chain.below_links(moving.theta_dd)[:, None]
    if not carries_acceleration:
        acceleration = jnp.zeros_like(acceleration)
    return JointRates(rate, acceleration)


def _from_tips(shapes: Shapes, at: PoseTerms, eta: Float[Array, "b m"]) -> Stack:
    """Displacement of each inner node that the elastic coordinates of its parent cause."""
    elastic_shape = seat_shapes(at.chain, shapes)[:, :, 6:]
    tip = jnp.einsum("ldm,lm->ld", elastic_shape, of_parents(at.chain.parents, eta))
    return carry(at.shift, tip)


def _with_conditions(
    reference: AbstractReference,
    at: PoseTerms,
    conditions: Conditions,
    inner: Displacement,
    joints: JointRates,
    eta: tuple[Float[Array, "b m"], ...],
) -> ErlsMotion:
    """Add the rigid motion J phi that keeps Z q = 0 with its first and second derivative.

    Conditions of the form J^T g = 0 turn with the joints; their derivatives add Jdot^T g and Jddot^T g + 2 Jdot^T gdot.
    """
    rows = conditions.rows
    links = eta[0].shape[0]
    count = at.chain.n_joints
    Z_r, Z_eta = rows[:, :, :6], rows[:, :links, 6:]

    def solve(r, eta, turning=None) -> tuple[Float[Array, " k"], Float[Array, " m"]]:
        missing = jnp.einsum("rlk,lk->r", Z_r, r)
        missing = missing + jnp.einsum("rlm,lm->r", Z_eta, eta)
        if turning is not None:
            missing = missing.at[:count].add(turning)
        unknowns = -conditions.solve @ missing
        return unknowns[:count], unknowns[count:]

    def moment(r, eta, multipliers) -> Stack | None:
        q = jnp.concatenate([r[:links], eta], axis=1)
        g = reference.moment(q)
        if g is None or conditions.wrenches is None:
            return g
        closing = jnp.einsum("m,mlk->lk", multipliers, conditions.wrenches)
        return with_frames(at.chain, g) + closing

    # Value, rate and acceleration one after the other: each needs the one before it.
    phi, multipliers = solve(inner.value, eta[0])
    w = at.along_joints(phi)
    g = moment(inner.value + w, eta[0], multipliers)

    (w_d,) = at.twists.solve(-joints.rate * at.ad_screw(w))
    turning = None if g is None else rate_of_conditions(at, joints, g)
    phi_d, multipliers = solve(inner.rate + w_d, eta[1], turning)
    w_d = w_d + at.along_joints(phi_d)
    g_d = moment(inner.rate + w_d, eta[1], multipliers)

    (w_dd,) = at.twists.solve(second_derivative_terms(at, joints, w, w_d))
    turning = None
    if g is not None and g_d is not None:
        turning = second_rate_of_conditions(at, joints, g, g_d)
    phi_dd, _ = solve(inner.acceleration + w_dd, eta[2], turning)
    w_dd = w_dd + at.along_joints(phi_dd)

    rigid = Displacement(w, w_d, w_dd)
    return ErlsMotion(inner, rigid, jnp.stack([phi, phi_d, phi_dd]), g)


def rate_of_conditions(
    at: PoseTerms, joints: JointRates, g: Stack
) -> Float[Array, " k"]:
    """Jdot^T g, from Jdot = -Phi rate ad J."""
    (p,) = at.twists.solve_transpose(g)
    # ad(s)^T f is minus the coadjoint of s.
    (turning,) = at.twists.solve_transpose(coadjoint(at.chain.screw, joints.rate * p))
    return at.on_joints(turning)


def second_rate_of_conditions(
    at: PoseTerms, joints: JointRates, g: Stack, g_d: Stack
) -> Float[Array, " k"]:
    """Jddot^T g + 2 Jdot^T gdot, from Jddot = -Phi (2 rate ad Jdot + rate^2 ad^2 J + acceleration ad J)."""
    s = at.chain.screw
    (p,) = at.twists.solve_transpose(g)
    once = -coadjoint(s, joints.rate * p)
    inside = joints.acceleration * p - joints.rate**2 * coadjoint(s, p)
    (twice,) = at.twists.solve_transpose(coadjoint(s, inside))
    return 2.0 * rate_of_conditions(at, joints, g_d - once) + at.on_joints(twice)


@eqx.filter_jit
def erls_pull_back(
    shapes: Shapes,
    at: PoseTerms,
    motion: ErlsMotion,
    on_V: Float[Array, "b 6"],
    on_q: Float[Array, "b c"],
    on_encoder: Float[Array, " j"],
    complete: bool,
) -> tuple[Float[Array, " i"], Float[Array, "b m"]]:
    """Transpose of the rates' map: forces on (theta_i, eta) from forces on twists, body coordinates and encoders.

    `complete` also takes what a virtual joint motion does to the displacements it carries, and to the conditions.
    """
    links, count = on_q.shape[0], at.chain.n_joints
    on_V = with_frames(at.chain, on_V)
    on_r = with_frames(at.chain, on_q[:, :6])
    on_eta = on_q[:, 6:]
    on_encoder = jnp.pad(on_encoder, (0, count - on_encoder.shape[0]))

    push = jnp.zeros(count)  # on the conditions
    if at.conditions is not None:
        rows = at.conditions.rows
        (carried,) = at.twists.solve_transpose(on_r)
        # What forces on J phi and on the encoders theta + phi do through phi = -solve Z q.
        on_phi = at.on_joints(carried) + on_encoder
        push = at.conditions.solve[:count].T @ on_phi
        on_r = on_r - jnp.einsum("r,rlk->lk", push, rows[:, :, :6])
        on_eta = on_eta - jnp.einsum("r,rlm->lm", push, rows[:, :links, 6:])

    (on_inner,) = at.displacements.solve_transpose(on_r)
    on_tip = transpose_carry(at.shift, on_inner)
    elastic_shape = seat_shapes(at.chain, shapes)[:, :, 6:]
    from_tip = jnp.einsum("ld,ldm->lm", on_tip, elastic_shape)
    on_eta = on_eta + on_parents(at.chain.parents, from_tip, links)

    (on_twists,) = at.twists.solve_transpose(on_V)
    on_theta = on_encoder + at.on_joints(on_twists)
    if complete:
        turned = on_inner * at.ad_screw(motion.inner.value)
        if motion.rigid is not None:
            (carried,) = at.twists.solve_transpose(on_r)
            turned += carried * at.ad_screw(motion.rigid.value)
        if motion.moment is not None:
            # The conditions J^T g = 0 turn with the joints, and with them what they push.
            (carried,) = at.twists.solve_transpose(with_frames(at.chain, motion.moment))
            turned -= carried * at.ad_screw(at.along_joints(push[:count]))
        on_theta -= at.chain.on_joints(turned.sum(axis=1))
    return at.dependence.forces(on_theta), on_eta
