"""What each JAX operation does to a power series: linear ones act on every coefficient, the others have a rule here.

A rule takes the monomials, the operation's parameters and its operands as series; coefficients are stacked along a
first axis, so that one NumPy call serves all of them.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import series as s
from .monomials import Monomials
from .series import Series, compose, constant, total

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for operations of these names."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


# --- sums and products


@rule("add", "add_any")
def _add(m: Monomials, params, a: Series, b: Series) -> Series:
    return total([a, b])


@rule("sub")
def _sub(m, params, a, b):
    return total([a, b.each(np.negative)])


@rule("neg")
def _neg(m, params, a):
    return a.each(np.negative)


@rule("mul")
def _mul(m, params, a, b):
    return s.multiply(m, a, b)


@rule("div")
def _div(m, params, a, b):
    if b.constant:
        a, b = s.aligned(a, b)
        return a.each(lambda d: d / b.value)
    return s.multiply(m, a, compose(m, b, s.power(b.value, -1.0, m.order)))


@rule("dot_general")
def _dot_general(m, params, a, b):
    ((left, right), (left_batch, right_batch)) = params["dimension_numbers"]

    def arranged(x, contracted, batch, last):
        free = [
            i for i in range(len(x.shape)) if i not in contracted and i not in batch
        ]
        order = [*batch, *contracted, *free] if last else [*batch, *free, *contracted]
        shape = [x.shape[i] for i in order]
        nb, nc = (
            int(np.prod([x.shape[i] for i in batch])),
            int(np.prod([x.shape[i] for i in contracted])),
        )
        matrix = (nb, nc, -1) if last else (nb, -1, nc)
        if 0 in shape:
            nf = int(np.prod([x.shape[i] for i in free]))
            matrix = (nb, nc, nf) if last else (nb, nf, nc)
        axes = [0, *[i + 1 for i in order]]
        return x.each(lambda d: d.transpose(axes).reshape(len(d), *matrix)), [
            x.shape[i] for i in free
        ]

    A, free_a = arranged(a, left, left_batch, False)
    B, free_b = arranged(b, right, right_batch, True)
    batch = [a.shape[i] for i in left_batch]
    return s.matmul(m, A, B).each(lambda d: d.reshape(len(d), *batch, *free_a, *free_b))


@rule("reduce_sum")
def _reduce_sum(m, params, a):
    return a.each(lambda d: d.sum(axis=tuple(i + 1 for i in params["axes"])))


@rule("cumsum")
def _cumsum(m, params, a):
    axis = params["axis"] + 1
    if params.get("reverse"):
        return a.each(lambda d: np.flip(np.cumsum(np.flip(d, axis), axis), axis))
    return a.each(lambda d: np.cumsum(d, axis))


# --- functions of one variable


def _function(coefficients: Callable[[s.Value, int], list[s.Value]]) -> Rule:
    return lambda m, params, a: compose(
        m, a, coefficients(a.value, 0 if a.constant else m.order)
    )


RULES |= {
    "sin": _function(
        lambda x, n: s.cycle((np.sin(x), np.cos(x), -np.sin(x), -np.cos(x)), n)
    ),
    "cos": _function(
        lambda x, n: s.cycle((np.cos(x), -np.sin(x), -np.cos(x), np.sin(x)), n)
    ),
    "sinh": _function(lambda x, n: s.cycle((np.sinh(x), np.cosh(x)), n)),
    "cosh": _function(lambda x, n: s.cycle((np.cosh(x), np.sinh(x)), n)),
    "tan": _function(lambda x, n: s.riccati(np.tan(x), 1.0, n)),
    "tanh": _function(lambda x, n: s.riccati(np.tanh(x), -1.0, n)),
    "exp": _function(s.exponential),
    "log": _function(s.logarithm),
    "sqrt": _function(lambda x, n: s.power(x, 0.5, n)),
    "rsqrt": _function(lambda x, n: s.power(x, -0.5, n)),
    "cbrt": _function(lambda x, n: [np.cbrt(x)] + s.power(x, 1.0 / 3.0, n)[1:]),
    "square": _function(lambda x, n: s.power(x, 2, n)),
    "atan": _function(lambda x, n: s.inverse_function(np.arctan(x), x, 1.0, -1.0, n)),
    "asin": _function(lambda x, n: s.inverse_function(np.arcsin(x), x, -1.0, -0.5, n)),
    "acos": _function(
        lambda x, n: (
            [np.arccos(x)] + [-c for c in s.inverse_function(x, x, -1.0, -0.5, n)[1:]]
        )
    ),
    "asinh": _function(lambda x, n: s.inverse_function(np.arcsinh(x), x, 1.0, -0.5, n)),
    "atanh": _function(
        lambda x, n: s.inverse_function(np.arctanh(x), x, -1.0, -1.0, n)
    ),
}


@rule("integer_pow")
def _integer_pow(m, params, a):
    return compose(m, a, s.power(a.value, params["y"], 0 if a.constant else m.order))


@rule("pow")
def _pow(m, params, a, b):
    if b.constant and b.value.size and (b.value == b.value.flat[0]).all():
        return compose(
            m, a, s.power(a.value, float(b.value.flat[0]), 0 if a.constant else m.order)
        )
    return RULES["exp"](m, {}, s.multiply(m, b, RULES["log"](m, {}, a)))


@rule("abs")
def _abs(m, params, a):
    sign = np.where(a.value < 0, -1.0, 1.0)
    return a.each(lambda d: d * sign)


@rule("atan2")
def _atan2(m, params, y, x):
    x0, y0 = x.value, y.value
    across = total([y.each(lambda d: d * x0), x.each(lambda d: -d * y0)])
    along = total([x.each(lambda d: d * x0), y.each(lambda d: d * y0)])
    return total(
        [constant(np.arctan2(y0, x0)), RULES["atan"](m, {}, _div(m, {}, across, along))]
    )


# --- choices, made by the constant terms


@rule("select_n")
def _select_n(m, params, which, *cases):
    chosen = which.value.astype(np.int64)
    return total(
        [
            case.each(lambda d, k=k: np.where(chosen == k, d, 0))
            for k, case in enumerate(cases)
        ]
    )


@rule("max")
def _max(m, params, a, b):
    return _select_n(m, params, constant(a.value < b.value), a, b)


@rule("min")
def _min(m, params, a, b):
    return _select_n(m, params, constant(a.value > b.value), a, b)


@rule("clamp")
def _clamp(m, params, low, a, high):
    return _min(m, params, _max(m, params, a, low), high)


def _of_values(function: Callable[..., s.Value]) -> Rule:
    return lambda m, params, *operands: constant(
        function(params, *[x.value for x in operands])
    )


RULES |= {
    "eq": _of_values(lambda p, a, b: a == b),
    "ne": _of_values(lambda p, a, b: a != b),
    "lt": _of_values(lambda p, a, b: a < b),
    "le": _of_values(lambda p, a, b: a <= b),
    "gt": _of_values(lambda p, a, b: a > b),
    "ge": _of_values(lambda p, a, b: a >= b),
    "and": _of_values(lambda p, a, b: a & b),
    "or": _of_values(lambda p, a, b: a | b),
    "not": _of_values(lambda p, a: ~a),
    "sign": _of_values(lambda p, a: np.sign(a)),
    "floor": _of_values(lambda p, a: np.floor(a)),
    "is_finite": _of_values(lambda p, a: np.isfinite(a)),
    "argmax": _of_values(
        lambda p, a: np.argmax(a, axis=p["axes"][0]).astype(p["index_dtype"])
    ),
    "argmin": _of_values(
        lambda p, a: np.argmin(a, axis=p["axes"][0]).astype(p["index_dtype"])
    ),
    "iota": _of_values(lambda p: np.broadcast_to(_iota(p), p["shape"])),
}


def _iota(params) -> np.ndarray:
    shape = [1] * len(params["shape"])
    shape[params["dimension"]] = -1
    return np.arange(
        params["shape"][params["dimension"]], dtype=params["dtype"]
    ).reshape(shape)


# --- rearrangements


@rule("convert_element_type")
def _convert(m, params, a):
    kind = np.dtype(params["new_dtype"])
    return (
        a.each(lambda d: d.astype(kind))
        if kind.kind in "fc"
        else constant(a.value.astype(kind))
    )


@rule(
    "copy",
    "copy_p",
    "stop_gradient",
    "reduce_precision",
    "optimization_barrier",
    "device_put",
)
def _copy(m, params, *operands):
    return operands[0] if len(operands) == 1 else list(operands)


@rule("reshape")
def _reshape(m, params, a):
    return a.each(lambda d: d.reshape(len(d), *params["new_sizes"]))


@rule("transpose")
def _transpose(m, params, a):
    return a.each(lambda d: d.transpose([0, *[i + 1 for i in params["permutation"]]]))


@rule("squeeze")
def _squeeze(m, params, a):
    return a.each(lambda d: d.squeeze(tuple(i + 1 for i in params["dimensions"])))


@rule("expand_dims")
def _expand_dims(m, params, a):
    return a.each(
        lambda d: np.expand_dims(d, tuple(i + 1 for i in params["dimensions"]))
    )


@rule("rev")
def _rev(m, params, a):
    return a.each(lambda d: np.flip(d, tuple(i + 1 for i in params["dimensions"])))


@rule("broadcast_in_dim")
def _broadcast_in_dim(m, params, a):
    shape = params["shape"]
    inner = [1] * len(shape)
    for size, place in zip(a.shape, params["broadcast_dimensions"], strict=True):
        inner[place] = size
    return a.each(
        lambda d: np.broadcast_to(d.reshape(len(d), *inner), (len(d), *shape))
    )


@rule("slice")
def _slice(m, params, a):
    strides = params["strides"] or (1,) * len(a.shape)
    cut = tuple(
        slice(*c)
        for c in zip(
            params["start_indices"], params["limit_indices"], strides, strict=True
        )
    )
    return s.pruned(a.each(lambda d: d[(slice(None), *cut)]))


@rule("dynamic_slice")
def _dynamic_slice(m, params, a, *starts):
    sizes = params["slice_sizes"]
    first = [
        int(np.clip(i.value, 0, n - k))
        for i, n, k in zip(starts, a.shape, sizes, strict=True)
    ]
    cut = tuple(slice(i, i + k) for i, k in zip(first, sizes, strict=True))
    return a.each(lambda d: d[(slice(None), *cut)])


@rule("dynamic_update_slice")
def _dynamic_update_slice(m, params, a, b, *starts):
    first = [
        int(np.clip(i.value, 0, n - k))
        for i, n, k in zip(starts, a.shape, b.shape, strict=True)
    ]
    inside = np.zeros(a.shape, dtype=bool)
    inside[tuple(slice(i, i + k) for i, k in zip(first, b.shape, strict=True))] = True
    around = [(i, n - i - k) for i, n, k in zip(first, a.shape, b.shape, strict=True)]
    return total(
        [
            a.each(lambda d: np.where(inside, 0, d)),
            b.each(lambda d: np.pad(d, [(0, 0), *around])),
        ]
    )


@rule("pad")
def _pad(m, params, a, fill):
    config = params["padding_config"]
    shape = [
        max(lo + hi + n + max(n - 1, 0) * gap, 0)
        for (lo, hi, gap), n in zip(config, a.shape, strict=True)
    ]
    if any(lo < 0 or hi < 0 for lo, hi, _ in config):
        source = np.asarray(
            jax.lax.pad(np.arange(1, np.prod(a.shape) + 1).reshape(a.shape), 0, config)
        )
        moved = _take(a, source)
        inside = source > 0
    else:
        at = tuple(slice(lo, lo + (n - 1) * (gap + 1) + 1 if n else lo, gap + 1)
                   for (lo, _, gap), n in zip(config, a.shape, strict=True))  # fmt: skip
        inside = np.zeros(shape, dtype=bool)
        inside[at] = True

        def placed(d):
            out = np.zeros((len(d), *shape), d.dtype)
            out[(slice(None), *at)] = d
            return out

        moved = a.each(placed)
    return total(
        [
            moved,
            fill.each(
                lambda d: np.where(inside, 0, d.reshape(len(d), *[1] * len(shape)))
            ),
        ]
    )


@rule("concatenate")
def _concatenate(m, params, *operands):
    axis = params["dimension"]
    sizes = [x.shape[axis] for x in operands]
    starts = np.cumsum([0, *sizes])
    terms = np.unique(np.concatenate([x.terms for x in operands]))
    shape = list(operands[0].shape)
    shape[axis] = int(starts[-1])
    data = np.zeros((len(terms), *shape), np.result_type(*[x.data for x in operands]))
    for x, start, size in zip(operands, starts, sizes, strict=False):
        place = [np.searchsorted(terms, x.terms), *[slice(None)] * len(shape)]
        place[axis + 1] = slice(start, start + size)
        data[tuple(place)] = x.data
    return Series(terms, data)


@rule("stack")
def _stack(m, params, *operands):
    axis = params.get("axis", params.get("dimension", 0))
    widened = [x.each(lambda d: np.expand_dims(d, axis + 1)) for x in operands]
    return _concatenate(m, {"dimension": axis}, *widened)


@rule("unstack")
def _unstack(m, params, a):
    axis = params.get("axis", params.get("dimension", 0)) + 1
    return [
        a.each(lambda d, i=i: np.take(d, i, axis)) for i in range(a.shape[axis - 1])
    ]


@rule("split")
def _split(m, params, a):
    axis, ends = params["axis"] + 1, np.cumsum(params["sizes"])
    return [a.each(lambda d, i=i, n=n: np.take(d, range(i - n, i), axis))
            for i, n in zip(ends, params["sizes"], strict=True)]  # fmt: skip


def _take(a: Series, source: np.ndarray) -> Series:
    """Elements by number counted from 1; 0 stands for a zero."""

    def taken(d):
        flat = np.concatenate(
            [np.zeros((len(d), 1), d.dtype), d.reshape(len(d), -1)], axis=1
        )
        return flat[:, source]

    return s.pruned(a.each(taken))


@rule("gather")
def _gather(m, params, a, indices):
    return _take(a, _gather_source(_Frozen(params), a.shape, _Frozen(indices.value)))


@rule("scatter-add", "scatter_add")
def _scatter_add(m, params, a, indices, updates):
    return _scattered(m, params, a, indices, updates, True)


@rule("scatter")
def _scatter(m, params, a, indices, updates):
    return _scattered(m, params, a, indices, updates, False)


def _scattered(m, params, a, indices, updates, add: bool) -> Series:
    place = _scatter_place(
        _Frozen(params), a.shape, _Frozen(indices.value), updates.shape
    ).ravel()
    inside, flat = place > 0, place[place > 0] - 1
    size = int(np.prod(a.shape))

    def moved(d):
        out = np.zeros((len(d), size), d.dtype)
        kept = d.reshape(len(d), -1)[:, inside]
        if add:
            np.add.at(out.T, flat, kept.T)
        else:
            out[:, flat] = kept
        return out.reshape(len(d), *a.shape)

    if not add:
        covered = np.zeros(size, dtype=bool)
        covered[flat] = True
        a = a.each(lambda d: np.where(covered.reshape(a.shape), 0, d))
    return total([a, updates.each(moved)])


class _Frozen:
    """A value as a key: equal when it prints or holds the same."""

    def __init__(self, value: Any):
        self.value = value
        array = isinstance(value, np.ndarray)
        self.key = (
            (value.shape, value.tobytes())
            if array
            else str({k: str(v) for k, v in value.items()})
        )

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and self.key == other.key


@functools.lru_cache(maxsize=4096)
def _gather_source(
    params: _Frozen, shape: tuple[int, ...], indices: _Frozen
) -> np.ndarray:
    """Where each element of a gather comes from, counted from 1 in the flat operand; 0 outside."""
    d = params.value["dimension_numbers"]
    place = _windows(
        shape, indices.value, params.value["slice_sizes"], d.start_index_map, params.value["mode"],
        d.operand_batching_dims, d.start_indices_batching_dims,
    )  # fmt: skip
    gone = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    batch = indices.value.ndim - 1
    place = place.squeeze(tuple(batch + i for i in gone))
    return np.transpose(place, _inverse_order(place.ndim, d.offset_dims))


@functools.lru_cache(maxsize=4096)
def _scatter_place(
    params: _Frozen, shape: tuple[int, ...], indices: _Frozen, updates: tuple[int, ...]
) -> np.ndarray:
    """Where each element of the updates goes, counted from 1 in the flat operand; 0 if it is dropped."""
    d = params.value["dimension_numbers"]
    gone = (*d.inserted_window_dims, *d.operand_batching_dims)
    kept = iter(d.update_window_dims)
    sizes = [1 if i in gone else updates[next(kept)] for i in range(len(shape))]
    place = _windows(
        shape, indices.value, sizes, d.scatter_dims_to_operand_dims, params.value["mode"],
        d.operand_batching_dims, d.scatter_indices_batching_dims,
    )  # fmt: skip
    batch = indices.value.ndim - 1
    place = place.squeeze(tuple(batch + i for i in gone))
    return np.transpose(place, _inverse_order(place.ndim, d.update_window_dims))


def _windows(
    shape, indices, sizes, index_map, mode, batching, index_batching
) -> np.ndarray:
    """Flat numbers, from 1, of the elements of windows of an array that start at given indices: (batch..., sizes...).

    A window that does not fit is moved inside (`CLIP`) or counts as 0 as a whole.
    """
    *batch, _ = indices.shape
    start = np.zeros((*batch, len(shape)), dtype=np.int64)
    for k, dim in enumerate(index_map):
        start[..., dim] = indices[..., k]
    for dim, axis in zip(batching, index_batching, strict=True):
        along = [1] * len(batch)
        along[axis] = -1
        start[..., dim] = np.arange(batch[axis]).reshape(along)
    room = np.array(shape) - np.array(sizes)
    fits = ((start >= 0) & (start <= room)).all(axis=-1)
    if "CLIP" in str(mode):
        fits = np.ones_like(fits)
    start = np.clip(start, 0, room)
    flat = np.zeros((*batch, *sizes), dtype=np.int64)
    for dim, stride in enumerate(
        np.append(np.cumprod(shape[::-1])[::-1][1:], 1) if shape else ()
    ):
        along = [1] * len(sizes)
        along[dim] = -1
        at = start[..., dim].reshape(*batch, *[1] * len(sizes)) + np.arange(
            sizes[dim]
        ).reshape(along)
        flat = flat + stride * at
    return np.where(fits.reshape(*batch, *[1] * len(sizes)), flat + 1, 0)


def _inverse_order(rank: int, window_dims) -> list[int]:
    """Axes of (batch..., window...) in the order that puts the window's at `window_dims`."""
    batch, window = (
        iter(range(rank - len(window_dims))),
        iter(range(rank - len(window_dims), rank)),
    )
    return [next(window) if i in window_dims else next(batch) for i in range(rank)]


# --- linear algebra


@rule("triangular_solve")
def _triangular_solve(m, params, A, b):
    def solve(data):
        return np.asarray(
            jax.vmap(lambda d: jax.lax.linalg.triangular_solve(A.value, d, **params))(
                jnp.asarray(data)
            )
        )

    if A.constant:
        return b.each(solve)
    T = A.each(np.tril if params["lower"] else np.triu)
    if params["unit_diagonal"]:
        one = np.eye(A.shape[-1])
        T = total(
            [T.each(lambda d: d * (1 - one)), constant(np.broadcast_to(one, A.shape))]
        )
    if params["transpose_a"]:
        T = T.each(lambda d: d.swapaxes(-1, -2))

    def product(x):
        return s.matmul(m, T, x) if params["left_side"] else s.matmul(m, x, T)

    less_b = b.each(np.negative)
    return s.refine(
        m.order, lambda x: total([product(x), less_b]), solve, b.each(solve)
    )


@rule("cholesky")
def _cholesky(m, params, A):
    L0 = np.linalg.cholesky(A.value)

    def correct(data):
        inner = np.linalg.solve(L0, np.linalg.solve(L0, data).swapaxes(-1, -2))
        lower = np.tril(inner) - 0.5 * inner * np.eye(L0.shape[-1])
        return L0 @ lower

    less_A = A.each(np.negative)

    def square(L):
        return s.matmul(m, L, L.each(lambda d: d.swapaxes(-1, -2)))

    return s.refine(
        m.order, lambda L: total([square(L), less_A]), correct, constant(L0)
    )


@rule("lu")
def _lu(m, params, A):
    """P A = L U with the row order of the constant term; L and U packed into one matrix, as LAPACK returns them."""
    packed, pivots, order = (
        np.asarray(part) for part in jax.lax.linalg.lu(jnp.asarray(A.value))
    )
    if A.constant:
        return [constant(packed), constant(pivots), constant(order)]
    one = np.eye(packed.shape[-1])

    def unpack(d):
        return (np.tril(d, -1), np.triu(d))

    L0, U0 = unpack(packed)[0] + one, unpack(packed)[1]
    rows = A.each(lambda d: -np.take_along_axis(d, order[None, ..., None], axis=-2))

    def residual(X):
        L = total(
            [
                X.each(lambda d: unpack(d)[0]),
                constant(np.broadcast_to(one, packed.shape)),
            ]
        )
        return total([s.matmul(m, L, X.each(lambda d: unpack(d)[1])), rows])

    def correct(data):
        inner = np.linalg.solve(
            U0.swapaxes(-1, -2), np.linalg.solve(L0, data).swapaxes(-1, -2)
        ).swapaxes(-1, -2)
        return np.tril(L0 @ np.tril(inner, -1), -1) + np.triu(np.triu(inner) @ U0)

    return [
        s.refine(m.order, residual, correct, constant(packed)),
        constant(pivots),
        constant(order),
    ]
