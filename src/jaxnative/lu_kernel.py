"""Factors P A = L U of small dense matrices as a function with loops: a panel of columns at a time, in rows.

What lies to the right of and below a panel changes once for all its columns: every number there is read and written
once for four products, not for each of them.
"""

import functools
from collections.abc import Sequence
from typing import Any

from .kernel import Kernel
from .program import ZERO, Function
from .values import Memory

PANEL = 4  # columns
ROWS = 2  # that change side by side: a panel is as wide as some of them are high
ENOUGH = 0.1  # of the largest number of a column, for a pivot of all lanes: what rounding grows by stays small

Number = tuple[int, ...]  # one node, or two of a complex number


def lu_function(name: str, n: int, kind: str, in_lanes: bool = False) -> Function:
    """P A = L U in place with row pivoting: arguments matrix, pivots, order of the rows.

    Args:
        name: of the function.
        n: rows.
        kind: of the numbers.
        in_lanes: members in lanes exchange the same rows where that suits all of them.
    """
    kernel = Kernel(name)
    dtype = "complex128" if kind == "c" else "float64"
    a = kernel.argument(kind, (n, n), dtype)
    pivots = kernel.argument("i", (n,), "int32")
    order = kernel.argument("i", (n,), "int32")
    _Elimination(kernel, a, pivots, order, in_lanes).write()
    return kernel.finish(3)


class _Elimination:
    """Writes the elimination of one matrix."""

    def __init__(
        self, kernel: Kernel, a: Memory, pivots: Memory, order: Memory, in_lanes: bool
    ):
        self.kernel = kernel
        self.in_lanes = in_lanes
        self.a, self.pivots, self.order = a, pivots, order
        self.n = a.shape[0]
        self.stop = kernel.builder.whole(self.n)
        self.count = kernel.store.count
        self.m = kernel.math

    def write(self) -> None:
        """All panels, the last of them narrower where columns remain."""
        whole = self.kernel.builder.whole
        self.count(ZERO, self.stop, lambda i: self.kernel.write(self.order, (i,), (i,)))
        panels, left = divmod(self.n, PANEL)
        self.count(ZERO, whole(panels), self._panel)
        last = [whole(j) for j in range(self.n - left, self.n)]
        for c in range(left):
            self._column(last, c)

    # --- small things

    def at(self, i: int, j: int) -> Number:
        """An element, loaded again."""
        return self.kernel.read(self.a, i, j)

    def less(
        self, total: Number, factors: Sequence[Number], others: Sequence[Number]
    ) -> Number:
        """A number less the products of others.

        The number is older than the products: of two nodes the older one is what the other is taken from, and no sign
        is left over.
        """
        operate, kind = self.kernel.operate, self.a.kind
        for factor, other in zip(factors, others, strict=True):
            total = operate("sub", kind, total, operate("mul", kind, factor, other))
        return total

    def moved(self, first: int, by: int) -> int:
        """An index so many places further."""
        return self.m.iadd(first, self.kernel.builder.whole(by))

    # --- a panel

    def _panel(self, number: int) -> None:
        """The columns of a panel, and what they change to their right."""
        m, whole = self.m, self.kernel.builder.whole
        k = m.imul(number, whole(PANEL))
        columns = [self.moved(k, c) for c in range(PANEL)]
        for c in range(PANEL):
            self._column(columns, c)
        rest = self.moved(k, PANEL)
        self._rows_of_u(columns, rest)
        left, single = divmod(self.n - PANEL, ROWS)
        # Every panel before this one has taken as many rows as it has columns.
        taken = m.imul(number, whole(PANEL // ROWS))
        self._below(columns, rest, m.iadd(whole(left), -taken))
        if single:
            self._below_in_rows(columns, rest, [whole(self.n - 1)])

    def _column(self, columns: list[int], c: int) -> None:
        """One column of a panel: its pivot, its multipliers, and what they change in the columns after it."""
        kernel, kind = self.kernel, self.a.kind
        k, later = columns[c], columns[c + 1 :]
        self._bring_up_pivot(k)
        inverse = kernel.inverse(kind, self.at(k, k))
        row = [self.at(k, j) for j in later]

        def below(i: int) -> None:
            numbers = [self.at(i, j) for j in later]
            factor = kernel.operate("mul", kind, self.at(i, k), inverse)
            kernel.write(self.a, (i, k), factor)
            for j, number, above in zip(later, numbers, row, strict=True):
                kernel.write(self.a, (i, j), self.less(number, [factor], [above]))

        self.count(self.moved(k, 1), self.stop, below)

    def _size(self, i: int, k: int) -> int:
        """Size of an element, as LAPACK measures complex numbers."""
        parts = [self.m.function("fabs", part) for part in self.at(i, k)]
        return functools.reduce(self.m.add, parts)

    def _bring_up_pivot(self, k: int) -> None:
        """The row with the largest number of column k takes the place of row k."""
        m = self.m

        def look(i: int, best: tuple[int, ...]) -> tuple[int, ...]:
            here = self._size(i, k)
            wins = m.compare("flt", best[0], here)
            return m.select(wins, here, best[0], "d"), m.select(wins, i, best[1], "i")

        start = (self._size(k, k), k)
        largest, pivot = self.kernel.store.fold(
            self.moved(k, 1), self.stop, start, ("d", "i"), look
        )
        if self.in_lanes:
            self._exchange_together(k, largest, pivot)
        else:
            self._exchange(k, pivot)

    def _exchange(self, k: int, pivot: int) -> None:
        """Rows k and `pivot` exchange their places."""
        kernel = self.kernel
        kernel.write(self.pivots, (k,), (pivot,))

        def exchange() -> None:
            self.count(
                ZERO, self.stop, lambda j: self._swap(self.a, (k, j), (pivot, j))
            )
            self._swap(self.order, (k,), (pivot,))

        kernel.when(self.m.compare("ine", pivot, k), exchange)

    def _exchange_together(self, k: int, largest: int, pivot: int) -> None:
        """Lanes leave row k where it is, or take the row that the first of them wants, where that suits all."""
        kernel, m = self.kernel, self.m
        least = m.mul(kernel.builder.real(ENOUGH), largest)

        def suits_all(i: int) -> int:
            return m.in_all_lanes(m.compare("fle", least, self._size(i, k)))

        def choose() -> None:
            common = m.of_first_lane(pivot)
            suits = suits_all(common)
            kernel.when(suits, lambda: self._exchange(k, common))
            kernel.when(m.negate(suits), lambda: self._exchange(k, pivot))

        stays = suits_all(k)
        kernel.when(stays, lambda: kernel.write(self.pivots, (k,), (k,)))
        kernel.when(m.negate(stays), choose)

    def _swap(self, array: Memory, one: Any, other: Any) -> None:
        kernel = self.kernel
        upper, lower = kernel.read(array, *one), kernel.read(array, *other)
        kernel.write(array, one, lower)
        kernel.write(array, other, upper)

    def _rows_of_u(self, columns: list[int], rest: int) -> None:
        """The rows of the panel to its right: each less what the rows above it take away."""
        multipliers = [
            [self.at(i, j) for j in columns[:c]] for c, i in enumerate(columns)
        ]

        def column(j: int) -> None:
            known: list[Number] = []
            for i, factors in zip(columns, multipliers, strict=True):
                number = self.less(self.at(i, j), factors, known)
                known.append(number)
                if factors:
                    self.kernel.write(self.a, (i, j), number)

        self.count(rest, self.stop, column)

    def _below(self, columns: list[int], rest: int, times: int) -> None:
        """All that is left, less the products of the panel's columns and rows: a few rows, so many times."""

        def some(number: int) -> None:
            done = self.m.imul(number, self.kernel.builder.whole(ROWS))
            first = self.m.iadd(rest, done)
            rows = [self.moved(first, r) for r in range(ROWS)]
            self._below_in_rows(columns, rest, rows)

        self.count(ZERO, times, some)

    def _below_in_rows(self, columns: list[int], rest: int, rows: list[int]) -> None:
        multipliers = [[self.at(i, j) for j in columns] for i in rows]

        def column(j: int) -> None:
            numbers = [self.at(i, j) for i in rows]
            above = [self.at(i, j) for i in columns]
            for i, number, factors in zip(rows, numbers, multipliers, strict=True):
                self.kernel.write(self.a, (i, j), self.less(number, factors, above))

        self.count(rest, self.stop, column)
