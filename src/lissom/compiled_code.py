"""Compiled code that outlives the process: it is kept in the user's cache folder, up to a bound."""

import functools
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "LISSOM_CACHE"  # a folder, or `off`
HIT, MISS = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"


class CompiledCode:
    """How much compiled code came from the cache (`hits`) and how much was made new (`misses`)."""

    def __init__(self, folder: Path | None, wanted: Path | None = None):
        self.folder = folder
        self.wanted = wanted  # the folder that was asked for, if it cannot be used
        self.hits = 0
        self.misses = 0

    def count(self, event: str, **_) -> None:
        """Takes note of what JAX reports."""
        self.hits += event == HIT
        self.misses += event == MISS
        if event == MISS and self.folder is not None:
            sweep_if_due(self.folder)

    @property
    def reused(self) -> bool:
        """True if code was needed and all of it was there."""
        return self.hits > 0 and self.misses == 0

    def report(self) -> dict[str, object]:
        """The counts as plain data."""
        return {
            "hits": self.hits,
            "misses": self.misses,
            "folder": None if self.folder is None else str(self.folder),
        }

    def __str__(self) -> str:
        if self.folder is None and self.wanted is not None:
            return f"compiled code: not kept: {self.wanted} cannot be written"
        if self.folder is None:
            return "compiled code: not kept (no cache folder)"
        return f"compiled code: {self.hits} from cache, {self.misses} new"


def cache_folder() -> Path | None:
    """Where compiled code is kept: `LISSOM_CACHE`, else `lissom` in the user's cache folder; `None` if switched off."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in ("off", "0", "no", "none"):
        return None
    if chosen:
        return Path(chosen).expanduser()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():
        home = home_folder()
        if home is None:
            return None
        base = home / ".cache"
    return base / "lissom"


def home_folder() -> Path | None:
    """The user's home folder; `None` where there is none: it is not for us to make one."""
    try:
        home = Path.home()
    except RuntimeError:
        # No HOME, and a user that the system does not know.
        return None
    return home if os.path.isdir(home) else None


def keep_compiled_code() -> CompiledCode:
    """Switches JAX's persistent cache on, for this process, and counts what it does.

    A folder that cannot be written is no reason to stop: the process then compiles everything itself.
    """
    import jax  # slow to import: commands that compute nothing do without

    wanted = cache_folder()
    kept = CompiledCode(usable(wanted), wanted)
    if kept.folder is not None:
        jax.config.update("jax_compilation_cache_dir", str(kept.folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
        jax.monitoring.register_event_listener(kept.count)
    return kept


@functools.cache
def keep_unless_chosen() -> None:
    """The same for scripts and notebooks, once; a folder that their user has given to JAX stays."""
    import jax

    options: Any = jax.config
    if options.jax_compilation_cache_dir is None:
        keep_compiled_code()


def usable(folder: Path | None) -> Path | None:
    """The folder, made if need be; `None` where nothing can be written."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, ValueError):
        return None


# --- its bound -----------------------------------------------------------------------------------------------------

MOST_BYTES = 500_000_000  # of files in one folder: JAX's code is in one, machine code in another below it
SHARE_LEFT = 0.8  # of that, after a sweep: the next one has to find something
PAUSE = 600.0  # [s] between two sweeps
LAST_SWEEP = "last-sweep"  # a file whose time says when that was
# Names of entries, JAX's, those of machine code and its drafts: nothing else in a folder is ours to take away.
ENTRY = re.compile(
    r".+-[0-9a-f]{64}-(cache|atime)|\.?(program-)?[0-9a-f]{64}(-\w+)?(\.\d+\.tmp)?"
)


class Entry(NamedTuple):
    """A file of compiled code."""

    path: str
    size: int  # [bytes]
    last_use: float  # [s]; some systems note reading once a day, some never


def sweep_if_due(folder: Path) -> None:
    """Sweeps a folder that gets new code, unless this or another process has done so a moment ago."""
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
    """Takes away the code that was not used for longest, if a folder holds more than `most` bytes.

    Other processes may read, write and sweep meanwhile: a file that one has open stays readable, and one that is gone
    is made anew.
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
