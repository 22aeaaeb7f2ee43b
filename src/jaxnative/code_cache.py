"""Cache of machine code and other data on disk; entries are written atomically and checked by a digest when read."""

import functools
import hashlib
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

from jax import monitoring

from .cache_bound import HIT, MISS, sweep_if_due

log = logging.getLogger("jaxnative")
HEAD = b"jaxnative 1\n"
# Others than the owner may write.
NOT_KEPT = "machine code is not kept:"
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_warned: list[str] = []
_find_folder: Callable[[], Path | None] = lambda: None  # noqa: E731


def keep_in(find_folder: Callable[[], Path | None]) -> None:
    """Sets the folder of the cache, by a function that is called each time; it returns None to store nothing."""
    global _find_folder
    _find_folder = find_folder


def folder() -> Path | None:
    """Folder of the cache; None where there is none, or where others than the owner could write."""
    where = _find_folder()
    if where is None or is_own(where):
        return where
    _warn_once(
        f"machine code is neither read nor kept: others than you can write to {where}. Remove the folder; or, if you "
        "trust what is in it, make it yours alone (chown, chmod 700)"
    )
    return None


def is_own(where: Path) -> bool:
    """True if only this user can have written into a folder, or it does not exist yet: what is read from it is run."""
    try:
        return _only_owner_writes(os.stat(where))
    except OSError:
        return True


def _only_owner_writes(facts: os.stat_result) -> bool:
    if not hasattr(os, "geteuid"):
        # Windows keeps rights in lists of its own, and home folders to their users.
        return True
    return facts.st_uid == os.geteuid() and not facts.st_mode & OTHERS_WRITE


def _warn_once(text: str) -> None:
    if text not in _warned:
        _warned.append(text)
        log.warning(text)


@functools.cache
def place() -> str:
    """What machine code depends on apart from its text: versions of LLVM and the processor."""
    # Slow to import, and not needed for other data.
    import llvmlite
    import llvmlite.binding as llvm

    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    facts = (llvmlite.__version__, version, llvm.get_host_cpu_name(), features)
    return "\n".join(facts)


def key_of(text: str, options: str) -> str:
    """Key of the machine code of a text."""
    return hashlib.sha256("\n".join((text, options, place())).encode()).hexdigest()


def find(key: str, counts: bool = True) -> bytes | None:
    """The entry of a key; None if there is none or it is damaged."""
    where = folder()
    if where is None:
        return None
    body = _checked(_read(where / key), key)
    if counts:
        monitoring.record_event(MISS if body is None else HIT)
    return body


def _read(file: Path) -> bytes:
    try:
        with open(file, "rb") as opened:
            is_own = _only_owner_writes(os.fstat(opened.fileno()))
            return opened.read() if is_own else b""
    except OSError:
        return b""


def _checked(data: bytes, key: str) -> bytes | None:
    if not data.startswith(HEAD):
        return None
    rest = data[len(HEAD) :]
    sum_of_body, body = rest[:64], rest[64:]
    wanted = hashlib.sha256(key.encode() + body).hexdigest().encode()
    return body if sum_of_body == wanted else None


def keep(key: str, body: bytes) -> None:
    """Stores an entry; a folder that cannot be written is no error."""
    where = folder()
    if where is None:
        return
    sum_of_body = hashlib.sha256(key.encode() + body).hexdigest().encode()
    data = HEAD + sum_of_body + body
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        sweep_if_due(where)
        _write_whole(where / key, data)
    except OSError as failure:
        # One line, whichever file it is.
        if not any(text.startswith(NOT_KEPT) for text in _warned):
            _warn_once(f"{NOT_KEPT} {failure}")


def _write_whole(target: Path, data: bytes) -> None:
    """Writes a file atomically."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb", opener=_for_owner) as file:
            file.write(data)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
