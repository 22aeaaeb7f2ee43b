"""Lines of a function for LLVM: names, values, loops, and arrays of its own; operands are LLVM's."""

import struct
from collections.abc import Callable, Sequence

LINE = 64  # bytes that arrays begin at a multiple of


def vector(width: int, kind: str = "double") -> str:
    """Type of a vector."""
    return f"<{width} x {kind}>"


def literal(x: float) -> str:
    """A double in LLVM's text."""
    return "0x" + struct.pack(">d", x).hex().upper()


def splat(width: int, value: str, kind: str = "double") -> str:
    """A constant in all lanes."""
    return "<" + ", ".join([f"{kind} {value}"] * width) + ">"


class LlvmLines:
    """Writes one function line by line.

    Args:
        width: lanes of its vectors; 1 for a function of single numbers.
    """

    def __init__(self, width: int = 1):
        self.width = width
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._count = 0
        self._on_heap: list[str] = []

    # --- lines

    def new(self, stem: str = "t") -> str:
        """A name."""
        self._count += 1
        return f"{stem}{self._count}"

    def put(self, line: str) -> None:
        """A line."""
        self.lines.append("  " + line)

    def value(self, text: str) -> str:
        """A line that makes a value; its name."""
        name = "%" + self.new()
        self.put(f"{name} = {text}")
        return name

    def label(self, name: str) -> None:
        """Begins a basic block."""
        self.lines.append(f"{name}:")

    def jump(self, name: str) -> None:
        """Goes on at a basic block."""
        self.put(f"br label %{name}")

    def fork(self, truth: str, yes: str, no: str) -> None:
        """Goes on at one basic block or the other, and begins the first."""
        self.put(f"br i1 {truth}, label %{yes}, label %{no}")
        self.label(yes)

    # --- loops

    def loop(
        self,
        start: str,
        stop: str,
        body: Callable[[str, Sequence[str]], Sequence[str]],
        carried: Sequence[tuple[str, str]] = (),
        names: Sequence[str] = (),
        step: int = 1,
    ) -> Sequence[str]:
        """Counts from `start` to `stop`; the last values of what goes round.

        Args:
            start: first value of the counter.
            stop: the counter stays below it.
            body: writes the block for a counter and what goes round; gives what goes round next.
            carried: type and first value of what goes round.
            names: of the counter and of what goes round.
            step: of the counter.
        """
        enter, head, inside, tail, leave = (self.new("b") for _ in range(5))
        i, *going_round = names or ["%" + self.new("i") for _ in (start, *carried)]
        self.jump(enter)
        self.label(enter)
        self.jump(head)
        self.label(head)
        self.put(f"{i} = phi i64 [{start}, %{enter}], [{i}.next, %{tail}]")
        place = len(self.lines)
        self.lines += going_round
        more = self.value(f"icmp slt i64 {i}, {stop}")
        self.fork(more, inside, leave)
        following = body(i, going_round)
        self.jump(tail)
        self.label(tail)
        self.put(f"{i}.next = add nsw i64 {i}, {step}")
        self.jump(head)
        self.label(leave)
        for k, (kind, first) in enumerate(carried):
            self.lines[place + k] = (
                f"  {going_round[k]} = phi {kind} [{first}, %{enter}], [{following[k]}, %{tail}]"
            )
        return going_round

    def repeat(self, count: int | str, body: Callable[[str], object]) -> None:
        """A loop from 0 to `count`."""

        def once(i: str, _: Sequence[str]) -> Sequence[str]:
            body(i)
            return ()

        self.loop("0", str(count), once)

    # --- memory

    def room(self, name: str, size: int, is_on_heap: bool) -> None:
        """An array of the function's own, of so many bytes."""
        if not is_on_heap:
            self.put(f"{name} = alloca [{size} x i8], align {LINE}")
            return
        self.declared |= {
            "declare ptr @malloc(i64)",
            "declare void @free(ptr)",
            "declare ptr @llvm.ptrmask.p0.i64(ptr, i64)",
        }
        self.put(f"{name}.all = call ptr @malloc(i64 {size + LINE})")
        self.put(f"{name}.end = getelementptr i8, ptr {name}.all, i64 {LINE}")
        self.put(f"{name} = call ptr @llvm.ptrmask.p0.i64(ptr {name}.end, i64 -{LINE})")
        self._on_heap.append(name)

    def leave(self) -> None:
        """Ends the function."""
        for name in self._on_heap:
            self.put(f"call void @free(ptr {name}.all)")
        self.put("ret void")

    def element(self, kind: str, base: str, index: str | int) -> str:
        """Where an element of an array stands."""
        return self.value(f"getelementptr inbounds {kind}, ptr {base}, i64 {index}")

    # --- vectors

    def vector(self, kind: str = "double") -> str:
        """Type of a vector."""
        return vector(self.width, kind)

    def broadcast(self, value: str, kind: str = "double") -> str:
        """One value in all lanes."""
        v = self.vector(kind)
        first = self.value(f"insertelement {v} poison, {kind} {value}, i64 0")
        zeros = f"{self.vector('i32')} zeroinitializer"
        return self.value(f"shufflevector {v} {first}, {v} poison, {zeros}")

    def joined(self, kind: str, values: Sequence[str]) -> str:
        """A vector of single values."""
        v, found = self.vector(kind), "poison"
        for lane, value in enumerate(values):
            found = self.value(f"insertelement {v} {found}, {kind} {value}, i64 {lane}")
        return found

    # --- the whole

    def text(self, name: str, parameters: Sequence[str], head: Sequence[str] = ()):
        """The function as a module of its own: `head` is what stands before it."""
        attributes = "nounwind"
        if self.width > 1:
            bits = 64 * self.width
            attributes += (
                f' "min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}"'
            )
        opening = f"define void @{name}({', '.join(parameters)}) {attributes} {{"
        lines = [*sorted(self.declared), *head, opening, *self.lines, "}", ""]
        return "\n".join(lines)


def pointers(count: int) -> list[str]:
    """Parameters of a function of so many arrays, none of which overlap."""
    return [f"ptr noalias %a{k}" for k in range(count)]
