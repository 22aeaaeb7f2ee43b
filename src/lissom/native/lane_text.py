"""The text of a program for LLVM in which every number is a vector: one robot, or one state, in each lane.

Numbers that differ between lanes stand side by side in memory, lane after lane. Where lanes part company (a loop that
some have left, a branch that some take), blocks run for all that still need them, and a mask keeps what belongs to the
others.
"""

import hashlib
from typing import Any

from . import lane_math
from .lane_analysis import LaneForm, MaskScope
from .llvm_text import (
    INTRINSICS,
    SIMPLE,
    STORED,
    TYPES,
    Text,
    bytes_of,
    table_text,
)
from .program import Buffer, Call, Copy, For, If, Store, Untranslatable, While

LARGE = 16384  # bytes: larger arrays are not put on the stack
LINE = 64  # bytes that vectors begin at a multiple of
MASK = "%lanes"


class LaneText(Text):
    """Writes one function for lanes."""

    def __init__(
        self, form: LaneForm, width: int, names: dict[Any, str], is_entry: bool
    ):
        super().__init__(form.function, {})
        self.form = form
        self.width = width
        self.called = names
        self.is_entry = is_entry
        self.scope: MaskScope = form.root
        self.helpers: set[tuple[str, int]] = set()
        has_mask = form.needs_mask and not is_entry
        self.mask = MASK if has_mask else lane_math.splat(width, "true", "i1")

    # --- types and operands

    def vector(self, kind: str) -> str:
        """Type of a vector of stored numbers."""
        return lane_math.vector(self.width, kind)

    def type_of(self, node: int, kind: str) -> str:
        """Type of a node."""
        is_varying = self.form.is_varying(node)
        return self.vector(TYPES[kind]) if is_varying else TYPES[kind]

    def operand(self, node: int, kind: str) -> str:
        """An operand as it is: one number, or a vector where lanes differ."""
        if not self.form.is_varying(node) or node > 0:
            return super().operand(node, kind)
        how = "fneg" if kind == "d" else "sub"
        zero = "" if kind == "d" else "zeroinitializer, "
        return self.value(f"{how} {self.vector(TYPES[kind])} {zero}%n{-node}")

    def value(self, text: str) -> str:
        """A line that makes a value."""
        name = "%" + self.new()
        self.put(f"{name} = {text}")
        return name

    def spread(self, node: int, kind: str) -> str:
        """An operand in all lanes."""
        if self.form.is_varying(node):
            return self.operand(node, kind)
        literal = self.literal(node, kind)
        if literal is not None:
            return lane_math.splat(self.width, literal, TYPES[kind])
        return self.broadcast(self.operand(node, kind), TYPES[kind])

    def broadcast(self, value: str, kind: str) -> str:
        """One value in all lanes."""
        v, w = self.vector(kind), self.width
        first = self.value(f"insertelement {v} poison, {kind} {value}, i64 0")
        zeros = f"<{w} x i32> zeroinitializer"
        return self.value(f"shufflevector {v} {first}, {v} poison, {zeros}")

    # --- masks

    def some(self, mask: str) -> str:
        """Whether any lane is in a mask."""
        w = self.width
        bits = self.value(f"bitcast <{w} x i1> {mask} to i{w}")
        return self.value(f"icmp ne i{w} {bits}, 0")

    def both(self, mask: str, other: str) -> str:
        """Lanes in both masks."""
        return self.value(f"and <{self.width} x i1> {mask}, {other}")

    def neither(self, mask: str, other: str) -> str:
        """Lanes in the first mask and not in the other."""
        w = self.width
        ones = lane_math.splat(w, "true", "i1")
        opposite = self.value(f"xor <{w} x i1> {other}, {ones}")
        return self.both(mask, opposite)

    def is_masked(self, buffer: Buffer) -> bool:
        """True if lanes that do not count here may still need what a buffer holds."""
        return self.form.home[buffer] is not self.scope

    # --- memory

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
            stored = self.vector(STORED[buffer.dtype])
            pointer = self.element(buffer, index)
            raw = self.value(f"load {stored}, ptr {pointer}, align 8")
            self._widened(node, buffer, raw)

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

    def store(self, s: Store) -> None:
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
            old = self.value(f"load {v}, ptr {pointer}, align 8")
            mask = f"<{self.width} x i1> {self.mask}"
            value = self.value(f"select {mask}, {v} {value}, {v} {old}")
        self.put(f"store {v} {value}, ptr {pointer}, align 8")

    # --- lanes that look at different places

    def _lane_pointers(self, buffer: Buffer, index: int) -> list[str]:
        """Where the element of each lane stands; lanes that do not count look at the first one."""
        w, whole = self.width, self.vector("i64")
        mask = f"<{w} x i1> {self.mask}"
        at = self.spread(index, "i")
        at = self.value(f"select {mask}, {whole} {at}, {whole} zeroinitializer")
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

    def _gather(self, node: int, buffer: Buffer, index: int) -> None:
        pointers = self._lane_pointers(buffer, index)
        self._widened(node, buffer, self._collected(STORED[buffer.dtype], pointers))

    def _collected(self, stored: str, pointers: list[str]) -> str:
        raw = "poison"
        for lane, pointer in enumerate(pointers):
            one = self.value(f"load {stored}, ptr {pointer}")
            v = self.vector(stored)
            raw = self.value(f"insertelement {v} {raw}, {stored} {one}, i64 {lane}")
        return raw

    def _scatter(self, buffer: Buffer, index: int, value: str) -> None:
        stored = STORED[buffer.dtype]
        v = self.vector(stored)
        pointers = self._lane_pointers(buffer, index)
        old = self._collected(stored, pointers)
        mask = f"<{self.width} x i1> {self.mask}"
        value = self.value(f"select {mask}, {v} {value}, {v} {old}")
        for lane, pointer in enumerate(pointers):
            one = self.value(f"extractelement {v} {value}, i64 {lane}")
            self.put(f"store {stored} {one}, ptr {pointer}")

    # --- nodes

    def node(self, node: int) -> None:
        """Defines a node."""
        op, args = self.f.op[node], self.f.args[node]
        if op == "load" or not self.form.is_varying(node):
            super().node(node)
            return
        if op in SIMPLE:
            self._vector_operation(node, op, args)
        elif op.startswith("select"):
            self._select(node, args)
        elif op == "bnot":
            ones = lane_math.splat(self.width, "true", "i1")
            truth = self.spread(args[0], "b")
            self.put(f"%n{node} = xor {self.vector('i1')} {truth}, {ones}")
        elif op in ("i2d", "d2i"):
            self._converted(node, op, args[0])
        else:
            self._vector_function(node, op, args)

    def _vector_operation(self, node: int, op: str, args: tuple) -> None:
        kind = {"f": "d", "i": "i", "b": "b"}[op[0]]
        a, b = (self.spread(x, kind) for x in args)
        how, scalar = SIMPLE[op].rsplit(" ", 1)
        v = self.vector(scalar)
        if op in ("idiv", "irem"):
            # Lanes that do not count may divide by nothing.
            ones = lane_math.splat(self.width, "1", "i64")
            is_zero = self.value(f"icmp eq {v} {b}, zeroinitializer")
            b = self.value(f"select {self.vector('i1')} {is_zero}, {v} {ones}, {v} {b}")
        self.put(f"%n{node} = {how} {v} {a}, {b}")

    def _select(self, node: int, args: tuple) -> None:
        kind = self.f.kind[node]
        truth = f"{self.type_of(args[0], 'b')} {self.operand(args[0], 'b')}"
        v = self.vector(TYPES[kind])
        yes, no = (self.spread(a, kind) for a in args[1:])
        self.put(f"%n{node} = select {truth}, {v} {yes}, {v} {no}")

    def _converted(self, node: int, op: str, a: int) -> None:
        how, before = ("sitofp", "i") if op == "i2d" else ("fptosi", "d")
        after = self.vector(TYPES["d" if op == "i2d" else "i"])
        operand = self.spread(a, before)
        self.put(f"%n{node} = {how} {self.vector(TYPES[before])} {operand} to {after}")

    def _vector_function(self, node: int, op: str, args: tuple) -> None:
        v = self.vector("double")
        name = lane_math.function_name(op, self.width)
        if op in INTRINSICS:
            name = f"llvm.{op}.v{self.width}f64"
            self.declared.add(f"declare {v} @{name}({v}) nounwind memory(none)")
        else:
            self.helpers.add((op, len(args)))
        operands = ", ".join(f"{v} {self.spread(a, 'd')}" for a in args)
        self.put(f"%n{node} = call {v} @{name}({operands})")

    # --- statements

    def statement(self, s: Any) -> None:
        """Writes a statement."""
        if isinstance(s, Call):
            self._call(s)
        elif id(s) not in self.form.inner:
            super().statement(s)
        elif isinstance(s, While):
            self._masked_while(s)
        elif isinstance(s, If):
            self._masked_if(s)

    def _call(self, s: Call) -> None:
        form = self.form.calls[id(s)]
        pointers, after = [], []
        for place, (buffer, index, scale) in enumerate(self._places(s)):
            pointer = self.element(buffer, index, scale)
            if place in form.written and self.is_masked(buffer):
                own = pointer
                count = form.function.arguments[place].size
                pointer = self._scratch(buffer, own, count)
                after.append((buffer, own, pointer, count))
            pointers.append(f"ptr {pointer}")
        if form.needs_mask:
            w = self.width
            bits = self.value(f"bitcast <{w} x i1> {self.mask} to i{w}")
            pointers.insert(0, f"i{w} {bits}")
        self.put(f"call void @{self.called[form]}({', '.join(pointers)})")
        for buffer, own, pointer, count in after:
            self._copy_masked(buffer, own, pointer, count)

    def _scratch(self, buffer: Buffer, own: str, count: int) -> str:
        """A copy of an array that others still need, for a function to write to."""
        size = count * _item(buffer) * self.width
        name = "%" + self.new("scratch")
        # At the head of the function: a loop must not make the stack grow.
        self.scratches.append(f"  {name} = alloca [{size} x i8], align {LINE}")
        self._memcpy(name, own, size)
        return name

    def _memcpy(self, target: str, source: str, size: int) -> None:
        name = "@llvm.memcpy.p0.p0.i64"
        self.declared.add(f"declare void {name}(ptr, ptr, i64, i1 immarg)")
        where = f"ptr align 8 {target}, ptr align 8 {source}"
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
            self._memcpy(target, source, s.count * _item(s.target) * self.width)

    def _copy_masked(self, buffer: Buffer, target: str, source: str, count: int):
        stored = STORED[buffer.dtype]
        v = self.vector(stored)

        def one(i: str) -> None:
            at = self.value(f"getelementptr inbounds {v}, ptr {source}, i64 {i}")
            new = self.value(f"load {v}, ptr {at}, align 8")
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
        v = self.vector(stored)
        sources = self._starts(s.source, s.source_index, scale)
        targets = self._starts(s.target, s.target_index, scale)
        step_from = 1 if self.form.is_shared(s.source) else self.width
        mask = f"<{self.width} x i1> {self.mask}"

        def one(i: str) -> None:
            there = self._moved(sources, stored, i, step_from)
            here = self._moved(targets, stored, i, self.width)
            new, old = self._collected(stored, there), self._collected(stored, here)
            value = self.value(f"select {mask}, {v} {new}, {v} {old}")
            for lane, pointer in enumerate(here):
                part = self.value(f"extractelement {v} {value}, i64 {lane}")
                self.put(f"store {stored} {part}, ptr {pointer}")

        self._count(s.count * scale, one)

    def _starts(self, buffer: Buffer, index: int, scale: int) -> list[str]:
        if scale != 1 and self.form.is_varying(index):
            raise Untranslatable("complex numbers at places that differ between lanes")
        if self.form.is_varying(index):
            return self._lane_pointers(buffer, index)
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

    def _for(self, s: For) -> None:
        if self.form.is_varying(s.start) or self.form.is_varying(s.stop):
            raise Untranslatable("a loop of another length in each lane")
        super()._for(s)

    def carried_operand(self, node: int, value: int) -> tuple[str, str]:
        """Type and operand of a number that goes round a loop."""
        kind = self.f.kind[node]
        if self.form.is_varying(node):
            return self.vector(TYPES[kind]), self.spread(value, kind)
        return super().carried_operand(node, value)

    def _masked_while(self, s: While) -> None:
        """Runs as long as any lane wants to go on; those that do not keep what they have."""
        around, outer = self.mask, self.scope
        (self.scope, _) = self.form.inner[id(s)]
        enter, head, body, tail, leave = (self.new("b") for _ in range(5))
        self.put(f"br label %{enter}")
        self.label(enter)
        self.put(f"br label %{head}")
        self.label(head)
        before, after = "%" + self.new("mask"), "%" + self.new("mask")
        kind = f"<{self.width} x i1>"
        self.put(f"{before} = phi {kind} [{around}, %{enter}], [{after}, %{tail}]")
        self.mask = before
        self.block(s.test)
        truth = self.spread(s.condition, "b")
        self.put(f"{after} = and {kind} {before}, {truth}")
        self.put(f"br i1 {self.some(after)}, label %{body}, label %{leave}")
        self.label(body)
        self.mask = after
        self.block(s.block)
        self.put(f"br label %{tail}")
        self.label(tail)
        self.put(f"br label %{head}")
        self.label(leave)
        self.mask, self.scope = around, outer

    def _masked_if(self, s: If) -> None:
        """Runs each branch that any lane takes."""
        around, outer = self.mask, self.scope
        truth = self.spread(s.condition, "b")
        masks = (self.both(around, truth), self.neither(around, truth))
        pairs = zip(masks, (s.yes, s.no), self.form.inner[id(s)], strict=True)
        for mask, block, scope in pairs:
            if not block:
                continue
            body, after = self.new("b"), self.new("b")
            self.put(f"br i1 {self.some(mask)}, label %{body}, label %{after}")
            self.label(body)
            self.mask, self.scope = mask, scope
            self.block(block)
            self.put(f"br label %{after}")
            self.label(after)
        self.mask, self.scope = around, outer

    # --- the whole

    def body(self) -> list[str]:
        """All lines between the braces."""
        self.scratches: list[str] = []
        for buffer in self.f.frame:
            self._frame(buffer)
        if self.mask == MASK:
            w = self.width
            self.put(f"{MASK} = bitcast i{w} %mask to <{w} x i1>")
        self.block(self.f.block)
        for buffer in self.f.frame:
            if self._size(buffer) > LARGE:
                self.put(f"call void @free(ptr {self.base(buffer)}.all)")
        self.put("ret void")
        return [*self.scratches, *self.lines]

    def _size(self, buffer: Buffer) -> int:
        return max(bytes_of(buffer), 8) * self.width

    def _frame(self, buffer: Buffer) -> None:
        size, base = self._size(buffer), self.base(buffer)
        if size <= LARGE:
            self.put(f"{base} = alloca [{size} x i8], align {LINE}")
            return
        self.declared.update(("declare ptr @malloc(i64)", "declare void @free(ptr)"))
        self.declared.add("declare ptr @llvm.ptrmask.p0.i64(ptr, i64)")
        self.put(f"{base}.all = call ptr @malloc(i64 {size + LINE})")
        self.put(f"{base}.end = getelementptr i8, ptr {base}.all, i64 {LINE}")
        self.put(f"{base} = call ptr @llvm.ptrmask.p0.i64(ptr {base}.end, i64 -{LINE})")


def _item(buffer: Buffer) -> int:
    return bytes_of(buffer) // buffer.size


def lane_function_text(
    form: LaneForm, width: int, names: dict[Any, str], is_entry: bool
) -> tuple[str, str]:
    """Name and text of a function for lanes as a module of its own."""
    function = form.function
    text = LaneText(form, width, names, is_entry)
    lines = text.body()
    parameters = [f"ptr noalias %a{k}" for k in range(len(function.arguments))]
    if form.needs_mask and not is_entry:
        parameters.insert(0, f"i{width} %mask")
    for called in form.calls.values():
        types = ["ptr"] * len(called.function.arguments)
        if called.needs_mask:
            types.insert(0, f"i{width}")
        text.declared.add(f"declare void @{names[called]}({', '.join(types)})")
    helpers = [lane_math.function_text(*h, width) for h in sorted(text.helpers)]
    declared = {line for t in helpers for line in t.splitlines() if _declares(line)}
    helpers = [
        "\n".join(line for line in t.splitlines() if not _declares(line))
        for t in helpers
    ]
    tables = [table_text(buffer, function.name) for buffer in function.tables]
    head = "\n".join([*sorted(text.declared | declared), *helpers, *tables])
    whole = "\n".join([head, ", ".join(parameters), *lines])
    whole = whole.replace(f"_{function.name}", "_own")
    name = "v" + hashlib.sha256(whole.encode()).hexdigest()[:24]
    bits = 64 * width
    attributes = (
        f'nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}"'
    )
    body = "\n".join(lines).replace(f"_{function.name}", "_own")
    head = head.replace(f"_{function.name}", "_own")
    opening = f"define void @{name}({', '.join(parameters)}) {attributes} {{"
    return name, f"{head}\n{opening}\n{body}\n}}\n"


def _declares(line: str) -> bool:
    return line.startswith("declare")
