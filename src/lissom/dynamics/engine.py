"""Motion from virtual work, written once for all formulations.

One link moves with y = (V, qd) and is deformed by q. With A_a = (e_a x) on every translation and rotation triplet,
its velocity field is N~ y + sum_a w_a A_a N q, so that

    T = 1/2 y^T M y + sum_a w_a y^T X_a q + 1/2 sum_ab w_a w_b q^T Z_ab q

with constants of the link (Appendix D of [Vidoni2015]). Kirchhoff's equations in the link's own frame then give the
force that keeps it moving, and the transpose of the rates' map takes all of them to the coordinates x.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.se3 import coadjoint
from .formulation import AbstractFormulation, Configuration, Motion, OwnDynamics, Rates
from .links import Links
from .published_modes import nodal_inertial_force


def momentum(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " e"]:
    """Momentum dT/dy of one link."""
    w = y[3:6]
    Xq = jnp.einsum("aec,c->ae", link.X, q)
    turning = Xq @ y + jnp.einsum("abcd,c,d->ab", link.Z, q, q) @ w
    return jnp.asarray(link.mass) @ y + w @ Xq + jnp.zeros_like(y).at[3:6].set(turning)


def kinetic_slope(
    link: Links, y: Float[Array, " e"], q: Float[Array, " c"]
) -> Float[Array, " c"]:
    """dT/dq of one link."""
    w = y[3:6]
    return jnp.einsum("a,aec,e->c", w, link.X, y) + jnp.einsum(
        "a,b,abcd,d->c", w, w, link.Z, q
    )


def body_inertia(link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
    """Inertia of one deformed link over (V, qd): the polynomial of degree 2 in q."""
    G = jnp.zeros_like(link.mass).at[:, 3:6].set(jnp.einsum("aec,c->ea", link.X, q))
    Z = (
        jnp.zeros_like(link.mass)
        .at[3:6, 3:6]
        .set(jnp.einsum("abcd,c,d->ab", link.Z, q, q))
    )
    return jnp.asarray(link.mass) + G + G.T + Z


def inertial_force(link: Links, y, q, y_d) -> Float[Array, " e"]:
    """Kirchhoff's equations of one link: force on (V, qd) that its motion needs."""
    qd = y[6:]
    P, P_d = jax.jvp(lambda y, q: momentum(link, y, q), (y, q), (y_d, qd))
    return P_d + jnp.concatenate([coadjoint(y[:6], P[:6]), -kinetic_slope(link, y, q)])


def published_inertial_force(link: Links, y, q, y_d) -> Float[Array, " e"]:
    """Inertia of one link as printed, [Boscariol2012] eqs. (22)-(23): M (rdd + udd) + 2 M_G ud + M_C u."""
    V, w, qd = y[:6], y[3:6], y[6:]
    turning = coadjoint(V, link.mass[:6, :6] @ V)
    bending = -jnp.einsum("a,akc,k->c", w, link.X[:, :6], V)
    return (
        link.mass @ y_d
        + jnp.concatenate([turning, bending])
        + 2.0 * jnp.einsum("a,aec,c->e", w, link.X, qd)
        + jnp.einsum("a,b,abec,c->e", w, w, link.Y, q)
    )


def elastic_force(link: Links, q: Float[Array, " c"]) -> Float[Array, " e"]:
    """Restoring force K q; rigid motion stores no strain."""
    return jnp.concatenate([jnp.zeros(6), link.stiffness @ q])


def damping_force(link: Links, qd: Float[Array, " c"]) -> Float[Array, " e"]:
    """Rayleigh or modal damping on elastic velocities, (alpha M + C) qd: it takes energy in every motion."""
    own = (
        jnp.asarray(link.alpha) * (jnp.asarray(link.mass)[6:, 6:] @ qd)
        + link.damping @ qd
    )
    return jnp.concatenate([jnp.zeros(6), own])


def published_damping_force(link: Links, qd: Float[Array, " c"]) -> Float[Array, " e"]:
    """Damping as printed, [Boscariol2012] eqs. (24)-(25): alpha M qd acts on the joint rows too, through J^T M."""
    rigid = jnp.asarray(link.alpha) * (jnp.asarray(link.mass)[:6, 6:] @ qd)
    return damping_force(link, qd).at[:6].set(rigid)


def inertial_forces(formulation: AbstractFormulation, y, q, y_d) -> Float[Array, "l e"]:
    """Inertia of every link, in the terms of the formulation."""
    nodal = (
        nodal_inertial_force if formulation.links.nodal is not None else inertial_force
    )
    return jax.vmap(published_inertial_force if formulation.published else nodal)(
        formulation.links, y, q, y_d
    )


def damping_forces(
    formulation: AbstractFormulation, qd: Float[Array, "l c"]
) -> Float[Array, "l e"]:
    """Damping of every link, in the terms of the formulation."""
    return jax.vmap(
        published_damping_force if formulation.published else damping_force
    )(formulation.links, qd)


def friction(
    formulation: AbstractFormulation, encoder_d: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Joint friction: viscous plus Coulomb smoothed by tanh over the joint's `width`."""
    joints = formulation.joints
    return jnp.asarray(joints.viscous) * encoder_d + joints.coulomb * jnp.tanh(
        encoder_d / joints.width
    )


def link_forces(
    formulation: AbstractFormulation, motion: Motion, applied: Rates | None = None
) -> Rates:
    """Forces on the links' rates that a motion needs beyond the applied ones, by link, before they meet in x.

    A wrench at each link frame, forces on its body coordinates, a torque on each joint; gravity, strain, damping and
    friction are in them.
    """
    links = formulation.links
    place, rates, rates_d, _ = motion
    lift = -jnp.einsum("lij,i->lj", place.R, jnp.asarray(formulation.gravity))
    y = jnp.concatenate([rates.V, rates.q], axis=1)
    y_d = jnp.concatenate([rates_d.V.at[:, :3].add(lift), rates_d.q], axis=1)
    force = inertial_forces(formulation, y, place.q, y_d)
    force += jax.vmap(elastic_force)(links, place.q) + damping_forces(
        formulation, rates.q
    )
    joint = jnp.asarray(formulation.joints.motor_inertia) * rates_d.encoder + friction(
        formulation, rates.encoder
    )
    needed = Rates(force[:, :6], force[:, 6:], joint)
    return needed if applied is None else jax.tree.map(jnp.subtract, needed, applied)


def needed_force(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    xdd: Float[Array, " n"],
    applied: Rates | None = None,
) -> Float[Array, " n"]:
    """Generalised force that the motion (x, xd, xdd) needs beyond the applied one: M xdd + h - Q.

    Gravity, strain, damping and friction are in h; `applied` holds wrenches on the links and torques on the joints.
    """
    if isinstance(formulation, OwnDynamics):
        return formulation.needed_force(x, xd, xdd, applied)
    motion = formulation.motion(x, xd, xdd)
    return motion.pull_back(link_forces(formulation, motion, applied))


def resting_forces(
    formulation: AbstractFormulation, x: Float[Array, " n"], torque: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
    """Generalised forces of a robot at rest: what its weight and its strain need, less what the joint torques give."""
    if isinstance(formulation, OwnDynamics):
        return formulation.resting_forces(x, torque)
    links, still = formulation.links, jnp.zeros_like(x)
    motion = formulation.motion(x, still, still)
    place = motion.place
    lift = -jnp.einsum("lij,i->lj", place.R, jnp.asarray(formulation.gravity))
    y = jnp.pad(lift, ((0, 0), (0, links.mass.shape[-1] - 3)))
    flat = jnp.zeros_like(place.q) if formulation.published else place.q
    none = jnp.zeros_like(torque)
    weight, strain = (
        jax.vmap(momentum)(links, y, flat),
        jax.vmap(elastic_force)(links, place.q),
    )

    def on_links(force):
        return motion.pull_back(Rates(force[:, :6], force[:, 6:], none))

    drive = motion.pull_back(
        Rates(jnp.zeros_like(weight[:, :6]), jnp.zeros_like(weight[:, 6:]), -torque)
    )
    return on_links(weight), on_links(strain), drive


def resting_force(
    formulation: AbstractFormulation, x: Float[Array, " n"], torque: Float[Array, " j"]
) -> Float[Array, " n"]:
    """`needed_force` of a robot at rest under joint torques: gravity and strain alone."""
    weight, strain, drive = resting_forces(formulation, x, torque)
    return weight + strain + drive


def bias(
    formulation: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Float[Array, " n"]:
    """h(x, xd): Coriolis, gravity, elastic and damping forces."""
    return needed_force(formulation, x, xd, jnp.zeros_like(x))


def rate_map(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Rates:
    """N(x): twists, body rates and encoder speeds for each unit rate of x (last axis), [Vidoni2015] eq. (69)."""
    columns = jax.vmap(lambda dx: formulation.virtual(x, dx))(jnp.eye(x.shape[0]))
    return jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), columns)


def congruent(
    N: Float[Array, "l e n"], A: Float[Array, "l e e"]
) -> Float[Array, "n n"]:
    """Sum N^T A N over the links."""
    return jnp.einsum("lem,len->mn", N, jnp.einsum("lef,lfn->len", A, N))


def inertia(
    formulation: AbstractFormulation, x: Float[Array, " n"], N: Rates | None = None
) -> Float[Array, "n n"]:
    """M(x) = sum N^T A^T M A N, symmetric positive definite."""
    if isinstance(formulation, OwnDynamics):
        return formulation.inertia(x)
    N = rate_map(formulation, x) if N is None else N
    links = formulation.links
    place = formulation.configuration(x)
    M_b = (
        jnp.asarray(links.mass)
        if formulation.published
        else jax.vmap(body_inertia)(links, place.q)
    )
    M = congruent(jnp.concatenate([N.V, N.q], axis=1), M_b)
    return M + jnp.einsum(
        "jm,j,jn->mn", N.encoder, formulation.joints.motor_inertia, N.encoder
    )


def structural_matrices(
    formulation: AbstractFormulation, xd: Float[Array, " n"], N: Rates
) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
    """Damping and stiffness of links and joints: what is stiff in the equations, without Coriolis and gravity."""
    if isinstance(formulation, OwnDynamics):
        return formulation.structural_matrices(xd)
    links, joints = formulation.links, formulation.joints
    K = jnp.einsum(
        "lcm,lcn->mn",
        N.q,
        jnp.einsum("lcd,ldn->lcn", jnp.asarray(links.stiffness), N.q),
    )
    C = jax.vmap(lambda qd: damping_forces(formulation, qd), in_axes=-1, out_axes=-1)(
        N.q
    )
    D = jnp.einsum("lem,len->mn", jnp.concatenate([N.V, N.q], axis=1), C)
    slope = (
        joints.viscous
        + joints.coulomb
        / joints.width
        / jnp.cosh(jnp.clip((N.encoder @ xd) / joints.width, -99, 99)) ** 2
    )
    return D + jnp.einsum("jm,j,jn->mn", N.encoder, slope, N.encoder), K


def torque_map(
    formulation: AbstractFormulation, x: Float[Array, " n"]
) -> Float[Array, "j n"]:
    """E(x): virtual encoder displacements; torques enter as E^T tau, the right work for every choice of ERLS."""
    return rate_map(formulation, x).encoder


def damping_power(
    formulation: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Float[Array, ""]:
    """Power taken by structural damping and joint friction [W]."""
    if isinstance(formulation, OwnDynamics):
        return formulation.damping_power(xd)
    rates, virtual = formulation.rates(x, xd), formulation.virtual(x, xd)
    force = damping_forces(formulation, rates.q)
    internal = jnp.sum(force[:, :6] * virtual.V) + jnp.sum(force[:, 6:] * virtual.q)
    return internal + virtual.encoder @ friction(formulation, rates.encoder)


def kinetic_energy(
    formulation: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Float[Array, ""]:
    """T [J], motor inertias included."""
    if isinstance(formulation, OwnDynamics):
        return formulation.kinetic_energy(x, xd)
    rates, q = formulation.rates(x, xd), formulation.configuration(x).q
    y = jnp.concatenate([rates.V, rates.q], axis=1)
    P = jax.vmap(momentum)(formulation.links, y, q)
    return (
        0.5 * jnp.sum(P * y) + 0.5 * formulation.joints.motor_inertia @ rates.encoder**2
    )


def strain_energy(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, ""]:
    """1/2 q^T K q over all links [J], [Vidoni2015] eq. (52)."""
    return 0.5 * jnp.einsum(
        "lc,lcd,ld->", place.q, formulation.links.stiffness, place.q
    )


def gravity_energy(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, ""]:
    """-sum m g . (centre of mass of the deformed link) [J], zero at the world's origin."""
    M = jnp.asarray(formulation.links.mass)
    moment = jnp.stack([M[:, 1, 5], M[:, 2, 3], M[:, 0, 4]], axis=1) + jnp.einsum(
        "lkc,lc->lk", M[:, :3, 6:], place.q
    )
    at = M[:, 0, 0, None] * place.p + jnp.einsum("lij,lj->li", place.R, moment)
    flat = -jnp.sum(at @ jnp.asarray(formulation.gravity))
    return (
        formulation.gravity_energy(place, flat)
        if isinstance(formulation, OwnDynamics)
        else flat
    )
