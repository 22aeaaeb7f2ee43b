"""Machine code on disk, and what else the next process can use: whole entries only, checked when they are read."""

import functools
import hashlib
import logging
from pathlib import Path

from jax import monitoring

from ..atomic import write_whole
from ..compiled_code import HIT, MISS, machine_code_folder, sweep_if_due

log = logging.getLogger("lissom.native")
HEAD = b"lissom native code 1\n"
_warned: list[str] = []


def folder() -> Path | None:
    """Where machine code is kept; None where it is not."""
    return machine_code_folder()


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
        write_whole(where / key, lambda file: file.write(data))
    except OSError as failure:
        if not _warned:
            _warned.append(str(failure))
            log.warning("machine code is not kept: %s", failure)
