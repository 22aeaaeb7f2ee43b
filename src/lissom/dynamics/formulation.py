"""The contract between a formulation and the engine."""

import abc
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Real
from .links import Links


class Joints(eqx.Module):
    """What acts on each joint's own (encoder) motion; j joints."""

    motor_inertia: Float[Real, " j"]  # ratio^2 times rotor inertia [kg m^2 or kg]
    viscous: Float[Real, " j"]  # [N m s/rad or N s/m]
    coulomb: Float[Real, " j"]  # [N m or N]
    width: Float[
        Real, " j"
    ]  # speed over which the Coulomb torque turns its sign [rad/s or m/s]
    torque_limit: Float[Real, " j"]  # infinite where there is none


class Configuration(eqx.Module):
    """Where everything is: link frames of the ERLS, body coordinates, encoder readings."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]
    q: Float[Array, "l c"]
    encoder: Float[Array, " j"]


class Rates(eqx.Module):
    """How fast: body twists in link axes, rates of the body coordinates, encoder speeds. Linear in xdot."""

    V: Float[Array, "l 6"]
    q: Float[Array, "l c"]
    encoder: Float[Array, " j"]


class Motion(NamedTuple):
    """A motion of the links, and the transpose of their rates' map: forces on the links' rates to forces on x."""

    place: Configuration
    rates: Rates
    rates_d: Rates
    pull_back: Callable[[Rates], Float[Array, " n"]]


class AbstractFormulation(eqx.Module):
    """M(x) xdd + h(x, xd) = Q in minimal coordinates x = (theta, eta): never a multiplier.

    A formulation says where the links are (`configuration`), how they move (`rates`, the map N of [Vidoni2015] eq.
    (69)) and which virtual displacements do work (`virtual`); the engine does the rest. `motion` gathers the three,
    by differentiation unless a formulation knows better.
    """

    links: eqx.AbstractVar[Links]
    joints: eqx.AbstractVar[Joints]
    gravity: eqx.AbstractVar[Float[Real, "3"]]
    elastic_names: eqx.AbstractVar[
        tuple[str, ...]
    ]  # of eta: `link/2.rz`, `link/mode.3`
    published: eqx.AbstractVar[
        bool
    ]  # terms as printed in the paper, else the complete virtual work

    @property
    def n_encoders(self) -> int:
        """Number of moving joints: each has an encoder and takes a torque."""
        return self.joints.motor_inertia.shape[0]

    @property
    def independent(self) -> tuple[int, ...]:
        """Numbers of the moving joints that are coordinates: all of them, unless loops tie some to the others."""
        return tuple(range(self.n_encoders))

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates in x."""
        return len(self.independent)

    def joint_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        """Theta of every moving joint."""
        return x[: self.n_joints]

    def joint_map(self, x: Float[Array, " n"]) -> Float[Array, "j i"]:
        """Rates of every moving joint for unit rates of the independent ones."""
        return jnp.eye(self.n_joints)

    def near(self, joints: Float[Array, " j"]) -> "AbstractFormulation":
        """The same robot with its loops, if it has any, closed near these coordinates of all moving joints."""
        return self

    def liveliness(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """Largest joint motion per unit of an independent one: infinite at a dead point; 1 in an open chain."""
        return jnp.ones(())

    def longest_step(self, xd: Float[Array, " n"]) -> Float[Array, ""]:
        """Longest step in time [s] over which the pose is a tame function of x; infinite in open chains."""
        return jnp.asarray(jnp.inf)

    @property
    def finite_rotations(self) -> bool:
        """Whether a node turns by exp(phi x) of its elastic rotation phi, else by phi to first order."""
        return False

    def rigid_frames(
        self, place: "Configuration"
    ) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
        """Link frames of the equivalent rigid-link system."""
        return place.R, place.p

    @property
    def n_elastic(self) -> int:
        """Number of elastic coordinates eta."""
        return len(self.elastic_names)

    @abc.abstractmethod
    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames, body coordinates and encoder readings."""

    @abc.abstractmethod
    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists, rates of body coordinates and encoder speeds."""

    @abc.abstractmethod
    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements: `rates` when the virtual work is complete, fewer terms when `published`."""

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Configuration, rates and accelerations of the links for (x, xd, xdd), with the transpose of `virtual`."""
        return differentiated_motion(self, x, xd, xdd)

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.n_joints + self.n_elastic


class OwnDynamics(abc.ABC):
    """Equations of motion of a formulation that brings its own: truncated ones, which no complete virtual work gives.

    Only the functions of `engine` call these; everything else asks the engine.
    """

    @abc.abstractmethod
    def needed_force(
        self, x, xd, xdd, applied: Rates | None = None
    ) -> Float[Array, " n"]:
        """M xdd + h - Q."""

    @abc.abstractmethod
    def inertia(self, x) -> Float[Array, "n n"]:
        """M(x)."""

    @abc.abstractmethod
    def resting_forces(
        self, x, torque
    ) -> tuple[Float[Array, " n"], Float[Array, " n"], Float[Array, " n"]]:
        """Weight, strain, and joint torques with the sign of a need."""

    @abc.abstractmethod
    def structural_matrices(
        self, xd
    ) -> tuple[Float[Array, "n n"], Float[Array, "n n"]]:
        """Damping and stiffness of links and joints."""

    @abc.abstractmethod
    def kinetic_energy(self, x, xd) -> Float[Array, ""]:
        """Energy whose rate the equations balance, to their order [J]."""

    @abc.abstractmethod
    def gravity_energy(
        self, place: Configuration, flat: Float[Array, ""]
    ) -> Float[Array, ""]:
        """Energy of weight, `flat` being that of the displaced masses where `place` puts them [J]."""

    @abc.abstractmethod
    def damping_power(self, xd) -> Float[Array, ""]:
        """Power taken by structural damping and joint friction [W]."""

    @abc.abstractmethod
    def node_wrench(
        self, place: Configuration, link: int, node: int, wrench, in_world: bool
    ) -> Rates:
        """Forces of a wrench on a node, as `needed_force` takes them."""


def place_elastic(links: Links, eta: Float[Array, " d"]) -> Float[Array, "l m"]:
    """Elastic coordinates of every link, zeros in unused slots; squared slopes after them where links are stiffened."""
    own = jnp.append(eta, 0.0)[links.place]
    if links.slopes is None:
        return own
    return jnp.concatenate([own, jnp.sum(_slopes(links, own) ** 2, axis=2)], axis=1)


def place_motion(links: Links, eta, eta_d, eta_dd) -> tuple[Float[Array, "l m"], ...]:
    """`place_elastic` with its first and second time derivative."""
    own, own_d, own_dd = (
        jnp.append(part, 0.0)[links.place] for part in (eta, eta_d, eta_dd)
    )
    if links.slopes is None:
        return own, own_d, own_dd
    a, d, dd = (_slopes(links, part) for part in (own, own_d, own_dd))
    squares = (a * a, 2.0 * a * d, 2.0 * (d * d + a * dd))
    return tuple(
        jnp.concatenate([part, jnp.sum(square, axis=2)], axis=1)
        for part, square in zip((own, own_d, own_dd), squares, strict=True)
    )


def take_elastic(
    links: Links, eta: Float[Array, " d"], on_eta: Float[Array, "l m"]
) -> Float[Array, " d"]:
    """Transpose of the rates of `place_elastic` at eta: forces on eta from forces on every link's coordinates."""
    count = eta.shape[0]
    if links.slopes is not None:
        m = links.slopes.shape[-1]
        slope = _slopes(links, jnp.append(eta, 0.0)[links.place])
        on_eta = on_eta[:, :m] + 2.0 * jnp.einsum(
            "lpkm,lpk,lp->lm", links.slopes, slope, on_eta[:, m:]
        )
    return jnp.zeros(count + 1).at[links.place].add(on_eta)[:count]


def _slopes(links: Links, eta: Float[Array, "l m"]) -> Float[Array, "l p 3"]:
    return jnp.einsum("lpkm,lm->lpk", links.slopes, eta)


def differentiated_motion(formulation: AbstractFormulation, x, xd, xdd) -> Motion:
    """Motion by automatic differentiation of `rates`: general, and the oracle of hand-derived ones.

    `published` leaves out what theta_dd does through small displacements, [Boscariol2012] after eq. (10).
    """
    rates, rates_d = jax.jvp(formulation.rates, (x, xd), (xd, xdd))
    if formulation.published:
        j = formulation.n_joints
        _, frozen = jax.jvp(formulation.rates, (x, xd), (xd, xdd.at[:j].set(0.0)))
        rates_d = Rates(
            rates_d.V, frozen.q, formulation.joint_map(x) @ xdd[:j] + frozen.encoder
        )
    _, transpose = jax.vjp(lambda dx: formulation.virtual(x, dx), jnp.zeros_like(x))
    return Motion(
        formulation.configuration(x), rates, rates_d, lambda force: transpose(force)[0]
    )
