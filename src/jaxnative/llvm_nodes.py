"""Numbers of a program for LLVM: single where all lanes have the same, elsewhere vectors, one member in each lane."""

import math
from abc import ABC, abstractmethod
from typing import Any

from . import lane_math
from .lane_analysis import ACROSS, LaneForm, MaskScope
from .llvm_lines import LlvmLines, literal, splat
from .program import FUSED, Buffer
from .program_text import OPERAND_KINDS, SIMPLE, changing_arguments

STORED = {
    "float64": "double",
    "complex128": "double",
    "int64": "i64",
    "int32": "i32",
    "uint32": "i32",
    "bool": "i8",
    "uint8": "i8",
    "int8": "i8",
}
TYPES = {"d": "double", "i": "i64", "b": "i1"}
# How a number becomes one of another kind: instruction, kind before, kind after.
CONVERSIONS = {"i2d": ("sitofp", "i", "d"), "d2i": ("fptosi", "d", "i")}
INTRINSICS = {"sqrt", "fabs", "floor", "ceil", "rint"}
MASK = "%lanes"


class NodeText(LlvmLines, ABC):
    """Writes the nodes of one function.

    Args:
        form: of the function.
        width: lanes; 1 for a member by itself.
        names: of the functions that it calls: those of members by themselves by function, those of lanes by form.
        is_entry: called from outside, with all lanes.
    """

    def __init__(
        self, form: LaneForm, width: int, names: dict[Any, str], is_entry: bool
    ):
        super().__init__(width)
        self.form = form
        self.f = form.function
        self.names = names
        self.scope: MaskScope = form.root
        self.helpers: set[tuple[str, int]] = set()
        self.changing = changing_arguments(self.f)
        # Private copies of arrays in a branch: where they are, and the scope that they belong to.
        self.private: dict[Buffer, tuple[str, MaskScope]] = {}
        has_mask = form.needs_mask and not is_entry
        self.mask = MASK if has_mask else splat(width, "true", "i1")

    # --- operands

    def is_wide(self, node: int) -> bool:
        """True for a node that is a vector: it differs from lane to lane."""
        return self.form.varying[abs(node)]

    def wide(self, scalar: str, node: int) -> str:
        """The type of a node, of a type of single numbers."""
        return self.vector(scalar) if self.is_wide(node) else scalar

    def type_of(self, node: int, kind: str) -> str:
        """The type of a node, of its kind."""
        return self.wide(TYPES[kind], node)

    def literal(self, node: int, kind: str) -> str | None:
        """A constant operand."""
        x = self.f.value[abs(node)]
        if x is None:
            return None
        if node < 0:
            x = -x
        if kind == "d":
            return literal(x)
        if kind == "b":
            return "true" if x else "false"
        return str(int(x))

    def operand(self, node: int, kind: str) -> str:
        """An operand as it is, its sign made explicit."""
        constant = self.literal(node, kind)
        if constant is not None:
            return constant
        value = self.read(abs(node))
        if node > 0:
            return value
        t = self.type_of(node, kind)
        if kind == "d":
            return self.value(f"fneg {t} {value}")
        return self.value(f"sub {t} zeroinitializer, {value}")

    def spread(self, node: int, kind: str) -> str:
        """An operand as a vector."""
        if self.is_wide(node):
            return self.operand(node, kind)
        constant = self.literal(node, kind)
        if constant is not None:
            return splat(self.width, constant, TYPES[kind])
        return self.broadcast(self.operand(node, kind), TYPES[kind])

    def operand_of(self, node: int, operand: int, kind: str) -> str:
        """An operand, as wide as the node that it is for."""
        spread = self.spread if self.is_wide(node) else self.operand
        return spread(operand, kind)

    def constant(self, text: str, kind: str, node: int) -> str:
        """A constant, as wide as a node."""
        return splat(self.width, text, TYPES[kind]) if self.is_wide(node) else text

    def read(self, node: int) -> str:
        """The value of a node; inputs are loaded where they are used."""
        if not self.is_reloaded(node):
            return f"%n{node}"
        pointer = self.pointer(*self.f.args[node][:2])
        return self.value(f"load double, ptr {pointer}")

    def is_reloaded(self, node: int) -> bool:
        """True for a number of an input that all lanes share: loading it at each use saves registers."""
        f = self.f
        if f.op[node] != "load" or f.kind[node] != "d" or self.is_wide(node):
            return False
        buffer, index = f.args[node][:2]
        is_input = buffer.where == "argument" and buffer.place not in self.changing
        return is_input and f.value[abs(index)] is not None

    # --- places

    def base(self, buffer: Buffer) -> str:
        """Where a buffer begins."""
        if buffer in self.private:
            return self.private[buffer][0]
        start = {"argument": "%a", "table": "@table", "frame": "%f"}[buffer.where]
        return f"{start}{buffer.place}"

    def stored_type(self, buffer: Buffer) -> str:
        """Type of a number in memory, of all lanes where each has its own."""
        stored = STORED[buffer.dtype]
        return stored if self.form.is_shared(buffer) else self.vector(stored)

    def pointer(self, buffer: Buffer, index: int, scale: int = 1) -> str:
        """Where a number of all lanes stands; an index counts so many numbers."""
        if self.literal(index, "i") == "0":
            return self.base(buffer)
        at = self.operand(index, "i")
        if scale != 1:
            at = self.value(f"mul i64 {at}, {scale}")
        return self.element(self.stored_type(buffer), self.base(buffer), at)

    # --- masks

    def bits(self, mask: str) -> str:
        """A mask as a whole number of as many bits as there are lanes."""
        return self.value(f"bitcast {self.vector('i1')} {mask} to i{self.width}")

    def some(self, mask: str) -> str:
        """Whether any lane is in a mask."""
        return self.value(f"icmp ne i{self.width} {self.bits(mask)}, 0")

    def all(self, mask: str) -> str:
        """Whether every lane is in a mask."""
        return self.value(f"icmp eq i{self.width} {self.bits(mask)}, -1")

    def first(self, mask: str) -> str:
        """Number of the first lane in a mask; the last lane where there is none."""
        w = self.width
        self.declared.add("declare i64 @llvm.cttz.i64(i64, i1 immarg)")
        bits = self.value(f"zext i{w} {self.bits(mask)} to i64")
        # One bit more: a mask of none finds a lane too.
        bits = self.value(f"or i64 {bits}, {1 << (w - 1)}")
        return self.value(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")

    def both(self, mask: str, other: str) -> str:
        """Lanes in both masks."""
        return self.value(f"and {self.vector('i1')} {mask}, {other}")

    def opposite(self, mask: str) -> str:
        """Lanes that are not in a mask."""
        ones = splat(self.width, "true", "i1")
        return self.value(f"xor {self.vector('i1')} {mask}, {ones}")

    def chosen(self, value: str, other: str, kind: str) -> str:
        """A value in active lanes, the other one elsewhere."""
        v, mask = self.vector(kind), f"{self.vector('i1')} {self.mask}"
        return self.value(f"select {mask}, {v} {value}, {v} {other}")

    def is_masked(self, buffer: Buffer) -> bool:
        """True if inactive lanes may still need what a buffer holds."""
        _, home = self.private.get(buffer, ("", self.form.home.get(buffer)))
        return home is not None and home is not self.scope

    # --- nodes

    def node(self, node: int) -> None:
        """Defines a node."""
        f, op, args = self.f, self.f.op[node], self.f.args[node]
        if self.is_reloaded(node):
            return
        if op == "load":
            self.load(node, args[0], args[1])
        elif op in SIMPLE:
            self._simple(node, op, args)
        elif op.startswith("select"):
            kind = f.kind[node]
            truth = f"{self.type_of(args[0], 'b')} {self.operand(args[0], 'b')}"
            yes, no = (self.operand_of(node, a, kind) for a in args[1:])
            t = self.type_of(node, kind)
            self.put(f"%n{node} = select {truth}, {t} {yes}, {t} {no}")
        elif op == "bnot":
            truth, t = self.operand_of(node, args[0], "b"), self.type_of(node, "b")
            self.put(f"%n{node} = xor {t} {truth}, {self.constant('true', 'b', node)}")
        elif op in CONVERSIONS:
            how, before, after = CONVERSIONS[op]
            number = (
                f"{self.type_of(node, before)} {self.operand_of(node, args[0], before)}"
            )
            self.put(f"%n{node} = {how} {number} to {self.type_of(node, after)}")
        elif op in ACROSS:
            self._across(node, op, args[0])
        elif op == FUSED:
            self._fused(node, args)
        else:
            self._function(node, op, args)

    @abstractmethod
    def load(self, node: int, buffer: Buffer, index: int) -> None:
        """Reads a number."""

    def _simple(self, node: int, op: str, args: tuple) -> None:
        kind = OPERAND_KINDS[op[0]]
        a, b = (self.operand_of(node, x, kind) for x in args)
        how, scalar = SIMPLE[op][0].rsplit(" ", 1)
        t = self.wide(scalar, node)
        if self.f.reorders and op in ("fadd", "fsub", "fmul"):
            how += " contract"
            is_carried = any(self.f.op[abs(x)] == "carried" for x in args)
            if is_carried and op != "fmul" and not self.is_wide(node):
                # A sum in a loop may be formed in any order: several at a time.
                how += " reassoc"
        if op in ("idiv", "irem") and self.is_wide(node):
            b = self._divisor(node, b)
        self.put(f"%n{node} = {how} {t} {a}, {b}")

    def _fused(self, node: int, args: tuple) -> None:
        """A product and a sum with one rounding, where the processor has an instruction for both."""
        t = self.type_of(node, "d")
        name = f"llvm.fmuladd.{f'v{self.width}f64' if self.is_wide(node) else 'f64'}"
        self.declared.add(f"declare {t} @{name}({t}, {t}, {t}) nounwind memory(none)")
        operands = ", ".join(f"{t} {self.operand_of(node, a, 'd')}" for a in args)
        self.put(f"%n{node} = call {t} @{name}({operands})")

    def _divisor(self, node: int, b: str) -> str:
        """The divisor, 1 where it is zero: inactive lanes must not trap."""
        v, ones = self.vector("i64"), self.constant("1", "i", node)
        is_zero = self.value(f"icmp eq {v} {b}, zeroinitializer")
        return self.value(f"select {self.vector('i1')} {is_zero}, {v} {ones}, {v} {b}")

    def _across(self, node: int, op: str, a: int) -> None:
        """A reduction over active lanes: whether a condition holds in each, the minimum, or the first one's number."""
        if op == "all":
            fails = self.both(self.mask, self.opposite(self.spread(a, "b")))
            self.put(f"%n{node} = xor i1 {self.some(fails)}, true")
        elif op == "least":
            v = self.vector()
            name = f"@llvm.vector.reduce.fmin.v{self.width}f64"
            self.declared.add(f"declare double {name}({v})")
            most = splat(self.width, literal(math.inf))
            counted = self.chosen(self.spread(a, "d"), most, "double")
            self.put(f"%n{node} = call double {name}({v} {counted})")
        else:
            lane, v = self.first(self.mask), self.vector("i64")
            self.put(f"%n{node} = extractelement {v} {self.spread(a, 'i')}, i64 {lane}")

    def _function(self, node: int, op: str, args: tuple) -> None:
        t = self.type_of(node, "d")
        if self.is_wide(node) and op not in INTRINSICS:
            name = lane_math.function_name(op, self.width)
            self.helpers.add((op, len(args)))
        else:
            numbers = f"v{self.width}f64" if self.is_wide(node) else "f64"
            name = f"llvm.{op}.{numbers}" if op in INTRINSICS else op
            types = ", ".join([t] * len(args))
            self.declared.add(f"declare {t} @{name}({types}) nounwind memory(none)")
        operands = ", ".join(f"{t} {self.operand_of(node, a, 'd')}" for a in args)
        self.put(f"%n{node} = call {t} @{name}({operands})")
