"""Linear solves that stay inside compiled code: LAPACK for one system, elimination in array operations for batches."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Inexact, Int


class Factors(eqx.Module):
    """LU factors with their row order, by LAPACK: fastest for one system at a time."""

    lu: Inexact[Array, "n n"]
    order: Int[Array, " n"]


class Inverse(eqx.Module):
    """The inverse, by elimination in array operations: batched LAPACK calls can wait for each other forever."""

    matrix: Inexact[Array, "n n"]


def factorise(A: Inexact[Array, "n n"], portable: bool = False) -> Factors | Inverse:
    """What `solve` needs of a regular matrix; `portable` for code that will be batched."""
    if portable:
        return Inverse(inverse(A))
    lu, _, order = jax.lax.linalg.lu(A)
    return Factors(lu, order)


def blank(n: int, dtype: Any, portable: bool = False) -> Factors | Inverse:
    """A place for factors yet to come: those of the identity."""
    one = jnp.eye(n, dtype=dtype)
    return Inverse(one) if portable else Factors(one, jnp.arange(n, dtype=jnp.int32))


def solve(factors: Factors | Inverse, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
    """Solution of A y = b."""
    if isinstance(factors, Inverse):
        return factors.matrix @ b
    y = jax.lax.linalg.triangular_solve(
        factors.lu,
        b[factors.order, None],
        left_side=True,
        lower=True,
        unit_diagonal=True,
    )
    return jax.lax.linalg.triangular_solve(factors.lu, y, left_side=True, lower=False)[
        :, 0
    ]


def inverse(A: Inexact[Array, "n n"]) -> Inexact[Array, "n n"]:
    """Inverse by Gauss-Jordan elimination with row pivoting; not finite if A is singular."""
    n = A.shape[0]
    rows = jnp.arange(n)

    def eliminate(k, W):
        column = W[:, k]
        pivot = jnp.argmax(jnp.where(rows >= k, jnp.abs(column), -1.0))
        W = W[jnp.where(rows == k, pivot, jnp.where(rows == pivot, k, rows))]
        row = W[k] / W[k, k]
        others = jnp.where(rows == k, 0.0, W[:, k])
        return jnp.where(
            (rows == k)[:, None], row[None, :], W - others[:, None] * row[None, :]
        )

    start = jnp.concatenate([A, jnp.eye(n, dtype=A.dtype)], axis=1)
    return jax.lax.fori_loop(0, n, eliminate, start)[:, n:]
