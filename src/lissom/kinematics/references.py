"""Meaning of the joint coordinates of an elastic robot: the choice of the equivalent rigid-link system (ERLS).

Links that bend leave it open where the rigid robot is, of which their displacements are counted. A choice says it by
one condition for each independent joint, Z(theta) q = 0 over the body coordinates q of all links.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array
from typing_extensions import override

from ..algebra.linear import inverse
from ..types import Float, Real


class AbstractReference(eqx.Module):
    """Meaning of theta: conditions Z(theta) q = 0, one for each independent joint, of a minimum for every one."""

    @abc.abstractmethod
    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"] | None:
        """Rows of Z, over the body coordinates of every link, from the body Jacobian; None if nothing is solved."""

    @property
    def encoders_read_theta(self) -> bool:
        """Whether the encoders read theta itself, whatever the links do."""
        return False

    @property
    def is_minimum(self) -> bool:
        """Whether the conditions make a norm of q stationary: Z q = J^T g(q), which turns with the joints."""
        return False

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, "l 6"] | None:
        """The vectors g, six for each link, of a minimum's conditions J^T g(q) = 0; None for others."""
        return None


class Tangent(AbstractReference):
    """Free joint directions are closed too: theta is what an encoder reads."""

    @override
    def conditions(self, J: Float[Array, "l 6 j"]) -> None:
        return None

    @property
    @override
    def encoders_read_theta(self) -> bool:
        return True


class Zeroed(AbstractReference):
    """One nodal displacement per joint is zero, [Boscariol2012] eqs. (6), (27), (29)."""

    rows: Float[Real, "r l c"]  # the named displacement, as a row over body coordinates

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"]:
        """The named rows, the same in every pose."""
        return jnp.asarray(self.rows)


class MinimumNorm(AbstractReference):
    """Least rigid-body coordinates of mass-normalised modes, [Vidoni2015] eq. (11).

    Stationarity over all rigid motions of the ERLS reads `sum J_i^T B_i^T M_i u_i = 0`: the elastic displacements
    carry no momentum along any joint motion.
    """

    rigid_mass: Float[Real, "l 6 c"]  # B^T M U of every link

    @property
    @override
    def is_minimum(self) -> bool:
        return True

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"]:
        """Rows J^T B^T M U."""
        return jnp.einsum("lkj,lkc->jlc", J, self.rigid_mass)

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, "l 6"]:
        """Momentum B^T M U q that the displacements carry along rigid motions of each link."""
        return jnp.einsum("lkc,lc->lk", jnp.asarray(self.rigid_mass), q)


class Conditions(eqx.Module):
    """Z and the matrix that solves it: (phi, lambda) = -solve Z q_t; phi over all joints, lambda of a minimum only.

    The multipliers lambda of a minimum are the wrenches of rows that hold beside it, those that close a chain.
    """

    rows: Float[Array, "r l c"]
    solve: Float[Array, "u r"]
    # What was inverted, J_0 of [Boscariol2012] eq. (6): singular where the conditions define no ERLS.
    matrix: Float[Array, "r d"]
    # On the frames of the chain, for each unit of lambda.
    wrenches: Float[Array, "m l 6"] | None = None


def solved_conditions(
    rows: Float[Array, "r l c"],
    J: Float[Array, "l 6 j"],
    wrenches: Float[Array, "m l 6"] | None = None,
) -> Conditions:
    """The conditions with these rows, one for each joint, solved for the elastic joint displacements phi."""
    J_0 = jnp.einsum("jlk,lki->ji", rows[:, :, :6], J)
    if wrenches is not None:
        ZJ = jnp.einsum("mlk,lki->mi", wrenches, J)
        # J^T g + (Z J)^T lambda = 0 stands above Z q = 0, which has no multipliers.
        on_multipliers = jnp.pad(ZJ.T, ((0, len(ZJ)), (0, 0)))
        J_0 = jnp.concatenate([J_0, on_multipliers], axis=1)
    return Conditions(rows, inverse(J_0), J_0, wrenches)
