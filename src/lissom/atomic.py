"""Files that appear whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> Path:
    """Path of the file that `write` filled; a failure on the way leaves what was there before untouched.

    The bytes go to a hidden neighbour in the same folder, which takes the final name in one step. Drafts that a process
    left behind when it was killed are taken away.
    """
    target = Path(path).resolve()
    remove_stale_drafts(target)
    draft = draft_of(target)
    try:
        with open(draft, "wb") as file:
            write(file)
        os.replace(draft, target)
    except OSError as failure:
        # A full disk does not say which file there was no room for, and nobody knows the draft.
        if failure.filename in (None, str(draft)):
            failure.filename = str(path)
        raise
    finally:
        draft.unlink(missing_ok=True)
    return Path(path)


def draft_of(target: Path) -> Path:
    """The hidden neighbour in which this process writes a file."""
    return target.with_name(f".{target.name}.{os.getpid()}.tmp")


def remove_stale_drafts(target: Path) -> None:
    """Takes away drafts of a file whose processes are gone."""
    start = f".{target.name}."
    for name in os.listdir(target.parent):
        number = name.removeprefix(start).removesuffix(".tmp")
        is_draft = name == f"{start}{number}.tmp" and number.isdecimal()
        if is_draft and not _is_alive(int(number)):
            (target.parent / name).unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    if os.name == "nt":
        # There, signal 0 would end the process.
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        # Someone else's process, or a number that no process has: the draft is left alone.
        return True
    return True
