"""The text of a program for LLVM: of one member by itself, or of one member in each lane of the processor's vectors.

Where lanes diverge (a loop that some have left, a branch that some take), blocks run for all, and a mask protects the
values of inactive lanes.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from . import lane_math
from .lane_analysis import LaneForm, MaskScope, form_of_one
from .lane_private import is_overwritten, private_arrays
from .llvm_lines import LINE, literal, pointers
from .llvm_memory import MemoryText
from .llvm_nodes import MASK, STORED
from .program import Buffer, Call, For, Function, If, While
from .program_text import LARGE, BlockWriter, heap_buffers
from .untranslatable import Untranslatable

NEVER = "never"  # label of a block that is never reached
LONGEST_BLOCK = 600  # nodes: longer ones take LLVM disproportionately long
LARGE_IN_LANES = 16384  # bytes: larger arrays are not put on the stack


class FunctionText(MemoryText, BlockWriter):
    """Writes one function."""

    def __init__(
        self, form: LaneForm, width: int, names: dict[Any, str], is_entry: bool
    ):
        super().__init__(form, width, names, is_entry)
        self.since = 0  # statements of the basic block so far
        self.is_divided = False
        self.scratches: list[str] = []

    # --- blocks

    def label(self, name: str) -> None:
        """Begins a basic block."""
        super().label(name)
        self.since = 0

    def statement(self, s: Any) -> None:
        """Writes a statement, and ends a basic block that is long enough."""
        super().statement(s)
        self.since += 1
        if self.since > LONGEST_BLOCK:
            self._new_block()

    def _new_block(self) -> None:
        """Ends a basic block that is long enough."""
        following = self.new("b")
        if not self.f.arguments:
            self.jump(following)
            self.label(following)
            return
        # LLVM would join blocks that always follow each other.
        # It cannot know that no array stands at the last address.
        self.is_divided = True
        end = self.value("icmp eq ptr %a0, inttoptr (i64 -1 to ptr)")
        self.put(f"br i1 {end}, label %{NEVER}, label %{following}")
        self.label(following)

    # --- calls

    def call(self, s: Call) -> None:
        """Calls a function: a member by itself, or all lanes."""
        form = self.form.calls.get(id(s))
        places = [self.pointer(b, index, b.parts) for b, index in s.pointers]
        if form is None:
            self._call(self.names[s.function], "ptr", places)
            return
        after = []
        for place, (buffer, _) in enumerate(s.pointers):
            is_copied = place in form.written and place not in form.masked
            if is_copied and self.is_masked(buffer):
                own, count = places[place], form.function.arguments[place].size
                places[place] = self._scratch(buffer, count)
                # A result that the function does not read is written by it as a whole.
                if place in form.read:
                    self.memcpy(places[place], own, self.bytes_of(buffer, count))
                after.append((buffer, own, places[place], count * buffer.parts))
        mask = [self.bits(self.mask)] if form.needs_mask else []
        self._call(self.names[form], "ptr", places, mask)
        for buffer, own, copy, count in after:
            self.copy_masked(buffer, own, copy, count)

    def _call(
        self, name: str, kind: str, places: list[str], mask: Sequence[str] = ()
    ) -> None:
        types = [f"i{self.width}"] * len(mask) + [kind] * len(places)
        pairs = zip(types, (*mask, *places), strict=True)
        operands = ", ".join(f"{t} {value}" for t, value in pairs)
        self.declared.add(f"declare void @{name}({', '.join(types)})")
        self.put(f"call void @{name}({operands})")

    def _scratch(self, buffer: Buffer, count: int) -> str:
        """Scratch memory for a function to write to, where inactive lanes need the original."""
        name, size = "%" + self.new("scratch"), self.bytes_of(buffer, count)
        # At the head of the function: a loop must not make the stack grow.
        self.scratches.append(f"  {name} = alloca [{size} x i8], align {LINE}")
        return name

    # --- loops and branches

    def count(self, s: For) -> None:
        """A counting loop."""
        if self.is_wide(s.start) or self.is_wide(s.stop):
            raise Untranslatable("a loop of another length in each lane")
        kinds = self.f.kind
        start, stop = self.operand(s.start, "i"), self.operand(s.stop, "i")
        firsts = [
            (self.type_of(n, kinds[n]), self.operand_of(n, first, kinds[n]))
            for n, first, _ in s.carried
        ]
        names = [f"%n{node}" for node in (s.index, *[n for n, _, _ in s.carried])]

        def once(_: str, __: Sequence[str]) -> list[str]:
            self.block(s.block)
            return [self.operand_of(n, last, kinds[n]) for n, _, last in s.carried]

        self.loop(start, stop, once, firsts, names)

    def search(self, s: While) -> None:
        """A loop that runs as long as its test says so."""
        if id(s) in self.form.inner:
            self._search_in_lanes(s)
            return
        head, body, leave = (self.new("b") for _ in range(3))
        self.jump(head)
        self.label(head)
        self.block(s.test)
        self.fork(self.operand(s.condition, "b"), body, leave)
        self.block(s.block)
        self.jump(head)
        self.label(leave)

    def _search_in_lanes(self, s: While) -> None:
        """Runs as long as any lane goes on; the others keep their values."""
        around, outer = self.mask, self.scope
        (self.scope, _) = self.form.inner[id(s)]
        enter, head, body, tail, leave = (self.new("b") for _ in range(5))
        self.jump(enter)
        self.label(enter)
        self.jump(head)
        self.label(head)
        before, after = "%" + self.new("mask"), "%" + self.new("mask")
        kind = self.vector("i1")
        self.put(f"{before} = phi {kind} [{around}, %{enter}], [{after}, %{tail}]")
        self.mask = before
        self.block(s.test)
        truth = self.spread(s.condition, "b")
        self.put(f"{after} = and {kind} {before}, {truth}")
        self.fork(self.some(after), body, leave)
        self.mask = after
        self.block(s.block)
        self.jump(tail)
        self.label(tail)
        self.jump(head)
        self.label(leave)
        self.mask, self.scope = around, outer

    def choose(self, s: If) -> None:
        """One block or the other."""
        if id(s) in self.form.inner:
            self._choose_in_lanes(s)
            return
        yes, no, after = (self.new("b") for _ in range(3))
        self.fork(self.operand(s.condition, "b"), yes, no)
        self.block(s.yes)
        self.jump(after)
        self.label(no)
        self.block(s.no)
        self.jump(after)
        self.label(after)

    def _choose_in_lanes(self, s: If) -> None:
        """Runs each branch that any lane takes."""
        around, outer = self.mask, self.scope
        truth = self.spread(s.condition, "b")
        masks = (self.both(around, truth), self.both(around, self.opposite(truth)))
        pairs = zip(masks, (s.yes, s.no), self.form.inner[id(s)], strict=True)
        for mask, block, scope in pairs:
            if not block:
                continue
            body, after = self.new("b"), self.new("b")
            self.fork(self.some(mask), body, after)
            self.mask, self.scope = mask, scope
            self._branch(block, scope)
            self.jump(after)
            self.label(after)
        self.mask, self.scope = around, outer

    def _branch(self, block: list[Any], scope: MaskScope) -> None:
        """Writes a branch that some lanes take; arrays that functions update in place are private until its end."""
        before = self.private
        arrays = private_arrays(self.form, block, scope)
        own = {buffer: self.base(buffer) for buffer in arrays}
        private = {buffer: self._scratch(buffer, buffer.size) for buffer in arrays}
        for buffer in arrays:
            if not is_overwritten(self.form, block, buffer):
                size = self.bytes_of(buffer, buffer.size)
                self.memcpy(private[buffer], own[buffer], size)
        self.private = {
            **before,
            **{buffer: (place, scope) for buffer, place in private.items()},
        }
        self.block(block)
        self.private = before
        for buffer in arrays:
            numbers = buffer.size * buffer.parts
            self.copy_masked(buffer, own[buffer], private[buffer], numbers)

    # --- the whole

    def whole(self) -> None:
        """Writes all lines between the braces."""
        largest = LARGE if self.width == 1 else LARGE_IN_LANES
        on_heap = heap_buffers(self.f.frame, self.width, largest)
        for buffer in self.f.frame:
            size = max(buffer.bytes, 8) * self.width
            self.room(self.base(buffer), size, buffer.place in on_heap)
        if self.mask == MASK:
            w = self.width
            self.put(f"{MASK} = bitcast i{w} %mask to {self.vector('i1')}")
        self.block(self.f.block)
        self.leave()
        if self.is_divided:
            self.label(NEVER)
            self.put("ret void")
        self.lines[:0] = self.scratches


def table_text(buffer: Buffer) -> str:
    """A table of constants."""
    stored = STORED[buffer.dtype]
    is_real = stored == "double"
    numbers = [literal(x) if is_real else str(int(x)) for x in buffer.numbers]
    items = ", ".join(f"{stored} {x}" for x in numbers)
    return (
        f"@table{buffer.place} = private constant [{len(numbers)} x {stored}] [{items}]"
    )


def function_text(
    function: Function, names: dict[Any, str], stem: str = "n"
) -> tuple[str, str]:
    """Name and text of a function of one member, as a module of its own; the name says what is in it."""
    return lane_function_text(form_of_one(function), 1, names, True, stem)


def lane_function_text(
    form: LaneForm,
    width: int,
    names: dict[Any, str],
    is_entry: bool,
    stem: str = "v",
) -> tuple[str, str]:
    """Name and text of a function for lanes, as a module of its own."""
    text = FunctionText(form, width, names, is_entry)
    text.whole()
    parameters = pointers(len(form.function.arguments))
    if text.mask == MASK:
        parameters.insert(0, f"i{width} %mask")
    head = []
    for op, count in sorted(text.helpers):
        declared, helper = lane_math.function_text(op, count, width)
        text.declared |= declared
        head.append(helper)
    head += [table_text(buffer) for buffer in form.function.tables]
    digest = hashlib.sha256(text.text("", parameters, head).encode()).hexdigest()
    name = stem + digest[:24]
    return name, text.text(name, parameters, head)
