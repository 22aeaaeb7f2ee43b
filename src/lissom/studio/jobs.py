"""Runs and long analyses that wait, go on and end, each in a process that can be ended."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import time
from typing import Any

from .worker import CallFailed, Worker

QUEUED, RUNNING = "queued", "running"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
OPEN = (QUEUED, RUNNING)
SIMULATE = "simulate"


@dataclass(frozen=True)
class Job:
    """A run and how far it is."""

    number: int
    call: str  # the verb
    title: str
    source: str  # library name or file, as the browser knows it
    changes: dict[str, Any]
    file: str  # of the result, as the browser knows it; empty where there is none
    state: str = QUEUED
    t: float = 0.0  # simulated [s], or done of an analysis
    t_end: float | None = None
    unit: str = "s"  # of both
    added: float = 0.0  # seconds since 1970
    started: float | None = None
    moving: float | None = None  # when the first steps were done: compiling is over
    ended: float | None = None
    stopping: bool = False
    pictures: int = 0  # of the robot under way, so far
    error: dict[str, Any] | None = None
    result: dict[str, Any] | None = (
        None  # of a simulation: what is short enough to be told to every page
    )

    @property
    def has_result(self) -> bool:
        """True if there is a run to look at in the folder, the whole of it or a part."""
        if self.call != SIMULATE:
            return False
        partial = (self.error or {}).get("partial") or {}
        # What a full disk sent elsewhere is no file of the folder.
        return self.result is not None or "result" in partial.get("files", {})


class QueueFull(Exception):
    """Too many runs wait already."""


@dataclass(frozen=True)
class Order:
    """What a job is to compute, and the file that is kept free for it."""

    call: str  # the verb
    title: str
    source: str
    request: dict[str, Any]  # of `verb_calls.verb`
    file: str = ""  # of the result, as the browser knows it
    path: Path | None = None  # the same on disk


class JobQueue:
    """Runs in the order in which they were asked for, a few at a time."""

    def __init__(self, workers: list[Worker], limit_s: float, most: int, history: int):
        self.limit_s = limit_s
        self.most = most
        self.history = history
        self.version = 0  # counts changes, so that those who watch know when to look
        self._jobs: dict[int, Job] = {}
        self._orders: dict[int, Order] = {}
        self._answers: dict[int, Any] = {}
        self._pictures: dict[int, Any] = {}
        self._running: dict[int, Worker] = {}
        self._numbers = itertools.count(1)
        self._change = threading.Condition()
        self._closed = False
        self._workers = workers
        for worker in workers:
            lane = threading.Thread(target=self._run_lane, args=(worker,), daemon=True)
            lane.start()

    def add(self, order: Callable[[], Order]) -> Job:
        """A run or an analysis that waits for its turn; `order` is asked once there is room for it."""
        with self._change:
            self.check_room()
            number = next(self._numbers)
            given = order()
            job = Job(
                number,
                given.call,
                given.title,
                given.source,
                given.request.get("changes", {}),
                given.file,
                added=time(),
            )
            self._jobs[number] = job
            self._orders[number] = given
            self._changed()
        return job

    def check_room(self) -> None:
        """Nothing, where one more run may wait.

        Raises:
            QueueFull: too many wait.
        """
        with self._change:
            waiting = [job for job in self._jobs.values() if job.state in OPEN]
        if len(waiting) >= self.most:
            raise QueueFull(f"{self.most} runs wait already: cancel some first")

    def picture(self, number: int) -> Any:
        """The robot of a run that is under way, None where there is nothing to see."""
        with self._change:
            return self._pictures.get(number)

    def answer(self, number: int) -> Any:
        """All that the service of a job answered, None where there is nothing."""
        with self._change:
            return self._answers.get(number)

    def jobs(self) -> list[dict[str, Any]]:
        """All jobs as plain data, the newest first."""
        with self._change:
            found = sorted(self._jobs.values(), key=lambda job: -job.number)
        return [{**asdict(job), "has_result": job.has_result} for job in found]

    def cancel(self, number: int) -> bool:
        """Ends a run; what is done is kept. False if there is no such run, or it has ended."""
        with self._change:
            job = self._jobs.get(number)
            if job is None or job.state not in OPEN:
                return False
            if job.state == QUEUED:
                self._update(number, state=CANCELLED, ended=time())
                self._clean(number)
                return True
            self._update(number, stopping=True)
            self._running[number].stop()
        return True

    def close(self) -> None:
        """Ends everything."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        for worker in self._workers:
            worker.close()

    # --- lanes -----------------------------------------------------------------------------------------------------

    def _run_lane(self, worker: Worker) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._next() is not None)
                if self._closed:
                    return
                number = self._next()
                assert number is not None
                self._running[number] = worker
                self._update(number, state=RUNNING, started=time())
            self._run(number, worker)

    def _next(self) -> int | None:
        waiting = [n for n, job in self._jobs.items() if job.state == QUEUED]
        return min(waiting, default=None)

    def _run(self, number: int, worker: Worker) -> None:
        def watch(progress: dict[str, Any]) -> None:
            with self._change:
                moving = self._jobs[number].moving or time()
                picture = progress.pop("picture", None)
                if picture is not None:
                    self._pictures[number] = picture
                    progress["pictures"] = self._jobs[number].pictures + 1
                self._update(number, moving=moving, **progress)

        order = self._orders[number]
        answer = None
        try:
            answer = worker.call("verb", order.request, self.limit_s, watch)
            told = answer if order.call == SIMULATE else None
            outcome: dict[str, Any] = {"state": DONE, "result": told}
        except CallFailed as failure:
            stopped = failure.reason["kind"] == "interrupted"
            state = CANCELLED if stopped else FAILED
            outcome = {"state": state, "error": failure.reason}
            answer = failure.reason.get("partial")
        with self._change:
            del self._running[number]
            self._answers[number] = answer
            self._pictures.pop(number, None)
            self._update(number, ended=time(), stopping=False, **outcome)
            self._clean(number)
            self._forget()

    def _update(self, number: int, **values: Any) -> None:
        self._jobs[number] = replace(self._jobs[number], **values)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._change.notify_all()

    def _clean(self, number: int) -> None:
        """The name that was kept free for a result is given back where there is none."""
        path = self._orders.pop(number).path
        if path is not None and path.is_file() and path.stat().st_size == 0:
            path.unlink()

    def _forget(self) -> None:
        """Drops the oldest jobs that ended."""
        ended = [n for n, job in self._jobs.items() if job.state not in OPEN]
        for number in sorted(ended)[: -self.history]:
            del self._jobs[number]
            self._answers.pop(number, None)
