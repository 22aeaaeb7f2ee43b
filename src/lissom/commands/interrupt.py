"""Ctrl-C where it does no harm: an exception in the middle of JAX's tracing or compiling can bring the process down.

The signals by which systems end processes, SIGTERM and SIGHUP, do what Ctrl-C does.
"""

import contextvars
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..progress import Watch

# Not every system knows all of them.
SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]
Handlers = dict[int, Any]
HEARING = 0.5  # [s] between two looks for signals
# Not `sys.exit`: that raises an exception, here in the middle of whatever JAX is doing.
leave_process = os._exit
_received: list[int] = []  # signals that asked the process to end


def exit_code() -> int:
    """Of a process that was asked to end, as shells have it: 128 and the number of the signal; 130 after Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


def _handled_by(handler: Callable[..., None]) -> Handlers:
    """What handled the signals before; those that the process ignores, as under nohup, it goes on ignoring."""
    before: Handlers = {}
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    return before


def _put_back(before: Handlers) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


@contextmanager
def leaving_at_once(say: Callable[[], int]) -> Iterator[None]:
    """While it lasts, a signal ends the process with the code that `say` gives: there is nothing to save yet."""

    def leave(number: int, *_) -> None:
        _received.append(number)
        # A progress bar hides the cursor: show it again.
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h\n")
        code = say()
        leave_process(code)

    # Signals belong to the main thread.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _received.clear()
    before = _handled_by(leave)
    try:
        yield
    finally:
        _put_back(before)


@contextmanager
def telling_first(tell: Callable[[], None]) -> Iterator[None]:
    """While it lasts, a signal lets `tell` say what there is already, and then does what it did before."""
    before: Handlers = {}

    def told(number: int, frame: Any) -> None:
        tell()
        # The process may be left without the end that empties the buffers.
        sys.stdout.flush()
        if not callable(before[number]):
            raise KeyboardInterrupt
        before[number](number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before.update(_handled_by(told))
    try:
        yield
    finally:
        _put_back(before)


def in_thread(job: Callable[[], None]) -> None:
    """Does a job in a thread of its own, so that signals are heard at once, however long the job hears none."""
    failures: list[BaseException] = []
    context = contextvars.copy_context()

    def guarded() -> None:
        try:
            context.run(job)
        except BaseException as failure:
            failures.append(failure)

    # A process that is asked to end does not wait for it.
    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    while thread.is_alive():
        # Where a signal goes to another thread, this one hears it in between.
        thread.join(HEARING)
    if failures:
        raise failures[0]


@contextmanager
def stopping_between_steps(watch: Watch) -> Iterator[Watch]:
    """`watch` that lets a signal stop a run, once under way, between two bursts; a second one leaves at once."""
    before: Handlers = {}
    asked = False

    def ask(number, frame) -> None:
        nonlocal asked
        _received.append(number)
        if asked and callable(before.get(number)):
            before[number](number, frame)
        asked = True

    def guarded(t: float) -> None:
        # Until the first call everything is still being compiled, and a signal leaves at once.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and not before:
            before.update(_handled_by(ask))
        watch(t)
        if asked:
            raise KeyboardInterrupt

    try:
        yield guarded
    finally:
        _put_back(before)
