"""Elementwise operations: on nodes at once, or evaluated lazily where an element is needed."""

from typing import Any

import numpy as np

from .arithmetic import add_arrays, mul_arrays
from .elementwise import ELEMENTWISE
from .program import ZERO, kind_of
from .values import Lazy, Memory, Nodes, Value, size_of, sources_of

COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge", "is_finite", "lt_to", "le_to"}


def elementwise(tr, name, params, operands: list[Value], aval: Any) -> Value:
    """Result of an operation on elements: single numbers, or a rule for them."""
    rule = ELEMENTWISE[name]
    shape = tuple(aval.shape)
    if name == "select_n" and _same(operands[1:]):
        return operands[1]
    if rule is ELEMENTWISE["copy"] and not isinstance(operands[0], Lazy):
        return operands[0]
    kinds = [value.kind for value in operands]
    all_nodes = all(isinstance(value, Nodes) for value in operands)
    few = all_nodes and size_of(shape) <= 64
    if few or tr.is_small(shape, *operands):
        return _on_nodes(tr, name, params, kinds, operands, shape)

    operands = [tr.indexable(value) for value in operands]

    def element(index):
        parts = []
        for value in operands:
            parts.append(tr.store.at(value, _own_index(value.shape, index)))
        return rule(tr.math, params, kinds, parts)

    sources = frozenset().union(*[sources_of(value) for value in operands])
    return Lazy(kind_of(aval.dtype), shape, element, sources)


def _same(cases: list[Value]) -> bool:
    first = cases[0]
    if all(case is first for case in cases):
        return True
    places = [case for case in cases if isinstance(case, Memory)]
    if len(places) < len(cases):
        return False
    forms = {(place.buffer, place.offset, place.strides) for place in places}
    return len(forms) == 1


def _on_nodes(tr, name, params, kinds, operands, shape) -> Nodes:
    arrays = [tr.store.nodes(value).parts for value in operands]
    if set(kinds) == {"d"} and name in ("add", "sub", "mul", "neg", "add_any"):
        return Nodes("d", (_fast(tr, name, *[parts[0] for parts in arrays]),))
    spread = [tuple(np.broadcast_to(p, shape) for p in parts) for parts in arrays]
    lists = [[p.ravel().tolist() for p in parts] for parts in spread]
    rule, out = ELEMENTWISE[name], []
    for k in range(size_of(shape)):
        elements = [tuple(p[k] for p in parts) for parts in lists]
        out.append(rule(tr.math, params, kinds, elements))
    kind = _kind_of_result(name, params, kinds)
    count = 2 if kind == "c" else 1
    table = np.array(out, dtype=np.int64).reshape(*shape, count)
    return Nodes(kind, tuple(table[..., k] for k in range(count)))


def _fast(tr, name: str, a: np.ndarray, b: np.ndarray | None = None):
    if name == "neg" or b is None:
        return -a
    if name == "mul":
        return mul_arrays(tr.math, a, b)
    return add_arrays(tr.math, a, -b if name == "sub" else b)


def _kind_of_result(name, params, kinds) -> str:
    if name in COMPARISONS:
        return "b"
    if name == "convert_element_type":
        return kind_of(params["new_dtype"])
    if name == "select_n":
        return kinds[1]
    if name in ("real", "imag"):
        return "d"
    if name == "abs" and kinds[0] == "c":
        return "d"
    return "c" if name == "complex" else kinds[0]


def _own_index(shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, ...]:
    """Index into an operand that is spread along axes of length one, or is a single number."""
    if not shape:
        return ()
    return tuple(ZERO if size == 1 else i for size, i in zip(shape, index, strict=True))
