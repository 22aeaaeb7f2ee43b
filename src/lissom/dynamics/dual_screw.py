"""Dual screws, [Cibicik2021], with complete products: first order in the screws, the virtual work kept whole.

The projecting form of the dual screws, eq. (93), is linear in the elastic coordinates. Here it moves the links,
V = (P_0 + P_1[eta]) u, and takes the forces on them back to the coordinates; the engine does the rest. The kinetic
energy is then conserved and the mass matrix positive definite in every state. `truncated` cuts the products too, as
the paper does.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..algebra.se3 import bracket, coadjoint
from ..algebra.so3 import cross
from ..describe.supported import Support
from ..kinematics.chain import Chain, link_frames
from ..kinematics.dual_chain import (
    DualPose,
    dual_pose,
    forces_on_coordinates,
    parents_tips,
    turned_tip_terms,
)
from ..kinematics.mechanism import AbstractMechanism
from ..kinematics.recursion import carry
from ..types import Float, Real
from .elastic import (
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


class DualScrew(AbstractFormulation):
    """Links on the deformed tips that carry them, moved by screws of first order: q = (0, eta), encoders read theta."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    equations: AbstractEquations
    support: Support = eqx.field(static=True)

    @property
    def _tip_shape(self) -> Float[Array, "l 6 m"]:
        return jnp.asarray(self.links.shapes.tip)[:, :, 6:]

    @property
    @override
    def has_first_order_work(self) -> bool:
        return True

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Twists V = (P_0 + P_1[eta]) u and their exact rates, by the geometric rule (76)-(79) on the rigid chain."""
        chain, shape = self.mechanism.chain, self._tip_shape
        (theta, eta), (theta_d, eta_d) = self.split(x), self.split(xd)
        theta_dd, eta_dd = self.split(xdd)
        placed = place_motion(self.links, eta, eta_d, eta_dd)
        tips = parents_tips(chain, shape, *placed)
        at = dual_pose(chain, theta, tips[0])
        a = at.a
        V, V_d = screw_twists(chain, at, theta_d, theta_dd, tips[1], tips[2])

        def pull_back(force: Rates) -> Float[Array, " n"]:
            whole = force.V + coadjoint(a, force.V)
            F, F_1 = at.twists.solve_transpose(force.V, whole)
            on_theta, on_links = forces_on_coordinates(chain, at, shape, F, F_1)
            on_links = on_links + force.q[:, 6:]
            on_eta = take_elastic(self.links, eta, on_links)
            return jnp.concatenate([on_theta + force.encoder, on_eta])

        return Motion(
            x=x,
            xd=xd,
            xdd=xdd,
            theta=theta,
            theta_d=theta_d,
            place=self._place(theta, tips[0], placed[0]),
            rates=Rates(V, behind_inner_node(placed[1]), theta_d),
            rates_d=Rates(V_d, behind_inner_node(placed[2]), theta_dd),
            pull_back=pull_back,
        )

    def _place(
        self,
        theta: Float[Array, " j"],
        tip: Float[Array, "l 6"],
        eta: Float[Array, "l m"],
    ) -> Configuration:
        # The sum of small displacements along the rigid chain would leave every link beside the tip that carries it,
        # by the square of its rotation.
        R, p = link_frames(self.mechanism.chain, theta, tip)
        return Configuration(R, p, behind_inner_node(eta), theta)

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames on the deformed tips, body coordinates (0, eta), encoder readings theta."""
        theta, eta = self.split(x)
        placed = place_elastic(self.links, eta)
        (tip,) = parents_tips(self.mechanism.chain, self._tip_shape, placed)
        return self._place(theta, tip, placed)

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists in the projecting form, eq. (93); they are the rates of the frames to first order only."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def differentiated_rates(
        self, x: Float[Array, " n"], xd: Float[Array, " n"]
    ) -> Rates:
        """Rates of eq. (93): differentiating the frames gives other terms of second order."""
        return self.rates(x, xd)


def screw_twists(
    chain: Chain,
    at: DualPose,
    theta_d: Float[Array, " j"],
    theta_dd: Float[Array, " j"],
    tip_d: Float[Array, "l 6"],
    tip_dd: Float[Array, "l 6"],
) -> tuple[Float[Array, "l 6"], Float[Array, "l 6"]]:
    """Twists V = (P_0 + P_1[eta]) u of all links in their displaced frames, and their exact rates."""
    s, a = at.s, at.a
    phi, phi_d = at.tip[:, 3:], tip_d[:, 3:]
    rate = chain.below_links(theta_d)[:, None]
    rate_d = chain.below_links(theta_dd)[:, None]

    # Twists: each link adds its joint's screw and its parent's tip, of order zero and one in eta.
    from_tip = carry(at.B, tip_d)
    from_tip_1 = carry(at.B, turned_tip_terms(phi, tip_d))
    own = s * rate + from_tip
    own_1 = bracket(a, own) - from_tip_1
    own_a = from_tip - rate * bracket(s, a)
    V_0, V_1, a_d = at.twists.solve(own, own_1, own_a)

    # Their rates: d/dt of the same sums, Phi turning with the joints.
    from_tip_d = carry(at.B, tip_dd)
    own_d = s * rate_d + from_tip_d
    tip_d1 = turned_tip_terms(phi, tip_dd)
    tip_d1 = tip_d1.at[:, :3].add(cross(phi_d, tip_d[:, :3]))
    own_d1 = bracket(a_d, own) + bracket(a, own_d - rate * bracket(s, from_tip))
    own_d1 = own_d1 - carry(at.B, tip_d1)
    own_d1 = own_d1 + rate * bracket(s, from_tip_1 + own_1 - V_1)
    V_d0, V_d1 = at.twists.solve(own_d - rate * bracket(s, V_0), own_d1)

    # In the displaced frames of the links.
    V = V_0 + V_1 - bracket(a, V_0)
    V_d = V_d0 + V_d1 - bracket(a_d, V_0) - bracket(a, V_d0)
    return V, V_d
