"""Functions that between them use every operation of the engine, with arguments."""

import jax
import jax.numpy as jnp
import numpy as np

from .linear import factorise, inverse, solve_with

RANDOM = np.random.default_rng(0)
A = jnp.asarray(RANDOM.normal(size=(7, 7)))
B = jnp.asarray(RANDOM.normal(size=(7, 5)))
V = jnp.asarray(RANDOM.normal(size=7))
# Of these sizes triangular systems are solved in registers, and are not.
MATRICES = {n: jnp.asarray(RANDOM.normal(size=(n, n))) for n in (14, 15, 28, 29)}
FEW, WIDE = (jnp.asarray(RANDOM.normal(size=shape)) for shape in ((5, 3), (3, 20)))


def products(A, B, v):
    """Matrix products, functions, reductions, views."""
    return (
        jnp.sin(A) @ B + v[:, None],
        jnp.max(A, axis=1),
        jnp.sum(A * A),
        v[::-1] - A[2],
    )


def counting_loop(A, v):
    """A loop that writes one element in each round."""

    def once(i, state):
        rows, x = state
        return rows.at[i].set(2.0 * x[i]), 0.1 * (x @ A)

    return jax.lax.fori_loop(0, 5, once, (v, v))


def searching_loop(A, v):
    """A loop of unknown length that exchanges what goes round, and writes rows of a table."""

    def is_going(state):
        return (state[2] < 10) & (jnp.max(jnp.abs(state[0])) > 1e-3)

    def once(state):
        x, y, k, table = state
        return y, 0.5 * x, k + 1, table.at[k].set(x)

    start = (v, v[::-1], jnp.asarray(0), jnp.zeros((12, 7)))
    return jax.lax.while_loop(is_going, once, start)


def systems(A, v):
    """Factors, solutions, inverse."""
    lu, _, order = jax.lax.linalg.lu(A)
    return lu, order, solve_with(factorise(A), v), inverse(A)


def complex_systems(A, v):
    """The same with complex numbers."""
    matrix = A + 1j * A.T
    lu, _, _ = jax.lax.linalg.lu(matrix)
    x = solve_with(factorise(matrix), v.astype(complex))
    return x, jnp.real(lu), jnp.abs(lu)


def powers(v):
    """Powers that are roots, and one that is not."""
    x = jnp.abs(v)
    roots = [x**p for p in (0.25, -0.25, 0.5, -0.5)]
    return (*roots, x**1.7)


def seen_twice(v):
    """Arrays that change while the same operation still reads them, as another operand or through a view."""
    x = jnp.sin(v)
    shifted = jnp.cos(v).at[1:-1].set(jnp.cos(v)[:-2])
    y = jnp.exp(-v * v)
    moved = y.at[1:].set(y[:-1])

    def damped(i, z):
        return 0.5 * z * x + 1.0

    w = jnp.tanh(v)
    backwards = w[::-1]
    u = v * v
    return (
        shifted,
        moved,
        # What goes round begins as what every round reads,
        jax.lax.fori_loop(0, 3, damped, x),
        # as what is read backwards,
        jax.lax.fori_loop(0, 3, lambda i, z: 0.5 * z * backwards + 1.0, w),
        # and as the rows that are gone through.
        jax.lax.scan(lambda z, row: (0.5 * z + row, jnp.sum(z)), u, u),
    )


def products_of_few_terms(A, B):
    """A product whose numbers have few terms each, real and complex, and results that only some lanes take."""
    rotated = (A + 0.5j * A) @ (B - 1j * B)
    taken = jax.lax.cond(
        jnp.sum(A) > 0.0, lambda: A @ B, lambda: 2.0 * jnp.cos(B[:1]) + A[:, :1]
    )
    return A @ B, jnp.real(rotated), jnp.imag(rotated), taken


def kept_in_place(A, v):
    """Branches that hand some of their arrays through, exchange them, or make new ones, round after round."""

    def once(k, state):
        B, C, w = state

        def renew():
            return B @ B.T / 9.0, B, w + C[0]

        def exchange():
            return C, B, -w

        B, C, w = jax.lax.cond(w[0] > 0, renew, lambda: (B, C, 0.5 - w))
        D, C = jax.lax.cond(k % 2 == 0, lambda: (C, B), lambda: (B, C))
        B, C, w = jax.lax.switch(k % 3, [exchange, renew, lambda: (D, C, w)])
        return B, C, w

    return jax.lax.fori_loop(0, 7, once, (A, A.T @ A, v))


def branches(A, v):
    """Branches, choices, searches, computed indices."""
    chosen = jax.lax.cond(
        v[0] > 0,
        lambda: (A @ v, jnp.argmax(v)),
        lambda: (A.T @ v, jnp.argmin(v)),
    )
    rows = jax.vmap(lambda row, i: row[i])(A, jnp.argmax(A, axis=1))
    return (
        chosen,
        jnp.where(v > 0, v, -1.0),
        jnp.clip(v, -0.2, 0.2),
        v[jnp.argmax(v)],
        (jnp.argmax(v > 0), jnp.argmin(v > 0), jnp.argmax(A > 0.5, axis=1)),
        A[jnp.array([1, 3, -1])],
        rows,
        jnp.searchsorted(jnp.arange(7.0), v[0], side="right"),
    )


def rows(A, v):
    """A scan, running sums, margins, joined and stacked arrays."""

    def once(x, row):
        return jnp.tanh(A @ x + row), x.sum()

    return (
        jax.lax.scan(once, v, A),
        jnp.cumsum(v),
        jnp.pad(A, ((1, 2), (0, 1))),
        jax.lax.pad(A, 0.5, ((-1, 2, 0), (1, -2, 1))),
        jnp.diagonal(A),
        jnp.concatenate([A, A.T], axis=1),
        jnp.stack([v, 2.0 * v]),
        jnp.einsum("ij,kj,k->i", A, A, v),
        jnp.all(v > -5.0),
        jnp.isfinite(v),
    )


CASES = {
    "products": (products, (A, B, V)),
    "counting loop": (counting_loop, (A, V)),
    "searching loop": (searching_loop, (A, V)),
    "systems": (systems, (A, V)),
    "complex systems": (complex_systems, (A, V)),
    **{f"systems of {n}": (systems, (M, M[0])) for n, M in MATRICES.items()},
    **{
        f"complex systems of {n}": (complex_systems, (MATRICES[n], MATRICES[n][0]))
        for n in (14, 15)
    },
    "arrays seen twice": (seen_twice, (V,)),
    "powers": (powers, (V,)),
    "products of few terms": (products_of_few_terms, (FEW, WIDE)),
    "branches, one way": (branches, (A, V)),
    "branches, other way": (branches, (A, -V)),
    "branches that keep": (kept_in_place, (A, V)),
    "branches that keep, other way": (kept_in_place, (A, -V)),
    "rows": (rows, (A, V)),
}
