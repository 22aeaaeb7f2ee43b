"""The loads of a whole run as arrays: smooth pieces one after the other, walked through inside compiled code.

Compiled code depends on the number of pieces. It is therefore filled up to one of a few sizes: a longer table, or
another duration, is then nothing new.
"""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..types import Float, Real, is_traced
from .feedback import AbstractFeedback
from .signals import PolynomialPiece, Table

LADDER = 8  # numbers of rows are filled up to powers of it


class NodeLoad(eqx.Module):
    """Wrench (force, moment) on one node over a piece of time."""

    link: int = eqx.field(static=True)
    node: int = eqx.field(static=True)  # counted along the link
    in_world: bool = eqx.field(static=True)  # world axes, else link axes
    wrench: PolynomialPiece


class Loads(eqx.Module):
    """Everything that drives the robot during one smooth piece of time."""

    torque: PolynomialPiece | None = None
    feedback: AbstractFeedback | None = None
    held: Float[Array, " a"] | None = None  # command of a sampled law in force
    contact: Float[Array, "2 j"] | None = None  # with end stops, held over a step
    wrenches: tuple[NodeLoad, ...] = ()
    motion: tuple[PolynomialPiece, ...] = ()
    prescribed: tuple[int, ...] = eqx.field(static=True, default=())


class Schedule(eqx.Module):
    """The loads of all smooth pieces of a run."""

    ends: Float[Real, " p"]  # of the pieces [s]; the last one never ends
    varying: Loads  # numbers that change from piece to piece, along a leading axis
    constant: Loads  # all others

    @property
    def has_jumps(self) -> bool:
        """True if there is more than one piece."""
        return self.ends.shape[0] > 1

    def loads(self, piece) -> Loads:
        """The loads of one piece, by its number."""

        def row(leaf):
            # Plain numbers stay on the host, where nothing has to be compiled.
            plain = isinstance(leaf, np.ndarray) and not is_traced(piece)
            return leaf[int(piece)] if plain else jnp.asarray(leaf)[piece]

        return eqx.combine(jax.tree.map(row, self.varying), self.constant)

    def end(self, piece) -> Float[Array, ""]:
        """When a piece ends [s]."""
        return jnp.asarray(self.ends)[piece]

    def piece_at(self, t, t_end) -> Any:
        """Number of the piece in force at time t: at a jump the one after it, except at the end of the run."""
        ends = jnp.asarray(self.ends)
        piece = jnp.searchsorted(ends, t + 1e-12, side="right")
        last = jnp.searchsorted(ends, t_end * (1.0 - 1e-12), side="right")
        return jnp.minimum(piece, last)


def piece_from(schedule: Schedule, t: float) -> int:
    """Number of the piece on which a run begins that starts at time t."""
    if not schedule.has_jumps:
        return 0
    ends = np.asarray(schedule.ends)
    return int(np.searchsorted(ends, t + 1e-12, side="right"))


def one_piece(loads: Loads) -> Schedule:
    """The schedule of loads that are smooth all the time."""
    nothing = jax.tree.map(lambda leaf: None, loads)
    return Schedule(np.array([np.inf]), nothing, loads)


def schedule_of(
    starts: Float[np.ndarray, " p"], tables: Loads, feedback: Sequence[Any]
) -> Schedule:
    """The schedule of pieces that start at given times.

    Args:
        starts: of the pieces, the first one 0 [s].
        tables: loads without feedback, every number with a leading axis over the pieces.
        feedback: that of each piece, or a single one that serves all.
    """
    count = len(starts)
    ends = np.append(starts[1:], np.inf)
    is_constant = [_is_same(leaves) for leaves in _leaves_of(feedback)]
    tree = jax.tree.structure(feedback[0])
    constant = [
        as_array(leaves[0]) if same else None
        for leaves, same in zip(_leaves_of(feedback), is_constant, strict=True)
    ]
    varying = [
        None if same else stack(leaves)
        for leaves, same in zip(_leaves_of(feedback), is_constant, strict=True)
    ]
    fixed = Loads(feedback=jax.tree.unflatten(tree, constant))
    moving = eqx.tree_at(
        lambda loads: loads.feedback,
        tables,
        jax.tree.unflatten(tree, varying),
        is_leaf=lambda leaf: leaf is None,
    )
    if count == 1:
        first = jax.tree.map(lambda leaf: as_array(leaf[0]), moving)
        return one_piece(eqx.combine(first, _like(moving, fixed)))
    rows = padded_count(count)
    moving = jax.tree.map(lambda leaf: _padded(leaf, rows), moving)
    ends = np.append(ends, np.full(rows - count, np.inf))
    return Schedule(ends, moving, _like(moving, fixed))


def _like(tables: Loads, fixed: Loads) -> Loads:
    """The constant numbers in the structure of all loads, None where a number varies."""
    nothing = jax.tree.map(lambda leaf: None, tables)
    return eqx.tree_at(
        lambda loads: loads.feedback,
        nothing,
        fixed.feedback,
        is_leaf=lambda leaf: leaf is None,
    )


def padded_count(count: int) -> int:
    """The least power of `LADDER` that is not below a count."""
    rows = 1
    while rows < count:
        rows *= LADDER
    return rows


def with_padded_tables(law: Any) -> Any:
    """A law whose tables are filled up to one of a few sizes."""

    def is_table(part: Any) -> bool:
        return isinstance(part, Table)

    def fill_up(part: Any) -> Any:
        return part.padded_to(padded_count(len(part.t))) if is_table(part) else part

    return jax.tree.map(fill_up, law, is_leaf=is_table)


def as_array(leaf: Any) -> Any:
    """A number as an array of its kind: another value then needs no new compilation."""
    return leaf if isinstance(leaf, jax.Array) else np.asarray(leaf)


def _leaves_of(pieces: Sequence[Any]) -> list[tuple[Any, ...]]:
    """For each number in a feedback, its values over the pieces."""
    return list(zip(*(jax.tree.leaves(piece) for piece in pieces), strict=True))


def _is_same(leaves: tuple[Any, ...]) -> bool:
    """Whether a number is the same one in all pieces; equal arrays that are not the same object do not count."""
    first = leaves[0]
    if isinstance(first, float | int):
        return all(leaf == first for leaf in leaves)
    return all(leaf is first for leaf in leaves)


def stack(leaves: Sequence[Any]) -> Any:
    """Arrays along a new leading axis, in NumPy where all are concrete."""
    xp = jnp if any(isinstance(leaf, jax.Array) for leaf in leaves) else np
    return xp.stack(leaves)


def _padded(leaf: Any, rows: int) -> Any:
    """The rows of an array, the last one repeated."""
    missing = rows - leaf.shape[0]
    xp = jnp if isinstance(leaf, jax.Array) else np
    padding = [(0, missing)] + [(0, 0)] * (leaf.ndim - 1)
    return as_array(xp.pad(leaf, padding, mode="edge"))
