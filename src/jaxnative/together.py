"""A function in which alike operations are done together, in vectors; the constants of vectors come in packed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from .alike import WIDTH, Lane, Operand, Vectors, vectors_of
from .ordering import order_operations
from .places import blocks_of, rename, touched
from .program import (
    FREE,
    Buffer,
    Builder,
    Call,
    Copy,
    For,
    Function,
    If,
    Store,
    While,
    drop_unused,
)

WORTH = 0.9  # share of the operations that may be left, to put numbers into lanes and to take them out included
VECTOR = "v"  # kind of a node that is a vector of doubles


class Constant(NamedTuple):
    """A factor times a number of an argument, or the factor alone."""

    factor: float
    argument: int | None = None
    place: int = 0


class Together(NamedTuple):
    """A function in vectors: it has those arguments that it still needs, and its constants, one after the other."""

    function: Function
    arguments: tuple[int, ...]
    constants: tuple[Constant, ...]


def in_vectors(function: Function, fixed: frozenset[int]) -> Together | None:
    """The same function with its alike operations in vectors; None where few are alike.

    Args:
        function: that is written out.
        fixed: arguments whose numbers are constants.
    """
    vectors = vectors_of(function, fixed)
    if not vectors.roots:
        return None
    writer = _Writer(function, vectors)
    operations = writer.write()
    if operations > WORTH * _operations(function):
        return None
    order_operations(writer.function)
    kept = _drop_arguments(writer.function, fixed)
    return Together(writer.function, kept, tuple(writer.constants))


def _drop_arguments(function: Function, fixed: frozenset[int]) -> tuple[int, ...]:
    """Takes out constant arguments that nothing reads any more; places of those that are left, without the last."""
    needed = set().union(*(touched(function, s) for s in function.block))
    left = [b for b in function.arguments if b.place not in fixed or b in needed]
    new = {buffer: replace(buffer, place=k) for k, buffer in enumerate(left)}
    rename(function, function.block, new)
    function.arguments = list(new.values())
    return tuple(buffer.place for buffer in left[:-1])


def _operations(function: Function) -> int:
    """Operations in all blocks."""
    return sum(function.op[node] not in FREE for node in _nodes(function.block))


def _nodes(block: list[Any]) -> Iterator[int]:
    for statement in block:
        if isinstance(statement, int):
            yield statement
        for inner in blocks_of(statement):
            yield from _nodes(inner)


class _Writer:
    """Writes a function anew, statement after statement."""

    def __init__(self, function: Function, vectors: Vectors):
        self.old = function
        self.vectors = vectors
        self.trees = vectors.trees
        self.builder = Builder(function.name)
        self.new = {0: 0, 1: 1}  # names of single numbers
        self.made: dict[int, int] = {}  # vectors, by their numbers
        self.constants: list[Constant] = []
        self.slots: dict[tuple[Constant, ...], int] = {}
        self.free: list[int] = []  # slots for single constants
        place = len(function.arguments)
        self.packed = Buffer("argument", "float64", 0, place, packed=True)
        roots = vectors.lane_of
        self.inside = {n for root in roots for n in self.trees.nodes(root)} - set(roots)

    @property
    def function(self) -> Function:
        """The new function."""
        return self.builder.function

    def write(self) -> int:
        """Writes all of it; how many operations there are."""
        f, new = self.old, self.function
        self._block(f.block)
        self.packed.size = len(self.constants)
        new.arguments = [*f.arguments, self.packed]
        new.n_results, new.is_rare, new.loops = f.n_results, f.is_rare, f.loops
        new.tables, new.frame, new.calls = f.tables, f.frame, f.calls
        new.width = WIDTH
        return drop_unused(new)

    # --- statements

    def _block(self, block: list[Any]) -> None:
        for statement in block:
            if not isinstance(statement, int):
                self._statement(statement)
            elif statement in self.vectors.lane_of:
                # Where its first root was, all that the roots read is there.
                self._vector(self.vectors.lane_of[statement].vector)
            elif not self._is_packed(statement) and statement not in self.inside:
                self.new[statement] = self._single(statement)

    def _statement(self, s: Any) -> None:
        node, emit = self._node, self.builder.emit
        if isinstance(s, Store):
            emit(Store(s.buffer, node(s.index), node(s.value)))
        elif isinstance(s, Copy):
            target, source = node(s.target_index), node(s.source_index)
            emit(Copy(s.target, target, s.source, source, s.count))
        elif isinstance(s, Call):
            pointers = [(buffer, node(index)) for buffer, index in s.pointers]
            emit(Call(s.function, pointers))
        elif isinstance(s, For):
            self._for(s)
        elif isinstance(s, While):
            test, block = (self._nested("while", inner) for inner in blocks_of(s))
            emit(While(test, node(s.condition), block))
        elif isinstance(s, If):
            condition = node(s.condition)
            yes, no = (self._nested("if", inner) for inner in blocks_of(s))
            emit(If(condition, yes, no))

    def _nested(self, style: str, block: list[Any]) -> list[Any]:
        self.builder.open(style)
        self._block(block)
        return self.builder.close()

    def _for(self, s: For) -> None:
        node, builder = self._node, self.builder
        start, stop = node(s.start), node(s.stop)
        firsts = [node(first) for _, first, _ in s.carried]
        builder.open("for")
        for old, _, _ in s.carried:
            self.new[old] = builder.fresh("carried", self.old.kind[old])
        self.new[s.index] = builder.fresh("index", "i")
        self._block(s.block)
        lasts = [node(following) for _, _, following in s.carried]
        block = builder.close()
        names = [self.new[old] for old, _, _ in s.carried]
        for name in names:
            builder.depth[name] = len(builder.scopes) - 1
        rounds = list(zip(names, firsts, lasts, strict=True))
        builder.emit(For(self.new[s.index], start, stop, block, rounds))

    # --- single numbers

    def _node(self, old: int) -> int:
        """The new name of a number, out of its vector if it is in one."""
        if old < 0:
            return -self._node(-old)
        place = self.vectors.lane_of.get(old)
        if place is not None:
            made, lane = self._vector(place.vector), self.builder.whole(place.lane)
            number = self.builder.node("lane", (abs(made), lane), "d")
            return number if made > 0 else -number
        if self._is_packed(old):
            return self._read(self._slot_of(self._constant(Operand(old, 1))), "d")
        if old not in self.new:
            self.new[old] = self._number(old)
        return self.new[old]

    def _is_packed(self, old: int) -> bool:
        """True for a number of an argument that comes in packed."""
        f = self.old
        is_constant = old in self.trees.operations.constants
        return is_constant and f.op[old] == "load" and f.kind[old] == "d"

    def _number(self, old: int) -> int:
        """A number that stands in the program."""
        f, builder = self.old, self.builder
        x = f.value[old]
        return builder.real(x) if f.kind[old] == "d" else builder.whole(x)

    def _single(self, old: int) -> int:
        f = self.old
        op, args, kind = f.op[old], f.args[old], f.kind[old]
        if op == "load":
            buffer, index, version = args
            movable = buffer.where != "frame" and not buffer.mutable
            where = (buffer, self._node(index), version)
            return self.builder.node(op, where, kind, movable)
        return self.builder.node(op, tuple(map(self._node, args)), kind)

    # --- vectors

    def _vector(self, number: int) -> int:
        """The vector of this number."""
        if number not in self.made:
            roots = self.vectors.roots[number]
            self.made[number] = self._tree([Operand(root, 1) for root in roots])
        return self.made[number]

    def _tree(self, lanes: list[Operand]) -> int:
        """The same tree in all lanes, each with its sign; node 0 is a lane that nobody looks at."""
        pairs = [self._signed(*lane) if lane.node else (lane, lane) for lane in lanes]
        a, b = (self._column(list(column)) for column in zip(*pairs, strict=True))
        if self.trees.operations.is_product(max(lanes).node):
            product = self._operation("vfmul", abs(a), abs(b))
            return product if (a < 0) == (b < 0) else -product
        if a < 0 and b < 0:
            return -self._operation("vfadd", -a, -b)
        if a < 0 or b < 0:
            return self._operation("vfsub", max(a, b), -min(a, b))
        return self._operation("vfadd", a, b)

    def _operation(self, op: str, a: int, b: int) -> int:
        return self.builder.node(op, (a, b), VECTOR)

    def _signed(self, node: int, sign: int) -> tuple[Operand, Operand]:
        """Operands of a tree times a sign, which its constants take over."""
        a, b = self.trees.operands[node]
        if sign > 0:
            return a, b
        if not self.trees.operations.is_product(node):
            return Operand(a.node, -a.sign), Operand(b.node, -b.sign)
        if self.trees.is_loose(a.node):
            return Operand(a.node, -a.sign), b
        return a, Operand(b.node, -b.sign)

    def _column(self, column: list[Operand]) -> int:
        """What the lanes of an operation read, as a vector."""
        some = next(operand for operand in column if operand.node)
        node, sign = some
        if node in self.trees.operations.constants:
            numbers = [self._constant(o if o.node else some) for o in column]
            return self._packed(tuple(numbers))
        if node in self.trees.inner and self.trees.is_loose(node):
            return self._tree(column)
        if node in self.trees.inner:
            made = self._tree([Operand(n, 1) for n, _ in column])
        elif node in self.vectors.lane_of:
            made = self._collected([self.vectors.lane_of.get(n) for n, _ in column])
        else:
            number = self._node(node)
            made = self.builder.node("spread", (abs(number),), VECTOR)
            made = made if number > 0 else -made
        return made if sign > 0 else -made

    def _packed(self, numbers: tuple[Constant, ...]) -> int:
        if numbers not in self.slots:
            self.slots[numbers] = len(self.constants)
            self.constants += numbers
        return self._read(self.slots[numbers], VECTOR)

    def _slot_of(self, number: Constant) -> int:
        """Where a single constant stands: with others, so that vectors begin at multiples of their size."""
        if (number,) not in self.slots:
            if not self.free:
                first = len(self.constants)
                self.constants += [number] * WIDTH
                self.free = list(range(first, first + WIDTH))
            self.slots[(number,)] = self.free.pop(0)
            self.constants[self.slots[(number,)]] = number
        return self.slots[(number,)]

    def _read(self, slot: int, kind: str) -> int:
        place = self.builder.whole(slot)
        return self.builder.node("load", (self.packed, place, "0"), kind)

    def _constant(self, operand: Operand) -> Constant:
        node, sign = operand
        f = self.old
        if f.op[node] == "const":
            return Constant(sign * float(f.value[node]))
        buffer, index = f.args[node][:2]
        return Constant(float(sign), buffer.place, int(f.value[index]))

    def _collected(self, places: list[Lane | None]) -> int:
        """Roots out of at most two vectors, which are alike and so have the same sign."""
        numbers = list(dict.fromkeys(place.vector for place in places if place))
        made = [self._vector(number) for number in numbers]
        lanes = [
            k if place is None else place.lane + WIDTH * numbers.index(place.vector)
            for k, place in enumerate(places)
        ]
        if lanes == list(range(WIDTH)):
            return made[0]
        first, last = abs(made[0]), abs(made[-1])
        picked = ",".join(map(str, lanes))
        found = self.builder.node("pick", (first, last, picked), VECTOR)
        return found if made[0] > 0 else -found
