"""Gather and scatter: elements of power series pick from places, and put to places, that are arrays of numbers.

Places are worked out once as flat numbers of the elements, counted from 1; 0 stands for a place outside the array.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import series as s
from ..series import Series, add_series


class CacheKey:
    """A value as a key of a cache: equal when it prints or holds the same."""

    def __init__(self, value: Any):
        self.value = value
        if isinstance(value, np.ndarray):
            self.key = (value.shape, value.tobytes())
        else:
            self.key = str({name: str(part) for name, part in value.items()})

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CacheKey) and self.key == other.key


# --- gather


def take(a: Series, source: np.ndarray) -> Series:
    """Elements by their number counted from 1; 0 stands for a zero."""

    def pick(data):
        zero = np.zeros((len(data), 1), data.dtype)
        # The zero in front makes place 0 of the elements, which count from 1.
        return np.concatenate([zero, _flat(data)], axis=1)[:, source]

    return s.without_zero_terms(a.each(pick))


def _flat(data: np.ndarray) -> np.ndarray:
    """Coefficients as rows of numbers."""
    return data.reshape(len(data), -1)


def gather(m, params, a: Series, indices: Series) -> Series:
    """Windows of an array that start at given indices."""
    source = _gather_source(CacheKey(params), a.shape, CacheKey(indices.value))
    return take(a, source)


@functools.lru_cache(maxsize=4096)
def _gather_source(
    params: CacheKey, shape: tuple[int, ...], indices: CacheKey
) -> np.ndarray:
    """Where each element of a gather comes from."""
    d = params.value["dimension_numbers"]
    batch_axes = zip(
        d.operand_batching_dims, d.start_indices_batching_dims, strict=True
    )
    place = _windows(
        shape,
        indices.value,
        params.value["slice_sizes"],
        d.start_index_map,
        params.value["mode"],
        dict(batch_axes),
    )
    dropped = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    return _arrange(place, indices.value.ndim - 1, dropped, d.offset_dims)


# --- scatter


def scatter_add(m, params, a: Series, indices: Series, updates: Series) -> Series:
    """Updates added to an array at given indices; several may meet at one place."""
    inside, place = _scatter_places(params, a, indices, updates)
    size = int(np.prod(a.shape))

    def move(data):
        out = np.zeros((len(data), size), data.dtype)
        np.add.at(out.T, place, _flat(data)[:, inside].T)
        return out

    moved = updates.each(move).reshape(a.shape)
    return add_series([a, moved])


def scatter(m, params, a: Series, indices: Series, updates: Series) -> Series:
    """Updates in place of the elements at given indices."""
    inside, place = _scatter_places(params, a, indices, updates)
    size = int(np.prod(a.shape))
    covered = np.zeros(size, dtype=bool)
    covered[place] = True
    covered = covered.reshape(a.shape)

    def move(data):
        out = np.zeros((len(data), size), data.dtype)
        out[:, place] = _flat(data)[:, inside]
        return out

    rest = a.each(lambda data: np.where(covered, 0, data))
    moved = updates.each(move).reshape(a.shape)
    return add_series([rest, moved])


def _scatter_places(
    params, a: Series, indices: Series, updates: Series
) -> tuple[np.ndarray, np.ndarray]:
    """Which updates are inside the array, and the flat number of the element, from 0, where each of them goes."""
    place = _scatter_target(
        CacheKey(params), a.shape, CacheKey(indices.value), updates.shape
    )
    place = place.ravel()
    inside = place > 0
    return inside, place[inside] - 1


@functools.lru_cache(maxsize=4096)
def _scatter_target(
    params: CacheKey,
    shape: tuple[int, ...],
    indices: CacheKey,
    updates: tuple[int, ...],
) -> np.ndarray:
    """Where each element of the updates goes."""
    d = params.value["dimension_numbers"]
    dropped = (*d.inserted_window_dims, *d.operand_batching_dims)
    window_dims = iter(d.update_window_dims)
    sizes = []
    for axis in range(len(shape)):
        sizes.append(1 if axis in dropped else updates[next(window_dims)])
    batch_axes = zip(
        d.operand_batching_dims, d.scatter_indices_batching_dims, strict=True
    )
    place = _windows(
        shape,
        indices.value,
        sizes,
        d.scatter_dims_to_operand_dims,
        params.value["mode"],
        dict(batch_axes),
    )
    return _arrange(place, indices.value.ndim - 1, dropped, d.update_window_dims)


# --- windows


def _windows(
    shape: Sequence[int],
    indices: np.ndarray,
    sizes: Sequence[int],
    index_map: Sequence,
    mode: Any,
    batch_axes: dict,
) -> np.ndarray:
    """Flat numbers, from 1, of the elements of windows that start at given indices: (batch..., sizes...).

    A window that does not fit is move inside (`CLIP`) or counts as 0 as a whole.

    Args:
        shape: of the array.
        indices: starts of the windows along the axes of `index_map`, last axis over these axes.
        sizes: of a window.
        index_map: axis of the array that each index belongs to.
        mode: what happens to windows that stick out.
        batch_axes: axes of the array that run along with an axis of the indices.
    """
    start = _starts(shape, indices, index_map, batch_axes)
    room = np.array(shape) - np.array(sizes)
    inside = np.clip(start, 0, room)
    fits = (start == inside).all(axis=-1)
    if "CLIP" in str(mode):
        fits = np.ones_like(fits)
    behind_batch = [1] * len(sizes)
    flat = np.zeros((*fits.shape, *sizes), dtype=np.int64)
    for axis, stride in enumerate(_strides(shape)):
        first = inside[..., axis].reshape(*fits.shape, *behind_batch)
        along = _numbers_along(axis, len(sizes), np.arange(sizes[axis]))
        flat = flat + stride * (first + along)
    whole_window = fits.reshape(*fits.shape, *behind_batch)
    return np.where(whole_window, flat + 1, 0)


def _starts(
    shape: Sequence[int],
    indices: np.ndarray,
    index_map: Sequence,
    batch_axes: dict,
) -> np.ndarray:
    """First element of each window, along every axis of the array."""
    *batch, _ = indices.shape
    start = np.zeros((*batch, len(shape)), dtype=np.int64)
    for k, axis in enumerate(index_map):
        start[..., axis] = indices[..., k]
    for axis, of_indices in batch_axes.items():
        numbers = np.arange(batch[of_indices])
        start[..., axis] = _numbers_along(of_indices, len(batch), numbers)
    return start


def _numbers_along(axis: int, rank: int, numbers: np.ndarray) -> np.ndarray:
    """Numbers along one of several axes."""
    shape = [1] * rank
    shape[axis] = -1
    return numbers.reshape(shape)


def _strides(shape: Sequence[int]) -> list[int]:
    """Steps in the flat array from one element to the next, along each axis."""
    strides = []
    for axis in range(len(shape)):
        further = shape[axis + 1 :]
        strides.append(int(np.prod(further)))
    return strides


def _arrange(
    place: np.ndarray, n_batch: int, dropped: Sequence, window_dims: Sequence
) -> np.ndarray:
    """(batch..., window...) without the window's dropped axes, its other axes at `window_dims`."""
    place = place.squeeze(tuple(n_batch + axis for axis in dropped))
    batch = iter(range(n_batch))
    window = iter(range(n_batch, place.ndim))
    order = []
    for axis in range(place.ndim):
        order.append(next(window) if axis in window_dims else next(batch))
    return np.transpose(place, order)


RULES = {
    "gather": gather,
    "scatter": scatter,
    "scatter-add": scatter_add,
    "scatter_add": scatter_add,
}
