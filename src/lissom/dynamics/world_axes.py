"""The planar model of [Boscariol2017] eqs. (9)-(10) and of [Palomba2019] (A2)-(A5): elastic coordinates in world axes.

Elastic coordinates are nodal displacements U along world axes, counted from the inner node of their link. With eta =
W(theta)^T U the same displacements in link axes,

    M (rdd + udd) + 2 M_G ud + (alpha M + beta K) ud + K u = f

on the nodes, and the same without K on the joints: ud and udd are rates along world axes, and displacements enter
through K u alone. There is no centrifugal stiffness M_C, no weight on displaced places, and damping acts on world-axis
rates. The equations are those of [Boscariol2012] for a robot that is not bent, eta = 0, with eta_d = W^T ud and
eta_dd = W^T udd + 2 Wdot^T ud.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..describe.outline import PLANAR
from ..describe.supported import Support
from ..kinematics.chain import link_frames
from ..kinematics.mechanism import AbstractMechanism
from ..kinematics.references import AbstractReference
from ..types import Float, Real
from .erls import Erls
from .formulation import (
    AbstractEquations,
    AbstractFormulation,
    Configuration,
    Joints,
    Motion,
    Rates,
)
from .links import Links

PER_NODE = len(PLANAR)  # x, y and the rotation about z


class WorldAxes(AbstractFormulation):
    """A planar robot over (theta, U): the equations of `Erls` with incomplete virtual work, in other coordinates."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    reference: AbstractReference
    equations: AbstractEquations
    support: Support = eqx.field(static=True)
    seat: Float[Real, "f 6 c"] | None = None

    def erls(self, complete: bool = False) -> Erls:
        """The same robot with elastic coordinates in link axes."""
        return Erls(
            mechanism=self.mechanism,
            links=self.links,
            joints=self.joints,
            gravity=self.gravity,
            elastic_names=self.elastic_names,
            reference=self.reference,
            equations=self.equations,
            support=self.support,
            seat=self.seat,
            complete=complete,
        )

    @property
    @override
    def published(self) -> bool:
        return True

    @property
    @override
    def encoders_read_theta(self) -> bool:
        return self.reference.encoders_read_theta

    def reference_matrix(
        self, joints: Float[Array, " j"]
    ) -> Float[Array, "r d"] | None:
        """J_0 of [Boscariol2012] eq. (6)."""
        return self.erls().reference_matrix(joints)

    def _turned(
        self, theta_i: Float[Array, " i"], U: Float[Array, " d"], into_world: bool
    ) -> Float[Array, " d"]:
        """W U, or W^T U: every node's displacement in the plane turned by the angle of its link."""
        place = self.links.place
        theta = self.mechanism.chain_coordinates(theta_i)
        R, _ = link_frames(self.mechanism.chain, theta)
        R = R[: place.shape[0]]
        if not into_world:
            R = jnp.swapaxes(R, 1, 2)
        # Links turn about the normal of the plane: R takes (x, y) into the plane, and rz to rz or -rz.
        by_node = jnp.append(U, 0.0)[place].reshape(place.shape[0], -1, PER_NODE)
        turned = jnp.einsum("lij,lkj->lki", R, by_node).reshape(place.shape)
        count = U.shape[0]
        return jnp.zeros(count + 1).at[place].set(turned)[:count]

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Rates of a robot that is not bent, displacements where it is."""
        theta_i, _ = self.split(x)
        rate_i, U_d = self.split(xd)
        acceleration_i, U_dd = self.split(xdd)

        def in_link_axes(theta_i):
            return self._turned(theta_i, U_d, into_world=False)

        eta_d, turning = jax.jvp(in_link_axes, (theta_i,), (rate_i,))
        eta_dd = self._turned(theta_i, U_dd, into_world=False) + 2.0 * turning
        straight = self.erls().motion(
            jnp.concatenate([theta_i, jnp.zeros_like(U_d)]),
            jnp.concatenate([rate_i, eta_d]),
            jnp.concatenate([acceleration_i, eta_dd]),
        )

        def pull_back(force: Rates) -> Float[Array, " n"]:
            on_theta, on_eta = self.split(straight.pull_back(force))
            on_U = self._turned(theta_i, on_eta, into_world=True)
            return jnp.concatenate([on_theta, on_U])

        return straight._replace(
            x=x,
            xd=xd,
            xdd=xdd,
            place=self.configuration(x),
            pull_back=pull_back,
        )

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames of the ERLS, body coordinates and encoder readings of the bent robot."""
        return self.erls().configuration(self._in_link_axes(x))

    def _in_link_axes(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """Coordinates (theta, eta) of the same robot."""
        theta_i, U = self.split(x)
        eta = self._turned(theta_i, U, into_world=False)
        return jnp.concatenate([theta_i, eta])

    def observed(self, motion: Motion) -> Motion:
        """The motion with all that the equations leave out: that of the same nodes in link axes."""

        def rate(x, xd):
            return jax.jvp(self._in_link_axes, (x,), (xd,))[1]

        at, along = (motion.x, motion.xd), (motion.xd, motion.xdd)
        xd, xdd = jax.jvp(rate, at, along)
        x = self._in_link_axes(motion.x)
        complete_motion = self.erls(complete=True).motion(x, xd, xdd)
        return motion._replace(
            rates=complete_motion.rates, rates_d=complete_motion.rates_d
        )

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """Rates along world axes in link axes, without what the turning of these does to displacements."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def differentiated_rates(
        self, x: Float[Array, " n"], xd: Float[Array, " n"]
    ) -> Rates:
        """`rates` themselves: differentiating the configuration adds what the paper leaves out."""
        return self.rates(x, xd)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements without dR u and dT u."""
        theta_i, _ = self.split(x)
        d_theta, dU = self.split(dx)
        d_eta = self._turned(theta_i, dU, into_world=False)
        straight = jnp.concatenate([theta_i, jnp.zeros_like(dU)])
        return self.erls().virtual(straight, jnp.concatenate([d_theta, d_eta]))
