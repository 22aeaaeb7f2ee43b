"""The files that a studio may touch: those below one folder, links followed."""

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path

from ..atomic import write_atomically
from ..files.description_files import kind_of_keys
from .explanation import RequestError

URDF = ".urdf"
DESCRIPTIONS = (".yaml", ".yml", URDF)
RESULTS = (".nc",)
# What may be brought in: descriptions, their meshes and matrices, and results.
UPLOADS = (*DESCRIPTIONS, *RESULTS, ".npz", ".npy", ".stl", ".obj", ".dae", ".csv")
RUNS = "runs"
STUDIES = ".sweep"
MOST_FILES = 500
DEEPEST = 4  # folders below folders
LONGEST_NAME = 240
# A key at the margin of a text in YAML; those of a file tell what it describes, and stand in its first part.
KEY = re.compile(r"""^["']?(\w+)["']?\s*:""", re.MULTILINE)
FIRST_PART = 100_000  # bytes
_turn = threading.Lock()  # of the one thread that looks at files and then writes them


@dataclass(frozen=True)
class ListedFile:
    """Name, kind, size and age of a file."""

    name: str  # from the folder on, with forward slashes
    kind: str  # result, URDF, one of `kind_of_keys`, or description where no key tells
    size: int
    modified: float  # seconds since 1970


@dataclass(frozen=True)
class Text:
    """A file as text, with the fingerprint by which a later save recognises it."""

    name: str
    text: str
    fingerprint: str
    draft: str | None  # what was typed and not saved


class Folder:
    """The files below a folder."""

    def __init__(self, root: str | Path):
        self.root = Path(root).expanduser().resolve()
        if not self.root.is_dir():
            raise RequestError(f"{root}: is no folder")

    @cached_property
    def spare(self) -> Path:
        """Where files go that the folder cannot take."""
        return Path(tempfile.mkdtemp(prefix="lissom-studio-"))

    @property
    def is_writable(self) -> bool:
        """False where nothing can be saved."""
        return os.access(self.root, os.W_OK | os.X_OK)

    def path(self, name: str) -> Path:
        """The file of a name.

        Raises:
            RequestError: it lies outside of the folder, or is hidden, or is no name at all.
        """
        parts = Path(name).parts
        # `.` is a name without parts.
        if not parts or len(name) > LONGEST_NAME or "\0" in name:
            raise RequestError("that is no file name")
        if any(part.startswith((".", "~")) for part in parts):
            raise RequestError(f"{name}: hidden files and .. stay outside", 403)
        root = self.root
        if parts[0] == RUNS and not self.is_writable:
            root = self.spare
        try:
            path = (root / name).resolve()
        except (OSError, RuntimeError, ValueError):
            # A circle of links, or a name that no file can have.
            raise RequestError("that is no file name") from None
        if not path.is_relative_to(root.resolve()):
            raise RequestError(f"{name}: lies outside of the folder", 403)
        return path

    def existing(self, name: str) -> Path:
        """The file of a name, which must exist."""
        path = self.path(name)
        if not os.path.isfile(path):
            raise RequestError(f"{name}: no such file", 404)
        return path

    def listing(self) -> list[ListedFile]:
        """Descriptions and results, the newest first."""
        files = self._files_below(self.root)
        if not self.is_writable:
            files += self._files_below(self.spare)
        files.sort(key=lambda file: file.modified, reverse=True)
        return files[:MOST_FILES]

    def _files_below(self, root: Path) -> list[ListedFile]:
        """Descriptions and results below a folder, without hidden ones and linked folders."""
        found: list[ListedFile] = []
        for folder, folders, names in os.walk(root):
            here = Path(folder).relative_to(root)
            # Files inside a study are no results by themselves.
            folders[:] = [
                name
                for name in folders
                if name[0] not in ".~_" and not name.endswith(STUDIES)
            ]
            if len(here.parts) >= DEEPEST or len(found) > 4 * MOST_FILES:
                folders.clear()
            for name in names:
                ending = Path(name).suffix.lower()
                if ending not in (*DESCRIPTIONS, *RESULTS):
                    continue
                name = (here / name).as_posix()
                # Hidden files, and links that lead elsewhere, are refused here as anywhere.
                with suppress(RequestError, OSError):
                    path = self.path(name)
                    facts = path.stat()
                    size, modified = facts.st_size, facts.st_mtime
                    found.append(ListedFile(name, _kind_of(path), size, modified))
        return found

    # --- text ------------------------------------------------------------------------------------------------------

    def read(self, name: str, most: int) -> Text:
        """A description as text, and its draft where there is one."""
        _check_ending(name, DESCRIPTIONS)
        content = _bytes_of(self.existing(name), most)
        draft = self.draft(name)
        unsaved = None
        if draft.is_file():
            unsaved = _decoded(name, _bytes_of(draft, most))
        text = _decoded(name, content)
        return Text(name, text, fingerprint(content), unsaved)

    def save(self, name: str, text: str, known: str | None) -> Text:
        """Writes a description whose fingerprint is still `known`; None: there must be no such file yet.

        Raises:
            RequestError: the file changed on disk since it was read, or cannot be written.
        """
        _check_ending(name, DESCRIPTIONS)
        path = self.path(name)
        content = _encoded(name, text)
        with _saving(path), locked(path.parent):
            if self._current(path) != known:
                raise RequestError(
                    f"{name}: changed on disk since it was opened; open it again, or save under another name",
                    409,
                )
            write_atomically(path, lambda file: file.write(content))
            self.drop_draft(name)
        return Text(name, text, fingerprint(content), None)

    def save_draft(self, name: str, text: str) -> Path:
        """The file with what was typed: a hidden draft beside the description, until both say the same."""
        _check_ending(name, DESCRIPTIONS)
        content = _encoded(name, text)
        if self._current(self.path(name)) == fingerprint(content):
            self.drop_draft(name)
            return self.path(name)
        draft = self.draft(name)
        with _saving(draft):
            write_atomically(draft, lambda file: file.write(content))
        return draft

    def drop_draft(self, name: str) -> None:
        """Removes what was typed and not saved."""
        self.draft(name).unlink(missing_ok=True)

    def draft(self, name: str) -> Path:
        """The hidden file beside a description for what was typed and not saved."""
        path = self.path(name)
        if not self.is_writable:
            path = self.spare / path.name
        return path.with_name(f".{path.stem}.draft{path.suffix}")

    def _current(self, path: Path) -> str | None:
        """Fingerprint of a file, None where there is none."""
        with _reading(path), suppress(FileNotFoundError):
            return fingerprint(path.read_bytes())
        return None

    # --- other files -----------------------------------------------------------------------------------------------

    def add(self, name: str, content: bytes) -> str:
        """The name under which a file that was dropped is stored, in its folder: never over another one."""
        _check_ending(name, UPLOADS)
        # What would leave the folder, or hide in it, comes in by its last name.
        leaves = any(part.startswith((".", "~", "/")) for part in Path(name).parts)
        inside = Path(name).name if leaves else name
        free = _new_file(self.path(inside), content)
        return Path(inside).with_name(free.name).as_posix()

    def free_beside(self, path: Path, ending: str) -> tuple[Path, str]:
        """Path and name of a new file beside another."""
        free = _free_path(path.with_suffix(ending))
        return free, free.relative_to(self.root).as_posix()

    def new_result(self, title: str, ending: str = ".nc") -> tuple[str, Path]:
        """Name and path of the next result."""
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in title)
        name = f"{RUNS}/{stem.strip('-')[:60] or 'run'}{ending}"
        # An empty file takes the place at once: two runs of one name start in the same second.
        free = _new_file(self.path(name), b"")
        return f"{RUNS}/{free.name}", free


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While it lasts, no other thread or studio looks at the files of a folder in order to write them.

    Other programs know nothing of it. Where the system has no such locks, the threads of this process alone take turns.
    """
    with _turn, ExitStack() as stack:
        # Windows has no such locks, and some network file systems neither.
        with suppress(ImportError, OSError):
            import fcntl

            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
            # Not left to closing: a process that was started meanwhile may have a copy of the handle.
            stack.callback(fcntl.flock, handle, fcntl.LOCK_UN)
        yield


@contextmanager
def _saving(path: Path) -> Iterator[None]:
    """The folder of a file that is to be written exists; errors of the system are reported with its name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as failure:
        reason = failure.strerror or "no reason given"
        raise RequestError(f"{path.name}: cannot be saved: {reason}", 409) from None


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Errors of the system are reported with the name of the file."""
    try:
        yield
    except OSError as failure:
        raise RequestError(f"{path.name}: {failure.strerror}") from None


def _new_file(path: Path, content: bytes) -> Path:
    """The path, or the same with the first free number, after the content was written there."""
    with _saving(path), locked(path.parent):
        free = _free_path(path)
        return write_atomically(free, lambda file: file.write(content))


def _free_path(path: Path) -> Path:
    """The path itself, or with the first number that is free."""
    stem, numbers = path.stem, count(2)
    while path.exists():
        path = path.with_stem(f"{stem}-{next(numbers)}")
    return path


def fingerprint(content: bytes) -> str:
    """Hash by which a file is recognised."""
    return hashlib.sha256(content).hexdigest()


def _kind_of(path: Path) -> str:
    """What a file of the folder is, told without reading more than its first part."""
    ending = path.suffix.lower()
    if ending in RESULTS:
        return "result"
    if ending == URDF:
        return "URDF"
    keys: set[str] = set()
    # A pipe would be waited for.
    if path.is_file():
        with suppress(OSError), path.open("rb") as file:
            head = file.read(FIRST_PART).decode("utf-8-sig", "replace")
            keys = set(KEY.findall(head))
    return kind_of_keys(keys) if keys else "description"


def _bytes_of(path: Path, most: int) -> bytes:
    with _reading(path):
        if path.stat().st_size > most:
            raise RequestError(f"{path.name}: is larger than {most / 1e6:g} MB", 413)
        return path.read_bytes()


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as failure:
        # Half of a character, as JSON can write it.
        where = failure.start
        raise RequestError(f"{name}: character {where} is no Unicode") from None


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise RequestError(
            f"{name}: is not UTF-8 text (byte {failure.start})"
        ) from None


def _check_ending(name: str, endings: tuple[str, ...]) -> None:
    if Path(name).suffix.lower() not in endings:
        raise RequestError(f"{name}: the name must end in {', '.join(endings)}")
