"""The text of a function of rows: as many as there are lanes are put side by side for another function to work on."""

import hashlib
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .llvm_lines import LlvmLines, pointers

Row = int | str  # its number, or an operand


class RowArgument(NamedTuple):
    """An argument of a function of rows."""

    size: int  # numbers of each row
    is_shared: bool = False  # the same for all rows
    is_result: bool = False


def rows_text(
    inner: str, arguments: Sequence[RowArgument], width: int, count: int | None
) -> tuple[str, str]:
    """Name and text of a function of all rows.

    Args:
        inner: name of the function of as many rows as there are lanes.
        arguments: of both functions.
        width: number of lanes.
        count: of rows, no more than lanes. None: it is an argument, behind those that all rows share.
    """
    text = _RowsText(inner, arguments, width)
    parameters = len(arguments)
    if count is None:
        parameters += 1
        text.all_rows()
    else:
        text.few_rows(count)
    text.leave()
    types = ", ".join(["ptr"] * len(arguments))
    text.declared.add(f"declare void @{inner}({types})")
    digest = hashlib.sha256(text.text("", pointers(parameters)).encode()).hexdigest()
    name = f"rows{digest[:24]}"
    return name, text.text(name, pointers(parameters))


class _RowsText(LlvmLines):
    def __init__(self, inner: str, arguments: Sequence[RowArgument], width: int):
        super().__init__(width)
        self.inner = inner
        self.arguments = arguments

    def few_rows(self, count: int) -> None:
        """All rows at once; lanes beyond the last one hold that row once more."""
        places = [f"%a{k}" for k in range(len(self.arguments))]
        self._lanes(is_on_heap=False)
        rows: list[Row] = [min(lane, count - 1) for lane in range(self.width)]
        self._at_once(places, rows, count)

    def all_rows(self) -> None:
        """A vector of rows after the other."""
        shared = sum(argument.is_shared for argument in self.arguments)
        places = [f"%a{k + (k >= shared)}" for k in range(len(self.arguments))]
        # Models with thousands of nodes have no room on the stack.
        self._lanes(is_on_heap=True)
        count = self.value(f"load i64, ptr %a{shared}")
        last = self.value(f"sub i64 {count}, 1")

        def some(first: str, _: Sequence[str]) -> Sequence[str]:
            rows: list[Row] = []
            for lane in range(self.width):
                row = self.value(f"add i64 {first}, {lane}")
                is_there = self.value(f"icmp slt i64 {row}, {count}")
                rows.append(self.value(f"select i1 {is_there}, i64 {row}, i64 {last}"))
            # Lanes beyond the last row compute that row once more, to the same bits.
            self._at_once(places, rows, self.width)
            return ()

        self.loop("0", count, some, step=self.width)

    def _lanes(self, is_on_heap: bool) -> None:
        """Memory for one vector of rows."""
        for k, argument in enumerate(self.arguments):
            if not argument.is_shared:
                size = max(argument.size, 1) * 8 * self.width
                self.room(f"%lanes{k}", size, is_on_heap)

    def _at_once(self, places: list[str], rows: list[Row], count: int) -> None:
        """The rows in lanes: in, through the function, and the first `count` of them out."""
        operands = []
        for k, argument in enumerate(self.arguments):
            operands.append(places[k] if argument.is_shared else f"%lanes{k}")
            if not (argument.is_shared or argument.is_result):
                self._move(k, places[k], rows, self._side_by_side)
        pairs = ", ".join(f"ptr {operand}" for operand in operands)
        self.put(f"call void @{self.inner}({pairs})")
        for k, argument in enumerate(self.arguments):
            if argument.is_result:
                self._move(k, places[k], rows[:count], self._apart)

    def _move(
        self,
        k: int,
        place: str,
        rows: Sequence[Row],
        how: Callable[[list[str], str], None],
    ) -> None:
        """Moves the numbers of an argument, one of each row at a time."""
        size, starts = self.arguments[k].size, []
        for row in rows:
            is_known = isinstance(row, int)
            first = row * size if is_known else self.value(f"mul i64 {row}, {size}")
            starts.append(self.element("double", place, first))

        def one(i: str) -> None:
            numbers = [self.element("double", start, i) for start in starts]
            how(numbers, self.element(self.vector(), f"%lanes{k}", i))

        self.repeat(size, one)

    def _side_by_side(self, numbers: list[str], lanes: str) -> None:
        values = [self.value(f"load double, ptr {number}") for number in numbers]
        self.put(f"store {self.vector()} {self.joined('double', values)}, ptr {lanes}")

    def _apart(self, numbers: list[str], lanes: str) -> None:
        v = self.vector()
        value = self.value(f"load {v}, ptr {lanes}")
        for lane, number in enumerate(numbers):
            one = self.value(f"extractelement {v} {value}, i64 {lane}")
            self.put(f"store double {one}, ptr {number}")
