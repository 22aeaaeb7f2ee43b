"""Finite elastic rotations: every link frame sits on the deformed tip of the link before it.

Inside a link displacements are small and linear in its modes; between links nothing is linearised. This is the
yardstick of [Cibicik2021] sec. VI-B, and what the first-order formulations approach as the links become stiffer.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..describe.supported import Support
from ..kinematics.chain import frames_in_world, with_frames
from ..kinematics.deformed import (
    Seats,
    Tips,
    Twists,
    seats_on_tips,
    twists,
    twists_pull_back,
)
from ..kinematics.mechanism import AbstractMechanism
from ..types import Float, Real
from .elastic import (
    ElasticSeats,
    behind_inner_node,
    place_elastic,
    place_motion,
    take_elastic,
)
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
    """Links on deformed tips: q = (0, eta), and theta is what the encoders read, of dependent joints too."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    seats: ElasticSeats
    equations: AbstractEquations
    support: Support = eqx.field(static=True)

    @property
    @override
    def exact_twists(self) -> bool:
        return True

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Twists by recursion from the base outwards; forces by its transpose."""
        _, eta = self.split(x)
        rate_i, eta_d = self.split(xd)
        acceleration_i, eta_dd = self.split(xdd)
        theta = self.mechanism.chain_coordinates(x)
        placed = place_motion(self.links, eta, eta_d, eta_dd)
        # Tips move linearly with the links' own coordinates, so their derivatives are those of the coordinates.
        tips = Tips(*(self.seats.of_links(part) for part in placed))
        at = seats_on_tips(self.mechanism.chain, theta, tips.value)
        moved = twists(self.mechanism, at, tips, rate_i, acceleration_i)
        q, q_d, q_dd = (behind_inner_node(part) for part in placed)
        # Frames that follow the links in the chain carry no body: only the links are passed on.
        l, j = len(q), self.n_encoders
        theta_d, theta_dd = moved.theta_d[:j], moved.theta_dd[:j]
        return Motion(
            x=x,
            xd=xd,
            xdd=xdd,
            theta=theta[:j],
            theta_d=theta_d,
            place=self._place(at, q, theta),
            rates=Rates(moved.V[:l], q_d, theta_d),
            rates_d=Rates(moved.V_d[:l], q_dd, theta_dd),
            pull_back=lambda force: self._pull_back(eta, at, moved, force),
        )

    def _place(
        self, at: Seats, q: Float[Array, "l c"], theta: Float[Array, " k"]
    ) -> Configuration:
        R, p = frames_in_world(self.mechanism.chain.parents, at.R, at.p)
        l = len(q)
        return Configuration(R[:l], p[:l], q, theta[: self.n_encoders])

    def _pull_back(
        self, eta: Float[Array, " d"], at: Seats, moved: Twists, force: Rates
    ) -> Float[Array, " n"]:
        """Transpose of the rates: forces on x from forces on the links."""
        chain = self.mechanism.chain
        on_V = with_frames(chain, force.V)
        missing = moved.theta_d.shape[0] - self.n_encoders
        on_joints = jnp.pad(force.encoder, (0, missing))
        on_theta, on_seats = twists_pull_back(
            chain, at, moved.dependence, on_V, on_joints
        )
        on_links = self.seats.on_links(on_seats, force.V.shape[0])
        on_eta = take_elastic(self.links, eta, force.q[:, 6:] + on_links)
        return jnp.concatenate([on_theta, on_eta])

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames on the deformed tips, body coordinates (0, eta), encoder readings theta."""
        _, eta = self.split(x)
        theta = self.mechanism.chain_coordinates(x)
        placed = place_elastic(self.links, eta)
        displaced = self.seats.of_links(placed)
        at = seats_on_tips(self.mechanism.chain, theta, displaced)
        return self._place(at, behind_inner_node(placed), theta)

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists of the deformed chain."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates
