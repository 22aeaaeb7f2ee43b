"""Scheduling: operations in an order in which few numbers are live at once."""

import itertools
from typing import Any

from .program import Function, StoreNumber

Run = list[Any]  # nodes and stores, one after the other


def order_operations(function: Function) -> None:
    """Moves each operation of a function right after the last one that it depends on."""
    read = {
        args[0]
        for op, args in zip(function.op, function.args, strict=True)
        if op == "load"
    }
    ordered: list[Any] = []
    run: Run = []
    for statement in function.block:
        if isinstance(statement, int) or _is_result(statement, read):
            run.append(statement)
            continue
        ordered += _depth_first(function, run)
        ordered.append(statement)
        run = []
    function.block[:] = [*ordered, *_depth_first(function, run)]


def _is_result(statement: Any, read: set[Any]) -> bool:
    """True for a store that nothing in the function reads."""
    if not isinstance(statement, StoreNumber):
        return False
    return statement.buffer.where == "argument" and statement.buffer not in read


def _depth_first(function: Function, run: Run) -> Run:
    waiting = [_operands(function, statement) for statement in run]
    members = {
        node: operands
        for node, operands in zip(run, waiting, strict=True)
        if isinstance(node, int)
    }
    used = set(itertools.chain.from_iterable(waiting))
    done: set[int] = set()
    ordered: Run = []
    for statement, operands in zip(run, waiting, strict=True):
        # What nothing in the run waits for is a beginning: stores, and what is used later on.
        if isinstance(statement, int) and statement in used:
            continue
        for node in operands:
            if node in members and node not in done:
                _visit(node, members, done, ordered)
        ordered.append(statement)
    return ordered


def _visit(
    node: int, members: dict[int, tuple[int, ...]], done: set[int], ordered: Run
) -> None:
    """Appends a node after all that it depends on."""
    path = [(node, iter(members[node]))]
    done.add(node)
    while path:
        node, left = path[-1]
        for operand in left:
            if operand in members and operand not in done:
                done.add(operand)
                path.append((operand, iter(members[operand])))
                break
        else:
            path.pop()
            ordered.append(node)


def _operands(function: Function, statement: Any) -> tuple[int, ...]:
    """Nodes that a statement depends on, newest first: it has most dependencies itself."""
    if isinstance(statement, StoreNumber):
        found = (abs(statement.index), abs(statement.value))
    else:
        found = [abs(a) for a in function.args[statement] if isinstance(a, int)]
    if len(found) == 2:
        # As most operations have it: nothing to sort.
        a, b = found
        return (a, b) if a > b else (b, a)
    return tuple(sorted(set(found), reverse=True))
