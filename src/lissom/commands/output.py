"""Answers on the screen: JSON for programs, tables for people."""

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..compiled_code import CompiledCode
from ..describe.errors import visible

if TYPE_CHECKING:
    from ..services.frozen_model import FrozenModel

WIDTH = 120  # of tables that do not go to a terminal


class SafeConsole(Console):
    """A console on which texts from files cannot act: control characters are written out."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints, texts made visible first."""
        shown = (_visible_lines(o) if isinstance(o, str) else o for o in objects)
        super().print(*shown, **options)


def _visible_lines(text: str) -> str:
    return visible(text, keep="\n\t")


def console() -> Console:
    """Where tables go; files and pipes get a fixed width and no colours."""
    width = None if sys.stdout.isatty() else WIDTH
    return SafeConsole(highlight=False, markup=False, width=width)


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
    sys.stdout.write(_json_controls(text) + "\n")


def _json_controls(text: str) -> str:
    """JSON with those control characters escaped that its own rules let through."""
    return re.sub(
        "[\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        text,
    )


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
    sys.stderr.write(f"{_visible_lines(text)}\n")


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """A table; columns that start with `>` are numbers and stand to the right."""
    # `Text` keeps rich from reading square brackets, as in `[rad]`, as its own markup.
    grid = Table(
        title=Text(visible(title)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
    )
    for column in columns:
        side = "right" if column.startswith(">") else "left"
        grid.add_column(Text(visible(column.removeprefix(">"))), justify=side)
    for row in rows:
        cells = [cell if isinstance(cell, str) else number(cell) for cell in row]
        grid.add_row(*(Text(_visible_lines(cell)) for cell in cells))
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
