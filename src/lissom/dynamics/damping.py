"""Structural damping: what it means, the same in every formulation.

Internal damping, Rayleigh's beta K or modal ratios, acts on strain rates. Rayleigh's alpha acts on the motion of the
mass as the rigid robot sees it, in the turning frame of the rigid link. With T the frame of a link, V its twist, and
T_0, V_0 those of the same link of the rigid robot (`kinematics.rigid_robot`),

    V_rel = V - Ad(T^-1 T_0) V_0,      force on (V_rel, qd) = alpha times the momentum of (V_rel, qd),

and virtual work takes it to the coordinates through V and through V_0. A robot that turns as a whole with constant
deflection has V_rel = 0 and loses nothing; the power alpha y^T M(q) y of y = (V_rel, qd) is never negative. With the
joints held V_0 = 0, so that the damping matrix is alpha times the mass matrix.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.so3 import cross
from ..kinematics.rigid_robot import rigid_robot
from ..types import Float, Real
from .formulation import AbstractFormulation, Configuration, Rates
from .link_inertia import momentum
from .links import Links


def damping_forces(
    formulation: AbstractFormulation, place: Configuration, rates: Rates
) -> Rates:
    """Forces of structural damping on twists, body rates and encoders at a place: linear in the rates."""
    internal = internal_forces(formulation, rates)
    alpha = formulation.links.alpha
    if alpha is None:
        return internal
    mass_forces = mass_damping_forces(formulation, alpha, place, rates)
    return jax.tree.map(jnp.add, internal, mass_forces)


def internal_forces(formulation: AbstractFormulation, rates: Rates) -> Rates:
    """Damping forces of beta K and of modal ratios: on strain rates alone, so that a rigid motion feels nothing."""
    damping = jnp.asarray(formulation.links.damping)
    on_q = jnp.einsum("lcd,ld->lc", damping, rates.q)
    return Rates(jnp.zeros_like(rates.V), on_q, jnp.zeros_like(rates.encoder))


def mass_damping_forces(
    formulation: AbstractFormulation,
    alpha: Float[Real, " l"],
    place: Configuration,
    rates: Rates,
) -> Rates:
    """Damping forces of Rayleigh's alpha: on the motion of all carried mass as the rigid robot sees it."""
    links = formulation.links
    alpha = jnp.asarray(alpha)
    if has_rigid_frames(formulation):
        # V_rel = 0, and forces on V and on V_0 cancel: both are twists of the same frame.
        on_q = carried_momentum(links, alpha, rates.q)[:, 6:]
        return Rates(jnp.zeros_like(rates.V), on_q, jnp.zeros_like(rates.encoder))
    independent = jnp.asarray(formulation.independent, dtype=int)
    rigid = rigid_robot(
        formulation.mechanism, place.encoder[independent], rates.V.shape[0]
    )
    joint_rate = rigid.joint_rates(rates.encoder[independent])
    V_rel = rates.V - in_link_frames(place, rigid.twists(joint_rate))
    P = scaled_momentum(links, alpha, V_rel, place, rates)
    on_joints = -rigid.joint_forces(at_world_origin(place, P[:, :6]))
    on_encoder = jnp.zeros_like(rates.encoder)
    if rigid.dependence is not None:
        rotor = rotor_damping(formulation, alpha, rates.encoder - joint_rate)
        on_joints = on_joints - rotor
        on_encoder = rotor
    on_independent = rigid.independent_forces(on_joints)
    on_encoder = on_encoder.at[independent].add(on_independent)
    return Rates(P[:, :6], P[:, 6:], on_encoder)


def has_rigid_frames(formulation: AbstractFormulation) -> bool:
    """Whether the link frames are those of the rigid robot, so that body coordinates alone say how the mass moves."""
    is_displaced = formulation.support.finite_rotations
    return formulation.encoders_read_theta and not is_displaced


def carried_momentum(
    links: Links, alpha: Float[Real, " l"], qd: Float[Array, "l c"]
) -> Float[Array, "l e"]:
    """Alpha times the momentum of body rates alone, V_rel = 0: forces on (V, qd), [Boscariol2012] eq. (24)."""
    M = jnp.asarray(links.mass)[:, :, 6:]
    P = jnp.einsum("lec,lc->le", M, qd)
    return P * jnp.asarray(alpha)[:, None]


def scaled_momentum(
    links: Links,
    alpha: Float[Real, " l"],
    V_rel: Float[Array, "l 6"],
    place: Configuration,
    rates: Rates,
) -> Float[Array, "l e"]:
    """Alpha times the momentum of (V_rel, qd) of every deformed link."""
    y = jnp.concatenate([V_rel, rates.q], axis=1)
    P = jax.vmap(momentum)(links, y, place.q)
    return jnp.asarray(P) * jnp.asarray(alpha)[:, None]


def rotor_damping(
    formulation: AbstractFormulation,
    alpha: Float[Real, " l"],
    relative_rate: Float[Array, " j"],
) -> Float[Array, " j"]:
    """Alpha times the momentum of rotors at joints that the elastic links move; each has the alpha of its link."""
    inertia = jnp.asarray(formulation.joints.motor_inertia)
    joints = inertia.shape[0]
    own = formulation.mechanism.chain.own_joints[: len(alpha), :joints]
    return (jnp.asarray(alpha) @ own) * inertia * relative_rate


def in_link_frames(
    place: Configuration, twist: Float[Array, "l 6"]
) -> Float[Array, "l 6"]:
    """Twists given in world axes at the world's origin, seen from the link frames: (R^T (v + w x p), R^T w)."""
    v, w = twist[:, :3], twist[:, 3:]
    at_frame = v + cross(w, place.p)
    both = jnp.stack([at_frame, w], axis=1)
    return jnp.einsum("lij,lki->lkj", place.R, both).reshape(twist.shape)


def at_world_origin(
    place: Configuration, wrench: Float[Array, "l 6"]
) -> Float[Array, "l 6"]:
    """The transpose of `in_link_frames`: wrenches on the links, in world axes at the world's origin."""
    both = wrench.reshape(-1, 2, 3)
    turned = jnp.einsum("lij,lkj->lki", place.R, both)
    f, m = turned[:, 0], turned[:, 1]
    return jnp.concatenate([f, m + cross(place.p, f)], axis=1)
