"""Which values the runs of a study have: grids, lists, tables, random and low-discrepancy samples."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from .axis import AxisEntries, points, quantiles

GRID = "grid"
ZIP = "zip"
SALTELLI = "saltelli"
SAMPLERS = ("random", "sobol", "halton", "latin-hypercube", SALTELLI)
# Words of earlier versions, in study files and in stores.
OTHER_NAMES = {"together": ZIP}


def sampling_name(word: Any) -> Any:
    """Name of a sampling, whatever it is called; anything else as it is."""
    return OTHER_NAMES.get(word, word) if isinstance(word, str) else word


class Design(NamedTuple):
    """The values of all runs: one column for each key, one row for each run."""

    keys: tuple[str, ...]
    columns: tuple[np.ndarray, ...]

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self.columns[0])

    def settings(self, first: int, last: int) -> list[list[Any]]:
        """Values of the runs `first` to `last`, not included, in the order of the keys."""
        columns = [column[first:last].tolist() for column in self.columns]
        rows = zip(*columns, strict=True)
        return [list(row) for row in rows]


def grid(axes: Mapping[str, AxisEntries]) -> Design:
    """Every combination; the last axis runs fastest."""
    values = [points(axis) for axis in axes.values()]
    shape = [len(column) for column in values]
    places = np.indices(shape).reshape(len(shape), -1)
    columns = [column[place] for column, place in zip(values, places, strict=True)]
    return Design(tuple(axes), tuple(columns))


def zip_axes(axes: Mapping[str, AxisEntries]) -> Design:
    """The first values of all axes, then the second ones, and so on."""
    return Design(tuple(axes), tuple(points(axis) for axis in axes.values()))


def samples(
    axes: Mapping[str, AxisEntries], sampling: str, count: int, seed: int
) -> Design:
    """`count` samples, the same for the same seed; of `saltelli`, `count * (axes + 2)` runs."""
    if sampling == SALTELLI:
        u = saltelli_points(len(axes), count, seed)
    else:
        u = unit_points(sampling, len(axes), count, seed)
    columns = [quantiles(axis, u[:, k]) for k, axis in enumerate(axes.values())]
    return Design(tuple(axes), tuple(columns))


def unit_points(sampling: str, dimensions: int, count: int, seed: int) -> np.ndarray:
    """Points (count, dimensions) of the unit cube."""
    rng = np.random.default_rng(seed)
    if sampling == "random":
        return rng.random((count, dimensions))
    # Slow to import, and grids need none of it.
    if sampling == "sobol":
        # The first points of 2^m: any number works, a power of two is spread best.
        power = max(int(np.ceil(np.log2(count))), 0)
        return scipy.stats.qmc.Sobol(dimensions, rng=rng).random_base2(power)[:count]
    if sampling == "halton":
        return scipy.stats.qmc.Halton(dimensions, rng=rng).random(count)
    return scipy.stats.qmc.LatinHypercube(dimensions, rng=rng).random(count)


def saltelli_points(dimensions: int, count: int, seed: int) -> np.ndarray:
    """Points of the samples A and B, then of A with its first column from B, its second, and so on [Saltelli2010]."""
    both = unit_points("sobol", 2 * dimensions, count, seed)
    A, B = both[:, :dimensions], both[:, dimensions:]
    mixed = []
    for k in range(dimensions):
        page = A.copy()
        page[:, k] = B[:, k]
        mixed.append(page)
    return np.concatenate([A, B, *mixed])


def table_design(names: Sequence[str], rows: np.ndarray) -> Design:
    """One run for each row of a table."""
    return Design(tuple(names), tuple(rows.T))
