"""The contract of a step method, and the tolerance that all of them share."""

import abc
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from jaxnative.marks import noinline

from ..algebra.so3 import CROSS
from ..dynamics.formulation import AbstractFormulation, Rates
from ..types import Float, Real
from .problem import MotionProblem
from .recorded import RecordedQuantities

Tree = TypeVar("Tree")


def stop_gradient(tree: Any) -> Any:
    """The same numbers, constant to every derivative: for all that decides about steps.

    The derivative of a run is that of its solution, and step sizes, iteration matrices and error weights are none of
    it: a derivative of the step size would only differentiate the error that each step makes.
    """

    def stop(leaf: Any) -> Any:
        is_number = isinstance(leaf, jax.Array) and eqx.is_inexact_array(leaf)
        return jax.lax.stop_gradient(leaf) if is_number else leaf

    return jax.tree.map(stop, tree)


def select(condition: Any, one: Tree, other: Tree) -> Tree:
    """One of two trees by a condition, inside compiled code; leaves that both have in common stay as they are."""

    def pick(a: Any, b: Any) -> Any:
        return a if a is b else jnp.where(condition, a, b)

    return jax.tree.map(pick, one, other)


class Tolerance(eqx.Module):
    """Tolerated errors: joint angles against one radian, node positions against the robot's reach.

    A wave along a bar that moves no node by more than the tolerance does not set the step. `everything` also weighs
    each coordinate and each rate against its own size, as textbook solvers do. `energy` bounds what a method that
    dissipates may take from a robot under a control law, whose torques stir such waves again and again.
    """

    rtol: Any
    atol: Any
    everything: bool = eqx.field(static=True, default=False)
    energy: Any = None  # part of the largest energy, per second [1/s]; None: no bound
    recorded: RecordedQuantities | None = None  # what a run records, and how exactly


class ErrorWeights(eqx.Module):
    """How much an error of each coordinate counts, where one of the tolerance counts as 1."""

    # Encoder readings and node positions per unit of x, divided by their tolerance.
    sensitivity: Float[Array, "s n"]
    # The state that coordinates and rates are measured against where everything counts.
    x: Float[Array, " n"]
    xd: Float[Array, " n"]


@noinline
def error_weights(
    problem: MotionProblem, tolerance: Tolerance, N: Rates, x, xd
) -> ErrorWeights:
    """Encoder readings and node positions (against the robot's reach) per unit of x; N is the map of rates."""
    links = problem.formulation.links
    X = jnp.asarray(links.points)
    # Nodes move with their link, v + w x X, and in it, U q.
    lever = jnp.einsum("aij,lkj->lkia", CROSS, X)
    with_link = N.V[:, None, :3] + jnp.einsum("lkia,lan->lkin", lever, N.V[:, 3:])
    shapes = jnp.asarray(links.node_shape)[:, :, :3]
    in_link = jnp.einsum("lkdc,lcn->lkdn", shapes, N.q)
    nodes = (with_link + in_link).reshape(-1, x.shape[0])
    observed = jnp.concatenate([N.encoder, nodes / reach(problem.formulation)])
    return ErrorWeights(observed / (tolerance.rtol + tolerance.atol), x, xd)


def reach(formulation: AbstractFormulation) -> Float[Array, ""]:
    """Length of the stretched robot [m]: the sum of its links' lengths."""
    lengths = jnp.linalg.norm(jnp.asarray(formulation.links.points), axis=-1)
    return jnp.maximum(jnp.sum(jnp.max(lengths, axis=-1)), 1e-12)


def weighted_size(
    tolerance: Tolerance, weights: ErrorWeights, dx, dxd
) -> Float[Array, ""]:
    """Largest change in units of the tolerance: 1 is just acceptable."""
    size = jnp.max(jnp.abs(weights.sensitivity @ dx))
    if not tolerance.everything:
        return size
    allowed_x = tolerance.atol + tolerance.rtol * jnp.abs(weights.x)
    allowed_xd = tolerance.atol + tolerance.rtol * jnp.abs(weights.xd)
    of_x = jnp.max(jnp.abs(dx) / allowed_x)
    of_xd = jnp.max(jnp.abs(dxd) / allowed_xd)
    return jnp.maximum(size, jnp.maximum(of_x, of_xd))


class Moment(eqx.Module):
    """The march at one time: state, and work put in and dissipated since the start."""

    t: Float[Real, ""]
    # (n,) arrays of JAX, or of the host before the march has begun.
    x: Any
    xd: Any
    work: Float[Real, " 2"]


class Attempt(eqx.Module):
    """Result of one attempted step."""

    end: Moment
    error: Float[Array, ""]  # in units of the tolerance
    converged: Any  # did the iteration converge
    evaluations: Any  # residuals or right-hand sides used
    effort: Any  # factor <= 1 on the next step for a laborious iteration
    dense: Any  # what `interpolate` needs
    memory: Any  # what the method carries to the next step


class AbstractStep(eqx.Module):
    """A step method: from one moment to the next, with an error estimate and a curve between them."""

    name: eqx.AbstractClassVar[str]
    # True if its steps obey `Tolerance.recorded`.
    follows_recorded: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def order(self) -> int:
        """Order of the error estimate: error ~ h^(order + 1)."""

    @abc.abstractmethod
    def begin(self, problem: MotionProblem, tolerance: Tolerance, now: Moment) -> Any:
        """Memory at the start of a smooth piece."""

    def resume(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        memory: Any,
        jump: Float[Array, " n"],
    ) -> Any:
        """Memory after a jump of the generalised forces, as a sampled law makes.

        A method may keep what the jump does not change; the default restarts it.
        """
        return self.begin(problem, tolerance, now)

    def restart(
        self, problem: MotionProblem, tolerance: Tolerance, now: Moment, memory: Any
    ) -> Any:
        """Memory at the start of the next smooth piece.

        A method may keep what it knows about the run as a whole; the default restarts it.
        """
        return self.begin(problem, tolerance, now)

    def discard_tangents(self, memory: Any) -> Any:
        """Memory for a step that recomputes all derivatives; unchanged for methods without derivatives."""
        return memory

    @abc.abstractmethod
    def attempt(
        self, problem: MotionProblem, tolerance: Tolerance, now: Moment, h, memory
    ) -> Attempt:
        """One step of size h."""

    def solution(self, memory: Any) -> Any:
        """What the iteration of the step before has found, for `retrace`; methods that do not iterate have nothing."""
        return None

    def retrace(
        self,
        problem: MotionProblem,
        tolerance: Tolerance,
        now: Moment,
        h,
        memory: Any,
        solution: Any,
    ) -> Attempt:
        """A step that was taken before, for derivatives that go through it; here it is taken again.

        Steps that were rejected on the way are not: the derivatives they left behind have to be new.
        """
        return self.attempt(problem, tolerance, now, h, self.discard_tangents(memory))

    @abc.abstractmethod
    def reject(self, memory, attempt: Attempt) -> Any:
        """Memory for the next try after a step that failed."""

    @abc.abstractmethod
    def interpolate(self, now: Moment, attempt: Attempt, h, part) -> Moment:
        """State at t + part h, 0 <= part <= 1."""
