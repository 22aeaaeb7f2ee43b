"""Linear solves as clients write them: factors of a marked function, triangles, and a solution with its own rule."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxnative.marks import factors_for_solving


class Factors(NamedTuple):
    """P A = L U, packed as LAPACK packs them."""

    lu: Any
    order: Any


def factorise(A):
    return Factors(*jax.jit(factors_for_solving)(A))


def identity_factors(n, dtype):
    return Factors(jnp.eye(n, dtype=dtype), jnp.arange(n, dtype=jnp.int32))


@jax.jit
def solve_with(factors, b):
    def product(y):
        Uy = jnp.triu(factors.lu) @ y
        LUy = Uy + jnp.tril(factors.lu, -1) @ Uy
        return jnp.zeros_like(LUy).at[factors.order].set(LUy, unique_indices=True)

    def solution(_, b):
        y = _triangle(factors.lu, b[factors.order, None], lower=True)
        return _triangle(factors.lu, y, lower=False)[:, 0]

    return jax.lax.custom_linear_solve(product, b, solution, solution)


def _triangle(lu, b, lower):
    return jax.lax.linalg.triangular_solve(
        lu, b, left_side=True, lower=lower, unit_diagonal=lower
    )


def inverse(A):
    """By Gauss-Jordan elimination with row pivoting."""
    n = A.shape[0]
    rows = jnp.arange(n)

    def eliminate(k, W):
        candidates = jnp.where(rows >= k, jnp.abs(W[:, k]), -1.0)
        pivot = jnp.argmax(candidates)
        order = jnp.where(rows == pivot, k, rows)
        W = W[jnp.where(rows == k, pivot, order)]
        row = W[k] / W[k, k]
        multiplier = jnp.where(rows == k, 0.0, W[:, k])
        W = W - jnp.outer(multiplier, row)
        return jnp.where((rows == k)[:, None], row, W)

    start = jnp.concatenate([A, jnp.eye(n)], axis=1)
    return jax.lax.fori_loop(0, n, eliminate, start)[:, n:]
