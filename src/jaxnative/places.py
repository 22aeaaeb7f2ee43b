"""Copy elision: arrays are computed in their final place."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .program import Buffer, Call, Copy, For, Function, If, StoreNumber, While


def touches(function: Function, block: list[Any], buffer: Buffer) -> bool:
    """True if anything in a block reads or writes an array."""
    return any(buffer in touched(function, statement) for statement in block)


def touched(function: Function, statement: Any) -> set[Buffer]:
    """Arrays that a statement reads or writes, and all that is inside it."""
    if isinstance(statement, int):
        is_load = function.op[statement] == "load"
        return {function.args[statement][0]} if is_load else set()
    if isinstance(statement, StoreNumber):
        return {statement.buffer}
    if isinstance(statement, Copy):
        return {statement.target, statement.source}
    if isinstance(statement, Call):
        return {buffer for buffer, _ in statement.pointers}
    blocks = blocks_of(statement)
    return {b for block in blocks for inner in block for b in touched(function, inner)}


def blocks_of(statement: Any) -> list[list[Any]]:
    """Blocks inside a statement."""
    if isinstance(statement, For):
        return [statement.block]
    if isinstance(statement, While):
        return [statement.test, statement.block]
    if isinstance(statement, If):
        return [statement.yes, statement.no]
    return []


def rename(function: Function, block: list[Any], new: dict[Buffer, Buffer]) -> None:
    """Replaces arrays in a block by others."""
    for k, statement in enumerate(block):
        if isinstance(statement, int):
            op, args = function.op[statement], function.args[statement]
            if op == "load" and args[0] in new:
                function.args[statement] = (new[args[0]], *args[1:])
        elif isinstance(statement, StoreNumber):
            if statement.buffer in new:
                block[k] = replace(statement, buffer=new[statement.buffer])
        elif isinstance(statement, Copy):
            target = new.get(statement.target, statement.target)
            source = new.get(statement.source, statement.source)
            block[k] = replace(statement, target=target, source=source)
        elif isinstance(statement, Call):
            # In place: what is known of a call is kept under its identity.
            statement.pointers[:] = [
                (new.get(buffer, buffer), index) for buffer, index in statement.pointers
            ]
        for inner in blocks_of(statement):
            rename(function, inner, new)


def begin_in_inputs(function: Function, is_free: Sequence[bool]) -> dict[int, int]:
    """Lets results that begin as copies of inputs be computed in those; the input of each such result.

    Args:
        function: to be changed.
        is_free: inputs that nothing reads after the function has returned.
    """
    first_result = len(function.arguments) - function.n_results
    found: dict[int, int] = {}
    for k, copy in enumerate(function.block):
        if not isinstance(copy, Copy) or not _is_of_whole_arguments(copy):
            continue
        place = copy.source.place
        if place >= first_result or not is_free[place]:
            continue
        result = copy.target.place - first_result
        before, after = function.block[:k], function.block[k + 1 :]
        is_read_later = touches(function, after, copy.source)
        is_begun = touches(function, before, copy.target)
        if result >= 0 and not is_read_later and not is_begun:
            found[result] = place
    arguments = function.arguments
    new = {arguments[first_result + r]: arguments[p] for r, p in found.items()}
    function.block[:] = [s for s in function.block if not _is_begin_of(s, new)]
    rename(function, function.block, new)
    return found


def _is_of_whole_arguments(copy: Copy) -> bool:
    """True for the copy of an argument to another one, all of it."""
    buffers = (copy.source, copy.target)
    is_whole = all(b.where == "argument" and b.size == copy.count for b in buffers)
    return is_whole and copy.source.dtype == copy.target.dtype


def _is_begin_of(statement: Any, new: dict[Buffer, Buffer]) -> bool:
    """True for the copy that a result in an input begins with."""
    is_copy = isinstance(statement, Copy)
    return is_copy and new.get(statement.target) is statement.source
