"""Files of YAML 1.2 as plain data with the line of every entry; what was read once is cached for the next process."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

from jaxnative import code_cache
from jaxnative.clients import client_folders
from jaxnative.source_digest import source_digest

from .document_json import document_as_json, document_of_json
from .errors import refused_file

# A robot takes a few kB, an hour of torque table at 100 Hz under 4 MB.
MAX_BYTES = 4_000_000
TOO_LARGE = f"larger than {MAX_BYTES // 1_000_000} MB"

# The first and the last line of files that are written here: a file without its end was cut off.
WHOLE = "# whole: ends with ..."
END = "..."

# Characters: longer text consists of numbers, which are read at once.
MOST_CACHED = 300_000


class Document(NamedTuple):
    """A file as plain data; `lines` gives the line (from 1) of the entry at a path of keys and list positions."""

    file: str | None
    data: Any
    lines: dict[tuple, int]

    def line(self, path: tuple) -> int | None:
        """The line of the entry at `path`, or of the nearest one that holds it."""
        for end in range(len(path), -1, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None


def read_document(path: Path) -> Document:
    """The YAML file at `path`.

    Raises:
        DescriptionError: the file cannot be read, is too large, or is not YAML.
    """
    file = str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise refused_file(file, TOO_LARGE)
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as reason:
        message = f"cannot be read: {reason.strerror}"
        raise refused_file(file, message) from None
    except UnicodeDecodeError as reason:
        message = f"is not UTF-8 text (byte {reason.start})"
        raise refused_file(file, message) from None
    if len(text) <= MOST_CACHED and code_cache.folder() is not None:
        return _cached_document(text, file)
    return parse_document(text, file)


def _cached_document(text: str, file: str) -> Document:
    """`parse_document` with a cache on disk; parsing takes a hundred times as long as reading the cache."""
    words = f"{text}\n{source_digest(client_folders())}"
    key = "document-" + hashlib.sha256(words.encode("utf-8")).hexdigest()
    cached = code_cache.find(key, counts=False)
    try:
        if cached is not None:
            return Document(file, *document_of_json(cached))
    except ValueError:
        # Written by another program: the file is parsed again.
        pass
    document = parse_document(text, file)
    try:
        code_cache.keep(key, document_as_json(document.data, document.lines))
    except ValueError:
        # An integer that Python does not write out: the file is parsed each time.
        pass
    return document


def parse_document(text: str, file: str | None = None) -> Document:
    """YAML `text` as a document.

    Raises:
        DescriptionError: broken, recursive, huge, or more than one document.
    """
    if len(text) > MAX_BYTES:
        raise refused_file(file, TOO_LARGE)
    _check_end(text, file)
    # Slow to import, and not needed where every document was read before.
    from .yaml_text import parsed

    data, lines = parsed(text, file)
    return Document(file, data, lines)


def _check_end(text: str, file: str | None) -> None:
    """Refuses a file that promises an end mark and has none: it was cut off, perhaps between two links."""
    if not text.startswith(WHOLE):
        return
    last = text.rstrip().rpartition("\n")[2]
    if last != END:
        message = f"is truncated: it should end with a line {END}; write it again"
        raise refused_file(file, message, text.count("\n") + 1)
