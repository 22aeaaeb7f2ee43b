"""Answers on the screen: JSON for programs, tables for people."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 120  # of tables that do not go to a terminal


def console() -> Console:
    """Where tables go; files and pipes get a fixed width and no colours."""
    return Console(
        highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDTH
    )


def print_json(answer: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    from ..services.service import plain

    sys.stdout.write(
        json.dumps(plain(answer), allow_nan=False, ensure_ascii=False, indent=2) + "\n"
    )


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds the answer alone."""
    sys.stderr.write(f"{text}\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table; columns that start with `>` are numbers and stand to the right."""
    made = Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for column in columns:
        made.add_column(
            Text(column.removeprefix(">")),
            justify="right" if column.startswith(">") else "left",
        )
    for row in rows:
        made.add_row(
            *(Text(cell if isinstance(cell, str) else number(cell)) for cell in row)
        )
    return made


def number(value: Any) -> str:
    """A number for the eye; a dash where there is none."""
    if value is None or value != value:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.5g}"


def vector(values: Iterable[float], scale: float = 1.0) -> list[str]:
    """Numbers in one unit with fixed decimals, so that they can be compared down a column."""
    return [f"{scale * value:.4f}".replace("-0.0000", "0.0000") for value in values]
