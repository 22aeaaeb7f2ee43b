"""Checkpoints: the state of an unfinished run on disk."""

import hashlib
import io
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .. import __version__
from ..atomic import write_atomically
from ..files.digest_frame import FrameError, framed, unframed
from ..solve.checkpoint import Checkpoint, CheckpointError
from ..solve.march import MarchState
from ..solve.record import COLUMNS, RunRecord
from ..solve.solution import Segment

MARK = b"lissom checkpoint 1\n"
EVERY = 20.0  # [s] of computing between two checkpoints


class CheckpointFile:
    """File that stores a run at intervals.

    Args:
        path: the file.
        run: what identifies the run; a file of another run is refused.
        every: seconds between two checkpoints.
    """

    def __init__(self, path: str | Path, run: Any, every: float = EVERY):
        self.path = Path(path)
        self.run = fingerprint(run)
        self.every = every
        self.failure: OSError | None = (
            None  # why the last checkpoint could not be written
        )
        self._last = time.monotonic()

    def keep(
        self,
        at: MarchState,
        rows: RunRecord,
        segments: tuple[Segment, ...],
        at_once: bool = False,
    ) -> None:
        """Write the march to the file after each interval, or `at_once`; a full disk does not stop the run."""
        if not at_once and time.monotonic() - self._last < self.every:
            return
        filled = rows.take(at.record)
        content = io.BytesIO()
        about = {"run": self.run, "segments": [vars(part) for part in segments]}
        leaves = {f"leaf{k}": leaf for k, leaf in enumerate(jax.tree.leaves(at))}
        columns = {name: rows.columns[name][:filled] for name in COLUMNS}
        arrays: Any = {**leaves, **columns}
        np.savez(content, about=np.array(json.dumps(about)), **arrays)
        data = framed(MARK, content.getvalue())
        try:
            write_atomically(self.path, lambda file: file.write(data))
            self.failure = None
        except OSError as failure:
            self.failure = failure
        self._last = time.monotonic()

    def read(self) -> Checkpoint | None:
        """The stored march; None if there is no file.

        Raises:
            CheckpointError: it is no checkpoint, or that of another run.
        """
        if not self.path.exists():
            return None
        try:
            body = unframed(MARK, self.path.read_bytes(), "checkpoint")
        except (OSError, FrameError) as failure:
            raise CheckpointError(str(failure)) from None
        with np.load(io.BytesIO(body), allow_pickle=False) as file:
            content = dict(file)
        about = json.loads(content.pop("about").item())
        if about["run"] != self.run:
            raise CheckpointError(
                "the checkpoint of another run: the robot, the scenario, the options or the version of lissom differ"
            )
        columns = {name: content.pop(name) for name in COLUMNS}
        leaves = [content[f"leaf{k}"] for k in range(len(content))]
        return Checkpoint(leaves, columns, tuple(map(_segment, about["segments"])))


def _segment(entry: dict[str, Any]) -> Segment:
    return Segment(tuple(entry["independent"]), entry["row"], entry["time"])


def fingerprint(run: Any) -> str:
    """Hash of what identifies a run: plain data, or any number of a tree of arrays."""
    digest = hashlib.sha256(__version__.encode())
    if isinstance(run, dict):
        digest.update(json.dumps(run, sort_keys=True).encode())
        return digest.hexdigest()
    for leaf in jax.tree.leaves(run):
        array = np.asarray(leaf)
        digest.update(f"{array.shape} {array.dtype}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
