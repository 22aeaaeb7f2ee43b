"""A program of scalar operations in structured blocks: what the translator writes and the printers read.

A number in a block is a *node*, named by a whole number. Node 0 is zero, node 1 is one, and a negative name is the
negative of a node: signs cost nothing until something has to be stored. Equal nodes are one node.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .untranslatable import Untranslatable
from .vector_text import VectorText

ZERO, ONE = 0, 1
FUSED = "fma"  # the operation a b + c with one rounding
# Kinds of numbers: double, whole, truth, complex (stored as two doubles).
KINDS = {
    "float64": "d",
    "int64": "i",
    "int32": "i",
    "bool": "b",
    "complex128": "c",
    "uint8": "i",
    "uint32": "i",
    "int8": "i",
}


@functools.cache
def kind_of(dtype: Any) -> str:
    """Kind of the numbers of an array type."""
    name = np.dtype(dtype).name
    if name not in KINDS:
        raise Untranslatable(f"numbers of type {name}")
    return KINDS[name]


@dataclass(eq=False)
class Buffer:
    """Memory for an array: an argument, a place in the frame of its function, or a table of constants."""

    where: str  # "argument", "frame" or "table"
    dtype: str  # NumPy's name; complex numbers are pairs of doubles
    size: int
    place: int  # its number among those
    owner: Any = None  # who may overwrite it
    version: int = 0
    data: np.ndarray | None = None  # of a table
    mutable: bool = False  # an argument that is overwritten

    @property
    def parts(self) -> int:
        """Numbers of each element: a complex one is two."""
        return 2 if self.dtype == "complex128" else 1

    @property
    def part_kind(self) -> str:
        """Kind of those numbers."""
        kind = kind_of(self.dtype)
        return "d" if kind == "c" else kind

    @property
    def item_bytes(self) -> int:
        """Size of an element in memory."""
        return np.dtype(self.dtype).itemsize

    @property
    def bytes(self) -> int:
        """Size in memory."""
        return self.size * self.item_bytes

    @property
    def numbers(self) -> list[Any]:
        """Numbers of a table."""
        assert self.data is not None
        return (self.data.view(float) if self.parts == 2 else self.data).tolist()


@dataclass(eq=False)
class Function:
    """A function in memory: arguments are pointers, results are written through the last ones."""

    name: str
    arguments: list[Buffer] = field(default_factory=list)
    n_results: int = 0
    tables: list[Buffer] = field(default_factory=list)
    block: list[Any] = field(default_factory=list)
    op: list[str] = field(default_factory=lambda: ["const", "const"])
    args: list[tuple] = field(default_factory=lambda: [(), ()])
    kind: list[str] = field(default_factory=lambda: ["d", "d"])
    value: list[Any] = field(default_factory=lambda: [0.0, 1.0])
    frame: list[Buffer] = field(default_factory=list)
    calls: list["Function"] = field(default_factory=list)
    loops: bool = False  # whether there is something for a loop optimiser
    is_rare: bool = False  # whether a step calls it once, or less
    # LLVM may fuse and reorder its sums: they are not part of what other programs compute in another form.
    reorders: bool = False
    host: Any = None  # a `HostCall`: the function is Python's
    rows: "Rows | None" = None  # the same function on a few rows is all that it does
    # Writes the same function for LLVM in vectors of a width.
    in_vectors: Callable[[int], VectorText] | None = None
    in_lanes: "Function | None" = None  # the same function, better suited to lanes


class Rows(NamedTuple):
    """A function called on a few rows, one after the other or side by side."""

    function: Function
    shared: tuple[bool, ...]  # arguments that are the same for all rows
    count: int


# Statements of a block: an `int` defines that node; others are these.
@dataclass(frozen=True)
class StoreNumber:
    """Writes a number to memory."""

    buffer: Buffer
    index: int
    value: int


@dataclass(frozen=True)
class Copy:
    """Copies `count` numbers from one place to another."""

    target: Buffer
    target_index: int
    source: Buffer
    source_index: int
    count: int


@dataclass(frozen=True)
class For:
    """Counts from `start` to `stop`; `carried` are (node, first, next) of carried numbers."""

    index: int
    start: int
    stop: int
    block: list[Any]
    carried: list[tuple[int, int, int]]


@dataclass(frozen=True)
class While:
    """Runs `test`, and as long as `condition` holds, `block`."""

    test: list[Any]
    condition: int
    block: list[Any]


@dataclass(frozen=True)
class If:
    """One block or the other."""

    condition: int
    yes: list[Any]
    no: list[Any]


@dataclass(frozen=True)
class Call:
    """Calls a function with pointers (buffer, index)."""

    function: Function
    pointers: list[tuple[Buffer, int]]


@dataclass(eq=False)
class Scope:
    """A block being written, and the nodes known in it."""

    style: str  # "function", "for", "while" or "if"
    block: list[Any]
    table: dict[tuple, int] = field(default_factory=dict)


class Builder:
    """Writes one function."""

    def __init__(self, name: str):
        self.function = Function(name)
        self.scopes = [Scope("function", self.function.block)]
        self.depth = [0, 0]  # of the scope that each node was made in
        self.wholes = {0: ZERO, 1: ONE}  # nodes of whole numbers
        self.arrays = 0  # that were ever in the frame

    # --- scopes

    def open(self, style: str) -> Scope:
        """Begins a nested block."""
        scope = Scope(style, [])
        self.scopes.append(scope)
        return scope

    def close(self) -> list[Any]:
        """Ends the innermost block."""
        return self.scopes.pop().block

    def emit(self, statement: Any) -> None:
        """Appends a statement to the innermost block."""
        self.scopes[-1].block.append(statement)

    # --- nodes

    def node(self, op: str, args: tuple, kind: str, movable: bool = True) -> int:
        """The node of an operation, made if it is new."""
        key = (op, *args)
        scopes = self.scopes
        for scope in reversed(scopes):
            found = scope.table.get(key)
            if found is not None:
                return found
        level = len(scopes) - 1
        if movable:
            # Loop-invariant nodes move out of counting loops, never out of a branch.
            while scopes[level].style == "for" and self._deepest(args) < level:
                level -= 1
        new = self._new(op, args, kind, level)
        scopes[level].table[key] = new
        scopes[level].block.append(new)
        return new

    def _deepest(self, args: tuple) -> int:
        depths = [self.depth[abs(a)] for a in args if isinstance(a, int)]
        return max(depths, default=0)

    def _new(self, op: str, args: tuple, kind: str, level: int) -> int:
        f = self.function
        f.op.append(op)
        f.args.append(args)
        f.kind.append(kind)
        f.value.append(None)
        self.depth.append(level)
        return len(f.op) - 1

    def fresh(self, op: str, kind: str) -> int:
        """A new node without operands: a loop index or a carried number."""
        return self._new(op, (), kind, len(self.scopes) - 1)

    def real(self, x: float | int) -> int:
        """A constant double."""
        x = float(x)
        if x == 0.0:
            return ZERO
        if x == 1.0:
            return ONE
        if math.copysign(1.0, x) < 0 and not math.isnan(x):
            return -self.real(-x)
        return self._constant(x, "d")

    def whole(self, n: float | int | np.integer) -> int:
        """A constant whole number."""
        found = self.wholes.get(n)  # type: ignore[arg-type]
        if found is None:
            n = int(n)
            found = -self.whole(-n) if n < 0 else self._constant(n, "i")
            self.wholes[n] = found
        return found

    def _constant(self, x: Any, kind: str) -> int:
        key = ("const", kind, "nan" if x != x else x)
        table = self.scopes[0].table
        if key not in table:
            new = self._new("const", (), kind, 0)
            self.function.value[new] = x
            table[key] = new
        return table[key]

    def number(self, node: int) -> Any:
        """The number of a constant; None for anything else."""
        x = self.function.value[abs(node)]
        return x if x is None or node >= 0 else -x

    # --- memory

    def allocate(self, dtype: str, size: int, owner: Any = None) -> Buffer:
        """A place in the frame."""
        frame = self.function.frame
        frame.append(Buffer("frame", dtype, size, self.arrays, owner))
        self.arrays += 1
        return frame[-1]

    def argument(self, dtype: str, size: int) -> Buffer:
        """The next argument of the function."""
        f = self.function
        f.arguments.append(Buffer("argument", dtype, size, len(f.arguments)))
        return f.arguments[-1]

    def table(self, data: np.ndarray) -> Buffer:
        """A table of constants."""
        f = self.function
        data = np.ascontiguousarray(data)
        for known in f.tables:
            same = known.dtype == data.dtype.name and known.size == data.size
            held: Any = known.data
            if same and held.tobytes() == data.tobytes():
                return known
        place = len(f.tables)
        new = Buffer("table", data.dtype.name, data.size, place, data=data.ravel())
        f.tables.append(new)
        return new

    def load(self, buffer: Buffer, index: int) -> int:
        """A number from memory, or one part of a complex one (index 2 k or 2 k + 1)."""
        kind = buffer.part_kind
        fixed = buffer.where != "frame" and not buffer.mutable
        key = ("load", buffer, index, str(buffer.version))
        return self.node(key[0], key[1:], kind, movable=fixed)

    def load_all(self, buffer: Buffer, places: list[int]) -> list[int]:
        """Numbers from known places in memory, as `load` gives them one by one."""
        kind = kind_of(buffer.dtype)
        version = str(buffer.version)
        keys = [("load", buffer, self.whole(k), version) for k in places]
        tables = [scope.table for scope in reversed(self.scopes)]
        nodes = [_first_found(tables, key) for key in keys]
        new = {key: -1 for key, node in zip(keys, nodes, strict=True) if node is None}
        if not new:
            return nodes
        level = len(self.scopes) - 1
        if buffer.where != "frame" and not buffer.mutable:
            while self.scopes[level].style == "for":
                level -= 1
        f, first = self.function, len(self.function.op)
        names = range(first, first + len(new))
        new.update(zip(new, names, strict=True))
        f.op += ["load"] * len(new)
        f.args += [key[1:] for key in new]
        f.kind += [kind] * len(new)
        f.value += [None] * len(new)
        self.depth += [level] * len(new)
        self.scopes[level].table.update(new)
        self.scopes[level].block += names
        pairs = zip(keys, nodes, strict=True)
        return [new[key] if node is None else node for key, node in pairs]

    def store(self, buffer: Buffer, index: int, value: int) -> None:
        """Writes a number."""
        buffer.version += 1
        self.emit(StoreNumber(buffer, index, value))

    def store_all(self, buffer: Buffer, start: int, values: list[int]) -> None:
        """Writes numbers one after the other."""
        buffer.version += 1
        places = map(self.whole, range(start, start + len(values)))
        pairs = zip(places, values, strict=True)
        self.scopes[-1].block += [
            StoreNumber(buffer, place, value) for place, value in pairs
        ]


def _first_found(tables: list[dict], key: tuple) -> Any:
    for table in tables:
        found = table.get(key)
        if found is not None:
            return found
    return None


# --- what is needed -----------------------------------------------------------------------------------------------


FREE = ("load", "const", "index", "carried")  # nodes that compute nothing


def drop_unused(function: Function) -> int:
    """Eliminates dead nodes; number of arithmetic operations that remain."""
    needed: set[int] = set()
    _sweep(function, function.block, needed)
    return sum(_size_of_operation(function.op[k]) for k in needed)


def _size_of_operation(op: str) -> int:
    """Arithmetic operations that a node stands for."""
    if op in FREE:
        return 0
    return 2 if op == FUSED else 1


def _sweep(function: Function, block: list[Any], needed: set[int]) -> None:
    """Keeps the statements of a block that are needed, from its end to its beginning."""
    kept = []
    for statement in reversed(block):
        if isinstance(statement, int):
            if statement not in needed:
                continue
            for a in function.args[statement]:
                if isinstance(a, int):
                    needed.add(abs(a))
        else:
            _sweep_statement(function, statement, needed)
        kept.append(statement)
    block[:] = kept[::-1]


def _sweep_statement(function: Function, statement: Any, needed: set[int]) -> None:
    if isinstance(statement, StoreNumber):
        needed.update((abs(statement.index), abs(statement.value)))
    elif isinstance(statement, Copy):
        needed.update((abs(statement.target_index), abs(statement.source_index)))
    elif isinstance(statement, Call):
        needed.update(abs(index) for _, index in statement.pointers)
    elif isinstance(statement, For):
        for _, first, following in statement.carried:
            needed.update((abs(first), abs(following)))
        needed.update((abs(statement.start), abs(statement.stop)))
        _sweep(function, statement.block, needed)
    elif isinstance(statement, While):
        needed.add(abs(statement.condition))
        _sweep(function, statement.block, needed)
        _sweep(function, statement.test, needed)
    elif isinstance(statement, If):
        needed.add(abs(statement.condition))
        _sweep(function, statement.yes, needed)
        _sweep(function, statement.no, needed)


# --- what is done -------------------------------------------------------------------------------------------------


def executed_operations(function: Function) -> int:
    """Arithmetic operations of one call: loops as often as they run, the longer branch, functions that are called.

    A loop whose length is not known beforehand counts once.
    """
    return _executed(function, function.block)


def _executed(function: Function, block: list[Any]) -> int:
    return sum(_operations_of(function, statement) for statement in block)


def _operations_of(function: Function, statement: Any) -> int:
    if isinstance(statement, int):
        is_number = function.kind[statement] == "d"
        return _size_of_operation(function.op[statement]) if is_number else 0
    if isinstance(statement, Call):
        return executed_operations(statement.function)
    if isinstance(statement, For):
        return _length(function, statement) * _executed(function, statement.block)
    if isinstance(statement, While):
        return _executed(function, [*statement.test, *statement.block])
    if isinstance(statement, If):
        branches = (statement.yes, statement.no)
        return max(_executed(function, branch) for branch in branches)
    return 0


def _length(function: Function, loop: For) -> int:
    """How often a loop runs."""
    ends = [abs(node) for node in (loop.start, loop.stop)]
    if any(function.op[node] != "const" for node in ends):
        return 1
    start, stop = (function.value[node] for node in ends)
    return max(int(stop - start), 0)
