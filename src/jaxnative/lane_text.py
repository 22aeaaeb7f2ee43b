"""The text of a program for LLVM in which every number is a vector: one member in each lane.

Where lanes part company (a loop that some have left, a branch that some take), blocks run for all that still need them,
and a mask keeps what belongs to the others.
"""

import hashlib
from typing import Any

from . import lane_math
from .lane_analysis import LaneForm, MaskScope
from .lane_memory import LaneMemory, item_size
from .lane_nodes import MASK
from .lane_private import is_overwritten, private_arrays
from .llvm_text import TYPES, bytes_of, heap_buffers, table_text
from .program import Buffer, Call, For, If, While
from .untranslatable import Untranslatable

LARGE = 16384  # bytes: larger arrays are not put on the stack
LINE = 64  # bytes that vectors begin at a multiple of


class LaneText(LaneMemory):
    """Writes one function for lanes."""

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
            is_copied = place in form.written and place not in form.masked
            if is_copied and self.is_masked(buffer):
                own = pointer
                count = form.function.arguments[place].size
                pointer = self._scratch(buffer, count)
                # A result that the function does not read is written by it as a whole.
                if place in form.read:
                    self._memcpy(pointer, own, self._bytes(buffer, count))
                after.append((buffer, own, pointer, count * scale))
            pointers.append(f"ptr {pointer}")
        if form.needs_mask:
            w = self.width
            bits = self.value(f"bitcast <{w} x i1> {self.mask} to i{w}")
            pointers.insert(0, f"i{w} {bits}")
        self.put(f"call void @{self.called[form]}({', '.join(pointers)})")
        for buffer, own, pointer, count in after:
            self._copy_masked(buffer, own, pointer, count)

    def _scratch(self, buffer: Buffer, count: int) -> str:
        """Room for an array that others still need, for a function to write to."""
        size = self._bytes(buffer, count)
        name = "%" + self.new("scratch")
        # At the head of the function: a loop must not make the stack grow.
        self.scratches.append(f"  {name} = alloca [{size} x i8], align {LINE}")
        return name

    def _bytes(self, buffer: Buffer, count: int) -> int:
        return count * item_size(buffer) * self.width

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
            self._branch(block, scope)
            self.put(f"br label %{after}")
            self.label(after)
        self.mask, self.scope = around, outer

    def _branch(self, block: list[Any], scope: MaskScope) -> None:
        """Writes a branch that some lanes take; what functions work on in place is its own until its end."""
        before = self.private
        arrays = private_arrays(self.form, block, scope)
        own = {buffer: self.base(buffer) for buffer in arrays}
        private = {buffer: self._scratch(buffer, buffer.size) for buffer in arrays}
        for buffer in arrays:
            if not is_overwritten(self.form, block, buffer):
                size = self._bytes(buffer, buffer.size)
                self._memcpy(private[buffer], own[buffer], size)
        self.private = {
            **before,
            **{buffer: (place, scope) for buffer, place in private.items()},
        }
        self.block(block)
        self.private = before
        for buffer in arrays:
            scale = 2 if buffer.dtype == "complex128" else 1
            self._copy_masked(buffer, own[buffer], private[buffer], buffer.size * scale)

    # --- the whole

    def body(self) -> list[str]:
        """All lines between the braces."""
        on_heap = heap_buffers(self.f.frame, self.width, LARGE)
        for buffer in self.f.frame:
            self._frame(buffer, buffer.place in on_heap)
        if self.mask == MASK:
            w = self.width
            self.put(f"{MASK} = bitcast i{w} %mask to <{w} x i1>")
        self.block(self.f.block)
        for buffer in self.f.frame:
            if buffer.place in on_heap:
                self.put(f"call void @free(ptr {self.base(buffer)}.all)")
        self.finish()
        return [*self.scratches, *self.lines]

    def _frame(self, buffer: Buffer, is_on_heap: bool) -> None:
        size = max(bytes_of(buffer), 8) * self.width
        base = self.base(buffer)
        if not is_on_heap:
            self.put(f"{base} = alloca [{size} x i8], align {LINE}")
            return
        self.declared.update(("declare ptr @malloc(i64)", "declare void @free(ptr)"))
        self.declared.add("declare ptr @llvm.ptrmask.p0.i64(ptr, i64)")
        self.put(f"{base}.all = call ptr @malloc(i64 {size + LINE})")
        self.put(f"{base}.end = getelementptr i8, ptr {base}.all, i64 {LINE}")
        self.put(f"{base} = call ptr @llvm.ptrmask.p0.i64(ptr {base}.end, i64 -{LINE})")


def lane_function_text(
    form: LaneForm,
    width: int,
    names: dict[Any, str],
    is_entry: bool,
    stem: str = "v",
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
    name = stem + hashlib.sha256(whole.encode()).hexdigest()[:24]
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
