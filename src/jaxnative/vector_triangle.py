"""Triangular systems with one right-hand side in vectors, a block of unknowns at a time, as many as lanes.

What the unknowns before a block take from its rows are products of rows with a vector, all at once; what is left is a
small triangle of single numbers.
"""

from .vector_text import Parts, VectorText


def triangle_text(
    n: int, is_complex: bool, is_lower: bool, is_unit: bool, width: int
) -> VectorText:
    """The function: arguments right-hand side (overwritten by the solution), and matrix."""
    form = _Complex(n, width) if is_complex else _Real(n, width)
    t = form.text
    blocks = list(range(0, n, width))
    for first in blocks if is_lower else reversed(blocks):
        rows = range(first, min(first + width, n))
        known = range(first) if is_lower else range(rows.stop, n)
        left = {i: form.remainder(i, known) for i in rows}
        found: dict[int, Parts] = {}
        for i in rows if is_lower else reversed(rows):
            value = left[i]
            for j, unknown in found.items():
                value = t.less_product(value, form.number(i, j), unknown)
            if not is_unit:
                value = t.product(value, t.inverse(form.number(i, i)))
            found[i] = value
        for i, value in found.items():
            form.keep(i, value)
    t.leave()
    return t


class _Real:
    """Reads and writes real numbers; the unknowns so far stand in an array of whole vectors."""

    def __init__(self, n: int, width: int):
        self.n = n
        self.text = VectorText(width)
        self.blocks = -(-n // width)
        self.text.array("%y", self.blocks * width)
        for block in range(self.blocks):
            zeros = "zeroinitializer"
            self.text.store("%y", block * width, zeros, self.text.vector())

    def number(self, i: int, j: int) -> Parts:
        """A number of the matrix."""
        return [self.text.load("%a1", i * self.n + j)]

    def remainder(self, i: int, known: range) -> Parts:
        """Right-hand side i, less the row times the unknowns that are known: whole vectors of them."""
        t = self.text
        right = t.load("%a0", i)
        total = ""
        for j in range(known.start, known.stop, t.width):
            row = t.load("%a1", i * self.n + j, t.vector())
            y = t.load("%y", j, t.vector())
            term = t.operate("fmul", row, y, t.vector())
            total = t.operate("fadd", total, term, t.vector()) if total else term
        if not total:
            return [right]
        return [t.operate("fsub", right, t.sum_of_lanes(total))]

    def keep(self, i: int, value: Parts) -> None:
        """Keeps an unknown."""
        for base in ("%a0", "%y"):
            self.text.store(base, i, value[0])


class _Complex:
    """The same for complex numbers, as they stand in memory: pairs.

    Rows are multiplied by real and imaginary parts of the unknowns, each of them twice in a row; the sums are
    combined only in the end.
    """

    def __init__(self, n: int, width: int):
        self.n = n
        self.text = VectorText(width)
        size = 2 * -(-n // width) * width
        for name in ("%yr", "%yi"):
            self.text.array(name, size)
            for first in range(0, size, width):
                self.text.store(name, first, "zeroinitializer", self.text.vector())

    def number(self, i: int, j: int) -> Parts:
        """A number of the matrix."""
        first = 2 * (i * self.n + j)
        return [self.text.load("%a1", first), self.text.load("%a1", first + 1)]

    def remainder(self, i: int, known: range) -> Parts:
        """Right-hand side i, less the row times the unknowns that are known: whole vectors of them."""
        t = self.text
        right = [t.load("%a0", 2 * i), t.load("%a0", 2 * i + 1)]
        sums = ["", ""]
        for j in range(2 * known.start, 2 * known.stop, t.width):
            row = t.load("%a1", 2 * i * self.n + j, t.vector())
            for k, name in enumerate(("%yr", "%yi")):
                y = t.load(name, j, t.vector())
                term = t.operate("fmul", row, y, t.vector())
                before = sums[k]
                sums[k] = (
                    t.operate("fadd", before, term, t.vector()) if before else term
                )
        if not sums[0]:
            return right
        pair = zip(right, self._pair(*sums), strict=True)
        return [t.operate("fsub", b, total) for b, total in pair]

    def _pair(self, by_real: str, by_imaginary: str) -> Parts:
        """Sums over pairs: a_r y_r - a_i y_i, and a_i y_r + a_r y_i."""
        t = self.text
        width = t.width
        while width > 2:
            halves = [range(width // 2), range(width // 2, width)]
            width //= 2
            kind = f"<{width} x double>"
            by_real, by_imaginary = (
                t.operate(
                    "fadd",
                    *[t.shuffled(a, a, half, 2 * width) for half in halves],
                    kind,
                )
                for a in (by_real, by_imaginary)
            )
        rr, ir = (self._lane(by_real, k) for k in (0, 1))
        ri, ii = (self._lane(by_imaginary, k) for k in (0, 1))
        return [t.operate("fsub", rr, ii), t.operate("fadd", ir, ri)]

    def _lane(self, a: str, k: int) -> str:
        return self.text.value(f"extractelement <2 x double> {a}, i64 {k}")

    def keep(self, i: int, value: Parts) -> None:
        """Keeps an unknown."""
        for k, name in enumerate(("%yr", "%yi")):
            self.text.store("%a0", 2 * i + k, value[k])
            for twice in (0, 1):
                self.text.store(name, 2 * i + twice, value[k])
