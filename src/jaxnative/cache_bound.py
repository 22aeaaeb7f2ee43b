"""Size limit of a folder of compiled code: least recently used entries are deleted."""

import os
import re
import time
from pathlib import Path
from typing import NamedTuple

# What is reported of machine code to those who listen to JAX's events.
HIT, MISS = "/jaxnative/cache_hits", "/jaxnative/cache_misses"

MOST_BYTES = 500_000_000  # of files in one folder: JAX's code is in one, machine code in another below it
SHARE_LEFT = 0.8  # of that, after a sweep: the next one has to find something
PAUSE = 600.0  # [s] between two sweeps
LAST_SWEEP = "last-sweep"  # a file whose time says when that was
# Words with which names of our own entries begin; machine code has none.
KINDS = ("program-", "source-", "document-", "")
# Names of entries, JAX's, our own and their drafts: nothing else in a folder is ours to take away.
ENTRY = re.compile(
    r".+-[0-9a-f]{64}-(cache|atime)"
    rf"|\.?({'|'.join(KINDS)})[0-9a-f]{{64}}(-\w+)?(\.\d+\.tmp)?"
)


class Entry(NamedTuple):
    """A file of compiled code."""

    path: str
    size: int  # [bytes]
    last_use: float  # [s]; some systems note reading once a day, some never


def sweep_if_due(folder: Path) -> None:
    """Sweeps a folder that new code goes to, unless this or another process did so recently."""
    stamp = folder / LAST_SWEEP
    try:
        if stamp.exists() and abs(time.time() - stamp.stat().st_mtime) < PAUSE:
            return
        # First, so that processes that start together do not all sweep.
        stamp.touch()
        sweep(folder)
    except OSError:
        # A folder that has gone or that nobody may list: no reason to stop.
        return


def sweep(folder: Path, most: int = MOST_BYTES) -> None:
    """Deletes least recently used code if a folder holds more than `most` bytes.

    Other processes may read, write and sweep meanwhile: a file that one has open stays readable, and one that is gone
    is compiled again.
    """
    entries = entries_of(folder)
    excess = sum(entry.size for entry in entries) - most
    if excess <= 0:
        return
    excess += (1 - SHARE_LEFT) * most
    for entry in sorted(entries, key=lambda entry: entry.last_use):
        if excess <= 0:
            return
        excess -= entry.size
        try:
            os.unlink(entry.path)
        except OSError:
            # Another process was first, or holds it (Windows).
            continue


def entries_of(folder: Path) -> list[Entry]:
    """Files of compiled code in a folder."""
    found = []
    with os.scandir(folder) as files:
        for file in files:
            if not ENTRY.fullmatch(file.name):
                continue
            try:
                facts = file.stat(follow_symlinks=False)
            except OSError:
                continue
            last_use = max(facts.st_atime, facts.st_mtime)
            found.append(Entry(file.path, facts.st_size, last_use))
    return found
