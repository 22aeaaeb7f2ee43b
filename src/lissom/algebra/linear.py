"""Linear solves that stay inside compiled code: LAPACK for one matrix, array operations for a batch of them.

Batched LAPACK calls that run in parallel share the threads of the processor and can wait for each other forever, so
`jax.vmap` replaces them by the same elimination written in array operations. Factors are the same either way.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Inexact, Int

from jaxnative.marks import factors_for_solving


class Factors(eqx.Module):
    """Factors P A = L U of a matrix A, by elimination with row pivoting, packed as LAPACK packs them."""

    lu: Inexact[Array, "n n"]  # U on and above the diagonal, L below it
    order: Int[Array, " n"]  # row i of P A is row order[i] of A


def factorise(A: Inexact[Array, "n n"]) -> Factors:
    """Factors of a regular matrix, for `solve_with`."""
    # The solution depends on A alone, however it is found: no derivative goes through the factors.
    return Factors(*_lu(jax.lax.stop_gradient(A)))


def identity_factors(n: int, dtype: Any) -> Factors:
    """Factors of the identity: they hold the place of factors yet to come."""
    return Factors(jnp.eye(n, dtype=dtype), jnp.arange(n, dtype=jnp.int32))


def solve(A: Inexact[Array, "n n"], b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
    """Solution y of A y = b; its derivative is A^-1 (db - dA y)."""
    return _solution(factorise(A), lambda y: A @ y, b)


@jax.jit  # of every implicit step, in several places: traced once
def solve_with(factors: Factors, b: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
    """Solution y of A y = b by given factors, which are constants: its derivative is A^-1 db."""
    return _solution(factors, lambda y: _product(factors, y), b)


def _product(factors: Factors, y: Inexact[Array, " n"]) -> Inexact[Array, " n"]:
    """A y = P^T L U y."""
    Uy = jnp.triu(factors.lu) @ y
    LUy = Uy + jnp.tril(factors.lu, -1) @ Uy
    return jnp.zeros_like(LUy).at[factors.order].set(LUy, unique_indices=True)


def _solution(
    factors: Factors, product: Callable, b: Inexact[Array, " n"]
) -> Inexact[Array, " n"]:
    """Solution of product(y) = b, whose matrix has these factors."""

    def solution(_, b):
        y = _solve_lower(factors.lu, b[factors.order, None])
        return _solve_upper(factors.lu, y)[:, 0]

    def transposed_solution(_, b):
        # A^T = U^T L^T P: the triangles in the other order, and the rows put back at the end.
        y = _solve_upper_transposed(factors.lu, b[:, None])
        y = _solve_lower_transposed(factors.lu, y)[:, 0]
        return jnp.zeros_like(y).at[factors.order].set(y)

    return jax.lax.custom_linear_solve(product, b, solution, transposed_solution)


# --- factors


_factors_for_solving = jax.jit(factors_for_solving)


@custom_vmap
def _lu(A):
    return _factors_for_solving(A)


@_lu.def_vmap
def _lu_of_a_batch(size, batched, A):
    return jax.vmap(_eliminate)(A), (True, True)


def _eliminate(A: Inexact[Array, "n n"]):
    """Factors and row order by array operations, one column after the other."""
    n = A.shape[0]
    rows = jnp.arange(n)

    def column(k, state):
        lu, order = state
        swap = _swap_in_pivot(lu[:, k], k)
        lu = lu[swap]
        below = rows > k
        multiplier = lu[:, k] / lu[k, k]
        # Only what lies below and to the right of the pivot changes.
        active_column = jnp.where(below, multiplier, 0.0)
        active_row = jnp.where(rows > k, lu[k], 0.0)
        lu = lu - jnp.outer(active_column, active_row)
        # The zeros that elimination makes in column k give their place to the multipliers.
        zeros = below[:, None] & (rows == k)[None, :]
        lu = jnp.where(zeros, multiplier[:, None], lu)
        return lu, order[swap]

    start = (A, jnp.arange(n, dtype=jnp.int32))
    return jax.lax.fori_loop(0, n, column, start)


def _swap_in_pivot(column: Inexact[Array, " n"], k) -> Int[Array, " n"]:
    """Row order that exchanges row k and the row below it with the largest element of this column."""
    rows = jnp.arange(column.shape[0])
    # LAPACK measures complex numbers so, not by their absolute value.
    size = jnp.abs(jnp.real(column)) + jnp.abs(jnp.imag(column))
    candidates = jnp.where(rows >= k, size, -1.0)
    pivot = jnp.argmax(candidates)
    order = jnp.where(rows == pivot, k, rows)
    return jnp.where(rows == k, pivot, order)


# --- triangles


def _triangular(lower: bool, transposed: bool) -> Callable:
    """Solution of T Y = B, or T^T Y = B, with L (its diagonal of ones is not stored) or U out of packed factors."""

    @custom_vmap
    def one(lu, B):
        return jax.lax.linalg.triangular_solve(
            lu,
            B,
            left_side=True,
            lower=lower,
            transpose_a=transposed,
            unit_diagonal=lower,
        )

    @one.def_vmap
    def batch(size, batched, lu, B):
        if not batched[0]:
            # One matrix for the whole batch: the right-hand sides stand side by side as columns.
            columns = jnp.moveaxis(B, 0, 1)
            side_by_side = columns.reshape(B.shape[1], -1)
            Y = one(lu, side_by_side).reshape(columns.shape)
            return jnp.moveaxis(Y, 1, 0), True
        axes = tuple(0 if is_batched else None for is_batched in batched)
        return jax.vmap(substitute, axes)(lu, B), True

    def substitute(lu, B):
        T = lu.T if transposed else lu
        return _substitute(T, B, lower != transposed, unit_diagonal=lower)

    return one


_solve_lower = _triangular(lower=True, transposed=False)
_solve_upper = _triangular(lower=False, transposed=False)
_solve_lower_transposed = _triangular(lower=True, transposed=True)
_solve_upper_transposed = _triangular(lower=False, transposed=True)


def _substitute(
    T: Inexact[Array, "n n"],
    B: Inexact[Array, "n m"],
    forwards: bool,
    unit_diagonal: bool,
) -> Inexact[Array, "n m"]:
    """Substitution by array operations: each unknown, once known, leaves the equations still to come."""
    n = T.shape[0]
    rows = jnp.arange(n)

    def unknown(i, Y):
        k = i if forwards else n - 1 - i
        y = Y[k]
        if not unit_diagonal:
            y = y / T[k, k]
        to_come = rows > k if forwards else rows < k
        column = jnp.where(to_come, T[:, k], 0.0)
        Y = Y - jnp.outer(column, y)
        is_known = rows == k
        return jnp.where(is_known[:, None], y, Y)

    return jax.lax.fori_loop(0, n, unknown, B)


# --- small matrices


def solve_by_elimination(
    A: Inexact[Array, "n n"], B: Inexact[Array, "n m"]
) -> Inexact[Array, "n m"]:
    """A^-1 B by Gauss-Jordan elimination with row pivoting, for small A; not finite if A is singular."""
    n = A.shape[0]
    rows = jnp.arange(n)

    def eliminate(k, W):
        W = W[_swap_in_pivot(W[:, k], k)]
        row = W[k] / W[k, k]
        is_pivot = rows == k
        multiplier = jnp.where(is_pivot, 0.0, W[:, k])
        W = W - jnp.outer(multiplier, row)
        return jnp.where(is_pivot[:, None], row, W)

    # Elimination turns [A B] into [1 A^-1 B].
    start = jnp.concatenate([A, B], axis=1)
    return jax.lax.fori_loop(0, n, eliminate, start)[:, n:]


def inverse(A: Inexact[Array, "n n"]) -> Inexact[Array, "n n"]:
    """Inverse of a small matrix; not finite if A is singular."""
    return solve_by_elimination(A, jnp.eye(A.shape[0], dtype=A.dtype))
