"""Memory of a call of machine code: where its inputs stand, and room for its results."""

import ctypes
import functools
from typing import Any

import numpy as np

# Of the C library of Linux, malloc.h.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
KEPT = 2**27  # bytes of freed memory that stay with the process
LARGEST = 2**25  # bytes: the most that the C library lets one array have of that

LINE = 64  # bytes: results begin at lines of the processor's cache
LARGE = 4096  # bytes: larger results have memory of their own, which goes when they go


@functools.cache
def keep_freed_memory() -> None:
    """Has the C library keep what one run frees for the next one.

    Left alone it hands the arrays of a run back to the system, and takes them again page by page, which lasts as long
    as a short run itself.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        # Another C library: it has its own ways.
        return
    mallopt(M_TRIM_THRESHOLD, KEPT)
    mallopt(M_MMAP_THRESHOLD, LARGEST)


class Inputs:
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
        keep_freed_memory()
        self._places: list[tuple[tuple[int, ...], np.dtype, int | None]] = []
        self._size = 0
        for shape, name in results:
            dtype = np.dtype(name)
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            place = None if size > LARGE else self._size
            self._places.append((shape, dtype, place))
            if place is not None:
                self._size += -(-max(size, 1) // LINE) * LINE

    def allocated(self) -> tuple[list[np.ndarray], list[int]]:
        """New arrays, their numbers yet to be written, and where each begins."""
        block = np.empty(self._size, dtype=np.uint8)
        start = address_of(block)
        arrays, addresses = [], []
        for shape, dtype, place in self._places:
            if place is None:
                whole = np.empty(shape, dtype)
                arrays.append(whole)
                addresses.append(address_of(whole))
                continue
            arrays.append(np.ndarray(shape, dtype, block, place))
            addresses.append(start + place)
        return arrays, addresses


def address_of(array: np.ndarray) -> int:
    """Where the numbers of an array begin."""
    return array.__array_interface__["data"][0]
