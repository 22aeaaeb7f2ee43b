"""Displacements that agree at the joints, and the choice of the equivalent rigid-link system (ERLS).

Body coordinates of link i are q_i = (r_i, eta_i): r_i the displacement of its inner node from the ERLS, which carries
the link as a rigid body, eta_i the displacements counted from there. With the `tangent` choice the inner node of a
link simply moves with the tip of its parent. Any other choice adds the rigid motion J phi of the ERLS that satisfies
one more condition per joint,

    r = r_t + J phi,      Z(theta) q = 0      =>      phi = -(Z J)^-1 Z q_t,

and `Z J` is the matrix J_0 of [Boscariol2012] eq. (6), which must not be singular. A closed chain adds the rows of its
closing joints to Z, for every choice: with `tangent` they alone say how the dependent joints give way. The minimum of
a norm over closed displacements has multipliers lambda, the wrenches of the closing joints,

    J^T (g(q) + Z^T lambda) = 0,      Z q = 0,

where g and Z are constant in the frames of the links, so that only J turns with the joints.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..algebra.linear import inverse
from ..algebra.se3 import shift_displacement
from ..types import Real
from .chain import Chain, Relative, body_jacobian, of_parents, outwards, relative_poses
from .loops.closure import Closure, Dependence, dependence


class AbstractReference(eqx.Module):
    """What theta means: the conditions Z(theta) q = 0, one for each independent joint, of a minimum for every one."""

    @abc.abstractmethod
    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"]:
        """Rows of Z, over the body coordinates of every link, from the body Jacobian."""

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, " L"] | None:
        """The vector g, six for each link, of conditions Z q = J^T g(q) that turn with the joints; None for others."""
        return None


class Tangent(AbstractReference):
    """Free joint directions are closed too: theta is what an encoder reads."""

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"]:
        """None: phi is zero and nothing is solved."""
        raise TypeError("the tangent choice has no conditions")


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

    def conditions(self, J: Float[Array, "l 6 j"]) -> Float[Array, "r l c"]:
        """Rows J^T B^T M U."""
        return jnp.einsum("lkj,lkc->jlc", J, self.rigid_mass)

    def moment(self, q: Float[Array, "l c"]) -> Float[Array, " L"]:
        """Momentum B^T M U q that the displacements carry along rigid motions of each link."""
        return jnp.einsum("lkc,lc->lk", jnp.asarray(self.rigid_mass), q).reshape(-1)


class Shapes(eqx.Module):
    """What compatibility needs to know of the links; l frames, the closing ones included."""

    tip: Float[Real, "b 6 c"]  # displacement of the tip node from body coordinates
    seat: Float[Real, "l 6 c"] | None = (
        None  # of the parent's point that carries each frame; None: the parent's tip
    )


def seats(chain: Chain, shapes: Shapes) -> Float[Array, "l 6 c"]:
    """Displacement of the point that carries each frame, from the body coordinates of its parent."""
    return (
        of_parents(chain, jnp.asarray(shapes.tip))
        if shapes.seat is None
        else jnp.asarray(shapes.seat)
    )


def with_closing_frames(
    closure: Closure | None, value: Float[Array, "b *n"]
) -> Float[Array, "l *n"]:
    """Values of the links, and zeros for the closing frames, which have neither mass nor elasticity."""
    if closure is None:
        return value
    return jnp.concatenate([value, jnp.zeros((closure.frames, *value.shape[1:]))])


def tangent_coordinates(
    chain: Chain, relative: Relative, shapes: Shapes, eta: Float[Array, "l m"]
) -> Float[Array, "l c"]:
    """Body coordinates when inner nodes follow the tips before them, [Vidoni2015] eqs. (3)-(8) in all directions."""

    def step(q, link):
        pose, shape, eta = link
        return jnp.concatenate([shift_displacement(pose.R, pose.arm, shape @ q), eta])

    ground = jnp.zeros(shapes.tip.shape[-1])
    return outwards(chain.parents, step, ground, (relative, seats(chain, shapes), eta))


class Conditions(eqx.Module):
    """Z and the matrix that solves it: (phi, lambda) = -solve Z q_t; phi over all joints, lambda of a minimum only."""

    rows: Float[Array, "r l c"]
    solve: Float[Array, "u r"]
    matrix: Float[
        Array, "r d"
    ]  # what was inverted, J_0; singular where the conditions define no ERLS
    wrenches: Float[Array, "m L"] | None = (
        None  # on the frames, for each unit of lambda
    )


def conditions_at(
    reference: AbstractReference, J: Float[Array, "l 6 j"], loops: Dependence | None
) -> Conditions | None:
    """Conditions of the reference and of the loops at a pose; None where theta is what the encoders read."""
    if loops is None:
        return (
            None
            if isinstance(reference, Tangent)
            else _solved(reference.conditions(J), J)
        )
    closure = loops.closure
    rows, links = jnp.asarray(closure.rows), J.shape[0] - closure.frames
    if isinstance(reference, Tangent):
        none = jnp.zeros((len(closure.independent), rows.shape[0]))
        order = np.argsort([*closure.independent, *closure.dependent])
        matrix = jnp.einsum("rlk,lkj->rj", rows[:, :, :6], J)[
            :, np.asarray(closure.dependent, dtype=int)
        ]
        return Conditions(rows, jnp.concatenate([none, loops.solve])[order], matrix)
    chosen = jnp.pad(
        reference.conditions(J[:links]), ((0, 0), (0, closure.frames), (0, 0))
    )
    wrenches = (
        rows[:, :, :6].reshape(rows.shape[0], -1)
        if isinstance(reference, MinimumNorm)
        else None
    )
    return _solved(jnp.concatenate([chosen, rows]), J, wrenches)


def _solved(
    rows: Float[Array, "r l c"],
    J: Float[Array, "l 6 j"],
    wrenches: Float[Array, "m L"] | None = None,
) -> Conditions:
    J_0 = jnp.einsum("jlk,lki->ji", rows[:, :, :6], J)
    if wrenches is not None:
        ZJ = wrenches @ J.reshape(-1, J.shape[-1])
        J_0 = jnp.concatenate([J_0, jnp.pad(ZJ.T, ((0, len(ZJ)), (0, 0)))], axis=1)
    return Conditions(rows, inverse(J_0), J_0, wrenches)


def reference_matrix(
    chain: Chain,
    reference: AbstractReference,
    theta: Float[Array, " j"],
    closure: Closure | None = None,
) -> Float[Array, "r d"]:
    """J_0 = Z J of [Boscariol2012] eq. (6): singular where the chosen conditions do not define an ERLS."""
    J = body_jacobian(chain, relative_poses(chain, theta))
    conditions = conditions_at(reference, J, dependence(closure, J))
    assert conditions is not None
    return conditions.matrix


def elastic_coordinates(
    chain: Chain,
    shapes: Shapes,
    reference: AbstractReference,
    theta: Float[Array, " j"],
    eta: Float[Array, "b m"],
    closure: Closure | None = None,
) -> tuple[Float[Array, "b c"], Float[Array, " j"]]:
    """Body coordinates q = H(theta) eta and the elastic joint displacements phi (encoder angle minus theta)."""
    relative = relative_poses(chain, theta)
    q = tangent_coordinates(chain, relative, shapes, with_closing_frames(closure, eta))
    J = body_jacobian(chain, relative)
    conditions = conditions_at(reference, J, dependence(closure, J))
    if conditions is None:
        return q, jnp.zeros_like(theta)
    phi = -conditions.solve[: theta.shape[0]] @ jnp.einsum(
        "jlc,lc->j", conditions.rows, q
    )
    return q.at[:, :6].add(J @ phi)[: eta.shape[0]], phi
