"""Compiled code that outlives the process: it is kept in the user's cache folder."""

import functools
import os
import tempfile
from pathlib import Path
from typing import Any

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
    kept = CompiledCode(_usable(wanted), wanted)
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


def _usable(folder: Path | None) -> Path | None:
    """The folder, made if need be; `None` where nothing can be written."""
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, ValueError):
        return None
