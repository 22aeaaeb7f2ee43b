"""The numbers of a run as named columns: for CSV files, spreadsheets and pandas."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from xarray import Dataset

# Quantities of a table by default.
USUAL = ("q", "qd", "encoder", "torque", "position", "energy")
# And those of the nodes that a run records.
RECORDED = ("velocity", "acceleration")
DIGITS = 17  # enough for every number of 64 bits


def node_label(names: Iterable[str], label: str) -> str:
    """The name of a node with its number: of `fore/tip`, that of the last node of the link `fore`."""
    link, _, number = label.rpartition("/")
    if number != "tip":
        return label
    own = [name for name in names if name.rpartition("/")[0] == link]
    return own[-1] if own else label


def names_of_nodes(names: Iterable[str]) -> list[str]:
    """Names by which nodes are found: tips first, then all by their numbers."""
    numbered = list(names)
    tips = dict.fromkeys(f"{name.rpartition('/')[0]}/tip" for name in numbered)
    return [*tips, *numbered]


def quantities(data: "Dataset") -> list[str]:
    """Quantities that a run holds over time."""
    return [str(name) for name, held in data.data_vars.items() if "time" in held.dims]


def usual(data: "Dataset") -> list[str]:
    """Quantities of a table by default."""
    return [*USUAL, *(name for name in RECORDED if name in data)]


def columns(data: "Dataset", names: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    """Pairs of a column's name and its numbers: `time`, `q.upper`, `position.lower/1.x`."""
    yield "time", data["time"].values
    for name in names:
        held = data[name]
        labels = [_labels(held, dim) for dim in held.dims if dim != "time"]
        rows = held.transpose("time", ...).values.reshape(len(data["time"]), -1)
        for place, column in zip(product(*labels), rows.T, strict=True):
            yield ".".join((name, *place)), column


def _labels(held: Any, dimension: Any) -> list[str]:
    """Names along a dimension, or numbers where it has none."""
    if dimension in held.coords:
        return [str(label) for label in held[dimension].values]
    return [str(k) for k in range(held.sizes[dimension])]


def csv_text(data: "Dataset", names: Sequence[str]) -> str:
    """The table as CSV: one row of names, one row for each output time."""
    table = list(columns(data, names))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in table])
    for row in zip(*(column for _, column in table), strict=True):
        writer.writerow([format(value, f".{DIGITS}g") for value in row])
    return text.getvalue()
