"""Equivalent rigid-link system, [Boscariol2012] with finite elements, [Vidoni2015] with modes of the links.

Every node is in its own link's frame. [Boscariol2012] keeps a joint's node in the outer link's frame; with every node
in its own frame and the joints' compatibility written out, the terms M_G2, M_C2 and M_C3 of eqs. (22)-(26) vanish and
the motion is the same.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinematics.chain import Chain, link_frames, link_twists, relative_poses
from ..kinematics.compatibility import AbstractReference, elastic_coordinates
from ..kinematics.erls import erls_motion, erls_pull_back, pose
from ..types import Real
from .formulation import (
    AbstractFormulation,
    Configuration,
    Joints,
    Motion,
    Rates,
    place_elastic,
    place_motion,
    take_elastic,
)
from .links import Links


class Erls(AbstractFormulation):
    """Small displacements of a rigid chain: q = H(theta) eta, first order in eta."""

    chain: Chain
    links: Links
    joints: Joints
    reference: AbstractReference
    gravity: Float[Real, "3"]
    published: bool = eqx.field(static=True)
    elastic_names: tuple[str, ...] = eqx.field(static=True)

    @property
    def n_joints(self) -> int:
        """Number of joint coordinates theta."""
        return self.chain.selection.shape[1]

    def split(self, x: Float[Array, " n"]) -> tuple[Float[Array, " j"], Float[Array, " d"]]:
        """Joint and elastic coordinates."""
        return x[: self.n_joints], x[self.n_joints :]

    def motion(self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]) -> Motion:
        """Motion by the geometric rule."""
        shapes, (theta, theta_d, theta_dd) = self.links.shapes, (part[: self.n_joints] for part in (x, xd, xdd))
        at = pose(self.chain, shapes, self.reference, theta)
        eta = place_motion(self.links, *(part[self.n_joints :] for part in (x, xd, xdd)))
        m = erls_motion(self.chain, shapes, self.reference, at, theta_d, theta_dd, eta, not self.published)

        def pull_back(force: Rates) -> Float[Array, " n"]:
            on_theta, on_eta = erls_pull_back(
                self.chain, shapes, self.reference, at, m, force.V, force.q, force.encoder, not self.published
            )
            return jnp.concatenate([on_theta, take_elastic(self.links, x[self.n_joints :], on_eta)])

        R, p = link_frames(self.chain, theta)
        r, rows = m.total, (-1, 6)
        q, q_d, q_dd = (
            jnp.concatenate([a.reshape(rows), e], axis=1) for a, e in zip((r.a, r.d, r.dd), eta, strict=True)
        )
        return Motion(
            Configuration(R, p, q, theta + m.phi[0]),
            Rates(m.V.reshape(rows), q_d, theta_d + m.phi[1]),
            Rates(m.V_d.reshape(rows), q_dd, theta_dd + m.phi[2]),
            pull_back,
        )

    def coordinates(self, x: Float[Array, " n"]) -> tuple[Float[Array, "l c"], Float[Array, " j"]]:
        """Body coordinates q = H(theta) eta and encoder readings theta + phi."""
        theta, eta = self.split(x)
        q, phi = elastic_coordinates(
            self.chain, self.links.shapes, self.reference, theta, place_elastic(self.links, eta)
        )
        return q, theta + phi

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames of the ERLS, body coordinates, encoder readings."""
        return self.motion(x, jnp.zeros_like(x), jnp.zeros_like(x)).place

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """V = J theta_d and qd = H eta_d + Hdot eta, [Vidoni2015] eqs. (14), (69)."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def differentiated_rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """The same by automatic differentiation: for every reference, and the oracle of the geometric rule."""
        theta, theta_d = self.split(x)[0], self.split(xd)[0]
        V = link_twists(self.chain, relative_poses(self.chain, theta), theta_d)
        _, (qd, encoder_d) = jax.jvp(self.coordinates, (x,), (xd,))
        return Rates(V, qd, encoder_d)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements; `published` drops dR u and dT u, [Boscariol2012] eqs. (14)-(15)."""
        whole = self.rates(x, dx)
        if not self.published:
            return whole
        d_theta = self.split(dx)[0]
        elastic = self.rates(x, dx.at[: self.n_joints].set(0.0))
        return Rates(whole.V, elastic.q, d_theta + elastic.encoder)
