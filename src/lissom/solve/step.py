"""The contract of a step method, and what implicit methods share: tolerance, derivatives of the residual."""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..dynamics.formulation import AbstractFormulation
from ..dynamics.nodes import node_poses
from .problem import Problem


class Tolerance(eqx.Module):
    """Errors in the units that users look at: joint angles against one radian, node positions against the robot's reach.

    A wave along a bar that moves no node by more than the tolerance does not set the step. `everything` also weighs each coordinate and
    each rate against its own size, as textbook solvers do.
    """

    rtol: Any
    atol: Any
    everything: bool = eqx.field(static=True, default=False)


class Sight(eqx.Module):
    """Sensitivity of what users look at to the coordinates, divided by its tolerance."""

    matrix: Float[Array, "s n"]
    x: Float[Array, " n"]
    xd: Float[Array, " n"]


def looked_at(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Float[Array, " s"]:
    """Joint readings and node positions divided by the robot's reach."""
    place = formulation.configuration(x)
    span = jnp.linalg.norm(jnp.asarray(formulation.links.points), axis=-1)
    reach = jnp.maximum(jnp.sum(jnp.max(span, axis=-1)), 1e-12)
    return jnp.concatenate([place.encoder, jnp.ravel(node_poses(formulation, place).position) / reach])


def sight(problem: Problem, tolerance: Tolerance, x, xd) -> Sight:
    """Sensitivities at one state; kept while the iteration matrix is."""
    matrix = jax.jacfwd(lambda x: looked_at(problem.formulation, x))(x)
    return Sight(matrix / (tolerance.rtol + tolerance.atol), x, xd)


def size(tolerance: Tolerance, view: Sight, dx, dxd) -> Float[Array, ""]:
    """Largest change in units of the tolerance: 1 is just acceptable."""
    seen = jnp.max(jnp.abs(view.matrix @ dx))
    if not tolerance.everything:
        return seen
    allowed_x = tolerance.atol + tolerance.rtol * jnp.abs(view.x)
    allowed_xd = tolerance.atol + tolerance.rtol * jnp.abs(view.xd)
    return jnp.maximum(seen, jnp.maximum(jnp.max(jnp.abs(dx) / allowed_x), jnp.max(jnp.abs(dxd) / allowed_xd)))


class Tangents(eqx.Module):
    """Derivatives of the residual: R = R_0 + M dxdd + D dxd + K dx."""

    M: Float[Array, "n n"]
    D: Float[Array, "n n"]
    K: Float[Array, "n n"]


def tangents(problem: Problem, t, x, xd, xdd) -> Tangents:
    """All three matrices from one forward sweep over 3 n directions."""
    n = x.shape[0]
    residual = lambda z: problem.residual(t, z[:n], z[n : 2 * n], z[2 * n :])  # noqa: E731
    J = jax.jacfwd(residual)(jnp.concatenate([x, xd, xdd]))
    return Tangents(M=J[:, 2 * n :], D=J[:, n : 2 * n], K=J[:, :n])


class Moment(eqx.Module):
    """The march at one time: state, and work put in and dissipated since the start."""

    t: Float[Array, ""]
    x: Float[Array, " n"]
    xd: Float[Array, " n"]
    work: Float[Array, " 2"]


class Attempt(eqx.Module):
    """What came of one step."""

    end: Moment
    error: Float[Array, ""]  # in units of the tolerance
    solved: Any  # did the iteration converge
    evaluations: Any  # residuals or right-hand sides used
    effort: Any  # factor <= 1 on the next step for a laborious iteration
    dense: Any  # what `interpolate` needs
    memory: Any  # what the method carries to the next step


class AbstractStep(eqx.Module):
    """A step method: from one moment to the next, with an error estimate and a curve between them."""

    order: eqx.AbstractClassVar[int]  # of the error estimate: error ~ h^(order + 1)
    name: eqx.AbstractClassVar[str]

    @abc.abstractmethod
    def begin(self, problem: Problem, tolerance: Tolerance, now: Moment) -> Any:
        """Memory at the start of a smooth piece."""

    @abc.abstractmethod
    def attempt(self, problem: Problem, tolerance: Tolerance, now: Moment, h, memory) -> Attempt:
        """One step of size h."""

    @abc.abstractmethod
    def reject(self, memory, attempt: Attempt) -> Any:
        """Memory for the next try after a step that failed."""

    @abc.abstractmethod
    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """State at t + part h, 0 <= part <= 1."""
