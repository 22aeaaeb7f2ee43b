"""What an object says of itself: a title, a few facts and tables, as text, for notebooks, and as plain data."""

import abc
import html
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from typing_extensions import override

from .errors import visible

MOST_ROWS = 24  # of a table on the screen; the rest is counted


class Summary(NamedTuple):
    """An object in words and numbers."""

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    remark: str = ""  # under the table
    parts: tuple["Summary", ...] = ()  # further tables

    def text(self) -> str:
        """Lines for a terminal."""
        lines = [self.title]
        lines += [f"  {name}: {value}" for name, value in self.facts]
        lines += self._table()
        lines += self._last_lines()
        shown = [visible(line) for line in lines]
        return "\n".join([*shown, *(part.text() for part in self.parts)])

    def numeric_columns(self) -> tuple[bool, ...]:
        """Which columns of the table hold numbers alone."""
        columns = zip(*self.rows, strict=True)
        return tuple(all(map(_is_number, column)) for column in columns)

    def html(self) -> str:
        """The summary as HTML, for notebooks."""
        parts = [f"<b>{html.escape(self.title)}</b>"]
        for name, value in self.facts:
            parts.append(f"<br>{html.escape(name)}: {html.escape(value)}")
        if self.rows:
            body = [_html_row("th", self.columns)]
            body += [_html_row("td", row) for row in self.rows[:MOST_ROWS]]
            parts.append(f"<table>{''.join(body)}</table>")
        parts += [f"<p>{html.escape(line.strip())}</p>" for line in self._last_lines()]
        return visible("".join(parts)) + "".join(part.html() for part in self.parts)

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

    def shown(self) -> Summary:
        """What is shown where the object is printed."""
        return self.summary()

    def __repr__(self) -> str:
        """Text of the summary."""
        return self.shown().text()

    def __str__(self) -> str:
        """Text of the summary."""
        return self.shown().text()

    def _repr_html_(self) -> str:
        """The summary in a notebook."""
        return self.shown().html()


class Result(Summarised):
    """What a verb finds: it prints as its summary, and `to_dict` is what `--json` prints."""

    @abc.abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The numbers and names of the result as plain data, which JSON carries."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the result, one line each."""
        return ()

    @property
    def errors(self) -> Sequence[Any]:
        """What is wrong with what was asked about: the command says it on stderr and ends with exit code 2."""
        return ()

    @override
    def shown(self) -> Summary:
        summary = self.summary()
        warnings = (("warning", line) for line in self.warnings)
        return summary._replace(facts=(*summary.facts, *warnings))

    @property
    def passed(self) -> bool:
        """False of a result that says that something failed: the command ends with exit code 1."""
        return True

    @property
    def nothing_to(self) -> tuple[str, ...]:
        """Methods that have nothing to write, such as `plot` where there is nothing to draw."""
        return ()


def plain(value: Any) -> Any:
    """Numbers, texts, lists and mappings that JSON knows; what is not finite is `None`, a complex number a pair."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, bool | str | int) or value is None:
        return value
    # JSON has no NaN and no infinity.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, complex):
        return {"real": plain(value.real), "imag": plain(value.imag)}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    # Results, requests and their parts, arrays of NumPy and of JAX.
    for method in ("to_dict", "model_dump", "tolist"):
        if hasattr(value, method):
            return plain(getattr(value, method)())
    return str(value)


def number(value: Any, digits: int = 5) -> str:
    """A number for the eye: a dash where there is none, its type where it is traced."""
    if value is None:
        return "-"
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


def named_numbers(names: Iterable[str], values: Any, digits: int = 6) -> str:
    """`upper = 0.5, lower = 1`."""
    pairs = zip(names, values, strict=True)
    return ", ".join(f"{name} = {value:.{digits}g}" for name, value in pairs)


def fixed(values: Iterable[Any]) -> list[str]:
    """Numbers in one unit with fixed decimals, so that they can be compared down a column."""
    texts = [f"{math.nan if value is None else value:.4f}" for value in values]
    # Round-off below zero is no direction.
    return [text.replace("-0.0000", "0.0000") for text in texts]


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
        float(text.removesuffix(" %"))
    except ValueError:
        return text in ("", "-")
    return True


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(c)}</{tag}>' for c in cells)}</tr>"
