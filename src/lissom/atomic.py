"""Files that appear whole or not at all."""

import glob
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> Path:
    """Path of the file that `write` filled; a failure on the way leaves what was there before untouched.

    The bytes go to a hidden neighbour in the same folder, which takes the final name in one step.
    """
    target = Path(path).resolve()
    remove_stale_drafts(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb") as file:
            write(file)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return Path(path)


def remove_stale_drafts(target: Path) -> None:
    """Remove drafts of a file whose processes were killed before they could finish."""
    for draft in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        number = draft.name.split(".")[-2]
        if number.isdigit() and not _is_running(int(number)):
            draft.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
