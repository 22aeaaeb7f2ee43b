"""Files that a file names: they lie in its own folder, in the library, or in a folder that the user has opened.

A robot from elsewhere could otherwise make a command read any file of the machine. What users write on a command line
or hand over in Python is their own, and may lie anywhere.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .description_files import (
    library_folder,
    library_names,
    library_scenarios,
    problem_of,
)
from .document import Document, read_document
from .errors import DescriptionError, nearest
from .part import Finding

PACKAGE = "package://"  # begins a path in a folder that the user has opened
# Dictionaries of keys with other values: a robot is named there as at the top of a scenario.
CHANGES = ("changes", "model")

Packages = Mapping[str, str | Path]

_known: ContextVar[Packages | None] = ContextVar("packages", default=None)


class OutsideError(ValueError):
    """A file names a file that it may not name."""


@contextmanager
def known_packages(packages: Packages | None) -> Iterator[None]:
    """While it lasts, files may name files in these folders too: `package://NAME/path` lies in the folder of NAME."""
    token = _known.set({**(_known.get() or {}), **(packages or {})})
    try:
        yield
    finally:
        _known.reset(token)


def read_with_named_files(path: Path) -> Document:
    """The content of a file, with the whole path of every file that it names.

    Raises:
        DescriptionError: the file cannot be read, or names files outside of its folder.
    """
    return with_named_files(read_document(path), path.parent)


def with_named_files(document: Document, folder: Path) -> Document:
    """A document of a folder, with the whole path of every file that it names.

    Raises:
        DescriptionError: every file that lies outside of the folder, with its line.
    """
    found: list[Finding] = []
    data = _placed(document.data, folder, (), found)
    if found:
        raise DescriptionError([problem_of(one, document) for one in found])
    return document._replace(data=data)


def _placed(entry: Any, folder: Path, loc: tuple, found: list[Finding]) -> Any:
    """An entry in which the names of files are whole paths; those that are refused are added to `found`."""
    if isinstance(entry, list):
        return [_placed(item, folder, (*loc, k), found) for k, item in enumerate(entry)]
    if not isinstance(entry, Mapping):
        return entry
    placed = {}
    for key, value in entry.items():
        here = (*loc, key)
        if not isinstance(value, str) or not _names_file(here, value):
            placed[key] = _placed(value, folder, here, found)
            continue
        try:
            placed[key] = _path_of(here, value, folder)
        except OutsideError as refusal:
            found.append(Finding(here, value, str(refusal)))
    return placed


def _names_file(loc: tuple, text: str) -> bool:
    """True if an entry is the name of a file, and not one of the library."""
    *before, last = loc
    word = str(last).rpartition(".")[2]
    if word == "file":
        return True
    if last == "scenario":
        return not before and text not in (*library_scenarios(), *library_names())
    is_robot = before in ([], ["scenario"]) or before[-1] in CHANGES
    return last == "robot" and is_robot and text not in library_names()


def _path_of(loc: tuple, name: str, folder: Path) -> str:
    path = named_file(name, folder)
    library = library_folder().resolve()
    # Links of the library are known by their names, wherever it is installed.
    if not ".".join(map(str, loc)).endswith(("fe.file", "visual.file")):
        return str(path)
    if path.is_relative_to(library):
        return str(path.relative_to(library))
    in_library = not path.is_file() and (library / name).is_file()
    return name if in_library else str(path)


def named_file(name: str, folder: Path) -> Path:
    """Where a file lies that a file of `folder` names.

    Raises:
        OutsideError: outside of the folder, of the library and of the packages that are known; or no path at all.
    """
    packages = _known.get() or {}
    if name.startswith(PACKAGE):
        return _file_of_package(name, packages)
    for allowed in (folder, library_folder(), *packages.values()):
        if _is_inside(Path(allowed), name, folder):
            return _resolved(name, folder)
    where = _resolved(name, folder)
    raise OutsideError(
        f"lies outside of the folder of this file ({folder.resolve()}): copy it there, or open its folder with "
        f"--package NAME={where.parent} (in Python: packages={{'NAME': '{where.parent}'}})"
    )


def _file_of_package(name: str, packages: Packages) -> Path:
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    if package not in packages:
        raise OutsideError(
            f"is in a package whose folder is not known: give it with --package {package or 'NAME'}=DIR "
            f"(in Python: packages={{'{package or 'NAME'}': 'DIR'}}){nearest(package, packages)}"
        )
    root = Path(packages[package])
    if not _is_inside(root, rest):
        raise OutsideError(f"leaves the folder of its package ({root.resolve()})")
    return _resolved(rest, root)


def _is_inside(root: Path, name: str, folder: Path | None = None) -> bool:
    """True if a path, links followed, ends below a folder; it begins at `folder`, by default at the same one."""
    return _resolved(name, folder or root).is_relative_to(root.resolve())


def _resolved(name: str, folder: Path) -> Path:
    """A path with its links followed."""
    try:
        path = (folder / Path(name).expanduser()).resolve()
        # Names that are too long show only when somebody looks for the file.
        path.is_file()
    except OSError as reason:
        raise OutsideError(f"is not a path: {reason.strerror}") from None
    except (ValueError, RuntimeError) as reason:
        # A zero byte is a ValueError, a circle of links and a home that nobody has are a RuntimeError.
        raise OutsideError(f"is not a path: {reason}") from None
    return path


def with_relative_files(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Plain data of a robot or a scenario whose links in files below a folder are named from there on."""
    if isinstance(data.get("robot"), dict):
        return {**data, "robot": with_relative_files(data["robot"], folder)}
    return {**data, "links": [_with_relative_file(x, folder) for x in data["links"]]}


def _with_relative_file(link: Any, folder: Path) -> Any:
    for key in ("fe", "visual"):
        part = link.get(key)
        if isinstance(part, dict):
            link = {**link, key: {**part, "file": relative_to(folder, part["file"])}}
    return link


def relative_to(folder: Path, name: str) -> str:
    """A whole path as a file of `folder` writes it: from there on, if it lies below."""
    path, root = Path(name), folder.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else name
