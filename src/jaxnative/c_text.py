"""The text of a program in C99: no dependency but libm."""

from typing import Any

from .program import (
    FUSED,
    Buffer,
    Call,
    Copy,
    For,
    Function,
    If,
    StoreNumber,
    While,
)
from .program_text import (
    OPERAND_KINDS,
    SIMPLE,
    BlockWriter,
    changing_arguments,
    heap_buffers,
)
from .untranslatable import Untranslatable

STORED = {
    "float64": "double",
    "complex128": "double",
    "int64": "int64_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "bool": "uint8_t",
    "uint8": "uint8_t",
    "int8": "int8_t",
}
TYPES = {"d": "double", "i": "int64_t", "b": "int"}
HEAD = """#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
"""


class CText(BlockWriter):
    """Writes one function."""

    def __init__(self, function: Function, names: dict[Function, str]):
        self.f = function
        self.names = names
        self.lines: list[str] = []
        self.indent = 1

    def put(self, line: str) -> None:
        """A line."""
        self.lines.append("    " * self.indent + line)

    def operand(self, node: int, kind: str) -> str:
        """An operand with its sign."""
        x = self.f.value[abs(node)]
        if x is None:
            return f"n{node}" if node > 0 else f"(-n{-node})"
        x = -x if node < 0 else x
        if kind == "d":
            return _double(float(x))
        return str(int(x)) if x >= 0 else f"({int(x)})"

    def base(self, buffer: Buffer) -> str:
        """Where a buffer begins."""
        letter = {"argument": "a", "table": f"{self.f.name}_table", "frame": "f"}
        return f"{letter[buffer.where]}{buffer.place}"

    def pointer(self, buffer: Buffer, index: int) -> str:
        """Where a number stands."""
        scale = "2*" if buffer.parts == 2 else ""
        at = self.operand(index, "i")
        if at == "0":
            return self.base(buffer)
        return f"{self.base(buffer)} + {scale}({at})"

    # --- nodes

    def node(self, node: int) -> None:
        """Defines a node."""
        kind = self.f.kind[node]
        text = self.expression(node, self.f.op[node], self.f.args[node])
        self.put(f"const {TYPES[kind]} n{node} = {text};")

    def expression(self, node: int, op: str, args: tuple) -> str:
        """The right-hand side of a node."""
        if op == "load":
            return f"{self.base(args[0])}[{self.operand(args[1], 'i')}]"
        if op in SIMPLE:
            a, b = (self.operand(x, OPERAND_KINDS[op[0]]) for x in args)
            return f"{a} {SIMPLE[op][1]} {b}"
        if op == FUSED:
            a, b, c = (self.operand(x, "d") for x in args)
            return f"{a} * {b} + {c}"
        if op.startswith("select"):
            kind = self.f.kind[node]
            yes, no = (self.operand(a, kind) for a in args[1:])
            return f"{self.operand(args[0], 'b')} ? {yes} : {no}"
        if op == "bnot":
            return f"!{self.operand(args[0], 'b')}"
        if op == "i2d":
            return f"(double){self.operand(args[0], 'i')}"
        if op == "d2i":
            return f"(int64_t){self.operand(args[0], 'd')}"
        return f"{op}({', '.join(self.operand(a, 'd') for a in args)})"

    # --- statements

    def nested(self, head: str, block: list[Any], tail: tuple[str, ...] = ()) -> None:
        """A block in braces."""
        self.put(head + " {")
        self.indent += 1
        self.block(block)
        for line in tail:
            self.put(line)
        self.indent -= 1
        self.put("}")

    def store(self, s: StoreNumber) -> None:
        """Writes a number."""
        value = self.operand(s.value, s.buffer.part_kind)
        self.put(f"{self.base(s.buffer)}[{self.operand(s.index, 'i')}] = {value};")

    def copy(self, s: Copy) -> None:
        """Copies elements."""
        target = self.pointer(s.target, s.target_index)
        source = self.pointer(s.source, s.source_index)
        self.put(f"memcpy({target}, {source}, {s.count * s.target.item_bytes});")

    def call(self, s: Call) -> None:
        """Calls a function."""
        pointers = ", ".join(self.pointer(*place) for place in s.pointers)
        self.put(f"{self.names[s.function]}({pointers});")

    def choose(self, s: If) -> None:
        """One block or the other."""
        self.nested(f"if ({self.operand(s.condition, 'b')})", s.yes)
        if s.no:
            self.nested("else", s.no)

    def count(self, s: For) -> None:
        """A counting loop."""
        for node, first, _ in s.carried:
            kind = self.f.kind[node]
            self.put(f"{TYPES[kind]} n{node} = {self.operand(first, kind)};")
        i, stop = f"n{s.index}", self.operand(s.stop, "i")
        head = f"for (int64_t {i} = {self.operand(s.start, 'i')}; {i} < {stop}; {i}++)"
        # All numbers that go round change at once.
        new = [
            f"const {TYPES[self.f.kind[n]]} new{n} = {self.operand(last, self.f.kind[n])};"
            for n, _, last in s.carried
        ]
        put = [f"n{n} = new{n};" for n, _, _ in s.carried]
        self.nested(head, s.block, (*new, *put))

    def search(self, s: While) -> None:
        """A loop that runs as long as its test says so."""
        self.put("for (;;) {")
        self.indent += 1
        self.block(s.test)
        self.put(f"if (!({self.operand(s.condition, 'b')})) break;")
        self.block(s.block)
        self.indent -= 1
        self.put("}")

    def frame(self, buffer: Buffer, is_on_heap: bool) -> None:
        """Memory of the function's own."""
        stored = STORED[buffer.dtype]
        count = max(buffer.size, 1) * buffer.parts
        if not is_on_heap:
            self.put(f"{stored} f{buffer.place}[{count}];")
        else:
            self.put(f"{stored} *f{buffer.place} = malloc({count} * sizeof({stored}));")


def _double(x: float) -> str:
    if x != x:
        return "NAN"
    if x in (float("inf"), float("-inf")):
        return "INFINITY" if x > 0 else "(-INFINITY)"
    text = repr(x)
    text = text if any(c in text for c in ".en") else text + ".0"
    return f"({text})" if x < 0 else text


def _parameters(function: Function) -> str:
    changing, parts = changing_arguments(function), []
    for buffer in function.arguments:
        const = "" if buffer.place in changing else "const "
        parts.append(f"{const}{STORED[buffer.dtype]} *restrict a{buffer.place}")
    return ", ".join(parts)


def _table(function: Function, buffer: Buffer) -> str:
    stored, numbers = STORED[buffer.dtype], buffer.numbers
    is_real = stored == "double"
    items = ", ".join(_double(x) if is_real else str(int(x)) for x in numbers)
    name = f"{function.name}_table{buffer.place}"
    return f"static const {stored} {name}[{len(numbers)}] = {{{items}}};"


def function_text(function: Function, names: dict[Function, str]) -> str:
    """The text of one function, static in its file."""
    text = CText(function, names)
    on_heap = heap_buffers(function.frame)
    for buffer in function.frame:
        text.frame(buffer, buffer.place in on_heap)
    text.block(function.block)
    for buffer in function.frame:
        if buffer.place in on_heap:
            text.put(f"free(f{buffer.place});")
    tables = [_table(function, buffer) for buffer in function.tables]
    head = f"static void {function.name}({_parameters(function)})"
    return "\n".join([*tables, head + " {", *text.lines, "}", ""])


def program_text(function: Function) -> tuple[str, str]:
    """The text of a function and all it calls, and the name of the function in it."""
    done: list[str] = []
    names: dict[Function, str] = {}

    def visit(f: Function) -> None:
        if f in names:
            return
        if f.host is not None:
            raise Untranslatable("a call of Python")
        for called in f.calls:
            visit(called)
        names[f] = f.name
        done.append(function_text(f, names))

    visit(function)
    return HEAD + "\n" + "\n".join(done), names[function]
