"""Equivalent rigid-link system, [Boscariol2012] with finite elements, [Vidoni2015] with modes of the links.

Every node is in its own link's frame. [Boscariol2012] keeps a joint's node in the outer link's frame; with every node
in its own frame and the joints' compatibility written out, the terms M_G2, M_C2 and M_C3 of eqs. (22)-(26) vanish and
the motion is the same.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..describe.supported import Support
from ..kinematics.chain import link_frames, link_twists, relative_poses
from ..kinematics.compatibility import Shapes, elastic_coordinates, reference_matrix
from ..kinematics.erls_motion import (
    ErlsMotion,
    PoseTerms,
    RigidMotion,
    erls_motion,
    erls_pull_back,
    pose_terms,
    rigid_motion,
)
from ..kinematics.mechanism import AbstractMechanism
from ..kinematics.references import AbstractReference
from ..types import Float, Real
from .carried_slopes import (
    CarriedSlopes,
    carried_slopes,
    forces_on_slopes,
    linear_motion,
    with_slopes,
    with_squared_slopes,
)
from .elastic import on_robot
from .formulation import (
    AbstractEquations,
    AbstractFormulation,
    Configuration,
    Joints,
    Motion,
    Rates,
)
from .links import Links


class CarriedMotion(NamedTuple):
    """Displacements that the ERLS carries; of stiffened links also those of first order, and the slopes they give."""

    placed: tuple[Float[Array, "l m"], ...]  # coordinates, rates, accelerations
    moved: ErlsMotion
    first: ErlsMotion | None = None
    slopes: CarriedSlopes | None = None


class Erls(AbstractFormulation):
    """Small displacements of a rigid chain: q = H(theta) eta, first order in eta."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    reference: AbstractReference
    equations: AbstractEquations
    support: Support = eqx.field(static=True)
    # Shapes of the points that carry the frames of the chain; None where all sit on tips.
    seat: Float[Real, "f 6 c"] | None = None
    # Whether joints carry displacements with them in virtual motions and accelerations.
    complete: bool = eqx.field(static=True, default=True)

    @property
    def published(self) -> bool:
        """Whether dR u, dT u and what theta_dd does to displacements are left out, [Boscariol2012]."""
        return not self.complete

    @property
    @override
    def encoders_read_theta(self) -> bool:
        return self.reference.encoders_read_theta

    @property
    def shapes(self) -> Shapes:
        """Displacements that compatibility looks at."""
        return Shapes(self.links.shapes.tip, self.seat)

    def reference_matrix(
        self, joints: Float[Array, " j"]
    ) -> Float[Array, "r d"] | None:
        """J_0 of [Boscariol2012] eq. (6)."""
        if self.encoders_read_theta:
            return None
        theta = self.mechanism.chain_coordinates_near(joints)
        return reference_matrix(self.mechanism, self.reference, theta)

    def motion(
        self, x: Float[Array, " n"], xd: Float[Array, " n"], xdd: Float[Array, " n"]
    ) -> Motion:
        """Motion by the geometric rule."""
        theta = self.mechanism.chain_coordinates(x)
        at = pose_terms(self.mechanism, self.shapes, self.reference, theta)
        _, eta = self.split(x)
        rate_i, eta_d = self.split(xd)
        acceleration_i, eta_dd = self.split(xdd)
        rigid = rigid_motion(at, rate_i, acceleration_i)
        carried = self._carried_motion(at, rigid, eta, eta_d, eta_dd)
        place, rates, rates_d = self._link_motion(
            theta, rigid, carried.moved, carried.placed
        )
        return Motion(
            x=x,
            xd=xd,
            xdd=xdd,
            theta=theta[: self.n_encoders],
            theta_d=rigid.theta_d[: self.n_encoders],
            place=place,
            rates=rates,
            rates_d=rates_d,
            pull_back=lambda force: self._pull_back(at, carried, eta.shape[0], force),
        )

    def _carried_motion(
        self, at: PoseTerms, rigid: RigidMotion, *eta: Float[Array, " d"]
    ) -> CarriedMotion:
        """Displacements that the ERLS carries; of stiffened links once more, with what shortens them."""

        def carried(placed):
            return erls_motion(
                self.shapes, self.reference, at, rigid, placed, self.complete
            )

        linear = linear_motion(self.links, *eta)
        first = carried(linear)
        if self.links.slopes is None:
            return CarriedMotion(linear, first)
        # Displacements of first order turn the links, and with their slopes shorten them: that is carried on too.
        slopes = carried_slopes(self.links, linear, first.rotations(len(linear[0])))
        placed = with_slopes(self.links, linear, slopes)
        return CarriedMotion(placed, carried(placed), first, slopes)

    def _pull_back(
        self, at: PoseTerms, carried: CarriedMotion, count: int, force: Rates
    ) -> Float[Array, " n"]:
        """Transpose of the rates: forces on theta_i and on the `count` elastic coordinates."""

        def transpose(moved, on_V, on_q, on_encoder):
            forces = (on_V, on_q, on_encoder)
            return erls_pull_back(self.shapes, at, moved, *forces, self.complete)

        on_theta, on_links = transpose(carried.moved, force.V, force.q, force.encoder)
        if carried.slopes is not None:
            # Forces on the squared slopes push on the displacements of first order that the slopes are made of.
            on_phi, on_links = forces_on_slopes(self.links, carried.slopes, on_links)
            on_q = jnp.zeros_like(force.q).at[:, 3:6].set(on_phi)
            none = (0.0 * force.V, on_q, 0.0 * force.encoder)
            first_on_theta, first_on_links = transpose(carried.first, *none)
            on_theta = on_theta + first_on_theta
            on_links = on_links + first_on_links[:, : on_links.shape[1]]
        on_eta = on_robot(self.links, count, on_links)
        return jnp.concatenate([on_theta, on_eta])

    def _link_motion(
        self,
        theta: Float[Array, " k"],
        rigid: RigidMotion,
        moved: ErlsMotion,
        placed: tuple[Float[Array, "l m"], ...],
    ) -> tuple[Configuration, Rates, Rates]:
        """Place, rates and accelerations of the links from those of the chain and of what it carries."""
        # Frames that follow the links in the chain carry no body: only the links are passed on.
        l, j = placed[0].shape[0], self.n_encoders

        def of_links(inner, eta):
            return jnp.concatenate([inner[:l], eta], axis=1)

        inner = moved.total
        q = of_links(inner.value, placed[0])
        q_d = of_links(inner.rate, placed[1])
        q_dd = of_links(inner.acceleration, placed[2])
        # Encoders read the joints of the ERLS and their elastic displacements.
        phi, phi_d, phi_dd = moved.phi
        encoder = (theta + phi)[:j]
        encoder_d = (rigid.theta_d + phi_d)[:j]
        encoder_dd = (rigid.theta_dd + phi_dd)[:j]
        R, p = link_frames(self.mechanism.chain, theta)
        V = rigid.V[:l]
        V_d = rigid.V_d[:l]
        place = Configuration(R[:l], p[:l], q, encoder)
        return place, Rates(V, q_d, encoder_d), Rates(V_d, q_dd, encoder_dd)

    def coordinates(
        self, x: Float[Array, " n"]
    ) -> tuple[Float[Array, "l c"], Float[Array, " j"]]:
        """Body coordinates q = H(theta) eta and encoder readings theta + phi."""
        theta = self.mechanism.chain_coordinates(x)
        _, eta = self.split(x)

        def carried(placed):
            return elastic_coordinates(
                self.mechanism, self.shapes, self.reference, theta, placed
            )

        (placed,) = linear_motion(self.links, eta)
        q, phi = carried(placed)
        if self.links.slopes is not None:
            q, phi = carried(with_squared_slopes(self.links, placed, q[:, 3:6]))
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
        """The same by automatic differentiation of joints and body coordinates: the oracle of the geometric rule."""
        chain = self.mechanism.chain
        theta, theta_d = jax.jvp(self.mechanism.chain_coordinates, (x,), (xd,))
        V = link_twists(chain, relative_poses(chain, theta), theta_d)
        _, (qd, encoder_d) = jax.jvp(self.coordinates, (x,), (xd,))
        return Rates(V[: len(qd)], qd, encoder_d)

    def virtual(self, x: Float[Array, " n"], dx: Float[Array, " n"]) -> Rates:
        """Virtual displacements; `published` drops dR u and dT u, [Boscariol2012] eqs. (14)-(15)."""
        rates = self.rates(x, dx)
        if self.complete:
            return rates
        still = dx.at[: self.n_joints].set(0.0)
        elastic = self.rates(x, still)
        d_theta = self.mechanism.joint_map(x) @ dx
        return Rates(rates.V, elastic.q, d_theta + elastic.encoder)
