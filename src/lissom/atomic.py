"""Files that appear whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | Path, write: Callable[[BinaryIO], object]) -> Path:
    """Path of the file that `write` filled; a failure on the way leaves what was there before untouched.

    The bytes go to a hidden neighbour in the same folder, which takes the final name in one step.
    """
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(draft, "wb") as file:
            write(file)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return Path(path)
