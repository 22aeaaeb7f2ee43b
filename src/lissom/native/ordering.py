"""The order of a program's operations: what is computed is used soon, so that few numbers wait in memory."""

from typing import Any

from .program import Function, Store

Run = list[Any]  # nodes and stores, one after the other


def order_operations(function: Function) -> None:
    """Puts each operation of a function right behind the last one that it waits for."""
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
    if not isinstance(statement, Store):
        return False
    return statement.buffer.where == "argument" and statement.buffer not in read


def _depth_first(function: Function, run: Run) -> Run:
    members = {node for node in run if isinstance(node, int)}
    used: set[int] = set()
    for statement in run:
        used.update(_operands(function, statement))
    done: set[int] = set()
    ordered: Run = []
    for statement in run:
        # What nothing in the run waits for is a beginning: stores, and what is used later on.
        if isinstance(statement, int) and statement in used:
            continue
        for node in _operands(function, statement):
            _visit(function, node, members, done, ordered)
        ordered.append(statement)
    return ordered


def _visit(
    function: Function, node: int, members: set[int], done: set[int], ordered: Run
) -> None:
    """Appends a node behind all that it waits for."""
    path = [(node, iter(_operands(function, node)))]
    if node not in members or node in done:
        return
    done.add(node)
    while path:
        node, left = path[-1]
        for operand in left:
            if operand in members and operand not in done:
                done.add(operand)
                path.append((operand, iter(_operands(function, operand))))
                break
        else:
            path.pop()
            ordered.append(node)


def _operands(function: Function, statement: Any) -> list[int]:
    """Nodes that a statement waits for; the one that was made last first, for it has most before it."""
    if isinstance(statement, Store):
        found = [statement.index, statement.value]
    else:
        found = [a for a in function.args[statement] if isinstance(a, int)]
    return sorted({abs(a) for a in found}, reverse=True)
