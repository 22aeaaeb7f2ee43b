"""Machine code on disk, and what else the next process can use: whole entries only, checked when they are read."""

import functools
import hashlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

from jax import monitoring

from .cache_bound import HIT, MISS, sweep_if_due

log = logging.getLogger("jaxnative")
HEAD = b"jaxnative 1\n"
_warned: list[str] = []


_find_folder: Callable[[], Path | None] = lambda: None  # noqa: E731


def keep_in(find_folder: Callable[[], Path | None]) -> None:
    """Says where machine code is kept, as a function that is asked each time; it is None where nothing is to be."""
    global _find_folder
    _find_folder = find_folder


def folder() -> Path | None:
    """Where machine code is kept; None where it is not."""
    return _find_folder()


@functools.cache
def place() -> str:
    """What machine code depends on beside its text: LLVM and the processor."""
    # Slow to import, and no business of those who keep something else here.
    import llvmlite
    import llvmlite.binding as llvm

    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    facts = (llvmlite.__version__, version, llvm.get_host_cpu_name(), features)
    return "\n".join(facts)


def key_of(text: str, options: str) -> str:
    """Name of the code of a text."""
    return hashlib.sha256("\n".join((text, options, place())).encode()).hexdigest()


def find(key: str, counts: bool = True) -> bytes | None:
    """What was kept under a name; None if there is nothing, or what is there is not whole."""
    where = folder()
    if where is None:
        return None
    try:
        data = (where / key).read_bytes()
    except OSError:
        data = b""
    body = _checked(data, key)
    if counts:
        monitoring.record_event(MISS if body is None else HIT)
    return body


def _checked(data: bytes, key: str) -> bytes | None:
    if not data.startswith(HEAD):
        return None
    rest = data[len(HEAD) :]
    sum_of_body, body = rest[:64], rest[64:]
    wanted = hashlib.sha256(key.encode() + body).hexdigest().encode()
    return body if sum_of_body == wanted else None


def keep(key: str, body: bytes) -> None:
    """Keeps code under a name; a folder that cannot be written is no reason to stop."""
    where = folder()
    if where is None:
        return
    sum_of_body = hashlib.sha256(key.encode() + body).hexdigest().encode()
    data = HEAD + sum_of_body + body
    try:
        where.mkdir(parents=True, exist_ok=True)
        sweep_if_due(where)
        _write_whole(where / key, data)
    except OSError as failure:
        if not _warned:
            _warned.append(str(failure))
            log.warning("machine code is not kept: %s", failure)


def _write_whole(target: Path, data: bytes) -> None:
    """Writes a file that appears whole or not at all."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
