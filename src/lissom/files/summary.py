"""What an object says of itself: a title, a few facts and one table, as text and for notebooks."""

import abc
import html
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .errors import visible

MOST_ROWS = 24  # of a table on the screen; the rest is counted


class Summary(NamedTuple):
    """An object in words and numbers."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remark: str = ""  # under the table

    def text(self) -> str:
        """Lines for a terminal."""
        lines = [self.title]
        lines += [f"  {name}: {value}" for name, value in self.facts]
        lines += self._table()
        lines += self._last_lines()
        return "\n".join(visible(line) for line in lines)

    def html(self) -> str:
        """The same for a notebook."""
        parts = [f"<b>{html.escape(self.title)}</b>"]
        for name, value in self.facts:
            parts.append(f"<br>{html.escape(name)}: {html.escape(value)}")
        if self.rows:
            body = [_html_row("th", self.columns)]
            body += [_html_row("td", row) for row in self.rows[:MOST_ROWS]]
            parts.append(f"<table>{''.join(body)}</table>")
        parts += [f"<p>{html.escape(line.strip())}</p>" for line in self._last_lines()]
        return visible("".join(parts))

    def _table(self) -> list[str]:
        if not self.rows:
            return []
        shown = [self.columns, *self.rows[:MOST_ROWS]]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        return [f"  {_aligned(row, widths)}".rstrip() for row in shown]

    def _last_lines(self) -> list[str]:
        left = len(self.rows) - MOST_ROWS
        lines = [f"  ... and {left} more"] if left > 0 else []
        return [*lines, f"  {self.remark}"] if self.remark else lines


class Summarised(abc.ABC):
    """Prints as its summary."""

    @abc.abstractmethod
    def summary(self) -> Summary:
        """The object in words and numbers."""

    def __repr__(self) -> str:
        """Text of the summary."""
        return self.summary().text()

    def __str__(self) -> str:
        """Text of the summary."""
        return self.summary().text()

    def _repr_html_(self) -> str:
        """The summary in a notebook."""
        return self.summary().html()


def number(value: Any, digits: int = 5) -> str:
    """A number for the eye: a dash where there is none, its type where it is traced."""
    try:
        value = float(value)
    except TypeError:
        return "traced"
    return "-" if np.isnan(value) else f"{value:.{digits}g}"


def numbers(values: Any) -> str:
    """Several numbers in a row."""
    try:
        return ", ".join(number(value) for value in np.asarray(values).ravel())
    except TypeError:
        return f"traced, shape {np.shape(values)}"


def count(many: int, thing: str) -> str:
    """`1 link`, `2 links`."""
    return f"{many} {thing}" if many == 1 else f"{many} {thing}s"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, numbers to the right."""
    cells = []
    for cell, width in zip(row, widths, strict=True):
        side = str.rjust if _is_number(cell) else str.ljust
        cells.append(side(cell, width))
    return "  ".join(cells)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(c)}</{tag}>' for c in cells)}</tr>"
