"""Memory of lanes for LLVM: numbers that differ between lanes stand side by side, lane after lane."""

from . import lane_math
from .lane_nodes import LaneNodes
from .llvm_text import STORED, TYPES, bytes_of
from .program import Buffer, Copy, StoreNumber
from .untranslatable import Untranslatable

ALIGNED = {"double": 8, "i64": 8, "i32": 4, "i8": 1}  # bytes that numbers begin at


class LaneMemory(LaneNodes):
    """Writes what reads and writes memory."""

    def element(self, buffer: Buffer, index: int, scale: int = 1) -> str:
        """Where an element of all lanes begins."""
        if self.form.is_varying(index):
            raise Untranslatable("lanes that look at different places of an array")
        place = self.literal(index, "i")
        if place == "0":
            return self.base(buffer)
        stored = STORED[buffer.dtype]
        kind = stored if self.form.is_shared(buffer) else self.vector(stored)
        at = self.operand(index, "i")
        if scale != 1:
            at = self.value(f"mul i64 {at}, {scale}")
        base = self.base(buffer)
        return self.value(f"getelementptr inbounds {kind}, ptr {base}, i64 {at}")

    def pointer(self, buffer: Buffer, index: int, scale: int = 1) -> str:
        """Where an element of all lanes begins."""
        return self.element(buffer, index, scale)

    def load(self, node: int, buffer: Buffer, index: int) -> None:
        """Reads a number of all lanes."""
        if self.form.is_varying(index):
            self._gather(node, buffer, index)
        elif self.form.is_shared(buffer):
            super().load(node, buffer, index)
        else:
            pointer = self.element(buffer, index)
            self._widened(node, buffer, self._vector_at(pointer, STORED[buffer.dtype]))

    def _vector_at(self, pointer: str, stored: str) -> str:
        """The vector that stands somewhere; vectors of short numbers begin anywhere."""
        v = self.vector(stored)
        return self.value(f"load {v}, ptr {pointer}, align {ALIGNED[stored]}")

    def _put_vector(self, pointer: str, value: str, stored: str) -> None:
        v = self.vector(stored)
        self.put(f"store {v} {value}, ptr {pointer}, align {ALIGNED[stored]}")

    def _widened(self, node: int, buffer: Buffer, raw: str) -> None:
        """A vector as it is computed with, from one as it is stored."""
        stored, v = STORED[buffer.dtype], self.vector
        if stored in ("double", "i64"):
            self.put(f"%n{node} = bitcast {v(stored)} {raw} to {v(stored)}")
        elif buffer.dtype == "bool":
            self.put(f"%n{node} = trunc {v('i8')} {raw} to {v('i1')}")
        else:
            widen = "zext" if buffer.dtype.startswith("u") else "sext"
            self.put(f"%n{node} = {widen} {v(stored)} {raw} to {v('i64')}")

    def store(self, s: StoreNumber) -> None:
        """Writes a number of all lanes."""
        stored = STORED[s.buffer.dtype]
        kind = "d" if stored == "double" else "i"
        kind = "b" if s.buffer.dtype == "bool" else kind
        value = self.spread(s.value, kind)
        if stored != TYPES[kind]:
            how = "zext" if kind == "b" else "trunc"
            before, after = self.vector(TYPES[kind]), self.vector(stored)
            value = self.value(f"{how} {before} {value} to {after}")
        if self.form.is_varying(s.index):
            self._scatter(s.buffer, s.index, value)
            return
        self._put(self.element(s.buffer, s.index), value, stored, s.buffer)

    def _put(self, pointer: str, value: str, stored: str, buffer: Buffer) -> None:
        """Writes a vector, for the lanes that count."""
        v = self.vector(stored)
        if self.is_masked(buffer):
            old = self._vector_at(pointer, stored)
            mask = f"<{self.width} x i1> {self.mask}"
            value = self.value(f"select {mask}, {v} {value}, {v} {old}")
        self._put_vector(pointer, value, stored)

    # --- lanes that look at different places

    def _index(self, index: int) -> str:
        """Indices of all lanes; those of lanes that do not count are 0."""
        whole = self.vector("i64")
        mask = f"<{self.width} x i1> {self.mask}"
        at = self.spread(index, "i")
        return self.value(f"select {mask}, {whole} {at}, {whole} zeroinitializer")

    def _lane_pointers(self, buffer: Buffer, at: str) -> list[str]:
        """Where the element of each lane stands."""
        w, whole = self.width, self.vector("i64")
        if not self.form.is_shared(buffer):
            at = self.value(f"mul {whole} {at}, {lane_math.splat(w, str(w), 'i64')}")
            steps = "<" + ", ".join(f"i64 {k}" for k in range(w)) + ">"
            at = self.value(f"add {whole} {at}, {steps}")
        pointers = []
        stored, base = STORED[buffer.dtype], self.base(buffer)
        for lane in range(w):
            place = self.value(f"extractelement {whole} {at}, i64 {lane}")
            pointers.append(
                self.value(f"getelementptr inbounds {stored}, ptr {base}, i64 {place}")
            )
        return pointers

    def _agreed(self, at: str) -> tuple[str, str]:
        """The index of the first lane that counts, and whether all that count have the same."""
        w, whole = self.width, self.vector("i64")
        lane = self.first(self.mask)
        first = self.value(f"extractelement {whole} {at}, i64 {lane}")
        same = self.value(f"icmp eq {whole} {at}, {self.broadcast(first, 'i64')}")
        ones = lane_math.splat(w, "true", "i1")
        idle = self.value(f"xor <{w} x i1> {self.mask}, {ones}")
        same = self.value(f"or <{w} x i1> {same}, {idle}")
        bits = self.value(f"bitcast <{w} x i1> {same} to i{w}")
        return first, self.value(f"icmp eq i{w} {bits}, -1")

    def _fork(self, truth: str, yes, no) -> tuple[str, str, str, str]:
        """Two ways to one value: where and what each of them came to."""
        here, there, after = (self.new("b") for _ in range(3))
        self.put(f"br i1 {truth}, label %{here}, label %{there}")
        found = []
        for label, way in ((here, yes), (there, no)):
            self.label(label)
            value = way()
            end = self.new("b")
            self.put(f"br label %{end}")
            self.label(end)
            self.put(f"br label %{after}")
            found += [end, value]
        self.label(after)
        return found[0], found[1], found[2], found[3]

    def _gather(self, node: int, buffer: Buffer, index: int) -> None:
        """Reads from places of their own; from one place where all lanes mean the same."""
        stored, at = STORED[buffer.dtype], self._index(index)
        v = self.vector(stored)
        if self.form.is_shared(buffer):
            pointers = self._lane_pointers(buffer, at)
            self._widened(node, buffer, self._collected(stored, pointers))
            return
        first, agree = self._agreed(at)

        def together() -> str:
            base = self.base(buffer)
            place = self.value(f"getelementptr inbounds {v}, ptr {base}, i64 {first}")
            return self._vector_at(place, stored)

        def apart() -> str:
            return self._collected(stored, self._lane_pointers(buffer, at))

        here, one, there, other = self._fork(agree, together, apart)
        raw = self.value(f"phi {v} [{one}, %{here}], [{other}, %{there}]")
        self._widened(node, buffer, raw)

    def _collected(self, stored: str, pointers: list[str]) -> str:
        raw = "poison"
        for lane, pointer in enumerate(pointers):
            one = self.value(f"load {stored}, ptr {pointer}")
            v = self.vector(stored)
            raw = self.value(f"insertelement {v} {raw}, {stored} {one}, i64 {lane}")
        return raw

    def _scatter(self, buffer: Buffer, index: int, value: str) -> None:
        """Writes to places of their own; to one place where all lanes mean the same."""
        stored, at = STORED[buffer.dtype], self._index(index)
        v = self.vector(stored)
        mask = f"<{self.width} x i1> {self.mask}"
        first, agree = self._agreed(at)

        def together() -> str:
            base = self.base(buffer)
            place = self.value(f"getelementptr inbounds {v}, ptr {base}, i64 {first}")
            old = self._vector_at(place, stored)
            new = self.value(f"select {mask}, {v} {value}, {v} {old}")
            self._put_vector(place, new, stored)
            return ""

        def apart() -> str:
            self._put_apart(stored, self._lane_pointers(buffer, at), value)
            return ""

        self._fork(agree, together, apart)

    def _put_apart(self, stored: str, pointers: list[str], value: str) -> None:
        """Writes a vector to places of the lanes, for those that count."""
        v = self.vector(stored)
        mask = f"<{self.width} x i1> {self.mask}"
        old = self._collected(stored, pointers)
        new = self.value(f"select {mask}, {v} {value}, {v} {old}")
        for lane, pointer in enumerate(pointers):
            one = self.value(f"extractelement {v} {new}, i64 {lane}")
            self.put(f"store {stored} {one}, ptr {pointer}")

    # --- copies

    def _memcpy(self, target: str, source: str, size: int) -> None:
        name = "@llvm.memcpy.p0.p0.i64"
        self.declared.add(f"declare void {name}(ptr, ptr, i64, i1 immarg)")
        where = f"ptr {target}, ptr {source}"
        self.put(f"call void {name}({where}, i64 {size}, i1 false)")

    def _copy(self, s: Copy) -> None:
        scale = 2 if s.target.dtype == "complex128" else 1
        if self.form.is_varying(s.target_index) or self.form.is_varying(s.source_index):
            self._copy_apart(s, scale)
            return
        target = self.element(s.target, s.target_index, scale)
        source = self.element(s.source, s.source_index, scale)
        if self.form.is_shared(s.source):
            self._copy_to_all(s, target, source, scale)
        elif self.is_masked(s.target):
            self._copy_masked(s.target, target, source, s.count * scale)
        else:
            self._memcpy(target, source, s.count * item_size(s.target) * self.width)

    def _copy_masked(self, buffer: Buffer, target: str, source: str, count: int):
        stored = STORED[buffer.dtype]
        v = self.vector(stored)

        def one(i: str) -> None:
            at = self.value(f"getelementptr inbounds {v}, ptr {source}, i64 {i}")
            new = self._vector_at(at, stored)
            place = self.value(f"getelementptr inbounds {v}, ptr {target}, i64 {i}")
            self._put(place, new, stored, buffer)

        self._count(count, one)

    def _copy_to_all(self, s: Copy, target: str, source: str, scale: int) -> None:
        """Numbers that all lanes share, written to each of them."""
        stored = STORED[s.target.dtype]
        v = self.vector(stored)

        def one(i: str) -> None:
            at = self.value(f"getelementptr inbounds {stored}, ptr {source}, i64 {i}")
            new = self.broadcast(self.value(f"load {stored}, ptr {at}"), stored)
            place = self.value(f"getelementptr inbounds {v}, ptr {target}, i64 {i}")
            self._put(place, new, stored, s.target)

        self._count(s.count * scale, one)

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

        self._count(s.count * scale, one)

    def _starts(self, buffer: Buffer, index: int, scale: int) -> list[str]:
        if scale != 1 and self.form.is_varying(index):
            raise Untranslatable("complex numbers at places that differ between lanes")
        if self.form.is_varying(index):
            return self._lane_pointers(buffer, self._index(index))
        stored, first = STORED[buffer.dtype], self.element(buffer, index, scale)
        step = 0 if self.form.is_shared(buffer) else 1
        return [
            self.value(f"getelementptr inbounds {stored}, ptr {first}, i64 {step * k}")
            for k in range(self.width)
        ]

    def _moved(self, starts: list[str], stored: str, i: str, step: int) -> list[str]:
        at = self.value(f"mul i64 {i}, {step}")
        return [
            self.value(f"getelementptr inbounds {stored}, ptr {start}, i64 {at}")
            for start in starts
        ]

    def _count(self, count: int, body) -> None:
        """A loop from 0 to `count`."""
        enter, head, leave = (self.new("b") for _ in range(3))
        self.put(f"br label %{enter}")
        self.label(enter)
        self.put(f"br label %{head}")
        self.label(head)
        i = "%" + self.new("i")
        self.put(f"{i} = phi i64 [0, %{enter}], [{i}.next, %{head}]")
        body(i)
        self.put(f"{i}.next = add nsw i64 {i}, 1")
        going = self.value(f"icmp slt i64 {i}.next, {count}")
        self.put(f"br i1 {going}, label %{head}, label %{leave}")
        self.label(leave)


def item_size(buffer: Buffer) -> int:
    """Bytes of one number."""
    return bytes_of(buffer) // buffer.size
