"""Columns of numbers with names as a file: text or NumPy's archive."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..atomic import write_atomically


def write_columns(path: Any, columns: Mapping[str, np.ndarray]) -> Any:
    """Columns of one length as `.npz`, or as text with their names in the first line; in full precision."""
    if str(path).lower().endswith(".npz"):
        named: dict[str, Any] = dict(columns)
        return write_atomically(path, lambda file: np.savez_compressed(file, **named))
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        # `repr` of a float is the shortest text that reads back as the same number.
        lines.append(",".join(repr(float(value)) for value in row))
    text = "\n".join(lines) + "\n"
    return write_atomically(path, lambda file: file.write(text.encode()))
