"""A march under way as plain arrays, from which a run continues with the same numbers."""

from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from .march import MarchState
from .record import RunRecord
from .solution import Segment


class CheckpointError(ValueError):
    """A file that is no checkpoint, or the checkpoint of another run."""


class Checkpoint(NamedTuple):
    """A march under way: its state as plain arrays, the rows that are filled, and its segments."""

    leaves: list[np.ndarray]
    columns: dict[str, np.ndarray]
    segments: tuple[Segment, ...]

    def state(self, shapes: MarchState) -> MarchState:
        """The march; `shapes` is one of the same robot, with shapes in place of numbers.

        Raises:
            CheckpointError: the numbers do not fit the robot.
        """
        wanted, tree = jax.tree.flatten(shapes)
        stored = [(leaf.shape, leaf.dtype) for leaf in self.leaves]
        if stored != [(leaf.shape, leaf.dtype) for leaf in wanted]:
            raise CheckpointError("its numbers do not fit the robot")
        return jax.tree.unflatten(tree, [jnp.asarray(leaf) for leaf in self.leaves])

    def restore(self, rows: RunRecord) -> None:
        """Fill in the rows that were computed before."""
        for name, column in self.columns.items():
            rows.columns[name][: len(column)] = column


@runtime_checkable
class CheckpointStore(Protocol):
    """Storage for the state of a running simulation."""

    def keep(
        self,
        at: MarchState,
        rows: RunRecord,
        segments: tuple[Segment, ...],
        at_once: bool = False,
    ) -> None:
        """Store the march if the interval since the last time is over, or `at_once`."""

    def read(self) -> Checkpoint | None:
        """The stored march; None if there is none."""
