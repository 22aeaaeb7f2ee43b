"""Ctrl-C where it does no harm: an exception in the middle of JAX's tracing or compiling can bring the process down."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .progress import Watch


@contextmanager
def leaving_at_once(say: Callable[[], int]) -> Iterator[None]:
    """While it lasts, Ctrl-C ends the process with the code that `say` gives: there is nothing to save yet."""

    def leave(*_) -> None:
        # A progress bar hides the cursor: show it again.
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h\n")
        code = say()
        # Not `sys.exit`: that raises an exception, here in the middle of whatever JAX is doing.
        os._exit(code)

    # Signals belong to the main thread.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stopping_between_steps(watch: Watch) -> Iterator[Watch]:
    """`watch` that lets Ctrl-C stop a run, once under way, between two bursts of steps; a second one leaves at once."""
    before = signal.getsignal(signal.SIGINT)
    asked = False

    def ask(number, frame) -> None:
        nonlocal asked
        if asked and callable(before):
            before(number, frame)
        asked = True

    def guarded(t: float) -> None:
        # Until the first call everything is still being compiled, and Ctrl-C leaves at once.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, ask)
        watch(t)
        if asked:
            raise KeyboardInterrupt

    try:
        yield guarded
    finally:
        if signal.getsignal(signal.SIGINT) is ask:
            signal.signal(signal.SIGINT, before)
