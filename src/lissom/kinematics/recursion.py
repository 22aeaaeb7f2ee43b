"""Outward recursion over the links, six numbers each, and its transpose, inwards from the tips.

Twists and small displacements obey a_i = G_i a_p + b_i, p the link that carries link i. One pass over the links solves
for all of them, and one pass back takes forces on a to forces on b: the cost grows with the number of links, where the
products of the matrices G_i, formed for all pairs of links, would grow with its square.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.so3 import cross_matrix
from ..types import Float
from .chain import inwards, outwards

Stack = Float[Array, "l 6"]


def transfer_matrices(
    R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]
) -> Float[Array, "l 6 6"]:
    """T = Ad(R, p)^-1 of every link: (v, w) -> (R^T (v + w x p), R^T w)."""
    Rt = jnp.swapaxes(R, 1, 2)
    # w x p = -(p x) w
    lever = -Rt @ cross_matrix(p)
    above = jnp.concatenate([Rt, lever], axis=2)
    below = jnp.concatenate([jnp.zeros_like(Rt), Rt], axis=2)
    return jnp.concatenate([above, below], axis=1)


def carry(T: Float[Array, "l 6 6"], b: Stack) -> Stack:
    """T b, link by link."""
    return jnp.einsum("lij,lj->li", T, b)


def transpose_carry(T: Float[Array, "l 6 6"], f: Stack) -> Stack:
    """T^T f, link by link."""
    return jnp.einsum("lij,li->lj", T, f)


class Recursion(eqx.Module):
    """a_i = G_i a_p + b_i, p the parent of link i; the ground stands still."""

    G: Float[Array, "l 6 6"]
    # None: each link moves on the one before it.
    parents: tuple[int, ...] | None = eqx.field(static=True)

    def solve_columns(self, own: Float[Array, "l 6 k"]) -> Float[Array, "l 6 k"]:
        """Solutions a for several b, column by column."""

        def step(a, link):
            G, b = link
            return G @ a + b

        ground = jnp.zeros(own.shape[1:])
        return outwards(self.parents, step, ground, (self.G, own))

    def solve(self, *own: Stack) -> tuple[Stack, ...]:
        """Solutions a for several b at once."""
        # One pass with a few columns costs less than several with one.
        a = self.solve_columns(jnp.stack(own, axis=-1))
        return tuple(a[..., k] for k in range(len(own)))

    def solve_transpose(self, *force: Stack) -> tuple[Stack, ...]:
        """The transpose of `solve`: forces on each link and on all that it carries."""

        def hand_down(link, f):
            return link.T @ f

        f = inwards(self.parents, hand_down, self.G, jnp.stack(force, axis=-1))
        return tuple(f[..., k] for k in range(len(force)))
