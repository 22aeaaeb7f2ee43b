"""Checksums of HDF5 files, results among them, appended after the contents: every damaged byte is noticed.

Readers stop where the head of a file says that its contents end, and do not see what follows. A program that changes
such a file cuts the checksum off with its first write.
"""

import hashlib
from pathlib import Path
from typing import BinaryIO

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MARK = b"\nlissom sha256 "
BLOCK = 1 << 20  # bytes that are read at once
# Where the head says at which byte the contents end, by its version (HDF5 File Format Specification, II.A).
END_PLACES = {0: 40, 1: 44, 2: 28, 3: 28}
ADDRESS = 8  # bytes of an address


def with_checksum(content: bytes) -> bytes:
    """The contents of a file, and their checksum."""
    return content + _trailer(hashlib.sha256(content))


def append_checksum(path: str | Path) -> None:
    """Appends the checksum to a file that has none."""
    with open(path, "r+b") as file:
        digest = _digest(file, Path(path).stat().st_size)
        file.seek(0, 2)
        file.write(_trailer(digest))


def has_checksum(path: Path) -> bool:
    """True if a file ends with a checksum, right or wrong."""
    with path.open("rb") as file:
        end = _end_of_contents(file)
    return end is not None and path.stat().st_size > end


def checksum_problem(path: Path) -> str | None:
    """Why a file is not what was written, in words; None where its checksum is right, or where there is none."""
    with path.open("rb") as file:
        end = _end_of_contents(file)
        length = path.stat().st_size
        if end is None or length <= end:
            return None
        digest = _digest(file, end)
        # Not only the number: what stands in place of a checksum is damage too.
        is_right = file.read(length - end) == _trailer(digest)
    return None if is_right else "is damaged: its checksum does not match its contents"


def _trailer(digest: "hashlib._Hash") -> bytes:
    return MARK + digest.hexdigest().encode() + b"\n"


def _digest(file: BinaryIO, end: int) -> "hashlib._Hash":
    """Digest of a file up to a byte, where reading goes on."""
    digest = hashlib.sha256()
    file.seek(0)
    left = end
    while left > 0 and (block := file.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    return digest


def _end_of_contents(file: BinaryIO) -> int | None:
    """The byte at which the contents end; None of a file that is no HDF5."""
    head = file.read(max(END_PLACES.values()) + ADDRESS)
    if not head.startswith(SIGNATURE) or len(head) <= len(SIGNATURE):
        return None
    place = END_PLACES.get(head[len(SIGNATURE)])
    if place is None:
        return None
    return int.from_bytes(head[place : place + ADDRESS], "little")
