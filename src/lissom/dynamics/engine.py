"""Motion from virtual work, written once for all formulations.

Kirchhoff's equations in a link's own frame (`link_inertia`) give the force that keeps it moving, and the transpose of
the rates' map takes the forces of all links to the coordinates x.

Every function takes a `Motion`, or the place of one, that the caller has evaluated once.
"""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..algebra.so3 import cross, left_jacobian
from ..types import Float
from .damping import damping_forces
from .formulation import (
    AbstractEquations,
    AbstractFormulation,
    Configuration,
    Motion,
    Rates,
)
from .link_inertia import body_inertia, elastic_force, inertial_force, momentum
from .links import Links


class AbstractTerms(eqx.Module):
    """Which terms of one link's motion are kept, and in which form."""

    @property
    def has_positive_inertia(self) -> bool:
        """Whether `inertia` is positive definite whatever the displacements of the link."""
        return False

    @abc.abstractmethod
    def inertial_force(
        self,
        link: Links,
        y: Float[Array, " e"],
        q: Float[Array, " c"],
        y_d: Float[Array, " e"],
    ) -> Float[Array, " e"]:
        """Force on (V, qd) that the motion of one link needs."""

    @abc.abstractmethod
    def inertia(self, link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
        """Inertia of one link over (V, qd)."""

    @abc.abstractmethod
    def damping_forces(
        self, formulation: AbstractFormulation, place: Configuration, rates: Rates
    ) -> Rates:
        """Forces of structural damping at a place, linear in the rates."""

    @abc.abstractmethod
    def displaced(self, q: Float[Array, "*l c"]) -> Float[Array, "*l c"]:
        """Displacements of the points where weight and wrenches act, as body coordinates."""


class ConsistentTerms(AbstractTerms):
    """All terms of the motion, by integrals of the displacement field: energy is exact."""

    @property
    @override
    def has_positive_inertia(self) -> bool:
        return True

    def inertial_force(
        self,
        link: Links,
        y: Float[Array, " e"],
        q: Float[Array, " c"],
        y_d: Float[Array, " e"],
    ) -> Float[Array, " e"]:
        """Force on (V, qd) by Kirchhoff's equations."""
        return inertial_force(link, y, q, y_d)

    @override
    def inertia(self, link: Links, q: Float[Array, " c"]) -> Float[Array, "e e"]:
        return body_inertia(link, q)

    def damping_forces(
        self, formulation: AbstractFormulation, place: Configuration, rates: Rates
    ) -> Rates:
        """On strain rates, and on the motion of the mass as the rigid robot sees it."""
        return damping_forces(formulation, place, rates)

    @override
    def displaced(self, q: Float[Array, "*l c"]) -> Float[Array, "*l c"]:
        return q


# --- all links -----------------------------------------------------------------------------------------------------


def friction(
    formulation: AbstractFormulation, encoder_d: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Joint friction: viscous plus Coulomb smoothed by tanh over the joint's `width`."""
    joints = formulation.joints
    coulomb = joints.coulomb * jnp.tanh(encoder_d / joints.width)
    return jnp.asarray(joints.viscous) * encoder_d + coulomb


def friction_slope(
    formulation: AbstractFormulation, encoder_d: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Derivative of `friction` by the encoder speeds."""
    joints = formulation.joints
    # Beyond 99 widths cosh overflows long before its inverse square matters.
    speed = jnp.clip(encoder_d / joints.width, -99, 99)
    coulomb = joints.coulomb / joints.width / jnp.cosh(speed) ** 2
    return jnp.asarray(joints.viscous) + coulomb


def on_joints(formulation: AbstractFormulation, torque: Float[Array, " j"]) -> Rates:
    """Torques on the joints, nothing on the links."""
    links, c = formulation.links.stiffness.shape[:2]
    return Rates(jnp.zeros((links, 6)), jnp.zeros((links, c)), torque)


def minus_gravity(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, "l 3"]:
    """-g in the axes of every link."""
    return -jnp.einsum("lij,i->lj", place.R, jnp.asarray(formulation.gravity))


def congruence_sum(
    N: Float[Array, "l e n"], A: Float[Array, "l e e"]
) -> Float[Array, "n n"]:
    """Sum N^T A N over the links."""
    return jnp.einsum("lem,len->mn", N, jnp.einsum("lef,lfn->len", A, N))


class VirtualWork(AbstractEquations):
    """The principle of virtual work: the equations of every formulation that brings none of its own."""

    terms: AbstractTerms = ConsistentTerms()

    @property
    @override
    def has_positive_inertia(self) -> bool:
        # M = N^T A N: what holds for the links holds for the robot.
        return self.terms.has_positive_inertia

    def link_forces(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        applied: Rates | None = None,
    ) -> Rates:
        """Inertia and weight, strain, damping and friction of every link and joint, less what is applied."""
        links = formulation.links
        q = motion.place.q
        rates, rates_d = motion.rates, motion.rates_d
        y = jnp.concatenate([rates.V, rates.q], axis=1)
        y_d = jnp.concatenate([rates_d.V, rates_d.q], axis=1)
        # Weight is the inertia of a lift: a link at rest needs what an acceleration by -g does.
        y_d = y_d.at[:, :3].add(minus_gravity(formulation, motion.place))
        force = jax.vmap(self.terms.inertial_force)(links, y, q, y_d)
        force += jax.vmap(elastic_force)(links, q)
        damping = self.terms.damping_forces(formulation, motion.place, rates)
        rotor = jnp.asarray(formulation.joints.motor_inertia) * rates_d.encoder
        joint = rotor + friction(formulation, rates.encoder)
        undamped = Rates(force[:, :6], force[:, 6:], joint)
        needed = jax.tree.map(jnp.add, undamped, damping)
        if applied is None:
            return needed
        return jax.tree.map(jnp.subtract, needed, applied)

    def needed_force(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        applied: Rates | None = None,
    ) -> Float[Array, " n"]:
        """Force over the coordinates x that the motion of the links needs."""
        return motion.pull_back(self.link_forces(formulation, motion, applied))

    def resting_forces(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """Weight, strain and torques of the links, each taken to the coordinates."""
        parts = self._resting_link_forces(formulation, motion, torque)
        weight, strain, drive = map(motion.pull_back, parts)
        return weight, strain, drive

    def resting_force(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> Float[Array, " n"]:
        """Weight, strain and torques of the links together, taken to the coordinates at once."""
        parts = self._resting_link_forces(formulation, motion, torque)
        return motion.pull_back(jax.tree.map(lambda *forces: sum(forces), *parts))

    def _resting_link_forces(
        self,
        formulation: AbstractFormulation,
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> tuple[Rates, Rates, Rates]:
        """Weight, strain and torques by link, before they meet in x."""
        links = formulation.links
        q = motion.place.q
        # A link at rest needs the inertial force of an acceleration by -g: its momentum at the velocity -g.
        up = minus_gravity(formulation, motion.place)
        y = jnp.pad(up, ((0, 0), (0, links.mass.shape[-1] - 3)))
        weight = jax.vmap(momentum)(links, y, self.terms.displaced(q))
        strain = jax.vmap(elastic_force)(links, q)
        none = jnp.zeros_like(torque)

        def on_links(force):
            return Rates(force[:, :6], force[:, 6:], none)

        return on_links(weight), on_links(strain), on_joints(formulation, -torque)

    def inertia(
        self, formulation: AbstractFormulation, place: Configuration, N: Rates
    ) -> Float[Array, "n n"]:
        """M(x) = sum N^T A^T M A N, symmetric positive definite."""
        M_b = jax.vmap(self.terms.inertia)(formulation.links, place.q)
        M = congruence_sum(jnp.concatenate([N.V, N.q], axis=1), M_b)
        motor = formulation.joints.motor_inertia
        return M + jnp.einsum("jm,j,jn->mn", N.encoder, motor, N.encoder)

    def structural_matrices(
        self,
        formulation: AbstractFormulation,
        place: Configuration,
        xd: Float[Array, " n"],
        N: Rates,
    ) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """Damping and stiffness of the links along N, and the slope of friction."""
        links = formulation.links
        K = congruence_sum(N.q, jnp.asarray(links.stiffness))

        def damping_of(rates):
            return self.terms.damping_forces(formulation, place, rates)

        # Damping forces of each unit rate of x, then their work along all of them.
        C = jax.vmap(damping_of, in_axes=-1, out_axes=-1)(N)
        D = jnp.einsum("lem,len->mn", N.V, C.V) + jnp.einsum("lem,len->mn", N.q, C.q)
        D = D + N.encoder.T @ C.encoder
        slope = friction_slope(formulation, N.encoder @ xd)
        D = D + jnp.einsum("jm,j,jn->mn", N.encoder, slope, N.encoder)
        return D, K

    def kinetic_energy(
        self, formulation: AbstractFormulation, motion: Motion
    ) -> Float[Array, ""]:
        """Half of momentum times rate, motor inertias included."""
        rates = motion.rates
        y = jnp.concatenate([rates.V, rates.q], axis=1)
        P = jax.vmap(momentum)(formulation.links, y, motion.place.q)
        motors = formulation.joints.motor_inertia @ rates.encoder**2
        return 0.5 * jnp.sum(P * y) + 0.5 * motors

    def gravity_energy(
        self, formulation: AbstractFormulation, place: Configuration
    ) -> Float[Array, ""]:
        """-sum m g . (centre of mass of the deformed link), zero at the world's origin."""
        M = jnp.asarray(formulation.links.mass)
        # First moments m X of the undeformed link stand in the coupling of v and w.
        moment = jnp.stack([M[:, 1, 5], M[:, 2, 3], M[:, 0, 4]], axis=1)
        moment = moment + jnp.einsum("lkc,lc->lk", M[:, :3, 6:], place.q)
        turned = jnp.einsum("lij,lj->li", place.R, moment)
        at = M[:, 0, 0, None] * place.p + turned
        return -jnp.sum(at @ jnp.asarray(formulation.gravity))

    def damping_power(
        self, formulation: AbstractFormulation, motion: Motion
    ) -> Float[Array, ""]:
        """Power of damping and friction along the motion."""
        place, rates = motion.place, motion.rates
        loss = self.terms.damping_forces(formulation, place, rates)
        rubbing = loss.encoder + friction(formulation, rates.encoder)
        return power_of_forces(formulation, motion, Rates(loss.V, loss.q, rubbing))

    def node_wrench(
        self,
        formulation: AbstractFormulation,
        place: Configuration,
        link: int,
        node: int,
        wrench: Float[Array, " 6"],
        in_world: bool,
    ) -> Rates:
        """Forces on (V, qd) of one link, [Vidoni2015] eqs. (64)-(68)."""
        links = formulation.links
        q = place.q[link]
        R = place.R[link] if in_world else jnp.eye(3)
        f, m = R.T @ wrench[:3], R.T @ wrench[3:]
        U = jnp.asarray(links.node_shape)[link, node]
        u = (U @ self.terms.displaced(q))[:3]
        arm = jnp.asarray(links.points)[link, node] + u
        on_V = jnp.concatenate([f, m + cross(arm, f)])
        if formulation.support.finite_rotations:
            # A node turns by exp(phi x): its angular velocity is J(phi) phidot.
            m = left_jacobian((U @ q)[3:]).T @ m
        on_q = U.T @ jnp.concatenate([f, m])
        none = on_joints(formulation, jnp.zeros_like(place.encoder))
        V = none.V.at[link].set(on_V)
        return Rates(V, none.q.at[link].set(on_q), none.encoder)


# --- functions for the other rooms ---------------------------------------------------------------------------------


def needed_force(
    formulation: AbstractFormulation, motion: Motion, applied: Rates | None = None
) -> Float[Array, " n"]:
    """Generalised force that a motion needs beyond the applied one: M xdd + h - Q.

    Gravity, strain, damping and friction are in h; `applied` holds wrenches on the links and torques on the joints.
    """
    return formulation.equations.needed_force(formulation, motion, applied)


def link_forces(
    formulation: AbstractFormulation, motion: Motion, applied: Rates | None = None
) -> Rates:
    """Forces on the links' rates that a motion needs beyond the applied ones, by link, before they meet in x.

    A wrench at each link frame, forces on its body coordinates, a torque on each joint; gravity, strain, damping and
    friction are in them.
    """
    return formulation.equations.link_forces(formulation, motion, applied)


def resting_forces(
    formulation: AbstractFormulation, motion: Motion, torque: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
    """Generalised forces of a robot at rest: what its weight and its strain need, less what the joint torques give."""
    return formulation.equations.resting_forces(formulation, motion, torque)


def resting_force(
    formulation: AbstractFormulation, motion: Motion, torque: Float[Array, " j"]
) -> Float[Array, " n"]:
    """`needed_force` of a robot at rest under joint torques: gravity and strain alone."""
    return formulation.equations.resting_force(formulation, motion, torque)


def at_rest(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Motion:
    """The motion of a robot that stands still at x."""
    still = jnp.zeros_like(x)
    return formulation.motion(x, still, still)


def bias(
    formulation: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Float[Array, " n"]:
    """h(x, xd): Coriolis, gravity, elastic and damping forces."""
    motion = formulation.motion(x, xd, jnp.zeros_like(x))
    return needed_force(formulation, motion)


def rate_map(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Rates:
    """N(x): twists, body rates and encoder speeds for each unit rate of x (last axis), [Vidoni2015] eq. (69)."""
    columns = jax.vmap(lambda dx: formulation.virtual(x, dx))(jnp.eye(x.shape[0]))
    return jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), columns)


def inertia(
    formulation: AbstractFormulation, place: Configuration, N: Rates
) -> Float[Array, "n n"]:
    """M(x), symmetric, at a place with the map N of the links' rates there."""
    return formulation.equations.inertia(formulation, place, N)


def inertia_at(
    formulation: AbstractFormulation, x: Float[Array, " n"]
) -> Float[Array, "n n"]:
    """M(x) where nothing else of x is known."""
    N = rate_map(formulation, x)
    return inertia(formulation, formulation.configuration(x), N)


def structural_matrices(
    formulation: AbstractFormulation,
    place: Configuration,
    xd: Float[Array, " n"],
    N: Rates,
) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
    """Damping and stiffness of links and joints: what is stiff in the equations, without Coriolis and gravity."""
    return formulation.equations.structural_matrices(formulation, place, xd, N)


def torque_map(formulation: AbstractFormulation, motion: Motion) -> Float[Array, "j n"]:
    """E(x): virtual encoder displacements; torques enter as E^T tau, the right work for every choice of ERLS."""

    def force_of(torque):
        return motion.pull_back(on_joints(formulation, torque))

    return jax.vmap(force_of)(jnp.eye(formulation.n_encoders))


def power_of_forces(
    formulation: AbstractFormulation, motion: Motion, force: Rates
) -> Float[Array, ""]:
    """Power of forces on the links along a motion [W]."""
    if formulation.published:
        # Virtual displacements leave terms out that the rates have.
        return motion.pull_back(force) @ motion.xd
    pairs = zip(jax.tree.leaves(force), jax.tree.leaves(motion.rates), strict=True)
    return sum((jnp.vdot(part, rate) for part, rate in pairs), start=jnp.zeros(()))


def damping_power(formulation: AbstractFormulation, motion: Motion) -> Float[Array, ""]:
    """Power taken by structural damping and joint friction [W]."""
    return formulation.equations.damping_power(formulation, motion)


def kinetic_energy(
    formulation: AbstractFormulation, motion: Motion
) -> Float[Array, ""]:
    """T [J], motor inertias included."""
    return formulation.equations.kinetic_energy(formulation, motion)


def strain_energy(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, ""]:
    """1/2 q^T K q over all links [J], [Vidoni2015] eq. (52)."""
    K = formulation.links.stiffness
    return 0.5 * jnp.einsum("lc,lcd,ld->", place.q, K, place.q)


def gravity_energy(
    formulation: AbstractFormulation, place: Configuration
) -> Float[Array, ""]:
    """Energy of weight [J], zero at the world's origin."""
    return formulation.equations.gravity_energy(formulation, place)
