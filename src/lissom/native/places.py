"""Arrays that are computed where they are wanted, instead of being copied there in the end."""

from dataclasses import replace
from typing import Any

from .program import Buffer, Call, Copy, For, Function, If, Store, While


def touches(function: Function, block: list[Any], buffer: Buffer) -> bool:
    """True if anything in a block reads or writes an array."""
    return any(buffer in touched(function, statement) for statement in block)


def touched(function: Function, statement: Any) -> set[Buffer]:
    """Arrays that a statement reads or writes, and all that is inside it."""
    if isinstance(statement, int):
        is_load = function.op[statement] == "load"
        return {function.args[statement][0]} if is_load else set()
    if isinstance(statement, Store):
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
    """Lets everything in a block use other arrays in place of some."""
    for k, statement in enumerate(block):
        if isinstance(statement, int):
            op, args = function.op[statement], function.args[statement]
            if op == "load" and args[0] in new:
                function.args[statement] = (new[args[0]], *args[1:])
        elif isinstance(statement, Store):
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
