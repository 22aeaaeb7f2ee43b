"""A process that calls functions of the package, and that can be ended at any time without harm to the server."""

import pickle
import signal
import sys
import threading
from collections.abc import Callable
from pkgutil import resolve_name
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

VERB = "studio.verb_calls:verb"
# -P: the folder in which the studio is opened holds no modules.
PROGRAM = (sys.executable, "-P", "-m", "lissom.studio.worker")


class CallFailed(Exception):
    """A call without a result, and the reason."""

    def __init__(self, reason: Explanation):
        super().__init__(reason["message"])
        self.reason = reason


class Worker:
    """One process, started with its first call, and again after it was ended. Calls come one at a time."""

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
        function: str,
        data: dict[str, Any],
        limit_s: float,
        watch: Callable[[dict[str, Any]], None] | None = None,
    ) -> Any:
        """The plain result of a function of the package.

        Args:
            function: module and name below `lissom`, such as `runs.validate:validate`.
            data: its arguments.
            limit_s: seconds that it may take.
            watch: called with what the function reports to its argument `watch`.

        Raises:
            CallFailed: the function failed, took too long, was stopped, or its process died.
        """
        request = pickle.dumps((function, data, watch is not None))
        with self._turn:
            self._stopping.clear()
            result, failure = self._answer(request, limit_s, watch)
        if failure is not None:
            raise CallFailed(failure)
        return result

    def stop(self) -> None:
        """Requests that the running call stops: what is done is saved where the function can."""
        self._stopping.set()

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self._stopping.set()
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _answer(
        self, request: bytes, limit_s: float, watch: Callable | None
    ) -> tuple[Any, Explanation | None]:
        """What a function returned, and how it failed if it did."""

        def report(content: bytes) -> None:
            if watch is not None:
                watch(pickle.loads(content))

        process = self._process
        if process is None or not process.is_alive:
            process = self._process = WorkerProcess(PROGRAM, with_this_package())
        try:
            answer = process.call(request, report, limit_s, self._stopping)
        except WorkerDied:
            self.close()
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

    def watch(progress: dict[str, Any]) -> None:
        report(pickle.dumps(progress))

    function, data, is_watched = pickle.loads(request)
    if is_watched:
        data["watch"] = watch
    try:
        answer = plain(resolve_name(f"lissom.{function}")(**data)), None
    except KeyboardInterrupt:
        answer = None, explanation("interrupted", "stopped before it began")
    except Exception as failure:
        answer = None, explained(failure)
    return pickle.dumps(answer)


if __name__ == "__main__":
    main()
