"""Answers on the screen: JSON for programs, tables for people."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiled_code import CompiledCode

if TYPE_CHECKING:
    from ..services.frozen_model import FrozenModel

WIDTH = 120  # of tables that do not go to a terminal


def console() -> Console:
    """Where tables go; files and pipes get a fixed width and no colours."""
    width = None if sys.stdout.isatty() else WIDTH
    return Console(highlight=False, markup=False, width=width)


def print_json(
    answer: "Mapping[str, Any] | FrozenModel", code: CompiledCode | None = None
) -> None:
    """One JSON object on stdout; with `code`, also how much compiled code came from the cache."""
    from ..services.frozen_model import plain

    entries = plain(answer)
    if code is not None:
        entries["cached"] = code.reused
        entries["cache"] = plain(code.report())
    text = json.dumps(entries, allow_nan=False, ensure_ascii=False, indent=2)
    sys.stdout.write(text + "\n")


def print_files(screen: Console, files: Mapping[str, str]) -> None:
    """The files that were written, by what they hold."""
    for kind, path in files.items():
        screen.print(f"{kind}: {path}")


def conclude(warnings: Sequence[str], strict: bool, as_json: bool) -> None:
    """Doubts, one line each on stderr (JSON holds them already); with `strict` they end in exit code 1."""
    if not as_json:
        for line in warnings:
            note(f"warning: {line}")
    if strict and warnings:
        raise typer.Exit(1)


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds the answer alone."""
    sys.stderr.write(f"{text}\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table; columns that start with `>` are numbers and stand to the right."""
    # `Text` keeps rich from reading square brackets, as in `[rad]`, as its own markup.
    grid = Table(
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for column in columns:
        side = "right" if column.startswith(">") else "left"
        grid.add_column(Text(column.removeprefix(">")), justify=side)
    for row in rows:
        cells = [cell if isinstance(cell, str) else number(cell) for cell in row]
        grid.add_row(*(Text(cell) for cell in cells))
    return grid


def number(value: Any) -> str:
    """A number for the eye; a dash where there is none."""
    # NaN is the one number that differs from itself.
    if value is None or value != value:
        return "-"
    return str(value) if isinstance(value, int) else f"{value:.5g}"


def vector(values: Iterable[float], scale: float = 1.0) -> list[str]:
    """Numbers in one unit with fixed decimals, so that they can be compared down a column."""
    texts = [f"{scale * value:.4f}" for value in values]
    # Round-off below zero is no direction.
    return [text.replace("-0.0000", "0.0000") for text in texts]
