"""Finite elastic rotations: every link frame sits on the deformed tip of the link before it.

Inside a link displacements are small and linear in its modes; between links nothing is linearised. This is the
yardstick of [Cibicik2021] sec. VI-B, and what the first-order formulations approach as the links become stiffer.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinematics.deformed import Tips, frames, seats, twists, twists_pull_back
from .formulation import Configuration, Motion, Rates, place_motion, take_elastic
from .on_tips import AbstractOnTips


class Nonlinear(AbstractOnTips):
    """Links on deformed tips: q = (0, eta), and theta is what the encoders read."""

    def tip(self, eta: Float[Array, "l m"]) -> Float[Array, "l 6"]:
        """Displacement and rotation vector of every link's tip."""
        return jnp.einsum(
            "ldm,lm->ld", jnp.asarray(self.links.shapes.tip)[:, :, 6:], eta
        )

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Twists by recursion from the base outwards; forces by its transpose."""
        j = self.n_joints
        theta, theta_d, theta_dd = (part[:j] for part in (x, xd, xdd))
        eta, eta_d, eta_dd = place_motion(
            self.links, *(part[j:] for part in (x, xd, xdd))
        )
        tips = Tips(*(self.tip(part) for part in (eta, eta_d, eta_dd)))
        at = seats(self.chain, theta, tips.a)
        moved = twists(self.chain, at, tips, theta_d, theta_dd)
        R, p = frames(at)
        return Motion(
            Configuration(R, p, whole(eta), theta),
            Rates(moved.V, whole(eta_d), theta_d),
            Rates(moved.V_d, whole(eta_dd), theta_dd),
            lambda force: self.pulled_back(x, at, moved.Phi, force),
        )

    def pulled_back(self, x, at, Phi, force: Rates) -> Float[Array, " n"]:
        """Transpose of the rates: forces on x from forces on the links."""
        on_theta, on_tip = twists_pull_back(self.chain, at, Phi, force.V)
        on_eta = force.q[:, 6:] + jnp.einsum(
            "ldm,ld->lm", jnp.asarray(self.links.shapes.tip)[:, :, 6:], on_tip
        )
        return jnp.concatenate(
            [
                on_theta + force.encoder,
                take_elastic(self.links, x[self.n_joints :], on_eta),
            ]
        )

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames on the deformed tips, body coordinates (0, eta), encoder readings theta."""
        theta, eta = self.split(x)
        R, p = frames(seats(self.chain, theta, self.tip(eta)))
        return Configuration(R, p, whole(eta), theta)

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists of the deformed chain."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def differentiated_rates(
        self, x: Float[Array, " n"], xd: Float[Array, " n"]
    ) -> Rates:
        """The same by automatic differentiation of the frames alone: the oracle of the recursion."""
        place, place_d = jax.jvp(self.configuration, (x,), (xd,))
        w = jnp.einsum("lji,ljk->lik", place.R, place_d.R)
        v = jnp.einsum("lji,lj->li", place.R, place_d.p)
        V = jnp.concatenate(
            [v, jnp.stack([w[:, 2, 1], w[:, 0, 2], w[:, 1, 0]], axis=1)], axis=1
        )
        return Rates(V, place_d.q, place_d.encoder)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements: complete."""
        return self.rates(x, dx)


def whole(eta: Float[Array, "l m"]) -> Float[Array, "l c"]:
    """Body coordinates q = (0, eta): the inner node is where the link frame is."""
    return jnp.concatenate([jnp.zeros((eta.shape[0], 6)), eta], axis=1)
