"""Forms of an array during translation: nodes, memory, or a lazy rule for its elements."""

import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arithmetic import Arithmetic, constants
from .program import ONE, ZERO, Buffer, Builder, Copy, For, kind_of

Index = tuple[int, ...]  # nodes, one for each axis
Parts = tuple[int, ...]  # one node, or two (real, imaginary) of a complex number
DTYPES = {"d": "float64", "i": "int64", "b": "bool", "c": "complex128"}


@dataclass(eq=False)
class Nodes:
    """An array of nodes; complex numbers have two."""

    kind: str
    parts: tuple[np.ndarray, ...]
    kept: Any = field(
        default=None
    )  # where in memory it stands too, and the block that put it there

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.parts[0].shape


@dataclass(eq=False)
class Memory:
    """An array in memory, or a view of one."""

    kind: str
    buffer: Buffer
    offset: int  # node
    strides: tuple[int, ...]  # in elements
    shape: tuple[int, ...]
    # Nodes 0 and 1 where the number is known to be zero or one, -1 elsewhere; None: nothing is known.
    known: np.ndarray | None = None

    def fresh(self) -> "Memory":
        """The same memory, without known zeros and ones."""
        return Memory(self.kind, self.buffer, self.offset, self.strides, self.shape)


@dataclass(eq=False)
class Lazy:
    """An array whose elements are computed where they are needed."""

    kind: str
    shape: tuple[int, ...]
    element: Callable[[Index], Parts]
    sources: frozenset[Buffer]  # memory that it will read


Value = Nodes | Memory | Lazy
SMALL = 6  # arrays up to this size are single numbers in every function
LONG_TABLE = 1000  # numbers
MANY = 48  # elements: arrays computed in memory that are larger than this stay there


def size_of(shape: tuple[int, ...]) -> int:
    """Number of elements."""
    return math.prod(shape)


def row_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array without gaps, last axis fastest."""
    strides = list(itertools.accumulate(shape[:0:-1], operator.mul, initial=1))
    return tuple(reversed(strides)) if shape else ()


def sources_of(value: Value) -> frozenset[Buffer]:
    """Memory that a value will read when it is used."""
    if isinstance(value, Memory):
        return frozenset((value.buffer,))
    if isinstance(value, Lazy):
        return value.sources
    return frozenset()


def stays_in_memory(value: Value) -> bool:
    """True for a large array that loops computed: it is not taken apart into nodes."""
    if isinstance(value, Lazy) and size_of(value.shape) > MANY:
        return True
    return any(b.where == "frame" and b.size > MANY for b in sources_of(value))


class ValueStore:
    """Conversions between the forms of a value, in one function."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.math = Arithmetic(builder)

    # --- making values

    def constant(self, numbers: np.ndarray) -> Value:
        """Constants of the program."""
        numbers = np.asarray(numbers)
        kind = kind_of(numbers.dtype)
        if kind == "c":
            parts = (np.real(numbers), np.imag(numbers))
            return Nodes(kind, tuple(constants(self.builder, p, "d") for p in parts))
        return Nodes(kind, (constants(self.builder, numbers, kind),))

    def allocate(
        self, kind: str, shape: tuple[int, ...], owner: Any, dtype: Any = None
    ) -> Memory:
        """An uninitialised array in the frame."""
        name = DTYPES[kind] if dtype is None else np.dtype(dtype).name
        buffer = self.builder.allocate(name, size_of(shape), owner)
        return Memory(kind, buffer, ZERO, row_strides(shape), shape)

    # --- reading

    def at(self, value: Value, index: Index) -> Parts:
        """One element."""
        if isinstance(value, Lazy):
            return value.element(index)
        if isinstance(value, Memory):
            return self._load(value, index)
        numbers = [self.builder.number(i) for i in index]
        if all(n is not None for n in numbers):
            place = tuple(int(n) for n in numbers)
            return tuple(int(part[place]) for part in value.parts)
        if self.is_uniform(value):
            return tuple(int(part.flat[0]) for part in value.parts)
        return self._load(self.in_memory(value), index)

    def is_uniform(self, value: Nodes) -> bool:
        """True if all elements are the same node."""
        return all((part == part.flat[0]).all() for part in value.parts if part.size)

    def place(self, memory: Memory, index: Index) -> int:
        """Where an element stands in its buffer."""
        place = memory.offset
        for i, stride in zip(index, memory.strides, strict=True):
            if stride:
                step = self.math.imul(i, self.builder.whole(stride))
                place = self.math.iadd(place, step)
        return place

    def _load(self, memory: Memory, index: Index) -> Parts:
        if memory.known is not None:
            numbers = [self.builder.number(i) for i in index]
            if all(n is not None for n in numbers):
                known = int(memory.known[tuple(int(n) for n in numbers)])
                if known >= 0:
                    return (known,)
        place = self.place(memory, index)
        if memory.kind != "c":
            return (self.builder.load(memory.buffer, place),)
        first = self.math.imul(place, self.builder.whole(2))
        second = self.math.iadd(first, ONE)
        buffer = memory.buffer
        return self.builder.load(buffer, first), self.builder.load(buffer, second)

    def nodes(self, value: Value) -> Nodes:
        """All elements as nodes."""
        if isinstance(value, Nodes):
            return value
        if isinstance(value, Memory) and value.kind != "c":
            start = self.builder.number(value.offset)
            if start is not None:
                return self._all_loaded(value, int(start))
        whole = self.builder.whole
        rows = [
            self.at(value, tuple(whole(i) for i in index))
            for index in np.ndindex(*value.shape)
        ]
        count = 2 if value.kind == "c" else 1
        table = np.array(rows, dtype=np.int64).reshape(*value.shape, count)
        return Nodes(value.kind, tuple(table[..., k] for k in range(count)))

    def _all_loaded(self, value: Memory, start: int) -> Nodes:
        """All elements of an array whose place is known."""
        grid = np.indices(value.shape, sparse=True)
        places = np.full(value.shape, start, dtype=np.int64)
        for axis, stride in zip(grid, value.strides, strict=True):
            places = places + stride * axis
        out = np.full(value.shape, -1, dtype=np.int64)
        if value.known is not None:
            out = np.array(value.known, dtype=np.int64)
        unknown = out < 0
        out[unknown] = self.builder.load_all(value.buffer, places[unknown].tolist())
        return Nodes(value.kind, (out,))

    # --- writing

    def write(self, target: Memory, index: Index, parts: Parts) -> None:
        """Stores one element."""
        place = self.place(target, index)
        if target.kind != "c":
            self.builder.store(target.buffer, place, parts[0])
            return
        first = self.math.imul(place, self.builder.whole(2))
        self.builder.store(target.buffer, first, parts[0])
        self.builder.store(target.buffer, self.math.iadd(first, ONE), parts[1])

    def assign(self, target: Memory, value: Value) -> None:
        """Stores all elements of a value of the same shape."""
        if isinstance(value, Memory) and is_dense(value) and is_dense(target):
            if value.buffer.dtype == target.buffer.dtype:
                self._copy(target, value)
                return
        if isinstance(value, Nodes):
            if size_of(value.shape) > MANY and self.is_uniform(value):
                number = tuple(int(part.flat[0]) for part in value.parts)
                self.loop(target.shape, lambda index: self.write(target, index, number))
                return
            if self._is_mostly_constant(value) and is_dense(target):
                self._fill(target, value)
                return
            start = self.builder.number(target.offset)
            if start is not None and target.kind != "c" and is_dense(target):
                nodes = value.parts[0].ravel().tolist()
                self.builder.store_all(target.buffer, int(start), nodes)
                return
            for place in np.ndindex(*value.shape):
                index = tuple(self.builder.whole(i) for i in place)
                parts = tuple(int(part[place]) for part in value.parts)
                self.write(target, index, parts)
            return
        self.loop(
            target.shape, lambda index: self.write(target, index, self.at(value, index))
        )

    def _is_mostly_constant(self, value: Nodes) -> bool:
        """True for a large array of doubles with many zeros, such as a sparse matrix."""
        if value.kind != "d" or size_of(value.shape) <= MANY:
            return False
        nodes = value.parts[0]
        return bool(np.count_nonzero(nodes == 0) > nodes.size // 2)

    def _copy(self, target: Memory, source: Memory) -> None:
        count = size_of(target.shape)
        if (target.buffer is source.buffer and target.offset == source.offset) or (
            not count
        ):
            return
        target.buffer.version += 1
        self.builder.emit(
            Copy(target.buffer, target.offset, source.buffer, source.offset, count)
        )

    def in_memory(self, value: Value, owner: Any = None) -> Memory:
        """The value without gaps in memory."""
        if isinstance(value, Memory) and is_dense(value):
            return value
        if isinstance(value, Nodes):
            if value.kept is None or value.kept[1] not in self.builder.scopes:
                table = self._table(value)
                scopes = self.builder.scopes
                value.kept = (
                    (table, scopes[0])
                    if table is not None
                    else (self._spilled(value, owner), scopes[-1])
                )
            return value.kept[0]
        target = self.allocate(value.kind, value.shape, owner)
        self.assign(target, value)
        return target

    def _spilled(self, value: Nodes, owner: Any) -> Memory:
        target = self.allocate(value.kind, value.shape, owner)
        if size_of(value.shape) > MANY and value.kind == "d":
            self._fill(target, value)
        else:
            self.assign(target, value)
        target.known = knowledge(value)
        return target

    def _fill(self, target: Memory, value: Nodes) -> None:
        """Writes nodes to memory: constants at once, the others one by one."""
        names = value.parts[0].ravel().tolist()
        numbers = [self.builder.number(n) for n in names]
        data = np.array([0.0 if n is None else n for n in numbers])
        whole = Memory("d", target.buffer, target.offset, (1,), (len(names),))
        if (data == data[0]).all():
            first = (self.builder.real(data[0]),)
            self.loop(whole.shape, lambda index: self.write(whole, index, first))
        else:
            flat = Memory("d", self.builder.table(data), ZERO, (1,), (len(names),))
            self._copy(whole, flat)
        for k, (name, number) in enumerate(zip(names, numbers, strict=True)):
            if number is None:
                self.write(whole, (self.builder.whole(k),), (name,))

    def _table(self, value: Nodes) -> Memory | None:
        """A table of constants, if the nodes are nothing else; a long one of the same number is written by a loop."""
        if size_of(value.shape) > LONG_TABLE and self.is_uniform(value):
            return None
        numbers = []
        for part in value.parts:
            names = part.ravel().tolist()
            numbers.append([self.builder.number(n) for n in names])
            if any(n is None for n in numbers[-1]):
                return None
        data = np.array(numbers[0], dtype=DTYPES[value.kind])
        if value.kind == "c":
            data = data + 1j * np.array(numbers[1], dtype=float)
        buffer = self.builder.table(data)
        known = knowledge(value)
        shape = value.shape
        return Memory(value.kind, buffer, ZERO, row_strides(shape), shape, known)

    # --- loops

    def loop(self, shape: tuple[int, ...], body: Callable[[Index], None]) -> None:
        """Runs a body for every index of an array."""
        if size_of(shape) == 0:
            return
        self._nest(shape, (), body)

    def _nest(self, shape, done: Index, body) -> None:
        if not shape:
            body(done)
        elif shape[0] == 1:
            self._nest(shape[1:], (*done, ZERO), body)
        else:
            self.count(
                ZERO,
                self.builder.whole(shape[0]),
                lambda i: self._nest(shape[1:], (*done, i), body),
            )

    def count(self, start: int, stop: int, body: Callable[[int], None]) -> None:
        """A counting loop."""
        self.fold(start, stop, (), (), lambda i, _: body(i) or ())

    def fold(
        self,
        start: int,
        stop: int,
        firsts: tuple[int, ...],
        kinds: tuple[str, ...],
        body: Callable[[int, tuple[int, ...]], tuple[int, ...]],
    ) -> tuple[int, ...]:
        """A counting loop with carried numbers; their last values."""
        builder = self.builder
        builder.open("for")
        carried = [builder.fresh("carried", kind) for kind in kinds]
        index = builder.fresh("index", "i")
        following = body(index, tuple(carried))
        block = builder.close()
        builder.function.loops = True
        rounds = list(zip(carried, firsts, following, strict=True))
        # The numbers that go round belong to the loop while it lasts, and to the block around it after.
        for node in carried:
            builder.depth[node] = len(builder.scopes) - 1
        builder.emit(For(index, start, stop, block, rounds))
        return tuple(carried)


def knowledge(value: Nodes) -> np.ndarray | None:
    """Where zeros and ones are known among nodes."""
    if value.kind == "c":
        return None
    nodes = value.parts[0]
    known = np.where((nodes == 0) | (nodes == 1), nodes, -1)
    return known if (known >= 0).any() else None


def is_dense(memory: Memory) -> bool:
    """True if the elements stand one after the other."""
    wanted = row_strides(memory.shape)
    triples = zip(memory.strides, wanted, memory.shape, strict=True)
    return all(own == full or size <= 1 for own, full, size in triples)
