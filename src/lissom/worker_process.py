"""Worker processes: they answer calls, report progress, stop on request or at a time limit, and end with their owner.

`WorkerProcess` is the caller's side, `serve` the worker's. The contract between them:

- A worker is a program of its own: nothing of the caller's script is run again, and its prints do not
  mix with the answers.
- A call is one request and one answer, with any number of progress reports.
- A call is stopped at its next report, and has some time to save what is done.
- A call that exceeds its time limit is ended with its process.
- A worker ends when the pipe to it closes: its owner has ended.
- If a process dies, only the call that waits for it fails, with its signal or exit code.

Requests, reports and answers are bytes, in a format that both sides choose. This file imports nothing of the package,
and runs alone for processes that must not either: `python -P worker_process.py FILE` serves the `answer` of a file.
"""

import os
import queue
import runpy
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

REQUEST, STOP, REPORT, ANSWER, GONE = b"a", b"s", b"r", b"w", b"g"
HEAD = struct.Struct("<cQ")  # kind of a message, and its length
LOOK_S = 0.05  # between two looks at the clock
GRACE_S = 20.0  # to save what is done after a stop request
START_GRACE_S = 2.0  # the same while there is nothing to save yet
END_S = 5.0  # that the system may take to end a process
ORPHANED = 3  # exit code of a worker whose owner is gone

Report = Callable[[bytes], None]


class WorkerDied(RuntimeError):
    """A process that ended in the middle of a call; `code` is its exit code, or a signal with a minus."""

    def __init__(self, code: int):
        super().__init__(f"signal {-code}" if code < 0 else f"exit code {code}")
        self.code = code


class TimeIsUp(RuntimeError):
    """A call that exceeded its time limit."""


class CallStopped(RuntimeError):
    """A call did not stop when requested, so that its process was ended."""


class WorkerProcess:
    """A process that answers one call at a time.

    Args:
        program: command line of a program that calls `serve`.
        environment: variables that it gets beside those of this process.
        quiet: what it prints is discarded.
    """

    def __init__(
        self,
        program: Sequence[str],
        environment: Mapping[str, str] | None = None,
        quiet: bool = False,
    ):
        self._process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env={**os.environ, **(environment or {})},
            # Ctrl-C is for the caller, not for its workers.
            start_new_session=True,
        )
        self._news: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def process_id(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """False once it has ended."""
        return self._process.poll() is None

    def call(
        self,
        request: bytes,
        report: Report = lambda content: None,
        limit_s: float | None = None,
        stopping: threading.Event | None = None,
    ) -> bytes:
        """The answer to a request.

        Args:
            request: bytes that `serve` passes to its `answer`.
            report: called with everything that comes before the answer.
            limit_s: seconds that it may take.
            stopping: once set, the call is stopped.

        Raises:
            WorkerDied: the process ended.
            TimeIsUp: it exceeded its time limit; the process is ended.
            CallStopped: it did not stop in time; the process is ended.
        """
        try:
            self._send(REQUEST, request)
            return self._answer(report, limit_s, stopping)
        except WorkerDied:
            raise
        except BaseException:
            # What would still come belongs to no other call.
            self.end()
            raise

    def end(self) -> None:
        """End the process at once, in the middle of a call too."""
        if self.is_alive:
            self._process.kill()
        self._process.wait(END_S)

    def _send(self, kind: bytes, content: bytes = b"") -> None:
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, kind, content)
        except (OSError, ValueError):
            # A pipe without a reader, or closed when its reader was gone.
            raise WorkerDied(self._code()) from None

    def _listen(self) -> None:
        """Reads until the process is gone; a call waits for a queue, and can look at the clock meanwhile."""
        process = self._process
        assert process.stdout is not None and process.stdin is not None
        for news in messages(process.stdout):
            self._news.put(news)
        self._news.put((GONE, b""))
        process.stdout.close()
        with suppress(OSError):
            process.stdin.close()

    def _code(self) -> int:
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(END_S)
        # It closed its pipes and has not ended.
        self._process.kill()
        return self._process.wait(END_S)

    def _answer(
        self,
        report: Report,
        limit_s: float | None,
        stopping: threading.Event | None,
    ) -> bytes:
        deadline = None if limit_s is None else monotonic() + limit_s
        looks = None if deadline is None and stopping is None else LOOK_S
        stop_sent: float | None = None
        has_begun = False
        while True:
            try:
                kind, content = self._news.get(timeout=looks)
            except queue.Empty:
                kind, content = b"", b""
            if kind == ANSWER:
                return content
            if kind == GONE:
                raise WorkerDied(self._code())
            if kind == REPORT:
                has_begun = True
                report(content)
            now = monotonic()
            if deadline is not None and now > deadline:
                raise TimeIsUp(f"took longer than {limit_s:g} s and was ended")
            if stopping is None or not stopping.is_set():
                continue
            if stop_sent is None:
                stop_sent = now
                self._send(STOP)
            if now > stop_sent + (GRACE_S if has_begun else START_GRACE_S):
                raise CallStopped("stopped")


def with_this_package(threads: int | None = None) -> dict[str, str]:
    """Variables by which a worker finds this very package, installed or not, and uses so many threads."""
    here = str(Path(__file__).parents[1])
    given = os.environ.get("PYTHONPATH")
    found = {"PYTHONPATH": os.pathsep.join([here, given] if given else [here])}
    if threads is not None:
        # Several workers whose libraries use all cores would slow each other down.
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        found |= dict.fromkeys(names, str(threads))
    return found


# --- in the process ------------------------------------------------------------------------------------------------


def serve(answer: Callable[[bytes, Report], bytes]) -> None:
    """Answer requests until the owner closes the pipe.

    Args:
        answer: takes a request and a function for reports, which raises KeyboardInterrupt where the call is to stop.
    """
    answers = _own_output()
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    stopping = threading.Event()
    listener = threading.Thread(
        target=_read_requests, args=(requests, stopping), daemon=True
    )
    listener.start()

    def report(content: bytes) -> None:
        send(answers, REPORT, content)
        if stopping.is_set():
            stopping.clear()
            raise KeyboardInterrupt

    try:
        while True:
            send(answers, ANSWER, answer(requests.get(), report))
    except BaseException:
        traceback.print_exc()
        # The listener reads on, and an interpreter that ends waits for no such thread without an error of its own.
        os._exit(1)


def _own_output() -> BinaryIO:
    """Standard output for answers alone: everything else that is printed goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _read_requests(
    requests: "queue.SimpleQueue[bytes]", stopping: threading.Event
) -> None:
    for kind, content in messages(sys.stdin.buffer):
        if kind == STOP:
            stopping.set()
            continue
        # A stop that came too late belongs to no call.
        stopping.clear()
        requests.put(content)
    # The owner is gone: no one waits for an answer.
    os._exit(ORPHANED)


# --- messages ------------------------------------------------------------------------------------------------------


def send(pipe: Any, kind: bytes, content: bytes) -> None:
    """Writes one message."""
    pipe.write(HEAD.pack(kind, len(content)) + content)
    pipe.flush()


def messages(pipe: Any) -> Iterator[tuple[bytes, bytes]]:
    """Reads messages until the pipe closes; a message that is cut off is dropped."""
    while True:
        try:
            head = pipe.read(HEAD.size)
            if len(head) < HEAD.size:
                return
            kind, size = HEAD.unpack(head)
            content = pipe.read(size)
        except (OSError, ValueError):
            return
        if len(content) < size:
            return
        yield kind, content


if __name__ == "__main__":
    serve(runpy.run_path(sys.argv[1])["answer"])
