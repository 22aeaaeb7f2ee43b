"""Builder of a function with loops over small dense matrices."""

import functools

from .elementwise import ELEMENTWISE
from .program import ONE, ZERO, Builder, Function, If
from .values import Memory, ValueStore, row_strides


class Kernel:
    """A function being written, with matrices in rows."""

    def __init__(self, name: str):
        self.builder = Builder(name)
        self.store = ValueStore(self.builder)
        self.math = self.store.math

    def argument(self, kind: str, shape: tuple[int, ...], dtype: str) -> Memory:
        """The next argument."""
        size = functools.reduce(lambda a, b: a * b, shape, 1)
        buffer = self.builder.argument(dtype, size)
        buffer.mutable = True
        return Memory(kind, buffer, ZERO, row_strides(shape), shape)

    def read(self, a: Memory, *index: int) -> tuple[int, ...]:
        """An element, loaded again."""
        # Elements change inside the loops: no earlier load is reused.
        a.buffer.version += 1
        return self.store.at(a, index)

    def write(self, a: Memory, index: tuple[int, ...], value: tuple[int, ...]) -> None:
        """Writes an element."""
        self.store.write(a, index, value)

    def operate(self, name: str, kind: str, *operands):
        """An elementwise operation."""
        kinds = [kind] * len(operands)
        return ELEMENTWISE[name](self.math, {}, kinds, list(operands))

    def with_product(
        self,
        kind: str,
        total: tuple[int, ...],
        a: tuple[int, ...],
        b: tuple[int, ...],
    ) -> tuple[int, ...]:
        """The sum total + a b; of doubles with one rounding."""
        if kind == "d":
            return (self.math.fma(a[0], b[0], total[0]),)
        return self.operate("add", kind, total, self.operate("mul", kind, a, b))

    def inverse(self, kind: str, number: tuple[int, ...]) -> tuple[int, ...]:
        """1 / number, by one division of real numbers."""
        m = self.math
        if kind != "c":
            return (m.div(ONE, number[0]),)
        c, d = number
        inverse = m.div(ONE, m.add(m.mul(c, c), m.mul(d, d)))
        return m.mul(c, inverse), -m.mul(d, inverse)

    def when(self, condition: int, body) -> None:
        """A block that runs under a condition."""
        self.builder.open("if")
        body()
        self.builder.emit(If(condition, self.builder.close(), []))

    def finish(self, n_results: int, reorders: bool = True) -> Function:
        """The function; `reorders` lets LLVM fuse and reorder its sums."""
        self.builder.function.n_results = n_results
        self.builder.function.loops = True
        self.builder.function.reorders = reorders
        return self.builder.function
