"""The folder of a study: its definition and its finished chunks, from which all results follow."""

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..atomic import write_atomically
from ..files.digest_frame import FrameError
from ..files.errors import DescriptionError, Problem, shortened
from ..files.part import is_list
from ..runs.failures import AnalysisError
from .chunk import ChunkContent, ChunkTask, decode
from .recipe import StudyRecipe
from .sampling import sampling_name
from .study import Study, study_data

STUDY_FILE = "study.json"
CHECKSUM = "sha256"  # of the record in it
RECORDED = {"lissom", "fingerprint", "runs", "chunk", "study", "scenario"}
CHUNK_FOLDER = "chunks"
DATASET = "dataset.nc"
LOCK = "lock"
ENDING = ".sweep"
MOST_CHANGES = 8  # that are named


class StoreError(AnalysisError):
    """A store that cannot be written to, or is in use."""


class Plan(NamedTuple):
    """A study made ready: how its runs are computed, and which run is in which chunk."""

    study: Study
    recipe: StudyRecipe

    @classmethod
    def of(cls, study: Study) -> "Plan":
        """The plan of a study."""
        return cls(study, StudyRecipe.of(study))

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.study.design.count // self.study.chunk_size)

    def task(self, number: int) -> ChunkTask:
        """The runs of one chunk."""
        size = self.study.chunk_size
        first = number * size
        return ChunkTask(number, first, self.study.design.settings(first, first + size))

    def record(self) -> dict[str, Any]:
        """The record of the study, as `study.json` holds it."""
        return {
            "lissom": __version__,
            "fingerprint": self.recipe.fingerprint,
            "runs": self.study.design.count,
            "chunk": self.study.chunk_size,
            "study": study_data(self.study),
            "scenario": self.recipe.scenario,
        }


class ChunkStore:
    """The folder that holds the chunks of a study."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    @property
    def chunk_folder(self) -> Path:
        """Folder that holds the chunks."""
        return self.folder / CHUNK_FOLDER

    def record_of_study(self) -> dict[str, Any] | None:
        """The recorded study; None for one that has not begun.

        Raises:
            DescriptionError: the file is there and cannot be read.
        """
        path = self.folder / STUDY_FILE
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            raise _refused(
                self.folder, "is a file, not the folder of a study"
            ) from None
        except (OSError, ValueError) as reason:
            raise _refused(path, f"cannot be read: {reason}") from None
        return _in_new_words(_checked(path, record))

    def begin(self, plan: Plan) -> None:
        """Makes the folder of a study, or finds that it holds this very study.

        Raises:
            DescriptionError: it holds another one, with what changed.
        """
        record = json.loads(json.dumps(plan.record()))
        held = self.record_of_study()
        if held is not None:
            if held != record:
                raise _refused(self.folder, _changes_in_words(held, record))
            return
        if self._holds_something_else():
            message = (
                "is not empty, and not the folder of a study: choose another --store"
            )
            raise _refused(self.folder, message)
        try:
            self.chunk_folder.mkdir(parents=True, exist_ok=True)
            self.record(record)
        except OSError as failure:
            raise cannot_write(self.folder, failure) from None

    def record(self, record: Mapping[str, Any]) -> None:
        """Writes the record of a study, with its checksum."""
        text = json.dumps({**record, CHECKSUM: _checksum(record)}, indent=1)
        path = self.folder / STUDY_FILE
        write_atomically(path, lambda file: file.write(text.encode()))

    def _holds_something_else(self) -> bool:
        """True if the folder has content, and not only what a study that was killed at once leaves behind."""
        if not self.folder.is_dir():
            return False
        own = (CHUNK_FOLDER, LOCK)
        names = [path.name for path in self.folder.iterdir()]
        others = [n for n in names if n not in own and STUDY_FILE not in n]
        return bool(others)

    def keep(self, name: str, data: bytes) -> None:
        """Writes one chunk: whole, or not at all.

        Raises:
            StoreError: there is no room, or no right to write.
        """
        try:
            path = self._path(name)
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, lambda file: file.write(data))
        except OSError as failure:
            raise cannot_write(self.folder, failure) from None

    def _path(self, name: str) -> Path:
        # A folder with many thousands of files is slow to list.
        return self.chunk_folder / name[:2] / name

    def present(self) -> set[str]:
        """Names of the stored chunks."""
        return {path.name for path in self.chunk_folder.glob("*/*.chunk")}

    def read(self, name: str) -> ChunkContent:
        """The content of a chunk.

        Raises:
            FrameError: it is damaged.
            FileNotFoundError: it is not there.
        """
        return decode(self._path(name).read_bytes())

    def read_if_intact(self, name: str) -> ChunkContent | None:
        """The content of a chunk, None where it is missing or damaged: it is then computed again."""
        try:
            return self.read(name)
        except (FrameError, OSError, ValueError, KeyError):
            return None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Lock of the store against other writers; the system releases it when the process ends, however it does.

        Raises:
            StoreError: another process does.
        """
        try:
            file = open(self.folder / LOCK, "a+b")
        except OSError as failure:
            raise cannot_write(self.folder, failure) from None
        with file:
            if not _lock(file):
                raise StoreError(
                    f"{self.folder}: another process is computing this study; wait, or stop it"
                )
            yield


def _checked(path: Path, record: Any) -> dict[str, Any]:
    """The record of a study without its checksum; those of 0.2 have none.

    Raises:
        DescriptionError: it is damaged, or no such record.
    """
    if not isinstance(record, dict) or not {"study", "scenario"} <= record.keys():
        raise _refused(path, "is no record of a study")
    held = {key: value for key, value in record.items() if key != CHECKSUM}
    own = _checksum(held)
    is_right = record.get(CHECKSUM, own) == own
    # A damaged name of the checksum is a name that no record has.
    if not is_right or not held.keys() <= RECORDED:
        message = "is damaged: its checksum does not match its contents"
        raise _refused(path, message)
    return held


def _checksum(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _in_new_words(record: dict[str, Any]) -> dict[str, Any]:
    """The record of a store whose study was written with a word of an earlier version."""
    study = record.get("study", {})
    if "sampling" not in study:
        return record
    return {**record, "study": {**study, "sampling": sampling_name(study["sampling"])}}


def _lock(file: Any) -> bool:
    try:
        import fcntl
    except ImportError:
        # On systems without it, chunks still appear whole or not at all.
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems know no locks.
        return True
    return True


def cannot_write(folder: Path, failure: OSError) -> StoreError:
    """The error of a store that cannot be written."""
    if failure.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreError(
            f"{folder}: no room left on the disk. Free some space and give the same command again"
        )
    return StoreError(f"{folder}: cannot be written: {failure.strerror or failure}")


def default_store(study: str | Path) -> Path:
    """The folder of a study beside its file: `study.sweep` for `study.yaml`."""
    path = Path(study)
    return path.with_name(path.stem + ENDING)


def store_exists(folder: str | Path) -> bool:
    """True if a folder is the store of a study."""
    return os.path.isfile(Path(folder) / STUDY_FILE)


# --- what changed --------------------------------------------------------------------------------------------------


def _refused(place: Path, message: str) -> DescriptionError:
    return DescriptionError([Problem(str(place), None, "", None, message)])


def _changes_in_words(held: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Differences between the study of a store and the requested study, in words."""
    if held.get("lissom") != now["lissom"]:
        changes = [f"lissom was {held.get('lissom')}, now {now['lissom']}"]
    else:
        changes = list(differences(held.get("study"), now["study"], ""))
        changes += differences(held.get("scenario"), now["scenario"], "scenario")
        # The same words may mean other files: only their content differs then.
        changes = changes or ["a file that the robot names has another content"]
    shown = "; ".join(dict.fromkeys(changes[:MOST_CHANGES]))
    more = (
        f"; and {len(changes) - MOST_CHANGES} more"
        if len(changes) > MOST_CHANGES
        else ""
    )
    return f"holds another study: {shown}{more}. Choose another --store, or remove this one"


def differences(old: Any, new: Any, place: str) -> Iterator[str]:
    """Entries in which plain data differ: `over.payload.mass.to was 1, now 2`."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            inside = f"{place}.{key}" if place else str(key)
            yield from differences(old.get(key), new.get(key), inside)
        return
    if is_list(old) and is_list(new) and len(old) == len(new):
        for k, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, f"{place}.{k}")
        return
    if old != new:
        yield f"{place} was {_in_words(old)}, now {_in_words(new)}"


def _in_words(value: Any) -> str:
    return "absent" if value is None else shortened(value, 40)
