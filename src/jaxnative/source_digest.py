"""A digest of the code that programs are made of and of the code that makes them: programs of other code are stale."""

import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from . import code_cache

OWN = Path(__file__).parent


@functools.cache
def source_digest(packages: tuple[Path, ...]) -> str:
    """Digest of the sources in these folders and of this package.

    To read all files takes 20 ms. So the digest is cached under their sizes and dates, by which Python too knows
    whether a file has changed since it was compiled.

    Args:
        packages: folders of the packages whose functions are compiled.
    """
    folders = (OWN, *packages)
    key = "source-" + _digest_of_dates(folders)
    kept = code_cache.find(key, counts=False)
    if kept is not None:
        return kept.decode()
    digest = _digest_of_texts(folders)
    code_cache.keep(key, digest.encode())
    return digest


def _digest_of_texts(folders: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.rglob("*.py")):
            text = file.read_bytes()
            digest.update(f"{file.relative_to(folder)} {len(text)}\n".encode())
            digest.update(text)
    return digest.hexdigest()


def _digest_of_dates(folders: tuple[Path, ...]) -> str:
    lines = []
    for folder in folders:
        for entry in _files_in(str(folder)):
            facts = entry.stat()
            lines.append(f"{entry.path} {facts.st_size} {facts.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def _files_in(folder: str) -> Iterator[os.DirEntry[str]]:
    """The files of Python in a folder and those below it; quicker than a `Path` for each."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files_in(entry.path)
