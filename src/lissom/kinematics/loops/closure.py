"""Closed chains: joint coordinates that follow from others, and the rows that close the elastic displacements.

A loop is cut at its closing joint. The cut leaves the tip of a link and a massless frame that moves as the closing
joint allows; closed, both are one frame. With g(theta) the displacement between them,

    g(theta_i, theta_d) = 0      =>      theta_d(theta_i),      G = d theta / d theta_i,

theta_i the independent and theta_d the dependent joints. Small displacements close likewise: `Z q = 0`, Z constant, and
`Z J` is the derivative of g.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ...algebra.linear import inverse
from ...algebra.so3 import logarithm
from ...types import Real
from ..chain import Chain, body_jacobian, link_frames, relative_poses

PLANE = (0, 1, 5)  # displacements x, y, rz of a planar frame
SPACE = (0, 1, 2, 3, 4, 5)
CLOSED = 1e-9  # step of Newton's iteration after which the next one is round-off: the order is two
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
    a, c = closure.links[k], R.shape[0] - closure.frames + k
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


@eqx.filter_custom_jvp
def _closed(
    where: tuple[Chain, Closure], theta_i: Float[Array, " i"]
) -> Float[Array, " j"]:
    chain, closure = where
    independent, dependent = (
        np.asarray(part, dtype=int) for part in (closure.independent, closure.dependent)
    )
    guess, reach = jnp.asarray(closure.guess), jnp.asarray(closure.reach)[independent]
    way = theta_i - guess[independent]
    legs = jnp.ceil(
        jnp.clip(jnp.max(jnp.abs(way) / reach, initial=0.0) / BRANCH, 1.0, LEGS)
    )

    def going(carry):
        _, step, k = carry
        return (step > CLOSED) & (k < ITERATIONS)

    def once(carry):
        theta, _, k = carry
        A = closing_jacobian(chain, closure, theta)[:, dependent]
        step = -inverse(A) @ opening(chain, closure, theta)
        size = jnp.max(jnp.abs(step))
        step = step * jnp.where(size > LARGEST, LARGEST / size, 1.0)
        return theta.at[dependent].add(step), size, k + 1

    def lead(carry):
        """One leg of the way from the guess, small enough to stay on its branch."""
        theta, _, leg = carry
        here = jnp.where(
            leg + 1.0 >= legs, theta_i, guess[independent] + (leg + 1.0) / legs * way
        )
        start = (theta.at[independent].set(here), jnp.asarray(jnp.inf), jnp.asarray(0))
        theta, step, _ = jax.lax.while_loop(going, once, start)
        return theta, step, leg + 1.0

    begin = (guess, jnp.asarray(0.0), jnp.asarray(0.0))
    theta, step, _ = jax.lax.while_loop(
        lambda c: (c[2] < legs) & (c[1] <= CLOSED), lead, begin
    )
    return jnp.where(step <= CLOSED, theta, jnp.nan)


@_closed.def_jvp
def _closed_jvp(primals, tangents):
    """Implicit differentiation: d theta_d = -(Z J_d)^-1 dg, to every order, also in the lengths of the links."""
    (chain, closure), theta_i = primals
    theta = _closed((chain, closure), theta_i)
    theta_d = theta[np.asarray(closure.dependent, dtype=int)]

    def g(where, theta_i):
        chain, closure = where
        return opening(chain, closure, all_joints(closure, theta_i, theta_d))

    _, change = eqx.filter_jvp(g, primals, tangents)
    A = closing_jacobian(chain, closure, theta)[
        :, np.asarray(closure.dependent, dtype=int)
    ]
    rate = tangents[1]
    rate = jnp.zeros_like(theta_i) if rate is None else rate
    return theta, all_joints(closure, rate, -inverse(A) @ change)


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
    theta = jnp.concatenate(
        [joints, jnp.zeros(closure.reach.shape[0] - closure.joints)]
    )
    R, p = link_frames(chain, theta)
    selection = jnp.asarray(chain.selection)
    for k, a in enumerate(closure.links):
        c = R.shape[0] - closure.frames + k
        axis = jnp.asarray(chain.axis)[c]
        away = R[c].T @ (p[a] + R[a] @ jnp.asarray(closure.tips)[k] - p[c])
        turn = R[c].T @ R[a]
        # the angle about the axis by which the frame comes nearest to the tip's
        sine = axis @ jnp.stack(
            [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
        )
        cosine = jnp.trace(turn) - axis @ turn @ axis
        own = chain.turns[c] * jnp.arctan2(sine, cosine) + chain.slides[c] * (
            axis @ away
        )
        theta = theta + selection[c] * own
    return theta
