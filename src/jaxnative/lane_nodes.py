"""Numbers of lanes for LLVM: one member in each lane of a vector."""

import math
from typing import Any

from . import lane_math
from .lane_analysis import ACROSS, LaneForm, MaskScope
from .llvm_text import INTRINSICS, TYPES, FunctionText
from .program import Buffer

MASK = "%lanes"


class LaneNodes(FunctionText):
    """Writes nodes: a single number where it is the same in all lanes, a vector where not."""

    def __init__(
        self, form: LaneForm, width: int, names: dict[Any, str], is_entry: bool
    ):
        super().__init__(form.function, {})
        self.form = form
        self.width = width
        self.called = names
        self.scope: MaskScope = form.root
        self.helpers: set[tuple[str, int]] = set()
        self.scratches: list[str] = []
        # Arrays that a branch has of its own meanwhile: where they stand, and the scope that they belong to.
        self.private: dict[Buffer, tuple[str, MaskScope]] = {}
        has_mask = form.needs_mask and not is_entry
        self.mask = MASK if has_mask else lane_math.splat(width, "true", "i1")

    def is_read_again(self, node: int) -> bool:
        """True for a number of an input that all lanes share: instructions spread it while they read it."""
        return not self.form.is_varying(node) and super().is_read_again(node)

    # --- types and operands

    def vector(self, kind: str) -> str:
        """Type of a vector of stored numbers."""
        return lane_math.vector(self.width, kind)

    def is_wide(self, node: int) -> bool:
        """True for a node that differs from lane to lane."""
        return self.form.is_varying(node)

    def operand(self, node: int, kind: str) -> str:
        """An operand as it is: one number, or a vector where lanes differ."""
        if not self.form.is_varying(node) or node > 0:
            return super().operand(node, kind)
        how = "fneg" if kind == "d" else "sub"
        zero = "" if kind == "d" else "zeroinitializer, "
        return self.value(f"{how} {self.vector(TYPES[kind])} {zero}%n{-node}")

    # --- masks

    def some(self, mask: str) -> str:
        """Whether any lane is in a mask."""
        w = self.width
        bits = self.value(f"bitcast <{w} x i1> {mask} to i{w}")
        return self.value(f"icmp ne i{w} {bits}, 0")

    def all(self, mask: str) -> str:
        """Whether every lane is in a mask."""
        w = self.width
        bits = self.value(f"bitcast <{w} x i1> {mask} to i{w}")
        return self.value(f"icmp eq i{w} {bits}, -1")

    def first(self, mask: str) -> str:
        """Number of the first lane in a mask; the last lane where there is none."""
        w = self.width
        self.declared.add("declare i64 @llvm.cttz.i64(i64, i1 immarg)")
        bits = self.value(f"bitcast <{w} x i1> {mask} to i{w}")
        bits = self.value(f"zext i{w} {bits} to i64")
        # One bit more: a mask of none finds a lane too.
        bits = self.value(f"or i64 {bits}, {1 << (w - 1)}")
        return self.value(f"call i64 @llvm.cttz.i64(i64 {bits}, i1 true)")

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
        _, home = self.private.get(buffer, ("", self.form.home[buffer]))
        return home is not self.scope

    def base(self, buffer: Buffer) -> str:
        """Where a buffer begins."""
        if buffer in self.private:
            return self.private[buffer][0]
        return super().base(buffer)

    # --- nodes

    def node(self, node: int) -> None:
        """Defines a node."""
        op, args = self.f.op[node], self.f.args[node]
        if op in ACROSS:
            self._across(node, op, args[0])
            return
        super().node(node)

    def _across(self, node: int, op: str, a: int) -> None:
        """A number of all lanes that count: whether a truth holds in each, the least, or what the first of them has."""
        if op == "all":
            fails = self.neither(self.mask, self.spread(a, "b"))
            self.put(f"%n{node} = xor i1 {self.some(fails)}, true")
            return
        if op == "least":
            self._least(node, a)
            return
        lane = self.first(self.mask)
        v = self.vector("i64")
        self.put(f"%n{node} = extractelement {v} {self.spread(a, 'i')}, i64 {lane}")

    def _least(self, node: int, a: int) -> None:
        """The smallest of all lanes that count."""
        w, v = self.width, self.vector("double")
        name = f"@llvm.vector.reduce.fmin.v{w}f64"
        self.declared.add(f"declare double {name}({v})")
        most = lane_math.splat(w, lane_math.literal(math.inf))
        mask = f"<{w} x i1> {self.mask}"
        counted = f"select {mask}, {v} {self.spread(a, 'd')}, {v} {most}"
        self.put(f"%n{node} = call double {name}({v} {self.value(counted)})")

    def divisor(self, node: int, b: str) -> str:
        """Lanes that do not count may divide by nothing: they get 1."""
        if not self.is_wide(node):
            return b
        v, ones = self.vector("i64"), self.constant("1", "i", node)
        is_zero = self.value(f"icmp eq {v} {b}, zeroinitializer")
        return self.value(f"select {self.vector('i1')} {is_zero}, {v} {ones}, {v} {b}")

    def _function(self, node: int, op: str, args: tuple) -> None:
        if not self.is_wide(node):
            super()._function(node, op, args)
            return
        v = self.vector("double")
        name = lane_math.function_name(op, self.width)
        if op in INTRINSICS:
            name = f"llvm.{op}.v{self.width}f64"
            self.declared.add(f"declare {v} @{name}({v}) nounwind memory(none)")
        else:
            self.helpers.add((op, len(args)))
        operands = ", ".join(f"{v} {self.spread(a, 'd')}" for a in args)
        self.put(f"%n{node} = call {v} @{name}({operands})")
