"""Reading and writing of elements whose place is computed: slices, gathers and scatters."""

from typing import Any

import numpy as np
from jax.lax import GatherScatterMode as Mode

from .arithmetic import constants
from .program import ONE, ZERO, If
from .untranslatable import Untranslatable
from .values import Index, Lazy, Memory, Nodes, Value


def _numbers(tr: Any, value: Value) -> np.ndarray | None:
    """The numbers of a value, if all of them stand in the program."""
    if not isinstance(value, Nodes):
        return None
    flat = [tr.builder.number(n) for n in value.parts[0].ravel().tolist()]
    if any(n is None for n in flat):
        return None
    return np.array(flat, dtype=np.int64).reshape(value.shape)


def _clamped(tr, start: int, last: int) -> int:
    """A start that keeps its slice inside the array."""
    return tr.math.imin(tr.math.imax(start, ZERO), tr.builder.whole(last))


def _starts(tr, x, starts, sizes) -> Index:
    nodes = [int(tr.store.nodes(s).parts[0]) for s in starts]
    lasts = [n - size for n, size in zip(x.shape, sizes, strict=True)]
    return tuple(_clamped(tr, s, last) for s, last in zip(nodes, lasts, strict=True))


def dynamic_slice(tr, params, x, *starts):
    """A block whose corner is computed."""
    sizes = tuple(params["slice_sizes"])
    corner = _starts(tr, x, starts, sizes)
    numbers = [tr.builder.number(s) for s in corner]
    if isinstance(x, Nodes) and all(n is not None for n in numbers):
        cut = tuple(
            slice(int(n), int(n) + s) for n, s in zip(numbers, sizes, strict=True)
        )
        return Nodes(x.kind, tuple(part[cut] for part in x.parts))
    if isinstance(x, Nodes):
        x = tr.store.in_memory(x, tr.owner)
    if isinstance(x, Memory):
        offset = tr.store.place(x, corner)
        return Memory(x.kind, x.buffer, offset, x.strides, sizes)

    def element(i):
        moved = [tr.math.iadd(a, b) for a, b in zip(i, corner, strict=True)]
        return x.element(tuple(moved))

    return Lazy(x.kind, sizes, element, x.sources)


def dynamic_update_slice(tr, params, x, update, *starts):
    """An array with one block replaced."""
    corner = _starts(tr, x, starts, update.shape)
    numbers = [tr.builder.number(s) for s in corner]
    if isinstance(x, Nodes) and all(n is not None for n in numbers):
        cut = tuple(
            slice(int(n), int(n) + s)
            for n, s in zip(numbers, update.shape, strict=True)
        )
        new = tr.store.nodes(update)
        return Nodes(x.kind, tuple(_set(p, cut, u) for p, u in _zip(x, new)))
    update = tr.settled(update)
    target = tr.own(x)
    offset = tr.store.place(target, corner)
    room = Memory(x.kind, target.buffer, offset, target.strides, update.shape)
    tr.store.assign(room, update)
    return target


def _zip(x: Nodes, y: Nodes):
    return zip(x.parts, y.parts, strict=True)


def _set(array: np.ndarray, cut, values) -> np.ndarray:
    out = array.copy()
    out[cut] = values
    return out


# --- gather


def gather(tr, params, x, indices):
    """Blocks of an array whose corners are listed."""
    d = params["dimension_numbers"]
    sizes = tuple(params["slice_sizes"])
    rank = len(params_shape(d, sizes, indices.shape))
    shape = params_shape(d, sizes, indices.shape)
    fills = _drops(params["mode"])
    numbers = _numbers(tr, indices)
    if numbers is not None and (isinstance(x, Nodes) or tr.is_small(shape, x)):
        return _gather_known(tr, params, tr.store.nodes(x), numbers, shape)
    batch = [k for k in range(rank) if k not in d.offset_dims]
    if isinstance(x, Nodes):
        x = tr.store.in_memory(x, tr.owner)

    def element(i):
        rows = [i[k] for k in batch]
        start = _start_of(tr, d, indices, rows, len(x.shape))
        offsets = iter([i[k] for k in d.offset_dims])
        place = []
        inside = ONE
        for k, n in enumerate(x.shape):
            corner = start[k]
            last = n - sizes[k]
            if fills:
                ok = tr.math.both(
                    tr.math.compare("ile", ZERO, corner),
                    tr.math.compare("ile", corner, tr.builder.whole(last)),
                )
                inside = tr.math.both(inside, ok)
            corner = _clamped(tr, corner, last)
            gone = k in d.collapsed_slice_dims or k in d.operand_batching_dims
            place.append(corner if gone else tr.math.iadd(corner, next(offsets)))
        found = tr.store.at(x, tuple(place))
        if inside == ONE:
            return found
        filling = _filling(tr, params, x.kind)
        kind = "d" if x.kind == "c" else x.kind
        return tuple(tr.math.select(inside, part, filling, kind) for part in found)

    sources = tr.sources(x) | tr.sources(indices)
    return tr.finished(Lazy(x.kind, shape, element, sources))


def params_shape(d, sizes, index_shape) -> tuple[int, ...]:
    """Shape of what a gather gives."""
    gone = set(d.collapsed_slice_dims) | set(d.operand_batching_dims)
    offsets = iter([n for k, n in enumerate(sizes) if k not in gone])
    batch = iter(index_shape[:-1])
    rank = len(d.offset_dims) + len(index_shape) - 1
    return tuple(
        next(offsets) if k in d.offset_dims else next(batch) for k in range(rank)
    )


def _drops(mode) -> bool:
    return Mode.from_any(mode) == Mode.FILL_OR_DROP


def _filling(tr, params, kind) -> int:
    given = params.get("fill_value")
    if given is not None:
        return int(constants(tr.builder, np.asarray(given), kind))
    if kind in ("d", "c"):
        return tr.builder.real(float("nan"))
    if kind == "b":
        return ONE
    return tr.builder.whole(-(2**31) if kind == "i" else 0)


def _start_of(tr, d, indices, rows, rank) -> list[int]:
    """Corner of the block of one row of indices."""
    start = [ZERO] * rank
    for column, k in enumerate(d.start_index_map):
        index = (*rows, tr.builder.whole(column))
        start[k] = tr.store.at(indices, index)[0]
    pairs = zip(d.operand_batching_dims, d.start_indices_batching_dims, strict=True)
    for k, b in pairs:
        start[k] = rows[b]
    return start


def _corners(d, numbers: np.ndarray, rank: int) -> np.ndarray:
    """Corners (*rows, rank) of all blocks, from indices that are numbers."""
    corners = np.zeros((*numbers.shape[:-1], rank), dtype=np.int64)
    for column, k in enumerate(d.start_index_map):
        corners[..., k] = numbers[..., column]
    return corners


def _gather_known(tr, params, x: Nodes, numbers: np.ndarray, shape) -> Nodes:
    d, sizes = params["dimension_numbers"], params["slice_sizes"]
    corners = _corners(d, numbers, len(x.shape))
    rows = numbers.shape[:-1]
    for k, b in zip(
        d.operand_batching_dims, d.start_indices_batching_dims, strict=True
    ):
        along = [1] * len(rows)
        along[b] = -1
        corners[..., k] = np.arange(rows[b]).reshape(along)
    lasts = np.array([n - s for n, s in zip(x.shape, sizes, strict=True)])
    inside = ((corners >= 0) & (corners <= lasts)).all(axis=-1)
    corners = np.clip(corners, 0, lasts)
    rank = len(shape)
    batch = [k for k in range(rank) if k not in d.offset_dims]
    grid = np.indices(shape, sparse=False)
    at_rows = tuple(grid[k] for k in batch)
    offsets = iter([grid[k] for k in d.offset_dims])
    place = []
    for k in range(len(x.shape)):
        corner = corners[(*at_rows, k)] if batch else np.full(shape, corners[..., k])
        gone = k in d.collapsed_slice_dims or k in d.operand_batching_dims
        place.append(corner if gone else corner + next(offsets))
    parts = tuple(part[tuple(place)] for part in x.parts)
    if _drops(params["mode"]) and not inside.all():
        filling = _filling(tr, params, x.kind)
        kept = np.asarray(inside)[at_rows] if batch else np.full(shape, inside)
        parts = tuple(np.where(kept, part, filling) for part in parts)
    return Nodes(x.kind, parts)


# --- scatter


def scatter(combine: str):
    """The rule of a scatter that sets, adds, multiplies or takes the extreme."""

    def rule(tr, params, x, indices, updates):
        numbers = _numbers(tr, indices)
        if numbers is not None and (isinstance(x, Nodes) or tr.is_small(x.shape, x)):
            nodes = tr.store.nodes(x)
            new = tr.store.nodes(updates)
            return _scatter_known(tr, params, nodes, numbers, new, combine)
        return _scatter_in_memory(tr, params, x, indices, updates, combine)

    return rule


def _targets(d, x_shape, update_shape, corner_of, add) -> Any:
    """Where an update goes: index into the operand of an index into the updates."""
    window = list(d.update_window_dims)
    rows = [k for k in range(len(update_shape)) if k not in window]

    def place(i):
        start = corner_of([i[k] for k in rows])
        offsets = iter([i[k] for k in window])
        index = []
        for k in range(len(x_shape)):
            gone = k in d.inserted_window_dims or k in d.operand_batching_dims
            index.append(start[k] if gone else add(start[k], next(offsets)))
        return index

    return place


def _combined(tr, combine: str, kind: str, old, new):
    from .elementwise import ELEMENTWISE

    if combine == "set":
        return new
    return ELEMENTWISE[combine](tr.math, {}, [kind, kind], [old, new])


def _scatter_known(tr, params, x: Nodes, numbers, updates: Nodes, combine) -> Nodes:
    d = params["dimension_numbers"]
    out = [part.copy() for part in x.parts]

    def corner_of(rows):
        start = [0] * len(x.shape)
        for column, k in enumerate(d.scatter_dims_to_operand_dims):
            start[k] = int(numbers[(*rows, column)])
        pairs = zip(
            d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True
        )
        for k, b in pairs:
            start[k] = rows[b]
        return start

    place = _targets(d, x.shape, updates.shape, corner_of, lambda a, b: a + b)
    for i in np.ndindex(*updates.shape):
        index = tuple(place(i))
        if any(not 0 <= k < n for k, n in zip(index, x.shape, strict=True)):
            continue
        old = tuple(int(part[index]) for part in out)
        new = tuple(int(part[i]) for part in updates.parts)
        value = _combined(tr, combine, x.kind, old, new)
        for part, node in zip(out, value, strict=True):
            part[index] = node
    return Nodes(x.kind, tuple(out))


def _scatter_in_memory(tr, params, x, indices, updates, combine) -> Memory:
    d = params["dimension_numbers"]
    updates, indices = tr.settled(updates), tr.settled(indices)
    target = tr.own(x)
    target.known = None
    store, math = tr.store, tr.math

    def corner_of(rows):
        start = [ZERO] * len(x.shape)
        for column, k in enumerate(d.scatter_dims_to_operand_dims):
            index = (*rows, tr.builder.whole(column))
            start[k] = store.at(indices, index)[0]
        pairs = zip(
            d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True
        )
        for k, b in pairs:
            start[k] = rows[b]
        return start

    place = _targets(d, x.shape, updates.shape, corner_of, math.iadd)

    def put(i):
        index = place(i)
        inside = ONE
        for k, n in zip(index, x.shape, strict=True):
            inside = math.both(inside, math.compare("ile", ZERO, k))
            inside = math.both(inside, math.compare("ilt", k, tr.builder.whole(n)))
        if inside == ZERO:
            return
        tr.builder.open("if")
        old = store.at(target, tuple(index)) if combine != "set" else ()
        new = _combined(tr, combine, x.kind, old, store.at(updates, i))
        store.write(target, tuple(index), new)
        block = tr.builder.close()
        tr.builder.emit(If(inside, block, []))

    store.loop(updates.shape, put)
    return target


# --- search


def arg_extreme(largest: bool):
    """The rule of argmax or argmin along one axis; the first of equals, and of NaN."""

    def rule(tr, params, x):
        (axis,) = params["axes"]
        shape = tuple(n for k, n in enumerate(x.shape) if k != axis)
        if x.kind == "c":
            raise Untranslatable("argmax of complex numbers")
        x = tr.settled(x)

        def better(value, best):
            m = tr.math
            less, more = (best, value) if largest else (value, best)
            if x.kind == "b":
                return m.both(m.negate(less), more)
            if x.kind == "i":
                return m.compare("ilt", less, more)
            wins = m.compare("flt", less, more)
            is_none = m.both(
                m.compare("fne", value, value), m.compare("feq", best, best)
            )
            return m.either(wins, is_none)

        def element(i):
            def at(k):
                return tr.store.at(x, (*i[:axis], k, *i[axis:]))[0]

            def once(k, state):
                value = at(k)
                wins = better(value, state[0])
                return (
                    tr.math.select(wins, value, state[0], x.kind),
                    tr.math.select(wins, k, state[1], "i"),
                )

            count = x.shape[axis]
            first = (at(ZERO), ZERO)
            if isinstance(x, Nodes):
                state = first
                for k in range(1, count):
                    state = once(tr.builder.whole(k), state)
                return (state[1],)
            stop = tr.builder.whole(count)
            kinds = (x.kind, "i")
            return (tr.store.fold(ONE, stop, first, kinds, once)[1],)

        return tr.finished(Lazy("i", shape, element, tr.sources(x)))

    return rule


INDEXING = {
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "gather": gather,
    "scatter": scatter("set"),
    "scatter-add": scatter("add"),
    "scatter_add": scatter("add"),
    "scatter_mul": scatter("mul"),
    "scatter_max": scatter("max"),
    "scatter_min": scatter("min"),
    "argmax": arg_extreme(largest=True),
    "argmin": arg_extreme(largest=False),
}
