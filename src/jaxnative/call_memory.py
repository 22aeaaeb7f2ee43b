"""Memory of a call of machine code: where its inputs stand, and room for its results."""

import ctypes
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import UInt64

LINE = 64  # bytes: results begin at lines of the processor's cache
LARGE = 4096  # bytes: larger results have memory of their own
LARGEST = 2**23  # bytes: still larger ones are handed back to the system when they go
MOST_KEPT = 3  # arrays of one result: a run, the one before, and one that is looked at


class InputAddresses:
    """Addresses of the arrays that a program is called with; those of the call before are still known.

    Args:
        types: NumPy's names of the arrays' types.
    """

    def __init__(self, types: list[str]):
        self._types = [np.dtype(name) for name in types]
        none = [None] * len(types)
        self._before: tuple[list[Any], list[Any], list[int]] = (none, none, [])

    def located(self, numbers: list[Any]) -> tuple[list[np.ndarray], list[int]]:
        """The numbers without gaps and in their types, and where each begins."""
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
    """Room for the results of a program: the small ones together, which takes less time than one by one.

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
        """New arrays, their numbers yet to be written, and where each begins."""
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
    """Memory for one large result of a program, used again when nobody looks at the result any more.

    Left to itself the C library hands the arrays of a run back to the system, and takes them again page by page, which
    lasts as long as a short run itself.

    Args:
        size: bytes.
    """

    def __init__(self, size: int):
        self._size = size
        self._kept: list[tuple[np.ndarray, int]] = []
        self._lock = threading.Lock()

    def free(self) -> tuple[np.ndarray, int]:
        """A room that no array looks into, and where it begins."""
        with self._lock:
            for room, address in self._kept:
                # Seen from here, from the list, and from the question itself; an array in it would be one more.
                if sys.getrefcount(room) == UNUSED:
                    return room, address
            room = np.empty(self._size, dtype=np.uint8)
            found = (room, address_of(room))
            if self._size <= LARGEST and len(self._kept) < MOST_KEPT:
                self._kept.append(found)
            return found


def _references() -> int:
    """References to a room that is kept and not in use, as `Rooms.free` counts them."""
    kept = [(np.empty(1, dtype=np.uint8), 0)]
    for room, _ in kept:
        return sys.getrefcount(room)
    raise AssertionError


UNUSED = _references()


def address_of(array: np.ndarray) -> int:
    """Where the numbers of an array begin."""
    memory: Any = array
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))
    except (TypeError, ValueError):
        # Slower, and also for arrays that are empty, have gaps, or cannot be written to.
        return array.__array_interface__["data"][0]


def addresses_of(arrays: Sequence[np.ndarray]) -> UInt64[np.ndarray, " n"]:
    """Where the numbers of each array begin."""
    return np.array([address_of(array) for array in arrays], dtype=np.uint64)
