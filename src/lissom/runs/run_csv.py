"""A run read back from its table: the numbers of `lissom simulate -o run.csv`, without the robot."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from ..files.errors import refused_file
from ..files.table_file import read_table
from ..solve.node_motion import KINDS
from .run import Run
from .run_table import VARIABLES, RunTable

# Dimensions beside the time, and units, of what a table can hold.
COLUMNS = {
    name: (dimensions.split()[1:], units)
    for name, (dimensions, units, _) in VARIABLES.items()
} | {name: (["recorded", "axis"], unit) for name, (_, unit) in KINDS.items()}


def run_of_csv(path: str) -> Run:
    """The run in a table of a whole run, as `run.to_csv`, `lissom simulate` and `lissom plot` write it.

    Raises:
        DescriptionError: there is no such file, or it is another table.
    """
    try:
        names, rows = read_table(Path(path))
    except PydanticCustomError as failure:
        # It begins with the name of the file, with or without a line.
        message = failure.message().removeprefix(f"{Path(path)}:").strip()
        line, _, rest = message.partition(": ")
        if line.isdecimal():
            raise refused_file(path, rest, int(line)) from None
        raise refused_file(path, message) from None
    if names[:1] != ["time"]:
        raise refused_file(path, _other_table(names))
    time, numbers = rows[:, 0], rows[:, 1:]
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"time": ("time", time, {"units": "s"})}
    columns = [tuple(name.split(".")) for name in names[1:]]
    for quantity in dict.fromkeys(column[0] for column in columns):
        if quantity not in COLUMNS:
            known = ", ".join(COLUMNS)
            message = f"column {quantity}: no quantity of a run. There are: {known}"
            raise refused_file(path, message)
        dimensions, units = COLUMNS[quantity]
        places = [k for k, column in enumerate(columns) if column[0] == quantity]
        labels = _labels([columns[k][1:] for k in places], len(dimensions))
        if labels is None:
            message = f"{quantity}: columns are missing, or are not those of a run"
            raise refused_file(path, message)
        shape = (len(time), *map(len, labels))
        values = numbers[:, places].reshape(shape)
        about = {"units": units} if units else {}
        variables[quantity] = (("time", *dimensions), values, about)
        # Rows and columns of a matrix have numbers for names.
        named = zip(dimensions, labels, strict=True)
        coordinates |= {d: names for d, names in named if d not in ("row", "column")}
    for needed in ("joint", "node"):
        coordinates.setdefault(needed, [])
    links = (node.rpartition("/")[0] for node in coordinates["node"])
    coordinates["link"] = list(dict.fromkeys(links))
    return Run(RunTable(variables, coordinates, {"name": Path(path).stem}))


def _other_table(names: Sequence[str]) -> str:
    first = names[0] if names else "none"
    return (
        f"is no table of a run: its first column is {first}, not time. `lissom simulate -o run.csv` writes one; a "
        "table of chosen quantities (--what) holds no run"
    )


def _labels(columns: list[tuple[str, ...]], depth: int) -> list[list[str]] | None:
    """Names along each dimension of columns that fill a whole block, row by row; None where they do not."""
    if any(len(column) != depth for column in columns):
        return None
    labels = [list(dict.fromkeys(names)) for names in zip(*columns, strict=True)]
    whole = [()]
    for names in labels:
        whole = [(*before, name) for before in whole for name in names]
    return labels if whole == columns else None
