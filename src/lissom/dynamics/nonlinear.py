"""Finite elastic rotations: every link frame sits on the deformed tip of the link before it.

Inside a link displacements are small and linear in its modes; between links nothing is linearised. This is the
yardstick of [Cibicik2021] sec. VI-B, and what the first-order formulations approach as the links become stiffer.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..describe.supported import Support
from ..kinematics.chain import frames_in_world
from ..kinematics.deformed import (
    Seats,
    Tips,
    seats_on_tips,
    twists,
    twists_pull_back,
)
from ..kinematics.mechanism import AbstractMechanism
from ..types import Real
from .elastic import behind_inner_node, place_elastic, place_motion, take_elastic
from .formulation import (
    AbstractEquations,
    AbstractFormulation,
    Configuration,
    Joints,
    Motion,
    Rates,
)
from .links import Links


class Nonlinear(AbstractFormulation):
    """Links on deformed tips: q = (0, eta), and theta is what the encoders read."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    equations: AbstractEquations
    support: Support = eqx.field(static=True)

    def tip(self, eta: Float[Array, "l m"]) -> Float[Array, "l 6"]:
        """Displacement and rotation vector of every link's tip."""
        return jnp.einsum("ldm,lm->ld", self._tip_shape, eta)

    @property
    def _tip_shape(self) -> Float[Array, "l 6 m"]:
        return jnp.asarray(self.links.shapes.tip)[:, :, 6:]

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Twists by recursion from the base outwards; forces by its transpose."""
        theta, eta = self.split(x)
        theta_d, eta_d = self.split(xd)
        theta_dd, eta_dd = self.split(xdd)
        placed = place_motion(self.links, eta, eta_d, eta_dd)
        # Tips move linearly with the links' own coordinates, so their derivatives are those of the coordinates.
        tips = Tips(*(self.tip(part) for part in placed))
        chain = self.mechanism.chain
        at = seats_on_tips(chain, theta, tips.value)
        moved = twists(chain, at, tips, theta_d, theta_dd)
        q, q_d, q_dd = (behind_inner_node(part) for part in placed)
        R, p = frames_in_world(None, at.R, at.p)
        return Motion(
            x=x,
            xd=xd,
            xdd=xdd,
            theta=theta,
            theta_d=theta_d,
            place=Configuration(R, p, q, theta),
            rates=Rates(moved.V, q_d, theta_d),
            rates_d=Rates(moved.V_d, q_dd, theta_dd),
            pull_back=lambda force: self._pull_back(eta, at, moved.Phi, force),
        )

    def _pull_back(
        self,
        eta: Float[Array, " d"],
        at: Seats,
        Phi: Float[Array, "L L"],
        force: Rates,
    ) -> Float[Array, " n"]:
        """Transpose of the rates: forces on x from forces on the links."""
        on_theta, on_tip = twists_pull_back(self.mechanism.chain, at, Phi, force.V)
        on_links = jnp.einsum("ldm,ld->lm", self._tip_shape, on_tip)
        on_eta = take_elastic(self.links, eta, force.q[:, 6:] + on_links)
        return jnp.concatenate([on_theta + force.encoder, on_eta])

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames on the deformed tips, body coordinates (0, eta), encoder readings theta."""
        theta, eta = self.split(x)
        placed = place_elastic(self.links, eta)
        at = seats_on_tips(self.mechanism.chain, theta, self.tip(placed))
        R, p = frames_in_world(None, at.R, at.p)
        return Configuration(R, p, behind_inner_node(placed), theta)

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists of the deformed chain."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates
