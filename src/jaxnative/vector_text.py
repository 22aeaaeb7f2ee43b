"""Functions written for LLVM in vectors: loads, stores, and arithmetic of real and complex numbers."""

from collections.abc import Callable, Sequence

from .llvm_lines import LlvmLines

STACK = 65536  # bytes: larger arrays are not put on the stack
Parts = list[str]  # of a number: one operand, or two (real, imaginary)


class VectorText(LlvmLines):
    """Writes one function of real and complex numbers; indices count doubles."""

    # --- branches

    def when(self, truth: str, body: Callable[[], None]) -> None:
        """A block that runs under a condition."""
        inside, after = self.new("b"), self.new("b")
        self.fork(truth, inside, after)
        body()
        self.jump(after)
        self.label(after)

    # --- whole numbers

    def add(self, a: str, b: str | int) -> str:
        """Sum of whole numbers."""
        return self.value(f"add nsw i64 {a}, {b}")

    def times(self, a: str, b: str | int) -> str:
        """Product of whole numbers."""
        return self.value(f"mul nsw i64 {a}, {b}")

    def smaller(self, a: str, b: str | int) -> str:
        """The smaller of two whole numbers."""
        wins = self.value(f"icmp slt i64 {a}, {b}")
        return self.value(f"select i1 {wins}, i64 {a}, i64 {b}")

    # --- memory

    def array(self, name: str, doubles: int) -> None:
        """An array that the function needs for itself."""
        self.room(name, 8 * doubles, 8 * doubles > STACK)

    def load(self, base: str, index: str | int, kind: str = "double") -> str:
        """A number, or a vector that begins with it."""
        place = self.element("double", base, index)
        return self.value(f"load {kind}, ptr {place}, align 8")

    def store(
        self, base: str, index: str | int, value: str, kind: str = "double"
    ) -> None:
        """Writes a number, or a vector that begins there."""
        place = self.element("double", base, index)
        self.put(f"store {kind} {value}, ptr {place}, align 8")

    def load_some(self, base: str, index: str, count: int) -> str:
        """The first `count` numbers of a vector; the others are zero, and not read."""
        found = "zeroinitializer"
        for lane in range(count):
            x = self.load(base, self.add(index, lane))
            found = self.value(
                f"insertelement {self.vector()} {found}, double {x}, i64 {lane}"
            )
        return found

    def store_some(self, base: str, index: str, value: str, count: int) -> None:
        """Writes the first `count` numbers of a vector."""
        for lane in range(count):
            x = self.value(f"extractelement {self.vector()} {value}, i64 {lane}")
            self.store(base, self.add(index, lane), x)

    # --- vectors

    def shuffled(self, a: str, b: str, lanes: Sequence[int]) -> str:
        """Some lanes of two vectors, one after the other."""
        kind = self.vector()
        picked = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.value(
            f"shufflevector {kind} {a}, {kind} {b}, <{len(lanes)} x i32> <{picked}>"
        )

    def select(self, mask: str, yes: str, no: str) -> str:
        """Lanes of one vector or the other."""
        v = self.vector()
        return self.value(f"select {self.vector('i1')} {mask}, {v} {yes}, {v} {no}")

    # --- arithmetic on numbers, vectors, and pairs of them

    def operate(self, op: str, a: str, b: str, kind: str = "double") -> str:
        """A sum, difference or product; products and sums may become one operation."""
        return self.value(f"{op} contract {kind} {a}, {b}")

    def product(self, a: Parts, b: Parts, kind: str = "double") -> Parts:
        """Product a b of real or complex numbers."""
        first = self.operate("fmul", a[0], b[0], kind)
        if len(a) == 1:
            return [first]
        other = self.operate("fmul", a[1], b[1], kind)
        mixed = self.operate("fmul", a[0], b[1], kind)
        swapped = self.operate("fmul", a[1], b[0], kind)
        real = self.operate("fsub", first, other, kind)
        return [real, self.operate("fadd", mixed, swapped, kind)]

    def less_product(self, c: Parts, a: Parts, b: Parts, kind: str = "double") -> Parts:
        """Difference c - a b of real or complex numbers."""
        real = self._with(c[0], "fsub", a[0], b[0], kind)
        if len(a) == 1:
            return [real]
        real = self._with(real, "fadd", a[1], b[1], kind)
        imaginary = self._with(c[1], "fsub", a[0], b[1], kind)
        return [real, self._with(imaginary, "fsub", a[1], b[0], kind)]

    def _with(self, c: str, op: str, a: str, b: str, kind: str) -> str:
        return self.operate(op, c, self.operate("fmul", a, b, kind), kind)

    def inverse(self, a: Parts) -> Parts:
        """1 / a, of a real or complex number."""
        if len(a) == 1:
            return [self.value(f"fdiv double 1.0, {a[0]}")]
        squares = [self.operate("fmul", part, part) for part in a]
        size = self.operate("fadd", *squares)
        opposite = self.value(f"fneg double {a[1]}")
        return [self.value(f"fdiv double {part}, {size}") for part in (a[0], opposite)]

    def size(self, a: Parts) -> str:
        """|a|, of complex numbers the sum for both parts, as LAPACK measures them."""
        self.declared.add("declare double @llvm.fabs.f64(double)")
        sizes = [self.value(f"call double @llvm.fabs.f64(double {x})") for x in a]
        return sizes[0] if len(a) == 1 else self.operate("fadd", *sizes)
