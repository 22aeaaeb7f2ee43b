"""Output without a reader: closed, broken and full streams end a command with a code, not with a traceback."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


def open_closed_streams() -> None:
    """Opens the null device as stdin, stdout or stderr of a process that was started without them.

    Else the first file that is opened would get the number of stdout, and printed text would go to it.
    """
    number = os.open(os.devnull, os.O_RDWR)
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)


def write_any_character() -> None:
    """Writes characters that a terminal's encoding does not have as their codes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        # Streams of test runners and notebooks are not always those of Python.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


@contextmanager
def without_warnings(debug: bool) -> Iterator[None]:
    """Context in which Python's own warnings, of overflows for example, are only shown with `debug`.

    Warnings about the validity of a result are not among them: commands print these.
    """
    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
        yield


def flush() -> None:
    """Writes out both streams, while a failure can still be reported."""
    sys.stdout.flush()
    sys.stderr.flush()


def drop_output() -> None:
    """Drops the output that is not written yet: its reader has gone, or the disk is full."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            try:
                os.dup2(nowhere, stream.fileno())
            except (OSError, ValueError):
                # A stream without a file, as in a test.
                continue
    os.close(nowhere)
