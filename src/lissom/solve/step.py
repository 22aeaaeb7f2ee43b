"""The contract of a step method, and the tolerance that all of them share."""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.so3 import CROSS
from .problem import Problem, Tangents


class Tolerance(eqx.Module):
    """Errors of what users look at: joint angles against one radian, node positions against the robot's reach.

    A wave along a bar that moves no node by more than the tolerance does not set the step. `everything` also weighs
    each coordinate and each rate against its own size, as textbook solvers do.
    """

    rtol: Any
    atol: Any
    everything: bool = eqx.field(static=True, default=False)


class Sight(eqx.Module):
    """Sensitivity of what users look at to the coordinates, divided by its tolerance."""

    matrix: Float[Array, "s n"]
    x: Float[Array, " n"]
    xd: Float[Array, " n"]


def sight(problem: Problem, tolerance: Tolerance, d: Tangents, x, xd) -> Sight:
    """Encoder readings and node positions (against the robot's reach) per unit of x."""
    f, N = problem.formulation, d.N
    X = jnp.asarray(f.links.points)
    reach = jnp.maximum(jnp.sum(jnp.max(jnp.linalg.norm(X, axis=-1), axis=-1)), 1e-12)
    turning = jnp.einsum("aij,lkj->lkia", CROSS, X)  # w x X = turning w
    moved = N.V[:, None, :3] + jnp.einsum("lkia,lan->lkin", turning, N.V[:, 3:])
    moved += jnp.einsum(
        "lkdc,lcn->lkdn", jnp.asarray(f.links.node_shape)[:, :, :3], N.q
    )
    matrix = jnp.concatenate([N.encoder, moved.reshape(-1, x.shape[0]) / reach])
    return Sight(matrix / (tolerance.rtol + tolerance.atol), x, xd)


def size(tolerance: Tolerance, view: Sight, dx, dxd) -> Float[Array, ""]:
    """Largest change in units of the tolerance: 1 is just acceptable."""
    seen = jnp.max(jnp.abs(view.matrix @ dx))
    if not tolerance.everything:
        return seen
    allowed_x = tolerance.atol + tolerance.rtol * jnp.abs(view.x)
    allowed_xd = tolerance.atol + tolerance.rtol * jnp.abs(view.xd)
    return jnp.maximum(
        seen,
        jnp.maximum(
            jnp.max(jnp.abs(dx) / allowed_x), jnp.max(jnp.abs(dxd) / allowed_xd)
        ),
    )


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
    def attempt(
        self, problem: Problem, tolerance: Tolerance, now: Moment, h, memory
    ) -> Attempt:
        """One step of size h."""

    @abc.abstractmethod
    def reject(self, memory, attempt: Attempt) -> Any:
        """Memory for the next try after a step that failed."""

    @abc.abstractmethod
    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """State at t + part h, 0 <= part <= 1."""
