"""Sums, extremes and products of matrices."""

import functools
from typing import Any

import numpy as np

from .arithmetic import add_arrays, product_of_matrices
from .elementwise import ELEMENTWISE
from .program import ONE, ZERO, Untranslatable
from .values import Lazy, Nodes, Value

# Sums up to this length are written out; longer ones are loops.
SHORT = 8


def reduce(combine: str, start: Any):
    """The rule of a reduction; `start(tr, kind)` is its value over nothing."""

    def rule(tr, params, x):
        axes = tuple(params["axes"])
        kept = [k for k in range(len(x.shape)) if k not in axes]
        shape = tuple(x.shape[k] for k in kept)
        operation = ELEMENTWISE[combine]

        def both(a, b):
            return operation(tr.math, {}, [x.kind, x.kind], [a, b])

        if not axes:
            return x
        if isinstance(x, Nodes) or tr.is_small(x.shape):
            return _written_out(tr, tr.store.nodes(x), axes, both, start, combine)
        first = _parts(start(tr, x.kind), x.kind)
        x = tr.indexable(x)
        kinds = ("d", "d") if x.kind == "c" else (x.kind,)

        def element(i):
            places = dict(zip(kept, i, strict=True))

            def along(remaining, places, total):
                if not remaining:
                    index = tuple(places[k] for k in range(len(x.shape)))
                    return both(total, tr.store.at(x, index))
                axis, *rest = remaining
                count = tr.builder.whole(x.shape[axis])

                def once(k, state):
                    return along(rest, {**places, axis: k}, state)

                return tr.store.fold(ZERO, count, total, kinds, once)

            return along(list(axes), places, first)

        return tr.finished(Lazy(x.kind, shape, element, tr.sources(x)))

    return rule


def _parts(first: int, kind: str) -> tuple[int, ...]:
    return (first, ZERO) if kind == "c" else (first,)


def _written_out(tr, x: Nodes, axes, both, start, combine) -> Nodes:
    shape = tuple(n for k, n in enumerate(x.shape) if k not in axes)
    moved = [np.moveaxis(part, axes, range(len(axes))) for part in x.parts]
    rows = [part.reshape(-1, *shape) for part in moved]
    first = _parts(start(tr, x.kind), x.kind)
    if not rows[0].shape[0]:
        return Nodes(x.kind, tuple(np.full(shape, f) for f in first))
    if combine == "add" and x.kind == "d":
        total = functools.reduce(lambda a, b: add_arrays(tr.math, a, b), rows[0])
        return Nodes(x.kind, (np.asarray(total),))
    out = [np.zeros(shape, dtype=np.int64) for _ in rows]
    for i in np.ndindex(*shape):
        elements = [tuple(int(r[(k, *i)]) for r in rows) for k in range(len(rows[0]))]
        for part, node in zip(out, functools.reduce(both, elements), strict=True):
            part[i] = node
    return Nodes(x.kind, tuple(out))


def _lowest(tr, kind: str) -> int:
    if kind == "b":
        return ZERO
    return -tr.builder.real(np.inf) if kind == "d" else -tr.builder.whole(2**62)


def _highest(tr, kind: str) -> int:
    if kind == "b":
        return ONE
    return tr.builder.real(np.inf) if kind == "d" else tr.builder.whole(2**62)


def dot_general(tr, params, a: Value, b: Value):
    """Product over contracted axes, batch axes side by side."""
    (over_a, over_b), (batch_a, batch_b) = params["dimension_numbers"]
    free_a = [k for k in range(len(a.shape)) if k not in (*over_a, *batch_a)]
    free_b = [k for k in range(len(b.shape)) if k not in (*over_b, *batch_b)]
    shape = (
        *[a.shape[k] for k in batch_a],
        *[a.shape[k] for k in free_a],
        *[b.shape[k] for k in free_b],
    )
    lengths = [a.shape[k] for k in over_a]
    orders = ((batch_a, free_a, over_a), (batch_b, over_b, free_b))
    written = tr.unrolls or all(tr.is_small(v.shape) for v in (a, b))
    both_nodes = isinstance(a, Nodes) and isinstance(b, Nodes)
    if a.kind == "d" and (written or (both_nodes and tr.is_small(shape))):
        return _product_of_nodes(tr, a, b, orders, shape)
    if not tr.unrolls:
        a, b = tr.settled(a), tr.settled(b)
    multiply, add = ELEMENTWISE["mul"], ELEMENTWISE["add"]
    kinds = [a.kind, b.kind]
    if a.kind not in ("d", "c", "i"):
        raise Untranslatable("product of truth values")
    parts = ("d", "d") if a.kind == "c" else (a.kind,)

    def element(i):
        n_batch, n_a = len(batch_a), len(free_a)
        at_a = dict(zip(batch_a, i[:n_batch], strict=True))
        at_b = dict(zip(batch_b, i[:n_batch], strict=True))
        at_a.update(zip(free_a, i[n_batch : n_batch + n_a], strict=True))
        at_b.update(zip(free_b, i[n_batch + n_a :], strict=True))

        def term(total, ks):
            at_a.update(zip(over_a, ks, strict=True))
            at_b.update(zip(over_b, ks, strict=True))
            x = tr.store.at(a, tuple(at_a[k] for k in range(len(a.shape))))
            y = tr.store.at(b, tuple(at_b[k] for k in range(len(b.shape))))
            product = multiply(tr.math, {}, kinds, [x, y])
            return add(tr.math, {}, kinds, [total, product])

        zero = _parts(ZERO, a.kind)
        if int(np.prod(lengths, dtype=np.int64)) <= SHORT:
            total = zero
            for ks in np.ndindex(*lengths):
                total = term(total, [tr.builder.whole(k) for k in ks])
            return total

        def along(depth, ks, total):
            if depth == len(lengths):
                return term(total, ks)
            stop = tr.builder.whole(lengths[depth])
            return tr.store.fold(
                ZERO, stop, total, parts, lambda k, s: along(depth + 1, [*ks, k], s)
            )

        return along(0, [], zero)

    sources = tr.sources(a) | tr.sources(b)
    return tr.finished(Lazy(a.kind, shape, element, sources))


def _product_of_nodes(tr, a, b, orders, shape) -> Nodes:
    left, right = tr.store.nodes(a).parts[0], tr.store.nodes(b).parts[0]
    (batch, free_a, over), (batch_b, over_b, free_b) = orders
    sizes = [int(np.prod([left.shape[k] for k in group], dtype=int)) for group in orders[0]]
    n = int(np.prod([right.shape[k] for k in free_b], dtype=int))
    left = left.transpose(*batch, *free_a, *over).reshape(*sizes)
    right = right.transpose(*batch_b, *over_b, *free_b).reshape(sizes[0], sizes[2], n)
    product = product_of_matrices(tr.math, left, right)
    return Nodes("d", (product.reshape(shape),))


def cumulative(combine: str):
    """The rule of a running sum, product or extreme along one axis."""

    def rule(tr, params, x):
        axis, backwards = params["axis"], params.get("reverse", False)
        nodes = tr.store.nodes(x)
        operation = ELEMENTWISE[combine]
        out = [np.moveaxis(part.copy(), axis, 0) for part in nodes.parts]
        count = x.shape[axis]
        order = range(count - 2, -1, -1) if backwards else range(1, count)
        step = 1 if backwards else -1
        for k in order:
            for i in np.ndindex(*out[0].shape[1:]):
                old = tuple(int(part[(k + step, *i)]) for part in out)
                new = tuple(int(part[(k, *i)]) for part in out)
                value = operation(tr.math, {}, [x.kind, x.kind], [old, new])
                for part, node in zip(out, value, strict=True):
                    part[(k, *i)] = node
        return Nodes(x.kind, tuple(np.moveaxis(part, 0, axis) for part in out))

    return rule


REDUCTION = {
    "reduce_sum": reduce("add", lambda tr, kind: ZERO),
    "reduce_max": reduce("max", _lowest),
    "reduce_min": reduce("min", _highest),
    "reduce_prod": reduce("mul", lambda tr, kind: ONE),
    "reduce_and": reduce("and", lambda tr, kind: ONE),
    "reduce_or": reduce("or", lambda tr, kind: ZERO),
    "dot_general": dot_general,
    "cumsum": cumulative("add"),
    "cumprod": cumulative("mul"),
    "cummax": cumulative("max"),
    "cummin": cumulative("min"),
}
