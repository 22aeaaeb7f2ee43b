"""Result files before they are read."""

import functools
import logging
from pathlib import Path

from .array_file import check_file
from .hdf5_checksum import has_checksum

log = logging.getLogger("lissom")
NO_CHECKSUM = (
    "has no checksum (a file of version 0.2, or changed by another program): damage would not be noticed. "
    "`ls.Run.load(file).save(file)` adds one"
)


def check_result_file(path: str | Path) -> None:
    """Refuses a file that is damaged or could not be read; the log notes one without a checksum.

    Raises:
        ArrayFileError: with the reason.
    """
    check_file(path, ".nc")
    if not has_checksum(Path(path)):
        _note_missing(str(path))


@functools.cache
def _note_missing(path: str) -> None:
    """One line for each file: commands read some twice."""
    log.warning("%s: %s", path, NO_CHECKSUM)
