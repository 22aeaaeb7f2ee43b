"""A few runs that are computed and stored together: one file, named by the hash of recipe and values."""

import io
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..files.digest_frame import framed, unframed
from .recipe import StudyRecipe, digest

MAGIC = b"lissom chunk 1\n"
REASON, SECONDS, WHOLE = "reason", "seconds", "run"


class ChunkTask(NamedTuple):
    """Runs to be computed: the first one's number, and the values of the keys of each."""

    number: int
    first: int
    settings: list[list[Any]]

    def name(self, fingerprint: str) -> str:
        """Name of its file: hash of the recipe and of the values."""
        return f"{digest([fingerprint, self.first, self.settings])[:40]}.chunk"


class ChunkContent(NamedTuple):
    """What a chunk holds: columns of its runs, why runs failed, and how long they took."""

    columns: dict[str, np.ndarray]
    reasons: list[str]  # empty where a run went well
    seconds: float
    runs: list[bytes]  # whole runs as NetCDF, if the study stores them

    @property
    def failed(self) -> int:
        """Number of runs that failed."""
        return sum(bool(reason) for reason in self.reasons)


def encode(content: ChunkContent) -> bytes:
    """The bytes of a chunk's file."""
    arrays: dict[str, Any] = {
        f"c{k}": a for k, a in enumerate(content.columns.values())
    }
    arrays["names"] = np.array(list(content.columns), dtype=str)
    arrays[REASON] = np.array(content.reasons, dtype=str)
    arrays[SECONDS] = np.array(content.seconds)
    for k, run in enumerate(content.runs):
        arrays[f"{WHOLE}{k}"] = np.frombuffer(run, dtype=np.uint8)
    body = io.BytesIO()
    np.savez(body, allow_pickle=False, **arrays)
    return framed(MAGIC, body.getvalue())


def decode(data: bytes) -> ChunkContent:
    """The content of a chunk's file.

    Raises:
        FrameError: it is truncated, damaged, or not a chunk.
    """
    body = unframed(MAGIC, data, "chunk of a study")
    with np.load(io.BytesIO(body), allow_pickle=False) as arrays:
        return _content(arrays)


def _content(arrays: Mapping[str, np.ndarray]) -> ChunkContent:
    names = arrays["names"].tolist()
    columns = {name: arrays[f"c{k}"] for k, name in enumerate(names)}
    reasons = arrays[REASON].tolist()
    whole = [f"{WHOLE}{k}" for k in range(len(reasons))]
    runs = [arrays[name].tobytes() for name in whole if name in arrays]
    return ChunkContent(columns, reasons, float(arrays[SECONDS]), runs)


def blank_columns(recipe: StudyRecipe, count: int) -> dict[str, np.ndarray]:
    """Columns of a number of runs, without numbers."""
    columns = {}
    for column in recipe.columns:
        shape = (count,) if column.size is None else (count, column.size)
        columns[column.name] = np.full(shape, np.nan)
    return columns
