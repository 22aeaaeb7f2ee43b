"""What the tables of a benchmark report are made of: a column is a name, and what it shows of a row."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Cells = Sequence[str]
Row = Mapping[str, Any]
Column = tuple[str, Callable[[Any], str]]

BUSY = " *: other programs held the processor, the wall time is too long."


class ReportTable(NamedTuple):
    """A title, the names of the columns, the rows, and what has to be said about them."""

    title: str
    columns: Cells
    rows: Sequence[Cells]
    note: str = ""


def table_of(
    title: str, columns: Sequence[Column], rows: Sequence[Any], note: str = ""
) -> ReportTable:
    """A table of rows, column by column."""
    names = [name for name, _ in columns]
    cells = [[show(row) for _, show in columns] for row in rows]
    return ReportTable(title, names, cells, note)


def entry(row: Row, path: str) -> Any:
    """A number of a row, or of a part of it by a dotted path."""
    value: Any = row
    for key in path.split("."):
        value = value[key]
    return value


def shown(path: str, form: str = "") -> Callable[[Row], str]:
    """An entry in a format of Python's."""
    return lambda row: format(entry(row, path), form)


def duration(path: str) -> Callable[[Row], str]:
    """Seconds as text, with digits by their size."""
    return lambda row: seconds(entry(row, path))


def waited(path: str, form: Callable[[float], str]) -> Callable[[Row], str]:
    """A wall time, with a star where it waited for the processor."""
    part, _, _ = path.rpartition(".")

    def show(row: Row) -> str:
        measured = entry(row, part) if part else row
        return form(entry(row, path)) + busy(measured)

    return show


def metres(path: str) -> Callable[[Row], str]:
    """A distance [m] as text."""
    return lambda row: f"{entry(row, path):.1e} m"


def busy(row: Row) -> str:
    """A star on times that waited for the processor."""
    return "*" if row["machine_busy"] else ""


def seconds(value: float) -> str:
    """Three significant digits, at least to the millisecond."""
    return f"{value:.3f}" if value < 1 else f"{value:.3g}"


def numbers(values: Sequence[float]) -> str:
    """A few values in five digits."""
    return ", ".join(f"{value:.5g}" for value in values)
