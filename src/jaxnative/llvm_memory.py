"""What reads and writes memory, for LLVM: numbers that differ between lanes stand side by side, lane after lane."""

from collections.abc import Callable

from .llvm_lines import splat
from .llvm_nodes import STORED, TYPES, NodeText
from .program import Buffer, Copy, StoreNumber
from .untranslatable import Untranslatable

ALIGNED = {"double": 8, "i64": 8, "i32": 4, "i8": 1}  # bytes that numbers begin at


class MemoryText(NodeText):
    """Writes loads, stores and copies."""

    def pointer(self, buffer: Buffer, index: int, scale: int = 1) -> str:
        """Where a number of all lanes stands; an index counts so many numbers."""
        if self.is_wide(index):
            raise Untranslatable("lanes that look at different places of an array")
        return super().pointer(buffer, index, scale)

    # --- single numbers

    def load(self, node: int, buffer: Buffer, index: int) -> None:
        """Loads a number; short integers and booleans are converted to the types of arithmetic."""
        stored = STORED[buffer.dtype]
        t = self.wide(stored, node)
        if self.is_wide(index):
            line = self._gathered(buffer, index)
        else:
            pointer = self.pointer(buffer, index)
            line = f"load {t}, ptr {pointer}, align {ALIGNED[stored]}"
        computed = self.type_of(node, buffer.part_kind)
        if stored in ("double", "i64"):
            self.put(f"%n{node} = {line}")
            return
        raw = self.value(line)
        how = "zext" if buffer.dtype.startswith("u") else "sext"
        how = "trunc" if buffer.dtype == "bool" else how
        self.put(f"%n{node} = {how} {t} {raw} to {computed}")

    def store(self, s: StoreNumber) -> None:
        """Writes a number."""
        buffer, stored, kind = s.buffer, STORED[s.buffer.dtype], s.buffer.part_kind
        is_own = not self.form.is_shared(buffer)
        value = self.spread(s.value, kind) if is_own else self.operand(s.value, kind)
        if stored != TYPES[kind]:
            how = "zext" if kind == "b" else "trunc"
            before = self.vector(TYPES[kind]) if is_own else TYPES[kind]
            value = self.value(f"{how} {before} {value} to {self.stored_type(buffer)}")
        if self.is_wide(s.index):
            self._scatter(buffer, s.index, value)
            return
        self._put_number(self.pointer(buffer, s.index), value, buffer)

    def _number_at(self, pointer: str, buffer: Buffer) -> str:
        """The number of all lanes that stands somewhere; vectors of short numbers begin anywhere."""
        t, align = self.stored_type(buffer), ALIGNED[STORED[buffer.dtype]]
        return self.value(f"load {t}, ptr {pointer}, align {align}")

    def _put_number(self, pointer: str, value: str, buffer: Buffer) -> None:
        """Stores a number, in active lanes only."""
        if self.is_masked(buffer):
            old = self._number_at(pointer, buffer)
            value = self.chosen(value, old, STORED[buffer.dtype])
        t, align = self.stored_type(buffer), ALIGNED[STORED[buffer.dtype]]
        self.put(f"store {t} {value}, ptr {pointer}, align {align}")

    # --- gather and scatter

    def _index(self, index: int) -> str:
        """Indices of all lanes; 0 in inactive ones."""
        return self.chosen(self.spread(index, "i"), "zeroinitializer", "i64")

    def _lane_pointers(self, buffer: Buffer, at: str) -> list[str]:
        """Where the element of each lane stands."""
        w, whole = self.width, self.vector("i64")
        if not self.form.is_shared(buffer):
            at = self.value(f"mul {whole} {at}, {splat(w, str(w), 'i64')}")
            steps = "<" + ", ".join(f"i64 {k}" for k in range(w)) + ">"
            at = self.value(f"add {whole} {at}, {steps}")
        pointers = []
        stored, base = STORED[buffer.dtype], self.base(buffer)
        for lane in range(w):
            place = self.value(f"extractelement {whole} {at}, i64 {lane}")
            pointers.append(self.element(stored, base, place))
        return pointers

    def _agreed(self, at: str) -> tuple[str, str]:
        """The index of the first active lane, and whether all active lanes have the same."""
        whole = self.vector("i64")
        lane = self.first(self.mask)
        first = self.value(f"extractelement {whole} {at}, i64 {lane}")
        same = self.value(f"icmp eq {whole} {at}, {self.broadcast(first, 'i64')}")
        idle = self.opposite(self.mask)
        same = self.value(f"or {self.vector('i1')} {same}, {idle}")
        return first, self.all(same)

    def _two_ways(
        self, truth: str, yes: Callable[[], str], no: Callable[[], str]
    ) -> list[tuple[str, str]]:
        """Two branches to one value: the value and the last block of each."""
        here, there, after = (self.new("b") for _ in range(3))
        self.put(f"br i1 {truth}, label %{here}, label %{there}")
        found = []
        for label, way in ((here, yes), (there, no)):
            self.label(label)
            value, end = way(), self.new("b")
            self.jump(end)
            self.label(end)
            self.jump(after)
            found.append((value, end))
        self.label(after)
        return found

    def _gathered(self, buffer: Buffer, index: int) -> str:
        """Gathers a number of each lane; one vector load where all lanes have the same index."""
        stored, at = STORED[buffer.dtype], self._index(index)
        v = self.vector(stored)
        if self.form.is_shared(buffer):
            raw = self._collected(stored, self._lane_pointers(buffer, at))
            return f"bitcast {v} {raw} to {v}"
        first, agree = self._agreed(at)
        ways = self._two_ways(
            agree,
            lambda: self._number_at(self.element(v, self.base(buffer), first), buffer),
            lambda: self._collected(stored, self._lane_pointers(buffer, at)),
        )
        return f"phi {v} " + ", ".join(f"[{value}, %{end}]" for value, end in ways)

    def _collected(self, stored: str, pointers: list[str]) -> str:
        """A vector of numbers loaded lane by lane."""
        v, raw = self.vector(stored), "poison"
        for lane, pointer in enumerate(pointers):
            one = self.value(f"load {stored}, ptr {pointer}")
            raw = self.value(f"insertelement {v} {raw}, {stored} {one}, i64 {lane}")
        return raw

    def _scatter(self, buffer: Buffer, index: int, value: str) -> None:
        """Scatters a number of each lane; one vector store where all lanes have the same index."""
        stored, at = STORED[buffer.dtype], self._index(index)
        v = self.vector(stored)
        first, agree = self._agreed(at)

        def together() -> str:
            place = self.element(v, self.base(buffer), first)
            new = self.chosen(value, self._number_at(place, buffer), stored)
            self.put(f"store {v} {new}, ptr {place}, align {ALIGNED[stored]}")
            return ""

        def apart() -> str:
            self._put_apart(stored, self._lane_pointers(buffer, at), value)
            return ""

        self._two_ways(agree, together, apart)

    def _put_apart(self, stored: str, pointers: list[str], value: str) -> None:
        """Stores a vector lane by lane, in active lanes only."""
        new = self.chosen(value, self._collected(stored, pointers), stored)
        for lane, pointer in enumerate(pointers):
            one = self.value(f"extractelement {self.vector(stored)} {new}, i64 {lane}")
            self.put(f"store {stored} {one}, ptr {pointer}")

    # --- copies

    def memcpy(self, target: str, source: str, size: int) -> None:
        """Copies so many bytes."""
        name = "@llvm.memcpy.p0.p0.i64"
        self.declared.add(f"declare void {name}(ptr, ptr, i64, i1 immarg)")
        where = f"ptr {target}, ptr {source}"
        self.put(f"call void {name}({where}, i64 {size}, i1 false)")

    def bytes_of(self, buffer: Buffer, count: int) -> int:
        """Size of so many elements of all lanes."""
        return count * buffer.item_bytes * self.width

    def copy(self, s: Copy) -> None:
        """Copies elements."""
        scale = s.target.parts
        if self.is_wide(s.target_index) or self.is_wide(s.source_index):
            self._copy_apart(s, scale)
            return
        target = self.pointer(s.target, s.target_index, scale)
        source = self.pointer(s.source, s.source_index, scale)
        if self.form.is_shared(s.source) != self.form.is_shared(s.target):
            self._copy_to_all(s, target, source, scale)
        elif self.is_masked(s.target):
            self.copy_masked(s.target, target, source, s.count * scale)
        else:
            self.memcpy(target, source, self.bytes_of(s.target, s.count))

    def copy_masked(self, buffer: Buffer, target: str, source: str, count: int) -> None:
        """Copies so many numbers in active lanes."""
        v = self.stored_type(buffer)

        def one(i: str) -> None:
            new = self._number_at(self.element(v, source, i), buffer)
            self._put_number(self.element(v, target, i), new, buffer)

        self.repeat(count, one)

    def _copy_to_all(self, s: Copy, target: str, source: str, scale: int) -> None:
        """Broadcasts numbers that all lanes share."""
        stored, v = STORED[s.target.dtype], self.stored_type(s.target)

        def one(i: str) -> None:
            number = self.value(f"load {stored}, ptr {self.element(stored, source, i)}")
            new = self.broadcast(number, stored)
            self._put_number(self.element(v, target, i), new, s.target)

        self.repeat(s.count * scale, one)

    def _copy_apart(self, s: Copy, scale: int) -> None:
        """Numbers copied from or to a place that differs from lane to lane."""
        stored = STORED[s.target.dtype]
        sources = self._starts(s.source, s.source_index, scale)
        targets = self._starts(s.target, s.target_index, scale)
        step_from = 1 if self.form.is_shared(s.source) else self.width

        def one(i: str) -> None:
            there = self._moved(sources, stored, i, step_from)
            here = self._moved(targets, stored, i, self.width)
            self._put_apart(stored, here, self._collected(stored, there))

        self.repeat(s.count * scale, one)

    def _starts(self, buffer: Buffer, index: int, scale: int) -> list[str]:
        """Where the elements of each lane begin."""
        if scale != 1 and self.is_wide(index):
            raise Untranslatable("complex numbers at places that differ between lanes")
        if self.is_wide(index):
            return self._lane_pointers(buffer, self._index(index))
        stored, first = STORED[buffer.dtype], self.pointer(buffer, index, scale)
        step = 0 if self.form.is_shared(buffer) else 1
        return [self.element(stored, first, step * k) for k in range(self.width)]

    def _moved(self, starts: list[str], stored: str, i: str, step: int) -> list[str]:
        at = self.value(f"mul i64 {i}, {step}")
        return [self.element(stored, start, at) for start in starts]
