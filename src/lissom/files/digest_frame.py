"""Own files whose contents follow a mark and their digest: chunks of studies, checkpoints."""

import hashlib

DIGEST = 32  # bytes


class FrameError(ValueError):
    """A file that is not a whole one of its kind; the message goes on after its name."""


def framed(mark: bytes, body: bytes) -> bytes:
    """The contents of a file after the mark of its kind and their digest."""
    return mark + hashlib.sha256(body).digest() + body


def unframed(mark: bytes, data: bytes, kind: str) -> bytes:
    """The contents of a file of a kind, such as `checkpoint`.

    Raises:
        FrameError: it is another kind of file, truncated, or damaged.
    """
    if not data.startswith(mark):
        raise FrameError(f"is not a {kind} of this version, or is damaged")
    start = len(mark) + DIGEST
    body = data[start:]
    if hashlib.sha256(body).digest() != data[len(mark) : start]:
        raise FrameError("is damaged: its checksum does not match its contents")
    return body
