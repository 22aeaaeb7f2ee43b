"""A process that asks services, and that can be ended at any time without harm to the server."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import monotonic, sleep
from typing import Any

from .explanation import Explanation, explained, explanation

# What goes through the pipe.
ASK, STOP = "ask", "stop"
PROGRESS, RESULT, FAILURE = "progress", "result", "failure"

LOOK_S = 0.05  # between two looks at the pipe
GRACE_S = 20.0  # to save what is done after being asked to stop
PARENT_S = 1.0  # between two looks for the server
START_GRACE_S = 2.0  # the same while there is nothing to save yet


class CallFailed(Exception):
    """A call without a result, and why."""

    def __init__(self, reason: Explanation):
        super().__init__(reason["message"])
        self.reason = reason


class Worker:
    """One process, started when it is first asked, and again after it was ended. Calls come one at a time."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        self._process: Any = None
        self._pipe: Any = None

    @property
    def process_id(self) -> int | None:
        """Number of the process, None while there is none."""
        return None if self._process is None else self._process.pid

    def call(
        self,
        name: str,
        data: dict[str, Any],
        limit_s: float,
        watch: Callable[[dict[str, Any]], None] = lambda progress: None,
    ) -> Any:
        """The plain result of a call.

        Raises:
            CallFailed: the service failed, took too long, was stopped, or its process died.
        """
        with self._turn:
            self._stopping.clear()
            self._begin()
            try:
                self._pipe.send((ASK, name, data))
                return self._answer(monotonic() + limit_s, limit_s, watch)
            except (EOFError, OSError):
                self._end()
                message = "the process that computed this ended unexpectedly"
                raise CallFailed(explanation("worker died", message)) from None

    def stop(self) -> None:
        """Asks the call under way to stop: what is done is saved where the service can."""
        self._stopping.set()

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._stopping.set()
        self._end()

    def _begin(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        ours, theirs = self._context.Pipe()
        self._process = self._context.Process(
            target=answer_calls, args=(theirs,), daemon=True
        )
        self._process.start()
        theirs.close()
        self._pipe = ours

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.is_alive():
            process.kill()
            process.join(5.0)

    def _answer(self, deadline: float, limit_s: float, watch: Callable) -> Any:
        asked_to_stop: float | None = None
        has_begun = False
        while True:
            if self._pipe.poll(LOOK_S):
                kind, content = self._pipe.recv()
                if kind == RESULT:
                    return content
                if kind == FAILURE:
                    raise CallFailed(content)
                has_begun = True
                watch(content)
            now = monotonic()
            if now > deadline:
                self._end()
                message = f"took longer than {limit_s:g} s and was ended"
                raise CallFailed(explanation("time is up", message))
            if not self._stopping.is_set():
                continue
            if asked_to_stop is None:
                asked_to_stop = now
                self._pipe.send((STOP, None, None))
            grace = GRACE_S if has_begun else START_GRACE_S
            if now > asked_to_stop + grace:
                self._end()
                raise CallFailed(explanation("interrupted", "stopped"))


# --- in the process ------------------------------------------------------------------------------------------------


def answer_calls(pipe: Connection) -> None:
    """Answers calls until the server is gone."""
    # Ctrl-C in the terminal is the server's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from ..compiled_code import keep_compiled_code

    keep_compiled_code()
    threading.Thread(target=_end_with_server, daemon=True).start()
    while True:
        try:
            kind, name, data = pipe.recv()
        except (EOFError, OSError):
            return
        # A stop that came too late belongs to no call.
        if kind == ASK:
            pipe.send(_answered(pipe, name, data))


def _end_with_server() -> None:
    """A server that was killed closes nothing: its workers see that they have another parent."""
    server = os.getppid()
    while os.getppid() == server:
        sleep(PARENT_S)
    os._exit(1)


def _answered(pipe: Connection, name: str, data: dict[str, Any]) -> tuple[str, Any]:
    from ..files.summary import plain
    from .calls import CALLS

    def watch(progress: dict[str, Any]) -> None:
        pipe.send((PROGRESS, progress))
        if pipe.poll():
            pipe.recv()
            raise KeyboardInterrupt

    try:
        return RESULT, plain(CALLS[name](data, watch))
    except KeyboardInterrupt:
        return FAILURE, explanation("interrupted", "stopped before it began")
    except Exception as failure:
        return FAILURE, explained(failure)
