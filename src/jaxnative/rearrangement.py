"""Operations that only move elements: views where memory allows it, index functions elsewhere."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .program import ZERO
from .values import Index, Lazy, Memory, Nodes, Value, is_dense, row_strides


def _view(
    tr: Any,
    value: Value,
    shape: tuple[int, ...],
    on_array: Callable[[np.ndarray], np.ndarray],
    strides: Callable[[Memory], tuple[int, tuple[int, ...]]],
    index: Callable[[Index], Index],
) -> Value:
    """A rearrangement in the form of its operand."""
    if isinstance(value, Nodes):
        return Nodes(value.kind, tuple(on_array(part) for part in value.parts))
    if isinstance(value, Lazy):
        return Lazy(value.kind, shape, lambda i: value.element(index(i)), value.sources)
    offset, steps = strides(value)
    known = None if value.known is None else on_array(value.known)
    place = tr.math.iadd(value.offset, tr.builder.whole(offset))
    return Memory(value.kind, value.buffer, place, steps, shape, known)


def reshape(tr, params, x):
    """The same elements in the same order."""
    return reshaped(tr, x, tuple(params["new_sizes"]))


def reshaped(tr, x: Value, shape: tuple[int, ...]) -> Value:
    """The same elements in the same order, in another shape."""
    if isinstance(x, Nodes):
        return Nodes(x.kind, tuple(part.reshape(shape) for part in x.parts))
    before = [k for k, n in enumerate(x.shape) if n != 1]
    after = [k for k, n in enumerate(shape) if n != 1]
    if [x.shape[k] for k in before] == [shape[k] for k in after]:
        return _with_units(tr, x, shape, before, after)
    if not (isinstance(x, Memory) and is_dense(x)):
        x = tr.store.in_memory(x, tr.owner)
    assert isinstance(x, Memory)
    known = None if x.known is None else x.known.reshape(shape)
    return Memory(x.kind, x.buffer, x.offset, row_strides(shape), shape, known)


def _with_units(tr, x, shape, before, after):
    """Axes of length one come and go."""

    def index(i):
        full = [ZERO] * len(x.shape)
        for old, new in zip(before, after, strict=True):
            full[old] = i[new]
        return tuple(full)

    def strides(m):
        steps = [0] * len(shape)
        for old, new in zip(before, after, strict=True):
            steps[new] = m.strides[old]
        return 0, tuple(steps)

    return _view(tr, x, shape, lambda a: a.reshape(shape), strides, index)


def squeeze(tr, params, x):
    """Axes of length one taken out."""
    gone = {d % len(x.shape) for d in params["dimensions"]}
    shape = tuple(n for k, n in enumerate(x.shape) if k not in gone)
    return reshaped(tr, x, shape)


def expand_dims(tr, params, x):
    """Axes of length one put in."""
    rank = len(x.shape) + len(params["dimensions"])
    new = {d % rank for d in params["dimensions"]}
    sizes = iter(x.shape)
    return reshaped(tr, x, tuple(1 if k in new else next(sizes) for k in range(rank)))


def transpose(tr, params, x):
    """Axes in another order."""
    order = tuple(params["permutation"])
    shape = tuple(x.shape[k] for k in order)
    back = [order.index(k) for k in range(len(order))]
    return _view(
        tr,
        x,
        shape,
        lambda a: a.transpose(order),
        lambda m: (0, tuple(m.strides[k] for k in order)),
        lambda i: tuple(i[k] for k in back),
    )


def broadcast_in_dim(tr, params, x, *_):
    """Axes put in or spread."""
    shape = tuple(params["shape"])
    dims = params["broadcast_dimensions"]

    def on_array(a):
        sizes = [1] * len(shape)
        for k, d in enumerate(dims):
            sizes[d] = a.shape[k]
        return np.broadcast_to(a.reshape(sizes), shape)

    def strides(m):
        steps = [0] * len(shape)
        for k, d in enumerate(dims):
            steps[d] = m.strides[k] if m.shape[k] > 1 else 0
        return 0, tuple(steps)

    def index(i):
        return tuple(ZERO if x.shape[k] == 1 else i[d] for k, d in enumerate(dims))

    return _view(tr, x, shape, on_array, strides, index)


def slice_(tr, params, x):
    """A block of an array."""
    starts = params["start_indices"]
    stops = params["limit_indices"]
    steps = params["strides"] or (1,) * len(starts)
    return sliced(tr, x, starts, stops, steps)


def sliced(tr, x, starts, stops, steps) -> Value:
    """Elements from `starts` to `stops`, every `steps`."""
    cut = tuple(slice(a, b, s) for a, b, s in zip(starts, stops, steps, strict=True))
    shape = np.empty(x.shape, dtype=bool)[cut].shape if x.shape else ()

    def strides(m):
        offset = sum(a * s for a, s in zip(starts, m.strides, strict=True))
        return offset, tuple(s * k for s, k in zip(m.strides, steps, strict=True))

    def index(i):
        m, w = tr.math, tr.builder.whole
        pairs = zip(i, starts, steps, strict=True)
        return tuple(m.iadd(m.imul(k, w(s)), w(a)) for k, a, s in pairs)

    return _view(tr, x, shape, lambda a: a[cut], strides, index)


def split(tr, params, x):
    """An array cut along one axis."""
    axis, place, parts = params["axis"], 0, []
    for size in params["sizes"]:
        starts = [0] * len(x.shape)
        stops = list(x.shape)
        starts[axis], stops[axis] = place, place + size
        parts.append(sliced(tr, x, starts, stops, [1] * len(starts)))
        place += size
    return parts


def unstack(tr, params, x):
    """An array taken apart along one axis."""
    axis = params["axis"]
    parts = split(tr, {"axis": axis, "sizes": (1,) * x.shape[axis]}, x)
    return [squeeze(tr, {"dimensions": (axis,)}, part) for part in parts]


def rev(tr, params, x):
    """Axes run backwards."""
    axes = set(params["dimensions"])
    cut = tuple(slice(None, None, -1 if k in axes else 1) for k in range(len(x.shape)))

    def strides(m):
        offset = sum((m.shape[k] - 1) * m.strides[k] for k in axes)
        steps = tuple(-s if k in axes else s for k, s in enumerate(m.strides))
        return offset, steps

    def index(i):
        last = [tr.builder.whole(n - 1) for n in x.shape]
        return tuple(
            tr.math.iadd(last[k], -node) if k in axes else node
            for k, node in enumerate(i)
        )

    return _view(tr, x, x.shape, lambda a: a[cut], strides, index)


def platform_index(tr, params):
    """Which of several programs is for a processor: the number of the first that names it, or none at all."""
    for k, names in enumerate(params["platforms"]):
        if names is None or "cpu" in names:
            return tr.store.constant(np.int32(k))
    if params.get("has_default"):
        # Before version 0.7 JAX does not list it.
        return tr.store.constant(np.int32(len(params["platforms"])))
    raise tr.untranslatable("a program for other machines")


def iota(tr, params):
    """0, 1, 2, ... along one axis."""
    shape, axis = tuple(params["shape"]), params["dimension"]
    kind = tr.kind_of(params["dtype"])
    if tr.is_small(shape):
        numbers = np.arange(shape[axis]).reshape(
            [-1 if k == axis else 1 for k in range(len(shape))]
        )
        return tr.store.constant(
            np.broadcast_to(numbers, shape).astype(float if kind == "d" else int)
        )
    return Lazy(
        kind,
        shape,
        lambda i: (tr.math.convert(i[axis], "i", kind),),
        frozenset(),
    )


def concatenate(tr, params, *parts):
    """Arrays one after the other along an axis."""
    axis = params["dimension"]
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    shape = tuple(shape)
    if tr.is_small(shape, *parts) or all(isinstance(part, Nodes) for part in parts):
        nodes = [tr.store.nodes(part) for part in parts]
        columns = zip(*[n.parts for n in nodes], strict=True)
        joined = tuple(np.concatenate(column, axis) for column in columns)
        return Nodes(parts[0].kind, joined)
    target = tr.store.allocate(parts[0].kind, shape, tr.owner)
    place = 0
    for part in parts:
        starts = [0] * len(shape)
        stops = list(shape)
        starts[axis], stops[axis] = place, place + part.shape[axis]
        place = stops[axis]
        room = sliced(tr, target, starts, stops, [1] * len(shape))
        tr.store.assign(room, part)
    return target


def stack(tr, params, *parts):
    """Arrays side by side along a new axis."""
    axis = params.get("axis", params.get("dimension", 0))
    shape = list(parts[0].shape)
    shape.insert(axis, 1)
    rows = [reshaped(tr, part, tuple(shape)) for part in parts]
    return concatenate(tr, {"dimension": axis}, *rows)


def pad(tr, params, x, filling):
    """An array with a margin, and gaps between its elements; a negative margin cuts off."""
    config = [tuple(map(int, entry)) for entry in params["padding_config"]]
    widened = [(max(low, 0), max(high, 0), gap) for low, high, gap in config]
    whole = _padded(tr, widened, x, filling)
    if widened == config:
        return whole
    starts = [max(-low, 0) for low, _, _ in config]
    margins = zip(whole.shape, config, strict=True)
    stops = [n - max(-high, 0) for n, (_, high, _) in margins]
    return sliced(tr, whole, starts, stops, [1] * len(config))


def _padded(tr, config, x, filling):
    """An array with a margin that is nowhere negative."""
    shape = tuple(
        low + high + n + max(n - 1, 0) * gap
        for n, (low, high, gap) in zip(x.shape, config, strict=True)
    )
    nodes = tr.store.nodes(filling)
    cut = tuple(
        slice(low, low + max(n - 1, 0) * (gap + 1) + 1 if n else low, gap + 1)
        for n, (low, _, gap) in zip(x.shape, config, strict=True)
    )
    if tr.is_small(shape, x) or isinstance(x, Nodes):
        inner = tr.store.nodes(x)
        parts = []
        for fill, part in zip(nodes.parts, inner.parts, strict=True):
            whole = np.full(shape, int(fill), dtype=np.int64)
            whole[cut] = part
            parts.append(whole)
        return Nodes(x.kind, tuple(parts))
    target = tr.store.allocate(x.kind, shape, tr.owner)
    fill = tuple(int(part) for part in nodes.parts)
    tr.store.loop(shape, lambda index: tr.store.write(target, index, fill))
    starts, stops, steps = zip(*[(c.start, c.stop, c.step) for c in cut], strict=True)
    tr.store.assign(sliced(tr, target, starts, stops, steps), x)
    return target


REARRANGEMENT = {
    "reshape": reshape,
    "squeeze": squeeze,
    "expand_dims": expand_dims,
    "transpose": transpose,
    "broadcast_in_dim": broadcast_in_dim,
    "slice": slice_,
    "split": split,
    "unstack": unstack,
    "rev": rev,
    "iota": iota,
    "platform_index": platform_index,
    "concatenate": concatenate,
    "stack": stack,
    "pad": pad,
}
