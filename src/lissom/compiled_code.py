"""Compiled code on disk: cached in the user's cache folder, up to a bound.

Machine code of this package is always cached. What XLA compiles is cached by JAX, whose settings hold for
the whole process and are changed by programs of this package and by `cache` alone.
"""

import functools
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache

from jaxnative import code_cache
from jaxnative.cache_bound import HIT, MISS, sweep_if_due

VARIABLE = "LISSOM_CACHE"  # a folder, or `off`
# What JAX reports of its own cache.
JAX_HIT = "/jax/compilation_cache/cache_hits"
JAX_MISS = "/jax/compilation_cache/cache_misses"


class CompiledCode:
    """How much compiled code came from the cache (`hits`) and how much was made new (`misses`)."""

    def __init__(self, folder: Path | None, wanted: Path | None = None):
        self.folder = folder
        self.wanted = wanted  # the folder that was set, if it cannot be used
        self.hits = 0
        self.misses = 0

    def count(self, event: str, **_) -> None:
        """Count a hit or a miss that JAX or the machine code reports."""
        self.hits += event in (HIT, JAX_HIT)
        is_new = event in (MISS, JAX_MISS)
        self.misses += is_new
        if is_new and self.folder is not None:
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
            return f"compiled code: not cached: {self.wanted} cannot be written"
        if self.folder is None:
            return "compiled code: not cached (no cache folder)"
        return f"compiled code: {self.hits} from cache, {self.misses} new"


def cache_folder() -> Path | None:
    """Where compiled code is cached: `LISSOM_CACHE`, else `lissom` in the user's cache folder; `None` if off."""
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
    """The user's home folder; `None` where there is none; it is never created."""
    try:
        home = Path.home()
    except RuntimeError:
        # No HOME, and a user that the system does not know.
        return None
    return home if os.path.isdir(home) else None


def machine_code_folder() -> Path | None:
    """Where machine code of this package is cached; `None` if the cache is off or cannot be written."""
    folder = usable(cache_folder())
    return None if folder is None else folder / "native"


def cache(folder: str | Path | None = None) -> Path:
    """The folder in which this process caches compiled code from now on, that of XLA included.

    Machine code of lissom is cached without this call. What XLA compiles (`backend: xla`, `ls.rollout` inside
    `jax.jit`, your own JAX code) is cached by JAX, with one setting for all packages of the process: this choice is
    yours. The command `lissom` and the studio make it for you. The folder replaces one that you gave to JAX before, and
    JAX then keeps programs of any size and compile time.

    Args:
        folder: where; by default the folder that the environment variable `LISSOM_CACHE` names, or else `lissom` in the
            user's cache folder. A folder that is named here becomes `LISSOM_CACHE`, for processes started later too.

    Returns:
        The folder, which is made where there is none.

    Raises:
        OSError: the folder cannot be written, or others than its owner can.
        ValueError: no folder is named, and `LISSOM_CACHE` is `off` or there is no home.

    Example:
        >>> import lissom as ls
        >>> folder = ls.cache("build/cache")
        >>> xla = {"backend": "xla"}
        >>> run = ls.simulate("simple-pendulum", t_end=0.1, solver=xla)
    """
    if folder is not None:
        wanted: Path | None = Path(folder).expanduser().absolute()
    else:
        wanted = cache_folder()
    if wanted is None:
        raise ValueError(
            f"there is no folder for compiled code ({VARIABLE} is off, or there is no home): name one"
        )
    if usable(wanted) is None:
        raise OSError(f"{wanted} cannot be written")
    if not code_cache.is_own(wanted):
        raise OSError(
            f"others than you can write to {wanted}, and what is in it is run: make it yours alone (chmod 700)"
        )
    if folder is not None:
        os.environ[VARIABLE] = str(wanted)
    _give_to_jax(wanted)
    return wanted


def keep_compiled_code() -> CompiledCode:
    """Called first by the command line and the studio: XLA's code is cached too, and hits of both caches are counted.

    A folder that the user has given to JAX stays. One that cannot be written, or that others can write, is not
    an error: the process then compiles everything itself.
    """
    wanted = cache_folder()
    kept = CompiledCode(usable(wanted), wanted)
    if kept.folder is not None and _given_folder() is None:
        # What JAX finds there is run as it is.
        if code_cache.is_own(kept.folder):
            _give_to_jax(kept.folder)
    _counting.add(kept)
    _listen()
    return kept


def _given_folder() -> str | None:
    options: Any = jax.config
    return options.jax_compilation_cache_dir


def _give_to_jax(folder: Path) -> None:
    if _given_folder() not in (None, str(folder)):
        # JAX uses the folder of its first compilation until its cache is reset.
        compilation_cache.reset_cache()
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    # Until the process ends, so that the folder stays within its bound.
    _lasting.setdefault(folder, CompiledCode(folder))
    _counting.add(_lasting[folder])
    _listen()


_lasting: dict[Path, CompiledCode] = {}
_counting: weakref.WeakSet[CompiledCode] = weakref.WeakSet()


@functools.cache
def _listen() -> None:
    jax.monitoring.register_event_listener(_note)


def _note(event: str, **_: Any) -> None:
    for code in tuple(_counting):
        code.count(event)


def usable(folder: Path | None) -> Path | None:
    """The folder, made if need be; `None` where nothing can be written."""
    return None if folder is None or not _can_be_written(folder) else folder


@functools.cache
def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except (OSError, ValueError):
        return False
