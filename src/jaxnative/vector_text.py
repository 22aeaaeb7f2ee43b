"""Functions written for LLVM in vectors by hand: loops, numbers, and complex numbers as pairs of them."""

from collections.abc import Callable, Sequence

LINE = 64  # bytes that arrays begin at a multiple of
STACK = 65536  # bytes: larger arrays are not put on the stack
Parts = list[str]  # of a number: one operand, or two (real, imaginary)


class VectorText:
    """Writes one function line by line; operands are LLVM's, indices count doubles."""

    def __init__(self, width: int):
        self.width = width
        self.vector = f"<{width} x double>"
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._count = 0
        self._on_heap: list[str] = []

    # --- lines

    def put(self, line: str) -> None:
        """A line."""
        self.lines.append("  " + line)

    def name(self, stem: str = "t") -> str:
        """A name of its own."""
        self._count += 1
        return f"{stem}{self._count}"

    def value(self, text: str) -> str:
        """A line that makes a value; its name."""
        name = "%" + self.name()
        self.put(f"{name} = {text}")
        return name

    def label(self, name: str) -> None:
        """Begins a block."""
        self.lines.append(f"{name}:")

    def jump(self, name: str) -> None:
        """Goes on at a block."""
        self.put(f"br label %{name}")

    # --- loops and branches

    def loop(
        self,
        start: str,
        stop: str,
        body: Callable[[str, Sequence[str]], Sequence[str]],
        carried: Sequence[tuple[str, str]] = (),
    ) -> list[str]:
        """Counts from `start` to `stop`; `carried` are (type, first value) of what goes round; its last values."""
        enter, head, inside, tail, leave = (self.name("b") for _ in range(5))
        self.jump(enter)
        self.label(enter)
        self.jump(head)
        self.label(head)
        i = "%" + self.name("i")
        self.put(f"{i} = phi i64 [{start}, %{enter}], [{i}.next, %{tail}]")
        place = len(self.lines)
        going_round = ["%" + self.name("c") for _ in carried]
        self.lines += going_round
        more = self.value(f"icmp slt i64 {i}, {stop}")
        self.put(f"br i1 {more}, label %{inside}, label %{leave}")
        self.label(inside)
        following = body(i, going_round)
        self.jump(tail)
        self.label(tail)
        self.put(f"{i}.next = add nsw i64 {i}, 1")
        self.jump(head)
        self.label(leave)
        for k, (kind, first) in enumerate(carried):
            self.lines[place + k] = (
                f"  {going_round[k]} = phi {kind} [{first}, %{enter}], [{following[k]}, %{tail}]"
            )
        return going_round

    def when(self, truth: str, body: Callable[[], None]) -> None:
        """A block that runs under a condition."""
        inside, after = self.name("b"), self.name("b")
        self.put(f"br i1 {truth}, label %{inside}, label %{after}")
        self.label(inside)
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

    def room(self, name: str, doubles: int) -> None:
        """An array that the function needs for itself."""
        size = 8 * doubles
        if size <= STACK:
            self.put(f"{name} = alloca [{size} x i8], align {LINE}")
            return
        self.declared |= {"declare ptr @malloc(i64)", "declare void @free(ptr)"}
        self.put(f"{name} = call ptr @malloc(i64 {size})")
        self._on_heap.append(name)

    def leave(self) -> None:
        """Ends the function."""
        for name in self._on_heap:
            self.put(f"call void @free(ptr {name})")
        self.put("ret void")

    def pointer(self, base: str, index: str | int, kind: str = "double") -> str:
        """Where a number stands."""
        return self.value(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")

    def load(self, base: str, index: str | int, kind: str = "double") -> str:
        """A number, or a vector that begins with it."""
        place = self.pointer(base, index)
        return self.value(f"load {kind}, ptr {place}, align 8")

    def store(
        self, base: str, index: str | int, value: str, kind: str = "double"
    ) -> None:
        """Writes a number, or a vector that begins there."""
        place = self.pointer(base, index)
        self.put(f"store {kind} {value}, ptr {place}, align 8")

    def load_some(self, base: str, index: str, count: int) -> str:
        """The first `count` numbers of a vector; the others are zero, and not read."""
        found = "zeroinitializer"
        for lane in range(count):
            x = self.load(base, self.add(index, lane))
            found = self.value(
                f"insertelement {self.vector} {found}, double {x}, i64 {lane}"
            )
        return found

    def store_some(self, base: str, index: str, value: str, count: int) -> None:
        """Writes the first `count` numbers of a vector."""
        for lane in range(count):
            x = self.value(f"extractelement {self.vector} {value}, i64 {lane}")
            self.store(base, self.add(index, lane), x)

    # --- vectors

    def splat(self, x: str) -> str:
        """A number in all lanes."""
        first = self.value(f"insertelement {self.vector} poison, double {x}, i64 0")
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.value(
            f"shufflevector {self.vector} {first}, {self.vector} poison, {zeros}"
        )

    def shuffled(self, a: str, b: str, lanes: Sequence[int], width: int = 0) -> str:
        """Some lanes of two vectors of a width, one after the other."""
        kind = f"<{width or self.width} x double>"
        picked = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.value(
            f"shufflevector {kind} {a}, {kind} {b}, <{len(lanes)} x i32> <{picked}>"
        )

    def select(self, mask: str, yes: str, no: str) -> str:
        """Lanes of one vector or the other."""
        v = self.vector
        return self.value(f"select <{self.width} x i1> {mask}, {v} {yes}, {v} {no}")

    def sum_of_lanes(self, a: str) -> str:
        """Sum of all lanes, in any order."""
        name = f"llvm.vector.reduce.fadd.v{self.width}f64"
        self.declared.add(f"declare double @{name}(double, {self.vector})")
        zero = "double -0.0"
        return self.value(f"call reassoc double @{name}({zero}, {self.vector} {a})")

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

    # --- the whole

    def text(self, name: str, count: int) -> str:
        """The function under a name, with so many arguments."""
        arguments = ", ".join(f"ptr noalias %a{k}" for k in range(count))
        bits = 64 * self.width
        attributes = (
            f'nounwind "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}"'
        )
        head = "\n".join(sorted(self.declared))
        body = "\n".join(self.lines)
        return f"{head}\ndefine void @{name}({arguments}) {attributes} {{\n{body}\n}}\n"
