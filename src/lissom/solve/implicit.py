"""Derivatives of the result of an iteration: by the implicit function theorem, not through the iteration.

A root s of R(s, a) = 0 changes with a as (dR/ds) ds = -(dR/da) da. The iteration itself stops when its error is small
against the tolerance of the run. Its derivative would stop at the same count, and no estimate watches its error.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float
from .step import stop_gradient

SMALL_CHANGE = 1e-11  # of the last correction, against the solution
MAX_CORRECTIONS = 60

Residual = Callable[[Array, Any], Array]
Preconditioner = Callable[[Array, Any], Array]


@eqx.filter_custom_jvp
def root(
    residual: Residual,
    precondition: Preconditioner,
    solution: Float[Array, "..."],
    arguments: Any,
) -> Float[Array, "..."]:
    """A root of residual(s, arguments) that an iteration has found, with its derivatives in both modes.

    Args:
        residual: its value has the shape of s.
        precondition: a cheap approximation of the inverse of dR/ds, applied to a residual.
        solution: the root.
        arguments: what the residual depends on.
    """
    return solution


@root.def_jvp
def _root_jvp(primals, tangents):
    residual, precondition, solution, arguments = primals
    changes = tangents[3]
    by_arguments = eqx.filter_jvp(
        lambda a: residual(solution, a), (arguments,), (changes,)
    )[1]
    if by_arguments is None:
        # Nothing that the residual depends on changes.
        return solution, None
    _, J = jax.linearize(lambda s: residual(s, arguments), solution)

    def improve(r):
        return precondition(r, stop_gradient(arguments))

    def improve_transposed(r):
        return jax.linear_transpose(improve, solution)(r)[0]

    change = jax.lax.custom_linear_solve(
        J,
        -by_arguments,
        lambda J, b: iterative_refinement(J, improve, b),
        lambda J_T, b: iterative_refinement(J_T, improve_transposed, b),
    )
    return solution, change


def iterative_refinement(J: Callable, improve: Callable, b: Float[Array, "..."]):
    """Solution of J s = b by corrections s + P^-1 (b - J s), each smaller than the one before as P is close to J."""

    def going(state):
        count, s, step = state
        is_wide = jnp.max(jnp.abs(step)) > SMALL_CHANGE * jnp.max(jnp.abs(s))
        return is_wide & (count < MAX_CORRECTIONS)

    def once(state):
        count, s, _ = state
        step = improve(b - J(s))
        return count + 1, s + step, step

    first = improve(b)
    return jax.lax.while_loop(going, once, (1, first, first))[1]
