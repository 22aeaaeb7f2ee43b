"""The text of a function with vectors of doubles among its numbers, for LLVM."""

from .llvm_text import Text

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
        if op == "load" and self.f.kind[node] == "v":
            return
        if op in OPERATIONS:
            a, b = (self.read(x) for x in args)
            self.put(f"%n{node} = {OPERATIONS[op]} contract {v} {a}, {b}")
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

    def read(self, node: int) -> str:
        """The value of a node; constants are read where they are used."""
        if self.f.op[node] != "load" or self.f.kind[node] != "v":
            return super().read(node)
        pointer, name = self.pointer(*self.f.args[node][:2]), "%" + self.new("r")
        self.put(f"{name} = load {self.vector}, ptr {pointer}, align 8")
        return name

    def _spread(self, node: int, number: int) -> None:
        """The same number in all lanes."""
        v, one, first = self.vector, self.operand(number, "d"), "%" + self.new()
        self.put(f"{first} = insertelement {v} poison, double {one}, i64 0")
        lanes = f"<{self.f.width} x i32> zeroinitializer"
        self.put(f"%n{node} = shufflevector {v} {first}, {v} poison, {lanes}")
