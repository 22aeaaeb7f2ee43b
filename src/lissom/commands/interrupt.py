"""Ctrl-C where it does no harm: an exception in the middle of JAX's tracing or compiling can bring the process down.

The signals by which systems end processes, SIGTERM and SIGHUP, do what Ctrl-C does.
"""

import contextvars
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from ..progress import Watch

# Not every system knows all of them.
SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]
SIGNAL_CHECK = 0.5  # [s] between two checks for signals
# Not `sys.exit`: that raises an exception, here in the middle of whatever JAX is doing.
leave_process = os._exit
_received: list[int] = []  # signals that requested the end of the process


def exit_code() -> int:
    """Of a process that a signal ends, as shells have it: 128 and the number of the signal; 130 after Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


@contextmanager
def _handling(handle: Callable[[int, Callable[[], None]], None]) -> Iterator[None]:
    """Context in which signals call `handle(number, earlier)`, where `earlier()` does what they did before.

    Signals that the process ignores, as under nohup, stay ignored. Only the main thread handles signals: in another
    one nothing changes.
    """
    before: dict[int, Any] = {}

    def handler(number: int, frame: Any) -> None:
        def earlier() -> None:
            if not callable(before[number]):
                raise KeyboardInterrupt
            before[number](number, frame)

        handle(number, earlier)

    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.getsignal(number)
                signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def leaving_at_once(report: Callable[[], int]) -> AbstractContextManager[None]:
    """Context in which a signal ends the process with the code that `report` returns: there is nothing to save yet."""

    def leave(number: int, earlier: Callable[[], None]) -> None:
        _received.append(number)
        # A progress bar hides the cursor: show it again.
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h\n")
        leave_process(report())

    _received.clear()
    return _handling(leave)


def reporting_first(report: Callable[[], None]) -> AbstractContextManager[None]:
    """Context in which a signal first reports the partial result, and then does what it did before."""

    def handle(number: int, earlier: Callable[[], None]) -> None:
        report()
        # Leaving the process at once does not flush its buffers.
        sys.stdout.flush()
        earlier()

    return _handling(handle)


def in_thread(job: Callable[[], None]) -> None:
    """Does a job in a thread of its own: signals are handled at once, also while compiled code runs."""
    failures: list[BaseException] = []
    context = contextvars.copy_context()

    def guarded() -> None:
        try:
            context.run(job)
        except BaseException as failure:
            failures.append(failure)

    # A daemon: a process that a signal ends does not wait for it.
    thread = threading.Thread(target=guarded, daemon=True)
    thread.start()
    while thread.is_alive():
        # A signal may have been delivered to the other thread: Python handles it here, between two checks.
        thread.join(SIGNAL_CHECK)
    if failures:
        raise failures[0]


@contextmanager
def stopping_between_steps(watch: Watch) -> Iterator[Watch]:
    """`watch` that lets a signal stop a run, once under way, between two bursts; a second one leaves at once."""
    is_running = stop_requested = False

    def request_stop(number: int, earlier: Callable[[], None]) -> None:
        nonlocal stop_requested
        _received.append(number)
        if stop_requested:
            earlier()
        stop_requested = True

    with ExitStack() as handlers:

        def guarded(t: float) -> None:
            nonlocal is_running
            # Until the first call everything is still being compiled, and a signal leaves at once.
            if not is_running:
                is_running = True
                handlers.enter_context(_handling(request_stop))
            watch(t)
            if stop_requested:
                raise KeyboardInterrupt

        yield guarded
