"""Dual screws, [Cibicik2021], with complete products: first order in the screws, the virtual work kept whole.

The projecting form of the dual screws, eq. (93), is linear in the elastic coordinates. Here it moves the links,
V = (P_0 + P_1[eta]) u, and takes the forces on them back to the coordinates; the engine does the rest. The kinetic
energy is then conserved and the mass matrix positive definite in every state. `truncated` cuts the products too, as
the paper does.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.so3 import exponential
from ..kinematics.chain import link_frames
from ..kinematics.dual_chain import (
    against,
    along,
    bracket,
    carry,
    cobracket,
    cross,
    dual_pose,
    gathered,
    half_turned,
    parents_tips,
)
from .formulation import Configuration, Motion, Rates, take_elastic
from .on_tips import AbstractOnTips


class DualScrew(AbstractOnTips):
    """Links on the displaced frames of the rigid chain: q = (0, eta), and theta is what the encoders read."""

    @property
    def _shape(self) -> Float[Array, "l 6 m"]:
        return jnp.asarray(self.links.shapes.tip)[:, :, 6:]

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Twists V = (P_0 + P_1[eta]) u and their exact rates, by the geometric rule (76)-(79) on the rigid chain."""
        (theta, eta), (theta_d, eta_d), (theta_dd, eta_dd) = (
            self.split(part) for part in (x, xd, xdd)
        )
        tip, tip_d, tip_dd = parents_tips(self._shape, eta, eta_d, eta_dd)
        at = dual_pose(self.chain, theta, tip)
        s, a = at.s, at.a
        phi, phi_d = tip[:, 3:], tip_d[:, 3:]
        rate, rate_d = (
            jnp.asarray(self.chain.selection @ part)[:, None]
            for part in (theta_d, theta_dd)
        )
        rolled, rolled_d, lean = (
            carry(at.B, part) for part in (tip_d, tip_dd, half_turned(phi, tip_d))
        )
        own = s * rate + rolled
        own_1 = bracket(a, own) - lean
        V_0, V_1, a_d = along(at.Phi, own, own_1, rolled - rate * bracket(s, a))
        own_d = s * rate_d + rolled_d
        spun = half_turned(phi, tip_dd).at[:, :3].add(cross(phi_d, tip_d[:, :3]))
        own_d1 = (
            bracket(a_d, own)
            + bracket(a, own_d - rate * bracket(s, rolled))
            - carry(at.B, spun)
        )
        own_d1 = own_d1 + rate * bracket(s, lean + own_1 - V_1)
        V_d0, V_d1 = along(at.Phi, own_d - rate * bracket(s, V_0), own_d1)
        V = V_0 + V_1 - bracket(a, V_0)
        V_d = V_d0 + V_d1 - bracket(a_d, V_0) - bracket(a, V_d0)

        def pull_back(force: Rates) -> Float[Array, " n"]:
            F, F_1 = against(at.Phi, force.V, force.V + cobracket(a, force.V))
            on_theta, on_eta = gathered(self.chain, at, self._shape, F, F_1)
            on_eta = take_elastic(
                self.links, x[self.n_joints :], on_eta + force.q[:, 6:]
            )
            return jnp.concatenate([on_theta + force.encoder, on_eta])

        place = self._place(theta, a, eta)
        return Motion(
            place,
            Rates(V, whole(eta_d), theta_d),
            Rates(V_d, whole(eta_dd), theta_dd),
            pull_back,
        )

    def _place(
        self, theta, a: Float[Array, "l 6"], eta: Float[Array, "l m"]
    ) -> Configuration:
        R, p = link_frames(self.chain, theta)
        return Configuration(
            R @ exponential(a[:, 3:]),
            p + jnp.einsum("lij,lj->li", R, a[:, :3]),
            whole(eta),
            theta,
        )

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Displaced frames, body coordinates (0, eta), encoder readings theta."""
        theta, eta = self.split(x)
        return self._place(
            theta,
            dual_pose(self.chain, theta, parents_tips(self._shape, eta)[0]).a,
            eta,
        )

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Body twists in the projecting form, eq. (93)."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements: the same screws."""
        return self.rates(x, dx)


def whole(eta: Float[Array, "l m"]) -> Float[Array, "l c"]:
    """Body coordinates q = (0, eta): the inner node is where the link frame is."""
    return jnp.concatenate([jnp.zeros((eta.shape[0], 6)), eta], axis=1)
