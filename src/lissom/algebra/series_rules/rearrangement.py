"""Rearrangements: every coefficient of a power series is cut, moved and put together like the array itself."""

from collections.abc import Sequence

import numpy as np

from .. import series as s
from ..series import Series, add_series, constant
from .indexing import take


def convert(m, params, a: Series) -> Series:
    """Another type of numbers; whole numbers and truth values have no terms but the first."""
    kind = np.dtype(params["new_dtype"])
    if kind.kind in "fc":
        return a.each(lambda data: data.astype(kind))
    return constant(a.value.astype(kind))


def copy(m, params, a: Series) -> Series:
    """The same series: rule of operations that only copy."""
    return a


def copy_all(m, params, *operands: Series) -> list[Series]:
    """The series themselves, for operations on several arrays."""
    return list(operands)


# --- axes


def _behind_terms(axes: Sequence[int]) -> tuple[int, ...]:
    """Axes of a coefficient as axes of stacked coefficients."""
    return tuple(axis + 1 for axis in axes)


def reshape(m, params, a: Series) -> Series:
    """Coefficients of another shape."""
    return a.reshape(params["new_sizes"])


def transpose(m, params, a: Series) -> Series:
    """Coefficients with their axes in another order."""
    order = (0, *_behind_terms(params["permutation"]))
    return a.each(lambda data: data.transpose(order))


def squeeze(m, params, a: Series) -> Series:
    """Without some axes of length one."""
    axes = _behind_terms(params["dimensions"])
    return a.each(lambda data: data.squeeze(axes))


def expand(m, params, a: Series) -> Series:
    """With new axes of length one."""
    axes = _behind_terms(params["dimensions"])
    return a.each(lambda data: np.expand_dims(data, axes))


def reverse(m, params, a: Series) -> Series:
    """Last element first, along some axes."""
    axes = _behind_terms(params["dimensions"])
    return a.each(lambda data: np.flip(data, axes))


def broadcast(m, params, a: Series) -> Series:
    """Coefficients repeated along new axes."""
    shape = params["shape"]
    inner = [1] * len(shape)
    for size, axis in zip(a.shape, params["broadcast_dimensions"], strict=True):
        inner[axis] = size

    def repeat(data):
        return np.broadcast_to(data, (len(data), *shape))

    return a.reshape(inner).each(repeat)


# --- parts


def cut(m, params, a: Series) -> Series:
    """A part at fixed places."""
    starts = params["start_indices"]
    ends = params["limit_indices"]
    strides = params["strides"] or (1,) * len(a.shape)
    part = [slice(None)]
    for start, end, stride in zip(starts, ends, strides, strict=True):
        part.append(slice(start, end, stride))
    return s.without_zero_terms(a.each(lambda data: data[tuple(part)]))


def _window(
    starts: Sequence[Series], shape: Sequence[int], sizes: Sequence[int]
) -> tuple[slice, ...]:
    """A window that starts at computed places, moved inside the array where it would stick out."""
    window = []
    for start, length, size in zip(starts, shape, sizes, strict=True):
        first = int(np.clip(start.value, 0, length - size))
        window.append(slice(first, first + size))
    return tuple(window)


def dynamic_cut(m, params, a: Series, *starts: Series) -> Series:
    """A part at computed places."""
    window = _window(starts, a.shape, params["slice_sizes"])
    return a.each(lambda data: data[(slice(None), *window)])


def dynamic_replace(m, params, a: Series, b: Series, *starts: Series) -> Series:
    """A part of a replaced by b."""
    window = _window(starts, a.shape, b.shape)
    replaced = np.zeros(a.shape, dtype=bool)
    replaced[window] = True
    around = [(0, 0)]
    for part, length in zip(window, a.shape, strict=True):
        around.append((part.start, length - part.stop))
    rest = a.each(lambda data: np.where(replaced, 0, data))
    return add_series([rest, b.each(lambda data: np.pad(data, around))])


def pad(m, params, a: Series, fill: Series) -> Series:
    """With margins, also negative ones, and gaps between the elements."""
    source = _pad_source(a.shape, params["padding_config"])
    empty = source == 0
    number = fill.reshape([1] * len(a.shape))
    gaps = number.each(lambda data: np.where(empty, data, 0))
    return add_series([take(a, source), gaps])


def _pad_source(shape: Sequence[int], config: Sequence) -> np.ndarray:
    """Number, from 1, of the element that comes to each place; 0 where there is none."""
    sizes = []
    places = []
    sources = []
    for length, (low, high, gap) in zip(shape, config, strict=True):
        gaps = max(length - 1, 0) * gap
        size = max(low + length + gaps + high, 0)
        place = low + np.arange(length) * (gap + 1)
        # A negative margin cuts elements off.
        inside = (place >= 0) & (place < size)
        sizes.append(size)
        places.append(place[inside])
        sources.append(np.flatnonzero(inside))
    numbers = np.arange(1, int(np.prod(shape)) + 1).reshape(shape)
    source = np.zeros(sizes, dtype=np.int64)
    source[np.ix_(*places)] = numbers[np.ix_(*sources)]
    return source


# --- several arrays in one, one in several


def concatenate(m, params, *operands: Series) -> Series:
    """One behind the other along an axis."""
    axis = params["dimension"]
    ends = np.cumsum([operand.shape[axis] for operand in operands])
    shape = list(operands[0].shape)
    shape[axis] = int(ends[-1])
    terms = np.unique(np.concatenate([operand.terms for operand in operands]))
    kind = np.result_type(*[operand.data for operand in operands])
    data = np.zeros((len(terms), *shape), kind)
    for operand, end in zip(operands, ends, strict=True):
        # An operand fills the rows of its own terms, and its own stretch along the axis.
        place: list = [slice(None)] * data.ndim
        place[0] = np.searchsorted(terms, operand.terms)
        place[axis + 1] = slice(end - operand.shape[axis], end)
        data[tuple(place)] = operand.data
    return Series(terms, data)


def stack(m, params, *operands: Series) -> Series:
    """Side by side along a new axis."""
    axis = _axis(params)
    rows = [expand(m, {"dimensions": (axis,)}, operand) for operand in operands]
    return concatenate(m, {"dimension": axis}, *rows)


def unstack(m, params, a: Series) -> list[Series]:
    """The rows along an axis."""
    axis = _axis(params)
    parts = split(m, {"axis": axis, "sizes": (1,) * a.shape[axis]}, a)
    return [squeeze(m, {"dimensions": (axis,)}, part) for part in parts]


def _axis(params) -> int:
    return params.get("axis", params.get("dimension", 0))


def split(m, params, a: Series) -> list[Series]:
    """Parts of given sizes along an axis."""
    axis = params["axis"] + 1
    parts = []
    start = 0
    for size in params["sizes"]:
        numbers = range(start, start + size)
        part = a.each(lambda data, n=numbers: np.take(data, n, axis))
        parts.append(part)
        start += size
    return parts


RULES = {
    "convert_element_type": convert,
    "copy": copy,
    "copy_p": copy,
    "stop_gradient": copy,
    "reduce_precision": copy,
    "optimization_barrier": copy_all,
    "device_put": copy_all,
    "reshape": reshape,
    "transpose": transpose,
    "squeeze": squeeze,
    "expand_dims": expand,
    "rev": reverse,
    "broadcast_in_dim": broadcast,
    "slice": cut,
    "dynamic_slice": dynamic_cut,
    "dynamic_update_slice": dynamic_replace,
    "pad": pad,
    "concatenate": concatenate,
    "stack": stack,
    "unstack": unstack,
    "split": split,
}
