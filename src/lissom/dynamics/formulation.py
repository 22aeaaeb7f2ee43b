"""The contracts of this folder: what a formulation provides to the engine, and equations of motion to their callers.

A formulation says how the links of a robot move; equations of motion turn that into forces. `engine.VirtualWork` is
the equations of nearly every formulation.
"""

import abc
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..describe.supported import Support
from ..kinematics.chain import link_frames
from ..kinematics.mechanism import AbstractMechanism
from ..types import Float, Real, with_fields
from .links import Links
from .stops import Stops


class Joints(eqx.Module):
    """Motor inertia, friction, torque limits and stops, which act on the encoder motion of each joint; j joints."""

    motor_inertia: Float[Real, " j"]  # ratio^2 times rotor inertia [kg m^2 or kg]
    viscous: Float[Real, " j"]  # [N m s/rad or N s/m]
    coulomb: Float[Real, " j"]  # [N m or N]
    # Speed over which the Coulomb torque turns its sign [rad/s or m/s].
    width: Float[Real, " j"]
    torque_limit: Float[Real, " j"]  # infinite where there is none
    # Numbers of the joints that a motor drives; the others are passive.
    actuated: tuple[int, ...] = eqx.field(static=True)
    stops: Stops | None = None  # at the ends of the joints' ranges, where there are any


class Configuration(eqx.Module):
    """Positions in a configuration: link frames, body coordinates, encoder readings."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]
    q: Float[Array, "l c"]
    encoder: Float[Array, " j"]


class Rates(eqx.Module):
    """Rates in a motion: body twists in link axes, rates of the body coordinates, encoder speeds. Linear in xdot.

    Forces that work along these rates have the same shape: wrenches on the links, forces on body coordinates, torques.
    """

    V: Float[Array, "l 6"]
    q: Float[Array, "l c"]
    encoder: Float[Array, " j"]


class Motion(NamedTuple):
    """One motion of a robot, evaluated once: all that the equations of motion, loads and outputs need of it.

    The power of forces on the links along the motion is `pull_back(force) @ xd`.
    """

    x: Float[Array, " n"]
    xd: Float[Array, " n"]
    xdd: Float[Array, " n"]
    theta: Float[Array, " j"]  # coordinates of all moving joints
    theta_d: Float[Array, " j"]
    place: Configuration
    rates: Rates
    rates_d: Rates
    # Transpose of the virtual displacements: forces on x from forces on the links.
    pull_back: Callable[[Rates], Float[Array, " n"]]


class AbstractEquations(eqx.Module):
    """Equations of motion M(x) xdd + h(x, xd) = Q of a formulation, in its coordinates x.

    The functions of `engine` call these; everything else calls the engine.
    """

    @property
    def has_positive_inertia(self) -> bool:
        """Whether M is positive definite in every state by the way it is made, if every coordinate moves mass."""
        return False

    @abc.abstractmethod
    def needed_force(
        self,
        formulation: "AbstractFormulation",
        motion: Motion,
        applied: Rates | None = None,
    ) -> Float[Array, " n"]:
        """Generalised force that a motion needs beyond the applied one: M xdd + h - Q."""

    @abc.abstractmethod
    def link_forces(
        self,
        formulation: "AbstractFormulation",
        motion: Motion,
        applied: Rates | None = None,
    ) -> Rates:
        """The terms of `needed_force` by link, before they meet in x: what joints and bearings carry."""

    @abc.abstractmethod
    def resting_forces(
        self,
        formulation: "AbstractFormulation",
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """Forces that weight and strain need without speed and acceleration, and the joint torques with minus sign."""

    def resting_force(
        self,
        formulation: "AbstractFormulation",
        motion: Motion,
        torque: Float[Array, " j"],
    ) -> Float[Array, " n"]:
        """The sum of `resting_forces` over the links."""
        weight, strain, drive = self.resting_forces(formulation, motion, torque)
        return weight + strain + drive

    @abc.abstractmethod
    def inertia(
        self, formulation: "AbstractFormulation", place: Configuration, N: Rates
    ) -> Float[Array, "n n"]:
        """M at a place, with the map N of the links' rates there."""

    @abc.abstractmethod
    def structural_matrices(
        self,
        formulation: "AbstractFormulation",
        place: Configuration,
        xd: Float[Array, " n"],
        N: Rates,
    ) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """Damping and stiffness of links and joints."""

    @abc.abstractmethod
    def kinetic_energy(
        self, formulation: "AbstractFormulation", motion: Motion
    ) -> Float[Array, ""]:
        """Energy whose rate the equations balance [J]."""

    @abc.abstractmethod
    def gravity_energy(
        self, formulation: "AbstractFormulation", place: Configuration
    ) -> Float[Array, ""]:
        """Potential energy of weight [J], zero at the world's origin."""

    @abc.abstractmethod
    def damping_power(
        self, formulation: "AbstractFormulation", motion: Motion
    ) -> Float[Array, ""]:
        """Power taken by structural damping and joint friction [W]."""

    @abc.abstractmethod
    def node_wrench(
        self,
        formulation: "AbstractFormulation",
        place: Configuration,
        link: int,
        node: int,
        wrench: Float[Array, " 6"],
        in_world: bool,
    ) -> Rates:
        """Forces of a wrench on a node, as `needed_force` takes them."""


class AbstractFormulation(eqx.Module):
    """How the links of a robot move with minimal coordinates x = (theta_i, eta): never a multiplier.

    A formulation says where the links are (`configuration`), how they move (`rates`, the map N of [Vidoni2015] eq.
    (69)) and which virtual displacements do work (`virtual`); its equations do the rest. `motion` gathers all three.
    Only `configuration` has to be written: the others come from differentiation unless a formulation knows better.
    """

    support: eqx.AbstractVar[Support]  # what it offers
    equations: eqx.AbstractVar[AbstractEquations]
    mechanism: eqx.AbstractVar[AbstractMechanism]
    links: eqx.AbstractVar[Links]
    joints: eqx.AbstractVar[Joints]
    gravity: eqx.AbstractVar[Float[Real, "3"]]
    # Of eta: `link/2.rz`, `link/mode.3`.
    elastic_names: eqx.AbstractVar[tuple[str, ...]]

    @property
    def n_encoders(self) -> int:
        """Number of moving joints: each has an encoder and takes a torque."""
        return self.joints.motor_inertia.shape[0]

    @property
    def independent(self) -> tuple[int, ...]:
        """Numbers of the moving joints that are coordinates."""
        return self.mechanism.independent

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates in x."""
        return len(self.independent)

    @property
    def n_elastic(self) -> int:
        """Number of elastic coordinates eta."""
        return len(self.elastic_names)

    @property
    def size(self) -> int:
        """Number n of coordinates x."""
        return self.n_joints + self.n_elastic

    def split(
        self, x: Float[Array, " n"]
    ) -> tuple[Float[Array, " i"], Float[Array, " d"]]:
        """Joint and elastic coordinates (theta_i, eta) of x."""
        return x[: self.n_joints], x[self.n_joints :]

    @property
    def encoders_read_theta(self) -> bool:
        """Whether the encoders read theta itself, whatever the links do."""
        return self.support.references == ("tangent",)

    @property
    def published(self) -> bool:
        """Whether `virtual`, and the accelerations of `motion`, leave terms out as a paper prints them."""
        return False

    @property
    def exact_twists(self) -> bool:
        """Whether twists and their rates are exactly those of the frames of `configuration`, of no first order."""
        return False

    @property
    def has_first_order_work(self) -> bool:
        """Whether weight does its work along displacements of first order, so that its energy is kept to that order."""
        return False

    def reference_matrix(
        self, joints: Float[Array, " j"]
    ) -> Float[Array, "r d"] | None:
        """J_0 of what defines theta at a pose of all moving joints: must be regular; None if nothing is solved."""
        return None

    def rigid_frames(
        self, place: Configuration
    ) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
        """Link frames of the rigid robot from which nodes are displaced."""
        if not self.support.finite_rotations:
            return place.R, place.p
        # Its independent joints read what the encoders do, and its loops close rigidly.
        mechanism = self.mechanism.rigid
        encoder = place.encoder[jnp.asarray(self.independent, dtype=int)]
        theta = mechanism.chain_coordinates(encoder)
        # Where rigid links would not reach, as those that stretch do, all joints stand as they are read.
        as_read = mechanism.chain_coordinates_near(place.encoder)
        theta = jnp.where(jnp.all(jnp.isfinite(theta)), theta, as_read)
        R, p = link_frames(mechanism.chain, theta)
        return R[: len(place.R)], p[: len(place.R)]

    @abc.abstractmethod
    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames, body coordinates and encoder readings."""

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists, rates of body coordinates and encoder speeds."""
        return self.differentiated_rates(x, xd)

    def differentiated_rates(
        self, x: Float[Array, " n"], xd: Float[Array, " n"]
    ) -> Rates:
        """`rates` by differentiation of the configuration alone: the oracle of hand-derived ones."""
        return rates_of_configuration(self, x, xd)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements: the rates, unless the virtual work is not complete."""
        return self.rates(x, dx)

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """The motion of all links for (x, xd, xdd), with the transpose of `virtual`."""
        return differentiated_motion(self, x, xd, xdd)

    def observed(self, motion: Motion) -> Motion:
        """The motion as an observer sees it: with every acceleration, also those that `published` terms leave out."""
        if not self.published:
            return motion
        at, along = (motion.x, motion.xd), (motion.xd, motion.xdd)
        _, rates_d = jax.jvp(self.rates, at, along)
        return motion._replace(rates_d=rates_d)


F = TypeVar("F", bound=AbstractFormulation)


def on_branch_near(formulation: F, joints: Float[Real, " j"]) -> F:
    """The same robot, its mechanism on the branch near these coordinates of all moving joints."""
    return with_mechanism(formulation, formulation.mechanism.on_branch_near(joints))


def with_mechanism(formulation: F, mechanism: AbstractMechanism) -> F:
    """The same robot with another branch, or other coordinates, of its mechanism."""
    if mechanism is formulation.mechanism:
        return formulation
    return with_fields(formulation, mechanism=mechanism)


def rates_of_configuration(
    formulation: AbstractFormulation, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Rates:
    """Rates by automatic differentiation of the configuration: R^T pdot and R^T Rdot of the link frames."""
    place, place_d = jax.jvp(formulation.configuration, (x,), (xd,))
    v = jnp.einsum("lji,lj->li", place.R, place_d.p)
    # R^T Rdot = (w x), skew to rounding: three of its entries are w.
    W = jnp.einsum("lji,ljk->lik", place.R, place_d.R)
    w = jnp.stack([W[:, 2, 1], W[:, 0, 2], W[:, 1, 0]], axis=1)
    return Rates(jnp.concatenate([v, w], axis=1), place_d.q, place_d.encoder)


def differentiated_motion(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
    xdd: Float[Array, " n"],
) -> Motion:
    """Motion by automatic differentiation of `rates`: general, and the oracle of hand-derived ones.

    `published` leaves out what theta_dd does through small displacements, [Boscariol2012] after eq. (10).
    """
    mechanism = formulation.mechanism
    joint_map = mechanism.joint_map(x)
    rates, rates_d = jax.jvp(formulation.rates, (x, xd), (xd, xdd))
    if formulation.published:
        # Joint accelerations act on the twists of the links and on the encoders, not on displacements.
        on_joints = xdd.at[formulation.n_joints :].set(0.0)
        _, without_joints = jax.jvp(formulation.rates, (x, xd), (xd, xdd - on_joints))
        encoder = joint_map @ on_joints + without_joints.encoder
        rates_d = Rates(rates_d.V, without_joints.q, encoder)
    _, transpose = jax.vjp(lambda dx: formulation.virtual(x, dx), jnp.zeros_like(x))
    return Motion(
        x=x,
        xd=xd,
        xdd=xdd,
        theta=mechanism.joint_coordinates(x),
        theta_d=joint_map @ xd,
        place=formulation.configuration(x),
        rates=rates,
        rates_d=rates_d,
        pull_back=lambda force: transpose(force)[0],
    )
