"""The text of a function with vectors of doubles among its numbers, for LLVM."""

from .llvm_text import Text
from .program import Buffer

OPERATIONS = {"vfadd": "fadd", "vfsub": "fsub", "vfmul": "fmul"}


class WideText(Text):
    """Writes one function some of whose nodes are vectors."""

    @property
    def vector(self) -> str:
        """Type of a vector."""
        return f"<{self.f.width} x double>"

    def node(self, node: int) -> None:
        """Defines a node."""
        op, args, v = self.f.op[node], self.f.args[node], self.vector
        if op in OPERATIONS:
            a, b = args
            self.put(f"%n{node} = {OPERATIONS[op]} contract {v} %n{a}, %n{b}")
        elif op == "spread":
            self._spread(node, args[0])
        elif op == "lane":
            vector, lane = args
            place = self.literal(lane, "i")
            self.put(f"%n{node} = extractelement {v} %n{vector}, i64 {place}")
        elif op == "pick":
            a, b, lanes = args
            places = ", ".join(f"i32 {lane}" for lane in lanes.split(","))
            mask = f"<{self.f.width} x i32> <{places}>"
            self.put(f"%n{node} = shufflevector {v} %n{a}, {v} %n{b}, {mask}")
        else:
            super().node(node)

    def load(self, node: int, buffer: Buffer, index: int) -> None:
        """Reads a number, or a vector that stands in memory."""
        if self.f.kind[node] != "v":
            super().load(node, buffer, index)
            return
        pointer = self.pointer(buffer, index)
        self.put(f"%n{node} = load {self.vector}, ptr {pointer}, align 8")

    def _spread(self, node: int, number: int) -> None:
        """The same number in all lanes."""
        v, one, first = self.vector, self.operand(number, "d"), "%" + self.new()
        self.put(f"{first} = insertelement {v} poison, double {one}, i64 0")
        lanes = f"<{self.f.width} x i32> zeroinitializer"
        self.put(f"%n{node} = shufflevector {v} {first}, {v} poison, {lanes}")
