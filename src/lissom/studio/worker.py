"""A process that performs verbs, and that can be ended at any time without harm to the server."""

import pickle
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from ..worker_process import (
    CallStopped,
    Report,
    TimeIsUp,
    WorkerDied,
    WorkerProcess,
    serve,
    with_this_package,
)
from .explanation import Explanation, explained, explanation

RESULT, FAILURE = "result", "failure"
# -P: the folder in which the studio is opened holds no modules.
PROGRAM = (sys.executable, "-P", "-m", "lissom.studio.worker")


class CallFailed(Exception):
    """A call without a result, and why."""

    def __init__(self, reason: Explanation):
        super().__init__(reason["message"])
        self.reason = reason


class Worker:
    """One process, started when it is first asked, and again after it was ended. Calls come one at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._stopping = threading.Event()
        self._process: WorkerProcess | None = None

    @property
    def process_id(self) -> int | None:
        """Number of the process, None while there is none."""
        return None if self._process is None else self._process.process_id

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
            kind, content = self._answer(pickle.dumps((name, data)), limit_s, watch)
        if kind == FAILURE:
            raise CallFailed(content)
        return content

    def stop(self) -> None:
        """Asks the call under way to stop: what is done is saved where the service can."""
        self._stopping.set()

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._stopping.set()
        self._end()

    def _begin(self) -> WorkerProcess:
        if self._process is None or not self._process.is_alive:
            self._process = WorkerProcess(PROGRAM, with_this_package())
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _answer(self, request: bytes, limit_s: float, watch: Callable) -> Any:
        def report(content: bytes) -> None:
            watch(pickle.loads(content))

        process = self._begin()
        try:
            answer = process.call(request, report, limit_s, self._stopping)
        except WorkerDied:
            self._end()
            message = "the process that computed this ended unexpectedly"
            raise CallFailed(explanation("worker died", message)) from None
        except TimeIsUp as failure:
            raise CallFailed(explanation("time is up", str(failure))) from None
        except CallStopped as failure:
            raise CallFailed(explanation("interrupted", str(failure))) from None
        return pickle.loads(answer)


# --- in the process ------------------------------------------------------------------------------------------------


def main() -> None:
    """Answers calls until the server is gone."""
    # Ctrl-C in the terminal is the server's to handle.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from ..compiled_code import keep_compiled_code

    keep_compiled_code()
    serve(_answered)


def _answered(request: bytes, report: Report) -> bytes:
    from ..files.summary import plain
    from .calls import CALLS

    def watch(progress: dict[str, Any]) -> None:
        report(pickle.dumps(progress))

    name, data = pickle.loads(request)
    try:
        answer = RESULT, plain(CALLS[name](data, watch))
    except KeyboardInterrupt:
        answer = FAILURE, explanation("interrupted", "stopped before it began")
    except Exception as failure:
        answer = FAILURE, explained(failure)
    return pickle.dumps(answer)


if __name__ == "__main__":
    main()
