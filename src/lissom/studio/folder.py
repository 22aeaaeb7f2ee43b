"""The files that a studio may touch: those below one folder, links followed."""

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..atomic import write_atomically

DESCRIPTIONS = (".yaml", ".yml", ".urdf")
RESULTS = (".nc",)
# What may be brought in: descriptions, their meshes and matrices, and results.
UPLOADS = (*DESCRIPTIONS, *RESULTS, ".npz", ".npy", ".stl", ".obj", ".dae", ".csv")
RUNS = "runs"
STUDIES = ".sweep"
MOST_FILES = 500
DEEPEST = 4  # folders below folders
LONGEST_NAME = 240
_turn = threading.Lock()  # of the one thread that looks at files and then writes them


class FolderError(Exception):
    """A file that cannot be used, and the status by which a browser hears of it."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class ListedFile:
    """A file in a few words."""

    name: str  # from the folder on, with forward slashes
    kind: str  # description or result
    size: int
    modified: float  # seconds since 1970


@dataclass(frozen=True)
class Text:
    """A file as text, with the fingerprint by which a later save knows it again."""

    name: str
    text: str
    fingerprint: str
    draft: str | None  # what was typed and not saved


class Folder:
    """The files below a folder."""

    def __init__(self, root: str | Path):
        self.root = Path(root).expanduser().resolve()
        if not self.root.is_dir():
            raise FolderError(f"{root}: is no folder")

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
            FolderError: it lies outside of the folder, or is hidden, or is no name at all.
        """
        if not name or len(name) > LONGEST_NAME or "\0" in name:
            raise FolderError("that is no file name")
        parts = Path(name).parts
        if any(part.startswith((".", "~")) for part in parts):
            raise FolderError(f"{name}: hidden files and .. stay outside", 403)
        root = self.root
        if parts[0] == RUNS and not self.is_writable:
            root = self.spare
        path = self._resolved(root / name)
        if not path.is_relative_to(root.resolve()):
            raise FolderError(f"{name}: lies outside of the folder", 403)
        return path

    def _resolved(self, path: Path) -> Path:
        try:
            return path.resolve()
        except (OSError, RuntimeError, ValueError):
            # A circle of links, or a name that no file can have.
            raise FolderError("that is no file name") from None

    def existing(self, name: str) -> Path:
        """The file of a name, which must be there."""
        path = self.path(name)
        try:
            found = path.is_file()
        except OSError:
            found = False
        if not found:
            raise FolderError(f"{name}: no such file", 404)
        return path

    def listing(self) -> list[ListedFile]:
        """Descriptions and results, the newest first."""
        roots = [self.root]
        if not self.is_writable:
            roots.append(self.spare)
        files = []
        for root in roots:
            for path in _walk(root):
                name = path.relative_to(root).as_posix()
                listed = self._listed(path, name)
                if listed is not None:
                    files.append(listed)
        files.sort(key=lambda file: file.modified, reverse=True)
        return files[:MOST_FILES]

    def _listed(self, path: Path, name: str) -> ListedFile | None:
        try:
            # Links that lead elsewhere are refused here as anywhere.
            facts = self.path(name).stat()
        except (FolderError, OSError):
            return None
        is_result = path.suffix.lower() in RESULTS
        kind = "result" if is_result else "description"
        return ListedFile(name, kind, facts.st_size, facts.st_mtime)

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
            FolderError: the file changed on disk since it was read, or cannot be written.
        """
        _check_ending(name, DESCRIPTIONS)
        path = self.path(name)
        if known is None:
            self._make_folder_of(path)
        with locked(path.parent):
            if self._current(path) != known:
                raise FolderError(
                    f"{name}: changed on disk since it was opened; open it again, or save under another name",
                    409,
                )
            content = _encoded(name, text)
            self._write(path, content)
            self.draft(name).unlink(missing_ok=True)
        return Text(name, text, fingerprint(content), None)

    def keep_draft(self, name: str, text: str) -> Path:
        """The hidden file beside a description that keeps what was typed until it is saved."""
        _check_ending(name, DESCRIPTIONS)
        draft = self.draft(name)
        self._write(draft, _encoded(name, text))
        return draft

    def drop_draft(self, name: str) -> None:
        """Forgets what was typed and not saved."""
        self.draft(name).unlink(missing_ok=True)

    def drop_idle_draft(self, name: str, text: str) -> None:
        """Takes the draft away again that says what the file says."""
        if self._current(self.path(name)) == fingerprint(_encoded(name, text)):
            self.drop_draft(name)

    def draft(self, name: str) -> Path:
        """The hidden file beside a description that keeps what was typed."""
        path = self.path(name)
        if not self.is_writable:
            path = self.spare / path.name
        return path.with_name(f".{path.stem}.draft{path.suffix}")

    def _current(self, path: Path) -> str | None:
        try:
            return fingerprint(path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise FolderError(f"{path.name}: {failure.strerror}") from None

    def _write(self, path: Path, content: bytes) -> None:
        self._make_folder_of(path)
        try:
            write_atomically(path, lambda file: file.write(content))
        except OSError as failure:
            raise _cannot_be_saved(path, failure) from None

    def _make_folder_of(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as failure:
            raise _cannot_be_saved(path, failure) from None

    # --- other files -----------------------------------------------------------------------------------------------

    def add(self, name: str, content: bytes) -> str:
        """The name under which a file that was dropped is kept, in its folder: never over another one."""
        _check_ending(name, UPLOADS)
        # What would leave the folder, or hide in it, comes in by its last name.
        leaves = any(part.startswith((".", "~", "/")) for part in Path(name).parts)
        kept = Path(name).name if leaves else name
        path = self.path(kept)
        self._make_folder_of(path)
        with locked(path.parent):
            free = _free_name(path)
            self._write(free, content)
        return Path(kept).with_name(free.name).as_posix()

    def free_beside(self, path: Path, ending: str) -> tuple[Path, str]:
        """Path and name of a file beside another that is not there yet."""
        free = _free_name(path.with_suffix(ending))
        return free, free.relative_to(self.root).as_posix()

    def new_result(self, title: str, ending: str = ".nc") -> tuple[str, Path]:
        """Name and path of the next result."""
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in title)
        name = f"{RUNS}/{stem.strip('-')[:60] or 'run'}{ending}"
        path = self.path(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with locked(path.parent):
                free = _free_name(path)
                # The place is taken at once: two runs of one name start in the same second.
                free.touch()
        except OSError as failure:
            raise FolderError(f"{name}: {failure.strerror}", 409) from None
        return f"{RUNS}/{free.name}", free


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """While it lasts, no other thread or studio looks at the files of a folder in order to write them.

    Other programs know nothing of it. Where the system has no such locks, the threads of this process alone take turns.
    """
    with _turn:
        handle = _lock(folder)
        try:
            yield
        finally:
            if handle is not None:
                _unlock(handle)


def _lock(folder: Path) -> int | None:
    """Handle of a folder that is locked between processes, as soon as no other one has it; None: it cannot be."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        # Some network file systems know no locks.
        os.close(handle)
        return None
    return handle


def _unlock(handle: int) -> None:
    import fcntl

    # Said, and not left to closing: a process that was started meanwhile may have a copy of the handle.
    fcntl.flock(handle, fcntl.LOCK_UN)
    os.close(handle)


def _cannot_be_saved(path: Path, failure: OSError) -> FolderError:
    reason = failure.strerror or "no reason given"
    return FolderError(f"{path.name}: cannot be saved: {reason}", 409)


def fingerprint(content: bytes) -> str:
    """By which a file is known again."""
    return hashlib.sha256(content).hexdigest()


def _walk(root: Path) -> list[Path]:
    """Descriptions and results below a folder; hidden ones and linked folders are passed over."""
    found: list[Path] = []
    for folder, folders, names in os.walk(root, followlinks=False):
        here = Path(folder)
        deep = len(here.relative_to(root).parts)
        # What a study keeps is no result by itself.
        folders[:] = [
            name
            for name in folders
            if name[0] not in ".~_" and not name.endswith(STUDIES)
        ]
        if deep >= DEEPEST or len(found) > 4 * MOST_FILES:
            folders.clear()
        for name in names:
            ending = Path(name).suffix.lower()
            if name[0] != "." and ending in (*DESCRIPTIONS, *RESULTS):
                found.append(here / name)
    return found


def _bytes_of(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise FolderError(f"{path.name}: is larger than {most / 1e6:g} MB", 413)
        return path.read_bytes()
    except OSError as failure:
        raise FolderError(f"{path.name}: {failure.strerror}") from None


def _encoded(name: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as failure:
        # Half of a character, as JSON can write it.
        where = failure.start
        raise FolderError(f"{name}: character {where} is no Unicode") from None


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise FolderError(f"{name}: is not UTF-8 text (byte {failure.start})") from None


def _check_ending(name: str, endings: tuple[str, ...]) -> None:
    if Path(name).suffix.lower() not in endings:
        raise FolderError(f"{name}: the name must end in {', '.join(endings)}")


def _free_name(path: Path) -> Path:
    """The path itself, or with the first number that is free."""
    if not path.exists():
        return path
    number = 2
    while True:
        candidate = path.with_stem(f"{path.stem}-{number}")
        if not candidate.exists():
            return candidate
        number += 1
