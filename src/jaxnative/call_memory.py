"""Memory of a call of machine code: where its inputs stand, and room for its results."""

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import UInt64

LINE = 64  # bytes: results begin at lines of the processor's cache
LARGE = 4096  # bytes: larger results have memory of their own
LARGEST = 2**23  # bytes: still larger ones are handed back to the system when they go
MOST_KEPT = 3  # arrays of one result: of this call, of the one before, and one that the user holds


class InputAddresses:
    """Addresses of a program's input arrays; those of the previous call are cached.

    Args:
        types: NumPy's names of the arrays' types.
    """

    def __init__(self, types: list[str]):
        self._types = [np.dtype(name) for name in types]
        none = [None] * len(types)
        self._before: tuple[list[Any], list[Any], list[int]] = (none, none, [])

    def located(self, numbers: list[Any]) -> tuple[list[np.ndarray], list[int]]:
        """The inputs as contiguous arrays of their types, and their addresses."""
        arrays, addresses = [], []
        # Taken as a whole: another thread may call the same program.
        old_numbers, old_arrays, old_addresses = self._before
        for k, number in enumerate(numbers):
            # A copy says nothing about an array that was written to since.
            is_copy = isinstance(number, np.ndarray) and old_arrays[k] is not number
            if number is old_numbers[k] and not is_copy:
                arrays.append(old_arrays[k])
                addresses.append(old_addresses[k])
                continue
            placed = np.ascontiguousarray(number, dtype=self._types[k])
            arrays.append(placed)
            addresses.append(address_of(placed))
        self._before = (numbers, arrays, addresses)
        return arrays, addresses


class OutputBlock:
    """Memory for the results of a program: small ones in one allocation, which takes less time.

    Args:
        results: shapes and types.
    """

    def __init__(self, results: list[tuple[tuple[int, ...], str]]):
        self._places: list[tuple[tuple[int, ...], np.dtype, int | None]] = []
        self._size = 0
        for shape, name in results:
            dtype = np.dtype(name)
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            place = None if size > LARGE else self._size
            self._places.append((shape, dtype, place))
            if place is not None:
                self._size += -(-max(size, 1) // LINE) * LINE

        places = [place or 0 for *_, place in self._places]
        self._offsets = np.array(places, dtype=np.uint64)
        self._rooms = {
            k: Rooms(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
            for k, (shape, dtype, place) in enumerate(self._places)
            if place is None
        }

    def allocated(self) -> tuple[list[np.ndarray], UInt64[np.ndarray, " n"]]:
        """New uninitialised arrays, and their addresses."""
        block = np.empty(self._size, dtype=np.uint8)
        addresses = self._offsets + np.uint64(address_of(block))
        found = {k: rooms.free() for k, rooms in self._rooms.items()}
        for k, (_, address) in found.items():
            addresses[k] = address
        arrays = [
            np.ndarray(shape, dtype, found[k][0])
            if place is None
            else np.ndarray(shape, dtype, block, place)
            for k, (shape, dtype, place) in enumerate(self._places)
        ]
        return arrays, addresses


class Rooms:
    """Memory for one large result of a program, reused once nothing refers to the result.

    The C library would return large arrays to the system and fetch them again page by page, which takes as long as a
    short run.

    Args:
        size: bytes.
    """

    def __init__(self, size: int):
        self._size = size
        self._kept: list[tuple[np.ndarray, int]] = []
        self._lock = threading.Lock()

    def free(self) -> tuple[np.ndarray, int]:
        """Memory that no array refers to, and its address."""
        with self._lock:
            for room, address in self._kept:
                # References: this one, the list's, and the argument's; an array in it would be one more.
                if sys.getrefcount(room) == UNUSED:
                    return room, address
            room = np.empty(self._size, dtype=np.uint8)
            found = (room, address_of(room))
            if self._size <= LARGEST and len(self._kept) < MOST_KEPT:
                self._kept.append(found)
            return found


def _references() -> int:
    """Reference count of cached memory that is not in use, as `Rooms.free` sees it."""
    kept = [(np.empty(1, dtype=np.uint8), 0)]
    for room, _ in kept:
        return sys.getrefcount(room)
    raise AssertionError


UNUSED = _references()


def with_positive_zeros(results: Any) -> Any:
    """Results of machine code in arrays of NumPy, their zeros made positive where they stand.

    Which sign a zero has may depend on the zeros that a program takes for granted; nothing else does.
    """
    for array in jax.tree.leaves(results):
        if isinstance(array, np.ndarray) and array.dtype.kind in "fc":
            np.add(array, 0.0, out=array)
    return results


def address_of(array: np.ndarray) -> int:
    """Address of an array's first element."""
    memory: Any = array
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))
    except (TypeError, ValueError):
        # Slower, and also for arrays that are empty, have gaps, or cannot be written to.
        return array.__array_interface__["data"][0]


def addresses_of(arrays: Sequence[np.ndarray]) -> UInt64[np.ndarray, " n"]:
    """Addresses of the first elements of arrays."""
    return np.array([address_of(array) for array in arrays], dtype=np.uint64)
