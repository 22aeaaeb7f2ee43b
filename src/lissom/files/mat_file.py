"""Files of MATLAB 5, with a checksum in the line of text with which they begin.

SciPy and MATLAB do not read this line. Damaged files can crash SciPy's reader, and their numbers have no checks of
their own.
"""

import hashlib
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..atomic import write_atomically

TEXT = 116  # bytes of the line
MARK = b"MATLAB 5.0 MAT-file, lissom, sha256 "
# What is left of the line of an own file where some of its bytes are damaged.
REMAINS = re.compile(rb"lissom|sha256|[0-9a-f]{16}")


def write_mat(path: str | Path, data: Mapping[str, Any]) -> Path:
    """Writes variables by name; vectors as columns."""
    import scipy.io

    memory = io.BytesIO()
    scipy.io.savemat(memory, data, oned_as="column")
    content = memory.getvalue()[TEXT:]
    return write_atomically(path, lambda file: file.write(_line(content) + content))


def mat_checksum_problem(path: Path) -> str | None:
    """Why a file is not what was written, in words; None where its checksum is right, or where there is none."""
    data = path.read_bytes()
    line, content = data[:TEXT], data[TEXT:]
    if line == _line(content) or not REMAINS.search(line):
        return None
    return "is damaged: its checksum does not match its contents"


def _line(content: bytes) -> bytes:
    digest = hashlib.sha256(content).hexdigest().encode()
    return (MARK + digest).ljust(TEXT)
