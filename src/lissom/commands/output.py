"""Answers on the screen: JSON for programs, tables for people."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
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
        """As rich prints, texts made visible first."""
        shown = [_visible_lines(it) if isinstance(it, str) else it for it in objects]
        super().print(*shown, **options)


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
        for part in fitting_parts(summary, screen.width):
            screen.print(table(part))
    elif summary.title:
        screen.print(summary.title, soft_wrap=True)
    for name, value in summary.facts:
        screen.print(f"{name}: {value}", soft_wrap=True)
    if summary.remark:
        screen.print(summary.remark, soft_wrap=True)
    for part in summary.parts:
        print_summary(screen, part)


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds the answer alone."""
    sys.stderr.write(f"{_visible_lines(text)}\n")


def table(summary: Summary) -> Table:
    """The table of a summary; columns of numbers stand to the right."""
    # `Text` keeps rich from reading square brackets, as in `[rad]`, as its own markup.
    title = Text(visible(summary.title)) if summary.title else None
    grid = Table(title=title, **LAYOUT)
    for name, width in zip(summary.columns, _number_widths(summary), strict=True):
        # Words may go on in the next line, a number never.
        justify = "left" if width is None else "right"
        heading = Text(visible(name))
        grid.add_column(heading, justify=justify, overflow="fold", min_width=width)
    for row in summary.rows:
        grid.add_row(*(Text(_visible_lines(cell)) for cell in row))
    return grid


def fitting_parts(summary: Summary, width: int) -> list[Summary]:
    """The summary, or where its numbers do not fit into a width, several with some of them, the words in each."""
    widths = _number_widths(summary)
    words = [k for k, needed in enumerate(widths) if needed is None]
    room = left = width - 1 - len(words) * (LEAST_WORDS + BORDER)
    groups: list[list[int]] = [[]]
    for k, needed in enumerate(widths):
        if needed is None:
            continue
        if needed + BORDER > left and groups[-1]:
            groups.append([])
            left = room
        groups[-1].append(k)
        left -= needed + BORDER
    if len(groups) == 1:
        return [summary]
    return [_with_columns(summary, [*words, *group]) for group in groups]


def _number_widths(summary: Summary) -> list[int | None]:
    """Widths of the columns of numbers, in which no number and no word of the heading is broken; None of the others."""
    widths: list[int | None] = []
    cells = zip(*summary.rows, strict=True)
    is_numeric = summary.numeric_columns()
    for name, column, is_number in zip(summary.columns, cells, is_numeric, strict=True):
        words = [*column, *visible(name).split()]
        widths.append(max(map(cell_len, words)) if is_number else None)
    return widths


def _with_columns(summary: Summary, chosen: Sequence[int]) -> Summary:
    columns = tuple(summary.columns[k] for k in chosen)
    rows = tuple(tuple(row[k] for k in chosen) for row in summary.rows)
    return summary._replace(columns=columns, rows=rows)
