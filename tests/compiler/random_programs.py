"""Programs at random: arrays are computed, cut, written to and sent round loops; each may be used again."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

N = 9  # numbers in every vector: more than functions in memory keep as single numbers
Vector = Any


class RandomProgram:
    """A function of two vectors, the same for the same seed.

    Args:
        seed: of everything that is chosen.
        length: operations of the program; loops and branches have some of their own.
    """

    def __init__(self, seed: int, length: int = 12):
        self._seed = seed
        self._length = length

    def __call__(self, v: Vector, w: Vector) -> list[Vector]:
        """All vectors that nothing else has used, and some that are used elsewhere too."""
        chance = np.random.default_rng(self._seed)
        pool = grown([v, w], chance, self._length, depth=0)
        return pool[-4:]


def grown(pool: list[Vector], chance: Any, length: int, depth: int) -> list[Vector]:
    """Some vectors, and more that are made of them."""
    pool = list(pool)
    simple = (together, cut, written, moved, turned, gathered, updated)
    nested = (counted, searched, gone_through, chosen)
    ways: tuple[Callable, ...] = simple if depth == 2 else (*simple, *nested)
    for _ in range(length):
        way = ways[chance.integers(len(ways))]
        # Late ones more often: chains are longer than trees.
        picks = chance.integers(max(0, len(pool) - 4), len(pool), size=3)
        pool.append(way([pool[k] for k in picks], pool, chance, depth))
    return pool


# --- operations on vectors -----------------------------------------------------------------------------------------


def together(picked, pool, chance, depth):
    a, b, c = picked
    return jnp.sin(a) * b - 0.5 * c


def cut(picked, pool, chance, depth):
    a, b, _ = picked
    k = int(chance.integers(1, N - 1))
    return jnp.concatenate([a[k:], b[:k]])


def written(picked, pool, chance, depth):
    a, b, _ = picked
    size = int(chance.integers(1, N))
    to, at = (int(chance.integers(0, N - size + 1)) for _ in range(2))
    return a.at[to : to + size].set(b[at : at + size])


def moved(picked, pool, chance, depth):
    (a, *_) = picked
    return a.at[1:].set(a[:-1])


def turned(picked, pool, chance, depth):
    a, b, _ = picked
    matrix = jnp.outer(a, b) / (1.0 + jnp.sum(b * b))
    return (matrix + matrix.T) @ a[::-1]


def place_by(a: Vector) -> Any:
    """A place that follows from a vector, and that rounding does not change."""
    return jnp.floor(7.3 * jnp.sum(jnp.sin(a))).astype(int) % N


def gathered(picked, pool, chance, depth):
    a, b, _ = picked
    places = (2 * jnp.arange(N) + place_by(b)) % N
    return a[places]


def updated(picked, pool, chance, depth):
    a, b, c = picked
    at = place_by(b) % (N - 3)
    return jax.lax.dynamic_update_slice(a, c[2:5], (at,))


# --- loops and branches --------------------------------------------------------------------------------------------


def inside(first: list[Vector], chance: Any, depth: int) -> Vector:
    """A vector that stays of moderate size however often it goes round."""
    return jnp.tanh(grown(first, chance, 3, depth + 1)[-1])


def body_of(pool: list[Vector], chance: Any, depth: int) -> Callable[..., list[Vector]]:
    """Two vectors from two, and from all that is there already: the same however often it is traced."""
    seed = int(chance.integers(2**31))

    def body(*own: Vector) -> list[Vector]:
        again = np.random.default_rng(seed)
        return [inside([*pool[-3:], *own], again, depth) for _ in range(2)]

    return body


def counted(picked, pool, chance, depth):
    body = body_of(pool, chance, depth)
    a, b, _ = picked
    a, b = jax.lax.fori_loop(0, 3, lambda i, pair: tuple(body(*pair)), (a, b))
    return a - b


def searched(picked, pool, chance, depth):
    body = body_of(pool, chance, depth)
    a, b, c = picked

    def going(state):
        count, a, _ = state
        return (count < 4) & (jnp.sum(a) < 2.0)

    def once(state):
        count, a, b = state
        a, b = body(a, b)
        return count + 1, b, a

    _, a, b = jax.lax.while_loop(going, once, (jnp.asarray(0), a, b))
    return a + c * b


def gone_through(picked, pool, chance, depth):
    body = body_of(pool, chance, depth)
    a, b, c = picked

    def once(pair, number):
        x, y = body(*pair)
        return (x, y + number), jnp.sum(x) * number

    (a, _), rows = jax.lax.scan(once, (a, b), c)
    return a + rows


def chosen(picked, pool, chance, depth):
    yes, no = (body_of(pool, chance, depth) for _ in range(2))
    a, b, c = picked
    # One branch hands through what the other one changes.
    keeps = bool(chance.integers(2))
    x, y = jax.lax.cond(
        jnp.sum(c) > 0.0,
        lambda: (a, yes(a, b)[0]) if keeps else tuple(yes(a, b)),
        lambda: tuple(no(b, a)),
    )
    return x - y
