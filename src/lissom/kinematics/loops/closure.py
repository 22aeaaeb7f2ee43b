"""Closed chains: joint coordinates that follow from others, and the rows that close the elastic displacements.

A loop is cut at its closing joint. The cut leaves the tip of a link and a massless frame that moves as the closing
joint allows; closed, both are one frame. With g(theta) the displacement between them,

    g(theta_i, theta_d) = 0      =>      theta_d(theta_i),      G = d theta / d theta_i,

theta_i the independent and theta_d the dependent joints. Small displacements close likewise: `Z q = 0`, Z constant, and
`Z J` is the derivative of g.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from ...algebra.linear import inverse
from ...algebra.so3 import logarithm
from ...types import Real
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
    """Loops of a chain; k loops, r = 3 k (planar) or 6 k closing rows."""

    # Z: tip displacement minus that of the closing frame, over body coordinates.
    rows: Float[Real, "r l c"]
    tips: Float[Real, "k 3"]  # point of the closed link in its own frame [m]
    # 1 for an angle, a length of the robot for a slide: makes joint motions comparable.
    reach: Float[Real, " j"]
    # All joint coordinates near which the loops are closed: the assembly branch.
    guess: Float[Real, " j"]
    links: tuple[int, ...] = eqx.field(static=True)  # whose tip closes each loop
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
        """Number of closing frames."""
        return len(self.links)


def opening(
    chain: Chain, closure: Closure, theta: Float[Array, " j"]
) -> Float[Array, " r"]:
    """g(theta): displacement of each tip from its closing frame, in the axes of that frame."""
    R, p = link_frames(chain, theta)
    return jnp.concatenate([_opening(closure, R, p, k) for k in range(closure.frames)])


def _opening(closure: Closure, R, p, k: int) -> Float[Array, " r"]:
    a = closure.links[k]
    # Closing frames follow the links in the chain.
    c = R.shape[0] - closure.frames + k
    tip = p[a] + R[a] @ jnp.asarray(closure.tips)[k]
    whole = jnp.concatenate([R[c].T @ (tip - p[c]), logarithm(R[c].T @ R[a])])
    return whole[np.asarray(closure.components)]


def closing_jacobian(
    chain: Chain, closure: Closure, theta: Float[Array, " j"]
) -> Float[Array, "r j"]:
    """Z J, the derivative of g where the loops are closed."""
    J = body_jacobian(chain, relative_poses(chain, theta))
    return jnp.einsum("rlk,lkj->rj", jnp.asarray(closure.rows)[:, :, :6], J)


def all_joints(
    closure: Closure, theta_i: Float[Array, "i *n"], theta_d: Float[Array, "d *n"]
) -> Float[Array, "j *n"]:
    """All joints from the independent and the dependent ones."""
    order = np.argsort([*closure.independent, *closure.dependent])
    return jnp.concatenate([theta_i, theta_d])[order]


class ClosingIteration(NamedTuple):
    """Where Newton's iteration is: all joints, the size of its last step, and how many it has made."""

    theta: Float[Array, " j"]
    step: Float[Array, ""]
    count: Int[Array, ""]


def newton_step(
    chain: Chain, closure: Closure, at: ClosingIteration
) -> ClosingIteration:
    """Move the dependent joints towards closed loops, by at most `LARGEST`."""
    dependent = _numbers(closure.dependent)
    A = closing_jacobian(chain, closure, at.theta)[:, dependent]
    step = -inverse(A) @ opening(chain, closure, at.theta)
    size = jnp.max(jnp.abs(step))
    step = step * jnp.where(size > LARGEST, LARGEST / size, 1.0)
    return ClosingIteration(at.theta.at[dependent].add(step), size, at.count + 1)


def close_near(
    chain: Chain, closure: Closure, theta: Float[Array, " j"]
) -> ClosingIteration:
    """Newton's iteration from theta, the independent joints where they are."""

    def is_open(at: ClosingIteration):
        return (at.step > CLOSED) & (at.count < ITERATIONS)

    def once(at: ClosingIteration):
        return newton_step(chain, closure, at)

    start = ClosingIteration(theta, jnp.asarray(jnp.inf), jnp.asarray(0))
    return jax.lax.while_loop(is_open, once, start)


@eqx.filter_custom_jvp
def _closed(
    where: tuple[Chain, Closure], theta_i: Float[Array, " i"]
) -> Float[Array, " j"]:
    """All joints, the independent ones led from the guess in legs small enough to stay on its branch."""
    chain, closure = where
    independent = _numbers(closure.independent)
    guess = jnp.asarray(closure.guess)
    reach = jnp.asarray(closure.reach)[independent]
    start = guess[independent]
    way = theta_i - start
    distance = jnp.max(jnp.abs(way) / reach, initial=0.0)
    legs = jnp.ceil(jnp.clip(distance / BRANCH, 1.0, LEGS))

    def is_under_way(carry):
        _, step, leg = carry
        return (leg < legs) & (step <= CLOSED)

    def lead(carry):
        theta, _, leg = carry
        next_leg = leg + 1.0
        # The last leg ends at theta_i itself, not at a rounded sum.
        target = jnp.where(next_leg >= legs, theta_i, start + next_leg / legs * way)
        end = close_near(chain, closure, theta.at[independent].set(target))
        return end.theta, end.step, next_leg

    begin = (guess, jnp.asarray(0.0), jnp.asarray(0.0))
    theta, step, _ = jax.lax.while_loop(is_under_way, lead, begin)
    return jnp.where(step <= CLOSED, theta, jnp.nan)


@_closed.def_jvp
def _closed_jvp(primals, tangents):
    """Implicit differentiation: d theta_d = -(Z J_d)^-1 dg, to every order, also in the lengths of the links."""
    (chain, closure), theta_i = primals
    dependent = _numbers(closure.dependent)
    theta = _closed((chain, closure), theta_i)
    theta_d = theta[dependent]

    def g(where, theta_i):
        chain, closure = where
        return opening(chain, closure, all_joints(closure, theta_i, theta_d))

    _, change = eqx.filter_jvp(g, primals, tangents)
    A = closing_jacobian(chain, closure, theta)[:, dependent]
    rate = tangents[1]
    if rate is None:
        rate = jnp.zeros_like(theta_i)
    return theta, all_joints(closure, rate, -inverse(A) @ change)


def _numbers(joints: tuple[int, ...]) -> np.ndarray:
    return np.asarray(joints, dtype=int)


@eqx.filter_jit  # a model asks for it in many places: traced once
def closed_joints(
    chain: Chain, closure: Closure, theta_i: Float[Array, " i"]
) -> Float[Array, " j"]:
    """All joint coordinates of the closed chain near the guess, by Newton's iteration; NaN where it does not close."""
    return _closed(jax.tree.map(jnp.asarray, (chain, closure)), theta_i)


def closing_guess(
    chain: Chain, closure: Closure, joints: Float[Array, " a"]
) -> Float[Array, " j"]:
    """All joint coordinates from those of the robot: closing frames move as near to their tips as possible."""
    missing = closure.reach.shape[0] - closure.joints
    theta = jnp.concatenate([joints, jnp.zeros(missing)])
    R, p = link_frames(chain, theta)
    selection = jnp.asarray(chain.selection)
    for k, a in enumerate(closure.links):
        c = R.shape[0] - closure.frames + k
        tip = p[a] + R[a] @ jnp.asarray(closure.tips)[k]
        away = R[c].T @ (tip - p[c])
        turn = R[c].T @ R[a]
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
