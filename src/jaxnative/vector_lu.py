"""Factors P A = L U in vectors, a panel of columns at a time, as wide as a vector.

The columns of a panel are eliminated with row pivoting. Then the rows of U beside it are found, and with those in
registers every row below is brought up to date in one go.
"""

from .vector_text import Parts, VectorText


def lu_text(n: int, is_complex: bool, width: int) -> VectorText:
    """The function: arguments matrix (overwritten), pivots, order of the rows."""
    return _VectorElimination(n, is_complex, width).written()


class _VectorElimination:
    """Writes the function. The matrix stands in rows of whole vectors, real and imaginary parts apart."""

    def __init__(self, n: int, is_complex: bool, width: int):
        self.n = n
        self.text = VectorText(width)
        self.width = width
        self.blocks = -(-n // width)
        self.stride = self.blocks * width
        self.planes = ["%re", "%im"] if is_complex else ["%re"]

    def written(self) -> VectorText:
        """The whole function."""
        t = self.text
        for plane in self.planes:
            # The search for the next pivot reads one place beyond the last row.
            t.array(plane, self.n * self.stride + self.width)
        t.loop("0", str(self.n), self._row_in)
        t.loop("0", str(self.blocks), self._panel)
        t.loop("0", str(self.n), self._row_out)
        t.leave()
        return t

    # --- into the room and out of it

    def _row_in(self, i: str, _) -> tuple:
        t = self.text
        t.put(f"%o{i[1:]} = trunc i64 {i} to i32")
        place = t.element("i32", "%a2", i)
        t.put(f"store i32 %o{i[1:]}, ptr {place}")
        for block in range(self.blocks):
            parts = self._block_of_matrix(i, block)
            self._put(self._at(i, block * self.width), parts)
        return ()

    def _row_out(self, i: str, _) -> tuple:
        for block in range(self.blocks):
            parts = self._vector(self._at(i, block * self.width))
            self._block_to_matrix(i, block, parts)
        return ()

    def _places(self, i: str, block: int) -> list[tuple[str, int]]:
        """Where the vectors of a block stand in the matrix, and how many numbers of each are in its row."""
        t, parts = self.text, len(self.planes)
        first = t.add(t.times(i, parts * self.n), parts * block * self.width)
        left = parts * (self.n - block * self.width)
        vectors = range(parts)
        counts = [min(max(left - k * self.width, 0), self.width) for k in vectors]
        return [(t.add(first, k * self.width), counts[k]) for k in vectors]

    def _block_of_matrix(self, i: str, block: int) -> Parts:
        t, w = self.text, self.width
        read = []
        for place, count in self._places(i, block):
            whole = count == w
            read.append(
                t.load("%a0", place, t.vector())
                if whole
                else t.load_some("%a0", place, count)
            )
        if len(read) == 1:
            return read
        first, second = read
        return [t.shuffled(first, second, range(part, 2 * w, 2)) for part in (0, 1)]

    def _block_to_matrix(self, i: str, block: int, parts: Parts) -> None:
        t, w = self.text, self.width
        if len(parts) == 2:
            real, imaginary = parts
            pairs = [lane for k in range(w) for lane in (k, w + k)]
            parts = [t.shuffled(real, imaginary, p) for p in (pairs[:w], pairs[w:])]
        for (place, count), value in zip(self._places(i, block), parts, strict=True):
            if count == w:
                t.store("%a0", place, value, t.vector())
            else:
                t.store_some("%a0", place, value, count)

    # --- numbers of the room

    def _at(self, i: str, j: str | int) -> str:
        return self.text.add(self.text.times(i, self.stride), j)

    def _number(self, at: str) -> Parts:
        return [self.text.load(plane, at) for plane in self.planes]

    def _vector(self, at: str) -> Parts:
        v = self.text.vector()
        return [self.text.load(plane, at, v) for plane in self.planes]

    def _put(self, at: str, parts: Parts) -> None:
        for plane, value in zip(self.planes, parts, strict=True):
            self.text.store(plane, at, value, self.text.vector())

    def _everywhere(self, parts: Parts) -> Parts:
        return [self.text.broadcast(x) for x in parts]

    # --- one panel

    def _panel(self, b: str, _) -> tuple:
        t = self.text
        first = t.times(b, self.width)
        beyond = t.add(first, self.width)
        end = t.smaller(beyond, self.n)
        pivot = self._largest(first)
        t.loop(
            first,
            end,
            lambda k, carried: [self._column(k, first, carried[0])],
            [("i64", pivot)],
        )
        t.loop(
            t.add(b, 1), str(self.blocks), lambda c, _: self._beside(c, first, beyond)
        )
        return ()

    def _largest(self, k: str) -> str:
        """Row of the largest number of a column, on the diagonal or below."""

        def look(i: str, best) -> list[str]:
            return self._better(i, self._at(i, k), best)

        start = [("double", "-1.0"), ("i64", k)]
        return self.text.loop(k, str(self.n), look, start)[1]

    def _better(self, i: str, at: str, best) -> list[str]:
        t = self.text
        size = t.size(self._number(at))
        wins = t.value(f"fcmp olt double {best[0]}, {size}")
        larger = t.value(f"select i1 {wins}, double {size}, double {best[0]}")
        return [larger, t.value(f"select i1 {wins}, i64 {i}, i64 {best[1]}")]

    def _column(self, k: str, first: str, pivot: str) -> str:
        """Eliminates a column from the panel; the row of the next pivot."""
        t = self.text
        narrow = t.value(f"trunc i64 {pivot} to i32")
        t.put(f"store i32 {narrow}, ptr {t.element('i32', '%a1', k)}")
        differs = t.value(f"icmp ne i64 {pivot}, {k}")
        t.when(differs, lambda: self._exchange(k, pivot))
        inverse = t.inverse(self._number(self._at(k, k)))
        is_own, is_right = self._lanes(t.value(f"sub i64 {k}, {first}"))
        row = self._vector(self._at(k, first))
        row = [t.select(is_right, part, "zeroinitializer") for part in row]
        below = t.add(k, 1)

        def eliminate(i: str, best) -> list[str]:
            factor = t.product(self._number(self._at(i, k)), inverse)
            factors = self._everywhere(factor)
            at = self._at(i, first)
            new = t.less_product(self._vector(at), factors, row, t.vector())
            pairs = zip(factors, new, strict=True)
            self._put(at, [t.select(is_own, f, x) for f, x in pairs])
            return self._better(i, self._at(i, below), best)

        start = [("double", "-1.0"), ("i64", below)]
        return t.loop(below, str(self.n), eliminate, start)[1]

    def _lanes(self, lane: str) -> tuple[str, str]:
        """Masks of one lane, and of all to the right of it."""
        t, w = self.text, self.width
        kind = f"<{w} x i64>"
        first = t.value(f"insertelement {kind} poison, i64 {lane}, i64 0")
        zeros = f"<{w} x i32> zeroinitializer"
        own = t.value(f"shufflevector {kind} {first}, {kind} poison, {zeros}")
        counted = "<" + ", ".join(f"i64 {k}" for k in range(w)) + ">"
        masks = [
            t.value(f"icmp {how} {kind} {counted}, {own}") for how in ("eq", "sgt")
        ]
        return masks[0], masks[1]

    def _exchange(self, k: str, pivot: str) -> None:
        """Two rows change places."""
        t = self.text

        def block(c: str, _) -> tuple:
            places = [self._at(row, t.times(c, self.width)) for row in (k, pivot)]
            upper, lower = (self._vector(at) for at in places)
            self._put(places[0], lower)
            self._put(places[1], upper)
            return ()

        t.loop("0", str(self.blocks), block)
        places = [t.element("i32", "%a2", row) for row in (k, pivot)]
        upper, lower = (t.value(f"load i32, ptr {at}") for at in places)
        t.put(f"store i32 {lower}, ptr {places[0]}")
        t.put(f"store i32 {upper}, ptr {places[1]}")

    def _beside(self, c: str, first: str, beyond: str) -> tuple:
        """A block of columns right of the panel: its rows of U, and what they take from the rows below."""
        t, w = self.text, self.width
        column = t.times(c, w)
        rows = [t.add(first, k) for k in range(w)]
        found: list[Parts] = []
        for k, row in enumerate(rows):
            at = self._at(row, column)
            value = self._vector(at)
            for j in range(k):
                value = self._reduced(value, row, rows[j], found[j])
            self._put(at, value)
            found.append(value)

        def below(i: str, _) -> tuple:
            at = self._at(i, column)
            value = self._vector(at)
            for k in range(w):
                value = self._reduced(value, i, rows[k], found[k])
            self._put(at, value)
            return ()

        t.loop(beyond, str(self.n), below)
        return ()

    def _reduced(self, value: Parts, i: str, j: str, row: Parts) -> Parts:
        """A part of row i less L_ij times the same part of another row."""
        factors = self._everywhere(self._number(self._at(i, j)))
        return self.text.less_product(value, factors, row, self.text.vector())
