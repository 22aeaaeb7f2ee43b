"""Private copies of arrays in a branch that only some lanes take: written back under the mask at its end.

Every write to an array that other lanes still need goes through a mask, and a function that works in place does so on
a copy. A branch that writes an array, and then lets a function work on it, is better off with an array of its own.
"""

import operator
from typing import Any

from .lane_analysis import LaneForm, MaskScope
from .places import touches
from .program import Buffer, Call, Copy, For, Function, StoreNumber

WHOLE = {"iadd": operator.add, "isub": operator.sub, "imul": operator.mul}


def private_arrays(form: LaneForm, block: list[Any], scope: MaskScope) -> list[Buffer]:
    """Arrays of others that a function called in a branch works on in place."""
    found: dict[Buffer, None] = {}
    for statement in block:
        if not isinstance(statement, Call):
            continue
        called = form.calls[id(statement)]
        for place in sorted(called.written & called.read):
            buffer, _ = statement.pointers[place]
            if form.home[buffer] is not scope and not form.is_shared(buffer):
                found[buffer] = None
    return list(found)


def is_overwritten(form: LaneForm, block: list[Any], buffer: Buffer) -> bool:
    """True if the first statement of a block that touches an array writes all of it and reads nothing."""
    first = next(s for s in block if touches(form.function, [s], buffer))
    return overwrites(form, first, buffer)


def overwrites(form: LaneForm, statement: Any, buffer: Buffer) -> bool:
    """True if a statement writes the whole of an array and reads nothing of it."""
    if isinstance(statement, Call):
        called = form.calls[id(statement)]
        uses = [k for k, (b, _) in enumerate(statement.pointers) if b is buffer]
        # A result that a function does not read is written by it as a whole.
        sizes = [called.function.arguments[k].size for k in uses]
        is_whole = sizes == [buffer.size]
        return is_whole and uses[0] in called.written and uses[0] not in called.read
    if isinstance(statement, Copy):
        is_whole = statement.target is buffer and statement.count == buffer.size
        return is_whole and statement.source is not buffer
    written = _written_places(form.function, statement, buffer, {})
    numbers = 2 if buffer.dtype == "complex128" else 1
    return written == set(range(numbers * buffer.size))


def _written_places(
    function: Function, statement: Any, buffer: Buffer, counters: dict[int, int]
) -> set[int] | None:
    """Places of an array that a statement writes; None if it also reads, or if they are not known."""
    if not touches(function, [statement], buffer):
        return set()
    if isinstance(statement, StoreNumber):
        place = _whole_number(function, statement.index, counters)
        return None if place is None else {place}
    if not isinstance(statement, For):
        return None
    start = _whole_number(function, statement.start, counters)
    stop = _whole_number(function, statement.stop, counters)
    if start is None or stop is None:
        return None
    found: set[int] = set()
    for count in range(start, stop):
        inside = {**counters, statement.index: count}
        for part in statement.block:
            places = _written_places(function, part, buffer, inside)
            if places is None:
                return None
            found |= places
    return found


def _whole_number(function: Function, node: int, counters: dict[int, int]) -> Any:
    """Value of a node, where it follows from loop counters."""
    name, sign = abs(node), -1 if node < 0 else 1
    if name in counters:
        return sign * counters[name]
    if function.value[name] is not None:
        return sign * int(function.value[name])
    if function.op[name] not in WHOLE:
        return None
    parts = [_whole_number(function, a, counters) for a in function.args[name]]
    if any(part is None for part in parts):
        return None
    return sign * WHOLE[function.op[name]](*parts)
