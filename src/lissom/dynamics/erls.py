"""Equivalent rigid-link system, [Boscariol2012] with finite elements, [Vidoni2015] with modes of the links.

Every node is in its own link's frame. [Boscariol2012] keeps a joint's node in the outer link's frame; with every node
in its own frame and the joints' compatibility written out, the terms M_G2, M_C2 and M_C3 of eqs. (22)-(26) vanish and
the motion is the same.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..kinematics.chain import (
    Chain,
    body_jacobian,
    link_frames,
    link_twists,
    relative_poses,
)
from ..kinematics.compatibility import AbstractReference, Shapes, elastic_coordinates
from ..kinematics.erls_motion import (
    erls_motion,
    erls_pull_back,
    joint_accelerations,
    joint_rates,
    pose,
)
from ..kinematics.loops.closure import (
    STRIDE,
    Closure,
    Dependence,
    closed_joints,
    closing_guess,
    dependence,
    liveliness,
)
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
    seat: Float[Real, "f 6 c"] | None = (
        None  # shapes of the points that carry the frames of trees and loops
    )
    closure: Closure | None = None  # of closed chains

    @property
    def shapes(self) -> Shapes:
        """Displacements that compatibility looks at."""
        return Shapes(self.links.shapes.tip, self.seat)

    @property
    def independent(self) -> tuple[int, ...]:
        """Numbers of the moving joints that are coordinates."""
        return (
            tuple(range(self.chain.selection.shape[1]))
            if self.closure is None
            else self.closure.independent
        )

    def split(
        self, x: Float[Array, " n"]
    ) -> tuple[Float[Array, " i"], Float[Array, " d"]]:
        """Joint and elastic coordinates."""
        return x[: self.n_joints], x[self.n_joints :]

    def theta(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        """Coordinates of all joints of the chain, those of closing frames included."""
        theta_i = self.split(x)[0]
        return (
            theta_i
            if self.closure is None
            else closed_joints(self.chain, self.closure, theta_i)
        )

    def joint_coordinates(self, x: Float[Array, " n"]) -> Float[Array, " j"]:
        """Theta of every moving joint of the robot."""
        return self.theta(x)[: self.n_encoders]

    def joint_map(self, x: Float[Array, " n"]) -> Float[Array, "j i"]:
        """Rates of every moving joint for unit rates of the independent ones."""
        loops = self._dependence(x)
        return jnp.eye(self.n_joints) if loops is None else loops.G[: self.n_encoders]

    def _dependence(self, x) -> Dependence | None:
        if self.closure is None:
            return None
        return dependence(
            self.closure,
            body_jacobian(self.chain, relative_poses(self.chain, self.theta(x))),
        )

    def liveliness(self, x: Float[Array, " n"]) -> Float[Array, ""]:
        """Largest joint motion per unit of an independent one: infinite at a dead point; 1 in an open chain."""
        loops = self._dependence(x)
        return jnp.ones(()) if loops is None else liveliness(loops)

    def longest_step(self, xd: Float[Array, " n"]) -> Float[Array, ""]:
        """A closed chain is stepped by at most `STRIDE` of its independent joints: its pose turns with all of them."""
        if self.closure is None:
            return jnp.asarray(jnp.inf)
        reach = jnp.asarray(self.closure.reach)[jnp.asarray(self.closure.independent)]
        return STRIDE / jnp.maximum(
            jnp.max(jnp.abs(xd[: self.n_joints]) / reach), 1e-12
        )

    def near(self, joints: Float[Array, " j"]) -> "Erls":
        """The same robot with its loops closed near these coordinates of all moving joints."""
        if self.closure is None:
            return self
        guess = closing_guess(
            self.chain, self.closure, jnp.asarray(joints, dtype=float)
        )
        return eqx.tree_at(lambda f: f.closure.guess, self, guess)

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Motion by the geometric rule."""
        chain, shapes, theta = self.chain, self.shapes, self.theta(x)
        at = pose(chain, shapes, self.reference, theta, self.closure)
        theta_d = joint_rates(at, xd[: self.n_joints])
        theta_dd = joint_accelerations(chain, at, theta_d, xdd[: self.n_joints])
        eta = place_motion(
            self.links, *(part[self.n_joints :] for part in (x, xd, xdd))
        )
        m = erls_motion(
            chain,
            shapes,
            self.reference,
            at,
            theta_d,
            theta_dd,
            eta,
            not self.published,
        )

        def pull_back(force: Rates) -> Float[Array, " n"]:
            on_theta, on_eta = erls_pull_back(
                chain,
                shapes,
                at,
                m,
                force.V,
                force.q,
                force.encoder,
                not self.published,
            )
            return jnp.concatenate(
                [on_theta, take_elastic(self.links, x[self.n_joints :], on_eta)]
            )

        R, p = link_frames(chain, theta)
        r, l, j = m.total, eta[0].shape[0], self.n_encoders
        q, q_d, q_dd = (
            jnp.concatenate([a.reshape(-1, 6)[:l], e], axis=1)
            for a, e in zip((r.a, r.d, r.dd), eta, strict=True)
        )
        encoder = [
            (a + phi)[:j]
            for a, phi in zip((theta, theta_d, theta_dd), m.phi, strict=True)
        ]
        return Motion(
            Configuration(R[:l], p[:l], q, encoder[0]),
            Rates(m.V.reshape(-1, 6)[:l], q_d, encoder[1]),
            Rates(m.V_d.reshape(-1, 6)[:l], q_dd, encoder[2]),
            pull_back,
        )

    def coordinates(
        self, x: Float[Array, " n"]
    ) -> tuple[Float[Array, "l c"], Float[Array, " j"]]:
        """Body coordinates q = H(theta) eta and encoder readings theta + phi."""
        theta, eta = self.theta(x), place_elastic(self.links, self.split(x)[1])
        q, phi = elastic_coordinates(
            self.chain, self.shapes, self.reference, theta, eta, self.closure
        )
        return q, (theta + phi)[: self.n_encoders]

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Frames of the ERLS, body coordinates, encoder readings."""
        return self.motion(x, jnp.zeros_like(x), jnp.zeros_like(x)).place

    def rates(self, x: Float[Array, " n"], xd: Float[Array, " n"]) -> Rates:
        """V = J theta_d and qd = H eta_d + Hdot eta, [Vidoni2015] eqs. (14), (69)."""
        return self.motion(x, xd, jnp.zeros_like(x)).rates

    def differentiated_rates(
        self, x: Float[Array, " n"], xd: Float[Array, " n"]
    ) -> Rates:
        """The same by automatic differentiation: for every reference, and the oracle of the geometric rule."""
        theta, theta_d = jax.jvp(self.theta, (x,), (xd,))
        V = link_twists(self.chain, relative_poses(self.chain, theta), theta_d)
        _, (qd, encoder_d) = jax.jvp(self.coordinates, (x,), (xd,))
        return Rates(V[: len(qd)], qd, encoder_d)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements; `published` drops dR u and dT u, [Boscariol2012] eqs. (14)-(15)."""
        whole = self.rates(x, dx)
        if not self.published:
            return whole
        d_theta = self.joint_map(x) @ self.split(dx)[0]
        elastic = self.rates(x, dx.at[: self.n_joints].set(0.0))
        return Rates(whole.V, elastic.q, d_theta + elastic.encoder)
