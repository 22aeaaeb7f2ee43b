"""Answers on the screen: JSON for programs, tables for people."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ..compiled_code import CompiledCode
from ..files.errors import visible
from ..files.summary import Summary, plain

WIDTH = 120  # of tables that do not go to a terminal
LEAST_WORDS = 8  # width of a column of words, at least
BORDER = 3  # line and space around a cell
LAYOUT: Any = {"title_justify": "left", "title_style": "bold", "header_style": "bold"}


class SafeConsole(Console):
    """A console on which texts from files cannot act: control characters are written out."""

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints, texts made visible first, and wide tables as several that fit."""
        for thing in objects:
            if isinstance(thing, Table):
                for part in fitting_tables(thing, self.width):
                    super().print(part, **options)
            else:
                shown = _visible_lines(thing) if isinstance(thing, str) else thing
                super().print(shown, **options)
        if not objects:
            super().print(**options)


def _visible_lines(text: str) -> str:
    return visible(text, keep="\n\t")


def console() -> Console:
    """Where tables go; files and pipes get a fixed width and no colours."""
    width = None if sys.stdout.isatty() else WIDTH
    return SafeConsole(highlight=False, markup=False, width=width)


def print_json(answer: Mapping[str, Any], code: CompiledCode | None = None) -> None:
    """One JSON object on stdout; with `code`, also how much compiled code came from the cache."""
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


def print_summary(screen: Console, summary: Summary) -> None:
    """Tables of a summary, with its facts and remarks below each."""
    if summary.rows:
        screen.print(table(summary))
    elif summary.title:
        screen.print(summary.title, soft_wrap=True)
    for name, value in summary.facts:
        screen.print(f"{name}: {value}", soft_wrap=True)
    if summary.remark:
        screen.print(summary.remark, soft_wrap=True)
    for part in summary.parts:
        print_summary(screen, part)


def conclude(warnings: Sequence[str], strict: bool, as_json: bool) -> None:
    """Warnings, one line each on stderr (JSON holds them already); with `strict` they end in exit code 1."""
    if not as_json:
        for line in warnings:
            note(f"warning: {line}")
    if strict and warnings:
        raise typer.Exit(1)


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds the answer alone."""
    sys.stderr.write(f"{_visible_lines(text)}\n")


def table(summary: Summary) -> Table:
    """The table of a summary; columns of numbers stand to the right."""
    # `Text` keeps rich from reading square brackets, as in `[rad]`, as its own markup.
    title = Text(visible(summary.title)) if summary.title else None
    grid = Table(title=title, **LAYOUT)
    for name, is_number in zip(summary.columns, summary.numeric_columns(), strict=True):
        # Words may go on in the next line, a number never.
        justify = "right" if is_number else "left"
        grid.add_column(Text(visible(name)), justify=justify, overflow="fold")
    for row in summary.rows:
        grid.add_row(*(Text(_visible_lines(cell)) for cell in row))
    return grid


def fitting_tables(grid: Table, width: int) -> list[Table]:
    """The table, or where its numbers do not fit into a width, several with some of them, the words in each."""
    numbers = [column for column in grid.columns if column.justify == "right"]
    words = [column for column in grid.columns if column.justify != "right"]
    for column in numbers:
        column.min_width = max(cell.cell_len for cell in _texts(column))
    room = width - 1 - sum(LEAST_WORDS + BORDER for _ in words)
    groups: list[list[Column]] = [[]]
    left = room
    for column in numbers:
        needed = (column.min_width or 0) + BORDER
        if needed > left and groups[-1]:
            groups.append([])
            left = room
        groups[-1].append(column)
        left -= needed
    if len(groups) == 1:
        return [grid]
    return [_part(grid, [*words, *group]) for group in groups]


def _texts(column: Column) -> list[Text]:
    """The cells of a column, and the words of its heading, which may stand one below the other."""
    cells = [cell for cell in column.cells if isinstance(cell, Text)]
    heading = column.header
    if isinstance(heading, Text):
        cells += [Text(word) for word in heading.plain.split()]
    return cells or [Text("")]


def _part(grid: Table, columns: Sequence[Column]) -> Table:
    """A table of some of the columns of another one."""
    part = Table(title=grid.title, **LAYOUT)
    for column in columns:
        part.add_column(
            column.header,
            justify=column.justify,
            overflow="fold",
            min_width=column.min_width,
        )
    for row in zip(*(column.cells for column in columns), strict=True):
        part.add_row(*row)
    return part
