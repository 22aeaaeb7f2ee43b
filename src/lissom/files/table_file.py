"""Tables in files of their own: `file: table.csv`, times in the first column, values in the others."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .errors import nearest
from .quantity import error

MAX_BYTES = 100_000_000
MAX_ROWS = 1_000_000
DELIMITERS = (",", ";", "\t", " ")


def table_of_file(data: Any, single: bool) -> Any:
    """A table whose `file` is read into `t` and `value`; anything else as it is.

    Args:
        data: a table as written: `{file: table.csv, column: upper}`.
        single: one value for each time, of the one `column` that is named; else a row of all of them.
    """
    if not isinstance(data, Mapping) or "file" not in data:
        return data
    both = [key for key in ("t", "value") if key in data]
    if both:
        raise error(f"a table has a file, or {' and '.join(both)}, not both")
    entries = dict(data)
    path = Path(str(entries.pop("file"))).expanduser()
    column = entries.pop("column", None)
    names, rows = read_table(path)
    if rows.shape[1] < 2:
        raise error(f"{path}: must have a column of times and at least one of values")
    entries["t"] = rows[:, 0].tolist()
    if single:
        entries["value"] = rows[:, _column(path, names, rows, column)].tolist()
    elif column is None:
        entries["value"] = rows[:, 1:].tolist()
    else:
        raise error("column: this table takes all columns of its file: leave it out")
    return entries


def read_table(path: Path) -> tuple[list[str], np.ndarray]:
    """Names (of the first line, none if it holds numbers) and numbers (rows, columns) of a table.

    Raises:
        PydanticCustomError: the file is missing, too large or no table; with the line and what stands there.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise error(f"{path}: larger than {MAX_BYTES // 1_000_000} MB")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise error(f"{path}: is not UTF-8 text (byte {reason.start})") from None
    lines = text.splitlines()
    delimiter = _delimiter(lines)
    names, first = _names(lines, delimiter)
    numbers = _numbers(path, lines[first:], first, delimiter)
    if len(numbers) > MAX_ROWS:
        raise error(f"{path}: {len(numbers)} rows, at most {MAX_ROWS} are read")
    return names, numbers


def _delimiter(lines: list[str]) -> str:
    """What stands between the columns: what the first line with content shows."""
    head = next((line for line in lines if _has_content(line)), "")
    return next((mark for mark in DELIMITERS if mark in head.strip()), ",")


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _names(lines: list[str], delimiter: str) -> tuple[list[str], int]:
    """Names of the columns, and the line at which the numbers begin."""
    for k, line in enumerate(lines):
        if not _has_content(line):
            continue
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        if all(_is_number(cell) for cell in cells):
            return [], k
        return [cell.strip() for cell in cells], k + 1
    return [], len(lines)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(path: Path, lines: list[str], first: int, delimiter: str) -> np.ndarray:
    kept = [line for line in lines if _has_content(line)]
    if not kept:
        raise error(f"{path}: holds no rows of numbers")
    separator = None if delimiter == " " else delimiter
    try:
        return np.loadtxt(kept, delimiter=separator, ndmin=2, comments=None)
    except ValueError:
        raise _bad_row(path, lines, first, separator) from None


def _bad_row(
    path: Path, lines: list[str], first: int, separator: str | None
) -> Exception:
    """The first row that is not like the others: found only once one is known to be there."""
    width = None
    for k, line in enumerate(lines):
        if not _has_content(line):
            continue
        cells = line.strip().split(separator)
        width = width or len(cells)
        bad = [cell.strip() for cell in cells if not _is_number(cell)]
        place = f"{path}:{first + k + 1}"
        if bad:
            return error(f"{place}: {bad[0] or '(empty)'}: must be a number")
        if len(cells) != width:
            return error(f"{place}: {len(cells)} columns, the rows before have {width}")
    return error(f"{path}: is not a table of numbers")


def _column(path: Path, names: list[str], rows: np.ndarray, column: Any) -> int:
    """Position of a column by its name or its number (counted from 1, the times are 1)."""
    count = rows.shape[1]
    if column is None:
        if count == 2:
            return 1
        accepted = ", ".join(names[1:]) or f"2 to {count}"
        raise error(f"{path}: has several columns: choose one, column: {accepted}")
    if isinstance(column, int) and not isinstance(column, bool):
        if 2 <= column <= count:
            return column - 1
        raise error(f"column: {column}: must be a number from 2 to {count}")
    if column in names[1:]:
        return names.index(column)
    guess = nearest(column, names[1:]) or "."
    listed = ", ".join(names[1:]) or f"2 to {count}"
    raise error(f"column: {column}: no such column{guess} Columns: {listed}")
