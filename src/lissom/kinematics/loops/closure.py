"""Closed chains: joint coordinates that follow from others, and the rows that close the elastic displacements.

A loop is cut at its closing joint. The cut leaves two massless frames: one on the tip of a link, and one that moves as
the closing joint allows; closed, both are one frame. With g(theta) the displacement between them,

    g(theta_i, theta_d) = 0      =>      theta_d(theta_i),      G = d theta / d theta_i,

theta_i the independent and theta_d the dependent joints. Where links bend, the frames sit on displaced points, and g
depends on their displacements too. Small displacements close likewise: `Z q = 0`, Z constant, and `Z J` is the
derivative of g.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from jaxnative.marks import noinline

from ...algebra.linear import solve_by_elimination
from ...algebra.so3 import logarithm
from ...types import Float, Real
from ..chain import Chain, body_jacobian, link_frames, relative_poses

PLANE = (0, 1, 5)  # displacements x, y, rz of a planar frame
SPACE = (0, 1, 2, 3, 4, 5)
# Step of Newton's iteration after which the next one is round-off: the order is two.
CLOSED = 1e-9
LARGEST = 0.5  # [rad or m] longest step, so that the iteration stays on its branch
ITERATIONS = 50
BRANCH = (
    0.3  # [rad, or part of the reach] by which an independent joint is led at a time
)
LEGS = 1000.0  # most such legs


class Closure(eqx.Module):
    """Loops of a chain; r = 3 (planar) or 6 closing rows for each.

    The last frames of the chain are the closing frames of all loops, then the frames on their tips.
    """

    # Z: displacement of the frame on the tip minus that of the closing frame, over body coordinates.
    rows: Float[Real, "r l c"]
    # 1 for an angle, a length of the robot for a slide: makes joint motions comparable.
    reach: Float[Real, " j"]
    # All joint coordinates near which the loops are closed: the assembly branch.
    guess: Float[Real, " j"]
    loops: int = eqx.field(static=True)  # number of them
    components: tuple[int, ...] = eqx.field(static=True)  # `PLANE` or `SPACE`
    # Moving joints of the robot; those of the closing frames come after them.
    joints: int = eqx.field(static=True)
    independent: tuple[int, ...] = eqx.field(static=True)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Numbers of the joints that follow from the independent ones."""
        return tuple(j for j in range(self.reach.shape[0]) if j not in self.independent)

    @property
    def frames(self) -> int:
        """Number of frames that follow the links: two for each loop."""
        return 2 * self.loops

    def meeting_frames(self, count: int) -> list[tuple[int, int]]:
        """Closing frame and frame on the tip of each loop, in a chain of `count` frames."""
        first = count - self.frames
        return [(first + k, first + self.loops + k) for k in range(self.loops)]


def opening(
    chain: Chain,
    closure: Closure,
    theta: Float[Array, " j"],
    displaced: Float[Array, "l 6"] | None = None,
) -> Float[Array, " r"]:
    """g(theta): displacement of each tip from its closing frame, in the axes of that frame.

    Args:
        chain: cut at the joints that close its loops.
        closure: its loops.
        theta: all joint coordinates.
        displaced: of the points that carry the frames, where links bend (`relative_poses`).
    """
    R, p = link_frames(chain, theta, displaced)
    parts = []
    for closing, tip in closure.meeting_frames(R.shape[0]):
        back = R[closing].T
        away = back @ (p[tip] - p[closing])
        whole = jnp.concatenate([away, logarithm(back @ R[tip])])
        parts.append(whole[np.asarray(closure.components)])
    return jnp.concatenate(parts)


def closing_jacobian(
    chain: Chain,
    closure: Closure,
    theta: Float[Array, " j"],
    displaced: Float[Array, "l 6"] | None = None,
) -> Float[Array, "r j"]:
    """Z J, the derivative of g by the joints where the loops are closed."""
    J = body_jacobian(chain, relative_poses(chain, theta, displaced))
    return jnp.einsum("rlk,lkj->rj", jnp.asarray(closure.rows)[:, :, :6], J)


def all_joints(
    closure: Closure, theta_i: Float[Array, " i *n"], theta_d: Float[Array, " d *n"]
) -> Float[Array, " j *n"]:
    """All joints from the independent and the dependent ones."""
    order = np.argsort([*closure.independent, *closure.dependent])
    return jnp.concatenate([theta_i, theta_d])[order]


class LoopProblem(NamedTuple):
    """A chain with its loops, and the displacements of the points that carry its frames."""

    chain: Chain
    closure: Closure
    displaced: Float[Array, "l 6"] | None = None

    def opening(self, theta: Float[Array, " j"]) -> Float[Array, " r"]:
        """The displacement g at theta."""
        return opening(self.chain, self.closure, theta, self.displaced)

    def solve(self, theta: Float[Array, " j"], right: Any) -> Float[Array, " d"]:
        """Motion of the dependent joints that changes g by `right` at theta."""
        A = closing_jacobian(self.chain, self.closure, theta, self.displaced)
        matrix = A[:, _numbers(self.closure.dependent)]
        return solve_by_elimination(matrix, right[:, None])[:, 0]


class ClosingIteration(NamedTuple):
    """State of Newton's iteration: all joints, legs of the way that are done, steps made on the present leg."""

    theta: Float[Array, " j"]
    leg: Float[Array, ""]
    count: Int[Array, ""]


@eqx.filter_custom_jvp
def _close_on_branch(
    problem: LoopProblem, theta_i: Float[Array, " i"]
) -> Float[Array, " j"]:
    """All joints on the branch of the guess."""
    return _led_from_guess(problem, theta_i)


@noinline
def _led_from_guess(
    problem: LoopProblem, theta_i: Float[Array, " i"]
) -> Float[Array, " j"]:
    """All joints, the independent ones led from the guess in legs small enough to stay on its branch."""
    closure = problem.closure
    independent = _numbers(closure.independent)
    dependent = _numbers(closure.dependent)
    guess = jnp.asarray(closure.guess)
    reach = jnp.asarray(closure.reach)[independent]
    start = guess[independent]
    way = theta_i - start
    distance = jnp.max(jnp.abs(way) / reach, initial=0.0)
    legs = jnp.ceil(jnp.clip(distance / BRANCH, 1.0, LEGS))

    def is_open(at: ClosingIteration):
        return (at.leg < legs) & (at.count < ITERATIONS)

    def improve(at: ClosingIteration) -> ClosingIteration:
        next_leg = at.leg + 1.0
        # The last leg ends at theta_i itself, not at a rounded sum.
        target = jnp.where(next_leg >= legs, theta_i, start + next_leg / legs * way)
        theta = at.theta.at[independent].set(target)
        step = -problem.solve(theta, problem.opening(theta))
        size = jnp.max(jnp.abs(step))
        step = step * jnp.where(size > LARGEST, LARGEST / size, 1.0)
        theta = theta.at[dependent].add(step)
        # A step below `CLOSED` was the last one of its leg.
        is_done = size <= CLOSED
        leg = jnp.where(is_done, next_leg, at.leg)
        return ClosingIteration(theta, leg, jnp.where(is_done, 0, at.count + 1))

    begin = ClosingIteration(guess, jnp.asarray(0.0), jnp.asarray(0))
    end = jax.lax.while_loop(is_open, improve, begin)
    return jnp.where(end.leg >= legs, end.theta, jnp.nan)


@_close_on_branch.def_jvp
def _close_on_branch_jvp(primals, tangents):
    """Implicit differentiation: d theta_d = -(Z J_d)^-1 dg, to every order, also in lengths and displacements."""
    problem, theta_i = primals
    closure = problem.closure
    theta = _close_on_branch(problem, theta_i)
    theta_d = theta[_numbers(closure.dependent)]

    def g(problem, theta_i):
        return problem.opening(all_joints(problem.closure, theta_i, theta_d))

    _, change = eqx.filter_jvp(g, primals, tangents)
    rate = tangents[1]
    if rate is None:
        rate = jnp.zeros_like(theta_i)
    return theta, all_joints(closure, rate, -problem.solve(theta, change))


def _numbers(joints: tuple[int, ...]) -> np.ndarray:
    return np.asarray(joints, dtype=int)


@eqx.filter_jit  # used in many places of a model: traced once
def closed_joints(
    chain: Chain,
    closure: Closure,
    theta_i: Float[Array, " i"],
    displaced: Float[Array, "l 6"] | None = None,
) -> Float[Array, " j"]:
    """All joint coordinates of the closed chain near the guess, by Newton's iteration; NaN where it does not close."""
    chain, closure = jax.tree.map(jnp.asarray, (chain, closure))
    return _close_on_branch(LoopProblem(chain, closure, displaced), theta_i)


def closing_guess(
    chain: Chain, closure: Closure, joints: Float[Array, " a"]
) -> Float[Array, " j"]:
    """All joint coordinates from those of the robot: closing frames move as near to their tips as possible."""
    missing = closure.reach.shape[0] - closure.joints
    theta = jnp.concatenate([joints, jnp.zeros(missing)])
    R, p = link_frames(chain, theta)
    selection = jnp.asarray(chain.selection)
    for c, tip in closure.meeting_frames(R.shape[0]):
        away = R[c].T @ (p[tip] - p[c])
        turn = R[c].T @ R[tip]
        axis = jnp.asarray(chain.axis)[c]
        angle = _nearest_angle(axis, turn)
        own = chain.turns[c] * angle + chain.slides[c] * (axis @ away)
        theta = theta + selection[c] * own
    return theta


def _nearest_angle(
    axis: Float[Array, " 3"], turn: Float[Array, "3 3"]
) -> Float[Array, ""]:
    """The angle about an axis whose rotation comes nearest to a given one."""
    x = turn[2, 1] - turn[1, 2]
    y = turn[0, 2] - turn[2, 0]
    z = turn[1, 0] - turn[0, 1]
    sine = axis @ jnp.stack([x, y, z])
    cosine = jnp.trace(turn) - axis @ turn @ axis
    return jnp.arctan2(sine, cosine)
