"""Functions that a program calls again and again: their alike operations in vectors, the constants packed once.

What the numbers of a robot are does not change while a program runs. So the constants of vectors are put side by side
when the program begins, and handed down to the functions that its loops call.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from .places import blocks_of
from .program import ZERO, Buffer, Builder, Call, For, Function, If, Store, While
from .together import Constant, in_vectors
from .values import Store as Values

LEAST = 300  # operations of a function that is worth to be looked at
# What was made of functions, by the arguments that are constants; None: nothing.
_made: WeakKeyDictionary[Function, dict[frozenset[int], Any]] = WeakKeyDictionary()


class Repeated(NamedTuple):
    """A function with those arguments of another one that it still needs, and with arrays of constants behind them."""

    function: Function
    arguments: tuple[int, ...]
    packed: tuple[tuple[Constant, ...], ...]


def with_repeated_calls(function: Function) -> Function:
    """The same program with what its loops call in vectors; itself where nothing is worth it."""
    found = _entry(function)
    return function if found is None else _packing(found)


def _entry(function: Function) -> Repeated | None:
    """The function that runs once: only what its loops call is worth it."""
    fixed = frozenset(range(len(function.arguments) - function.n_results))
    return _Calls(function, fixed, is_repeated=False).rewritten()


def _repeated(function: Function, fixed: frozenset[int]) -> Repeated | None:
    """A function that runs again and again, and of which some arguments are constants; None if it stays as it is."""
    known = _made.setdefault(function, {})
    if fixed not in known:
        known[fixed] = _make(function, fixed)
    return known[fixed]


def _make(function: Function, fixed: frozenset[int]) -> Repeated | None:
    is_written_out = function.host is None and function.in_vectors is None
    if not is_written_out or function.rows is not None:
        return None
    found = _Calls(function, fixed, is_repeated=True).rewritten()
    if function.is_rare or _operations(function) < LEAST:
        return found
    together = in_vectors(function if found is None else found.function, fixed)
    if together is None:
        return found
    packed = () if found is None else found.packed
    # Arrays of constants that are handed on are no arguments of the function as it was.
    own = [place for place in together.arguments if place < len(function.arguments)]
    return Repeated(together.function, tuple(own), (*packed, together.constants))


def _operations(function: Function) -> int:
    """Nodes in the outermost block."""
    return sum(isinstance(statement, int) for statement in function.block)


@dataclass
class _Calls:
    """A function whose calls are replaced by those of functions in vectors."""

    function: Function
    fixed: frozenset[int]
    is_repeated: bool
    packed: dict[tuple[Constant, ...], Buffer] = field(default_factory=dict)

    def rewritten(self) -> Repeated | None:
        """The function with its new calls; None where there are none."""
        f = self.function
        block = self._block(f.block, self.is_repeated)
        if not self.packed:
            return None
        calls = list(dict.fromkeys(_called(block)))
        arguments = [*f.arguments, *self.packed.values()]
        new = replace(f, block=block, arguments=arguments, calls=calls)
        return Repeated(new, tuple(range(len(f.arguments))), tuple(self.packed))

    def _block(self, block: list[Any], is_repeated: bool) -> list[Any]:
        return [self._statement(statement, is_repeated) for statement in block]

    def _statement(self, s: Any, is_repeated: bool) -> Any:
        if isinstance(s, Call):
            return self._call(s) if is_repeated else s
        if isinstance(s, For):
            return replace(s, block=self._block(s.block, True))
        if isinstance(s, While):
            test, block = (self._block(inner, True) for inner in blocks_of(s))
            return replace(s, test=test, block=block)
        if isinstance(s, If):
            yes, no = (self._block(inner, is_repeated) for inner in blocks_of(s))
            return replace(s, yes=yes, no=no)
        return s

    def _call(self, call: Call) -> Call:
        """The call with pointers to packed constants."""
        starts = {
            place: start
            for place, pointer in enumerate(call.pointers)
            if (start := self._start(*pointer)) is not None
        }
        found = _repeated(call.function, frozenset(starts))
        if found is None:
            return call
        pointers = [call.pointers[place] for place in found.arguments]
        for constants in found.packed:
            own = tuple(_moved(constant, starts) for constant in constants)
            pointers.append((self._buffer(own), ZERO))
        return Call(found.function, pointers)

    def _start(self, buffer: Buffer, index: int) -> Constant | None:
        """Where a constant array that is handed on begins."""
        is_fixed = buffer.where == "argument" and buffer.place in self.fixed
        if not is_fixed or buffer.mutable or self.function.op[abs(index)] != "const":
            return None
        return Constant(1.0, buffer.place, int(self.function.value[abs(index)]))

    def _buffer(self, constants: tuple[Constant, ...]) -> Buffer:
        if constants not in self.packed:
            place = len(self.function.arguments) + len(self.packed)
            new = Buffer("argument", "float64", len(constants), place, packed=True)
            self.packed[constants] = new
        return self.packed[constants]


def _called(block: list[Any]) -> list[Function]:
    """Functions that a block calls."""
    found = [s.function for s in block if isinstance(s, Call)]
    for statement in block:
        for inner in blocks_of(statement):
            found += _called(inner)
    return found


def _moved(constant: Constant, starts: dict[int, Constant]) -> Constant:
    """A constant of a function that is called, as one of its caller."""
    if constant.argument is None:
        return constant
    start = starts[constant.argument]
    return Constant(constant.factor, start.argument, start.place + constant.place)


# --- the beginning of a program ------------------------------------------------------------------------------------


def _packing(found: Repeated) -> Function:
    """The program that packs the constants of its functions before all else."""
    f = found.function
    count = len(f.arguments) - len(found.packed)
    first = max((buffer.place for buffer in f.frame), default=-1) + 1
    own, statements, calls = {}, [], []
    for k, constants in enumerate(found.packed):
        room = Buffer("frame", "float64", len(constants), first + k, packed=True)
        own[f.arguments[count + k]] = room
        pack, sources = _pack(f, constants)
        statements.append(Call(pack, [*((s, ZERO) for s in sources), (room, ZERO)]))
        calls.append(pack)
    block = [*statements, *_in_frame(f.block, own)]
    return replace(
        f,
        block=block,
        arguments=f.arguments[:count],
        frame=[*f.frame, *own.values()],
        calls=[*f.calls, *calls],
    )


def _in_frame(block: list[Any], own: dict[Buffer, Buffer]) -> list[Any]:
    """A block whose calls are handed arrays of the frame in place of arguments."""
    found = []
    for s in block:
        if isinstance(s, Call):
            pointers = [
                (own.get(buffer, buffer), index) for buffer, index in s.pointers
            ]
            s = replace(s, pointers=pointers)
        elif isinstance(s, For):
            s = replace(s, block=_in_frame(s.block, own))
        elif isinstance(s, While):
            test, inner = _in_frame(s.test, own), _in_frame(s.block, own)
            s = replace(s, test=test, block=inner)
        elif isinstance(s, If):
            s = replace(s, yes=_in_frame(s.yes, own), no=_in_frame(s.no, own))
        found.append(s)
    return found


def _pack(
    function: Function, constants: tuple[Constant, ...]
) -> tuple[Function, list[Buffer]]:
    """A function that puts constants one after the other, and the arguments of another one that it reads."""
    builder = Builder("pack")
    values = Values(builder)
    found = {c.argument for c in constants if c.argument is not None}
    sources = [function.arguments[place] for place in sorted(found)]
    own = {s.place: builder.argument(s.dtype, s.size) for s in sources}
    target = builder.argument("float64", len(constants))
    for argument in (None, *sorted(found)):
        picked = [(k, c) for k, c in enumerate(constants) if c.argument == argument]
        slots = builder.table(np.array([k for k, _ in picked], np.int32))
        places = builder.table(np.array([c.place for _, c in picked], np.int32))
        factors = builder.table(np.array([c.factor for _, c in picked]))

        def once(i: int, argument=argument, tables=(slots, places, factors)) -> None:
            slots, places, factors = tables
            number = builder.load(factors, i)
            if argument is not None:
                read = builder.load(own[argument], builder.load(places, i))
                number = values.math.mul(number, read)
            builder.emit(Store(target, builder.load(slots, i), number))

        values.count(ZERO, builder.whole(len(picked)), once)
    builder.function.n_results = 1
    return builder.function, sources
