"""Sums, extremes and products of matrices."""

import functools
from typing import Any

import jax
import numpy as np

from .arithmetic import add_arrays, product_of_matrices
from .elements import elementwise
from .elementwise import ELEMENTWISE
from .program import ONE, ZERO
from .rearrangement import transpose
from .untranslatable import Untranslatable
from .values import DTYPES, Lazy, Nodes, Value, stays_in_memory

# Products of matrices with so many terms are written out where functions unroll,
MANY = 1500
# and beyond that only if loops would waste more on zeros than they gain.
SPEED_OF_LOOPS = 12
# Of a batch each product may have so many terms.
MANY_EACH = 400
# Part of these numbers for a function that runs seldom: it is written and compiled in less time.
IF_RARE = 0.1
FEW = 64
WIDER = "bidc"  # kinds of numbers, each of which holds those before it


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
        if isinstance(x, Nodes) or tr.is_small(x.shape, x):
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
        terms = [np.asarray(row) for row in rows[0]]
        total = functools.reduce(lambda a, b: add_arrays(tr.math, a, b), terms)
        return Nodes(x.kind, (total,))
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
    a, b = _in_one_kind(tr, a, b)
    (over_a, over_b), (batch_a, batch_b) = params["dimension_numbers"]
    free_a = [k for k in range(len(a.shape)) if k not in (*over_a, *batch_a)]
    free_b = [k for k in range(len(b.shape)) if k not in (*over_b, *batch_b)]
    groups = (batch_a, free_a, over_a, free_b)
    sizes = [_length(b if g is free_b else a, g) for g in groups]
    shape = (
        *[a.shape[k] for k in batch_a],
        *[a.shape[k] for k in free_a],
        *[b.shape[k] for k in free_b],
    )
    left = transpose(tr, {"permutation": (*batch_a, *free_a, *over_a)}, a)
    right = transpose(tr, {"permutation": (*batch_b, *over_b, *free_b)}, b)
    if a.kind == "d" and _is_written_out(tr, left, right, sizes):
        x = tr.store.nodes(left).parts[0].reshape(sizes[:3])
        y = tr.store.nodes(right).parts[0].reshape(sizes[0], sizes[2], sizes[3])
        product = product_of_matrices(tr.math, x, y)
        return Nodes("d", (product.reshape(shape),))
    if 0 in sizes:
        zeros = tuple(np.zeros(shape, dtype=np.int64) for _ in _parts(ZERO, a.kind))
        return Nodes(a.kind, zeros)
    return tr.product(left, right, sizes, shape)


def _in_one_kind(tr, a: Value, b: Value) -> tuple[Value, Value]:
    """Both factors as numbers of the kind of their product: JAX does not ask that they be of one type."""
    kind = tr.kind_of(tr.result_type)
    if kind == "b":
        raise Untranslatable("product of truth values")
    if any(WIDER.index(value.kind) > WIDER.index(kind) for value in (a, b)):
        types = " and ".join(DTYPES[value.kind] for value in (a, b))
        raise Untranslatable(f"product of {types} as {DTYPES[kind]}")
    return _converted(tr, a, kind), _converted(tr, b, kind)


def _converted(tr, value: Value, kind: str) -> Value:
    """The same numbers of another kind."""
    if value.kind == kind:
        return value
    form = jax.ShapeDtypeStruct(value.shape, DTYPES[kind])
    params = {"new_dtype": form.dtype}
    return elementwise(tr, "convert_element_type", params, [value], form)


def _length(value: Value, axes) -> int:
    return int(np.prod([value.shape[k] for k in axes], dtype=np.int64))


def _is_written_out(tr, left: Value, right: Value, sizes) -> bool:
    """True if a product is better written out in scalars: it is small, or most of it is zero."""
    batch, m, k, n = sizes
    dense = batch * m * k * n
    if dense <= FEW:
        return tr.unrolls or dense <= 64
    if not tr.unrolls:
        return False
    if stays_in_memory(left) or stays_in_memory(right):
        return False
    share = IF_RARE if tr.is_rare else 1.0
    if dense <= share * MANY:
        return True
    x = tr.store.nodes(left).parts[0].reshape(batch, m, k)
    y = tr.store.nodes(right).parts[0].reshape(batch, k, n)
    terms = ((x != 0).sum(axis=1) * (y != 0).sum(axis=2)).sum()
    # Loops run several products at a time; written out, only what is not zero is multiplied.
    most = share * max(MANY, MANY_EACH * batch)
    wastes = terms * SPEED_OF_LOOPS <= dense
    return terms <= most or (wastes and not (tr.is_rare and terms > MANY))


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
