"""Output that nobody takes: closed, broken and full streams end a command with a code, not with a traceback."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


def open_closed_streams() -> None:
    """Gives a process that was started without stdin, stdout or stderr the empty device in their place.

    Else the first file that is opened would take the number of stdout, and what is printed would end in it.
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
    """Lets characters that a terminal's encoding does not have be written out as their codes rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        # Streams of test runners and notebooks are not always those of Python.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


@contextmanager
def without_warnings(debug: bool) -> Iterator[None]:
    """While it lasts, Python's own warnings, of overflows for example, are not shown; `debug` shows them.

    Warnings about the validity of a result are printed in words.
    """
    with warnings.catch_warnings():
        if not debug:
            warnings.simplefilter("ignore")
        yield


def flush() -> None:
    """Hands everything over now, where a failure can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()


def drop_output() -> None:
    """Sends what is still to be written nowhere: its reader has gone, or the disk is full."""
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
