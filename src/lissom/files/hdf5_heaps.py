"""Heaps in HDF5 files, which hold texts: a damaged one keeps the HDF5 library busy for ever.

The library walks from object to object by what each says of its size, and does not notice that it stands still
(HDF5 File Format Specification, III.E "Disk Format: Global Heap").
"""

import mmap
from collections.abc import Iterator
from pathlib import Path

SIGNATURE = b"GCOL\x01\0\0\0"  # of a heap, with its version
ALIGNMENT = 8  # bytes
# Where the head of a file says how many bytes its sizes take, by the version of the head.
LENGTH_PLACES = {0: 14, 1: 14, 2: 10, 3: 10}


def endless_heap(path: Path) -> int | None:
    """The first byte of a heap whose walk never ends; None in files that are sound."""
    # What is empty cannot be mapped into memory, and holds no heap.
    if path.stat().st_size == 0:
        return None
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        length = _bytes_of_a_size(content)
        for place in _heaps(content):
            if _stands_still(content, place, length):
                return place
    return None


def _bytes_of_a_size(content: mmap.mmap) -> int:
    """Number of bytes of a size field; eight if the header does not say."""
    version = content[8] if len(content) > 8 else 0
    place = LENGTH_PLACES.get(version, 14)
    length = content[place] if len(content) > place else 0
    return length if length in (2, 4, 8) else 8


def _heaps(content: mmap.mmap) -> Iterator[int]:
    place = content.find(SIGNATURE)
    while place >= 0:
        yield place
        place = content.find(SIGNATURE, place + 1)


def _stands_still(content: mmap.mmap, heap: int, length: int) -> bool:
    """True if an object of a heap takes no room at all."""
    head = _aligned(8 + length)
    end = min(heap + _number(content, heap + 8, length), len(content))
    place = heap + head
    while place + head <= end:
        index = _number(content, place, 2)
        size = _number(content, place + 8, length)
        # The object 0 is the room that is free, its own head included.
        step = size if index == 0 else head + _aligned(size)
        if step == 0:
            return True
        place += step
    return False


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _number(content: mmap.mmap, place: int, length: int) -> int:
    return int.from_bytes(content[place : place + length], "little")
