"""Displacements that agree at the joints, and the choice of the equivalent rigid-link system (ERLS).

Body coordinates of link i are q_i = (r_i, eta_i): r_i the displacement of its inner node from the ERLS, which carries
the link as a rigid body, eta_i the displacements counted from there. With the `tangent` choice the inner node of a
link simply moves with the tip of the link before it. Any other choice adds the rigid motion J phi of the ERLS that
satisfies one more condition per joint,

    r = r_t + J phi,      Z(theta) q = 0      =>      phi = -(Z J)^-1 Z q_t,

and `Z J` is the matrix J_0 of [Boscariol2012] eq. (6), which must not be singular.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.linear import inverse
from ..algebra.se3 import shift_displacement
from ..types import Real
from .chain import Chain, Relative, body_jacobian, relative_poses, scan_links


class AbstractReference(eqx.Module):
    """What theta means: the conditions Z(theta) q = 0, one for each joint."""

    @abc.abstractmethod
    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "j l c"]:
        """Rows of Z, over the body coordinates of every link."""

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, " L"] | None:
        """The vector g, six for each link, of conditions Z q = J^T g(q) that turn with the joints; None for others."""
        return None


class Tangent(AbstractReference):
    """Free joint directions are closed too: theta is what an encoder reads."""

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "j l c"]:
        """None: phi is zero and nothing is solved."""
        raise TypeError("the tangent choice has no conditions")


class Zeroed(AbstractReference):
    """One nodal displacement per joint is zero, [Boscariol2012] eqs. (6), (27), (29)."""

    rows: Float[Real, "j l c"]  # the named displacement, as a row over body coordinates

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "j l c"]:
        """The named rows, the same in every pose."""
        return jnp.asarray(self.rows)


class MinimumNorm(AbstractReference):
    """Least rigid-body coordinates of mass-normalised modes, [Vidoni2015] eq. (11).

    Stationarity over all rigid motions of the ERLS reads `sum J_i^T B_i^T M_i u_i = 0`: the elastic displacements
    carry no momentum along any joint motion.
    """

    rigid_mass: Float[Real, "l 6 c"]  # B^T M U of every link

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "j l c"]:
        """Rows J^T B^T M U."""
        return jnp.einsum("lkj,lkc->jlc", J, self.rigid_mass)

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, " L"]:
        """Momentum B^T M U q that the displacements carry along rigid motions of each link."""
        return jnp.einsum("lkc,lc->lk", jnp.asarray(self.rigid_mass), q).reshape(-1)


class Shapes(eqx.Module):
    """What compatibility needs to know of the links."""

    tip: Float[Real, "l 6 c"]  # displacement of the tip node from body coordinates


def tangent_coordinates(relative: Relative, shapes: Shapes, eta: Float[Array, "l m"]) -> Float[Array, "l c"]:
    """Body coordinates when inner nodes follow the tips before them, [Vidoni2015] eqs. (3)-(8) in all directions."""

    def outwards(tip, link):
        pose, shape, eta = link
        q = jnp.concatenate([shift_displacement(pose.R, pose.arm, tip), eta])
        return shape @ q, q

    return scan_links(outwards, jnp.zeros(6), (relative, jnp.asarray(shapes.tip), eta))[1]


def reference_matrix(chain: Chain, reference: AbstractReference, theta: Float[Array, " j"]) -> Float[Array, "j j"]:
    """J_0 = Z J of [Boscariol2012] eq. (6): singular where the chosen conditions do not define an ERLS."""
    J = body_jacobian(chain, relative_poses(chain, theta))
    return jnp.einsum("jlk,lki->ji", reference.conditions(J)[:, :, :6], J)


def elastic_coordinates(
    chain: Chain, shapes: Shapes, reference: AbstractReference, theta: Float[Array, " j"], eta: Float[Array, "l m"]
) -> tuple[Float[Array, "l c"], Float[Array, " j"]]:
    """Body coordinates q = H(theta) eta and the elastic joint displacements phi (encoder angle minus theta)."""
    relative = relative_poses(chain, theta)
    q = tangent_coordinates(relative, shapes, eta)
    if isinstance(reference, Tangent):
        return q, jnp.zeros_like(theta)
    J = body_jacobian(chain, relative)
    Z = reference.conditions(J)
    J_0 = jnp.einsum("jlk,lki->ji", Z[:, :, :6], J)
    phi = -inverse(J_0) @ jnp.einsum("jlc,lc->j", Z, q)
    return q.at[:, :6].add(J @ phi), phi
