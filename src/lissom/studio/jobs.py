"""The queue of runs and long analyses, each in a process that can be ended."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import time
from typing import Any

from .explanation import RequestError
from .limits import StudioLimits
from .worker import VERB, CallFailed, Worker

QUEUED, RUNNING = "queued", "running"
DONE, FAILED, CANCELLED = "done", "failed", "cancelled"
OPEN = (QUEUED, RUNNING)
SIMULATE = "simulate"
# What the list of jobs leaves out: pages ask for pictures and answers one by one.
UNLISTED = ("request", "path", "picture", "answer")


@dataclass(frozen=True)
class Job:
    """A run or an analysis, its progress and its outcome."""

    call: str  # the verb
    title: str
    source: str  # library name or file, as the browser knows it
    request: dict[str, Any]  # of `verb_calls.verb`
    changes: dict[str, Any]
    file: str = ""  # of the result, as the browser knows it; empty where there is none
    path: Path | None = None  # the same on disk
    number: int = 0
    state: str = QUEUED
    t: float = 0.0  # simulated [s], or done of an analysis
    t_end: float | None = None
    unit: str = "s"  # of both
    added: float = 0.0  # seconds since 1970
    started: float | None = None
    moving: float | None = None  # when the first steps were done: compiling is over
    ended: float | None = None
    stopping: bool = False
    picture: Any = None  # of the robot, while the run lasts
    pictures: int = 0  # how many there have been
    error: dict[str, Any] | None = None
    answer: Any = None  # of the verb, whole or as far as it came
    result: dict[str, Any] | None = None  # the answer of a simulation, which is short

    @property
    def has_result(self) -> bool:
        """True if there is a run to look at in the folder, the whole of it or a part."""
        if self.call != SIMULATE:
            return False
        partial = (self.error or {}).get("partial") or {}
        # What a full disk sent elsewhere is no file of the folder.
        return self.result is not None or "result" in partial.get("files", {})

    def listed(self) -> dict[str, Any]:
        """What a page receives of a job."""
        names = [one.name for one in fields(self) if one.name not in UNLISTED]
        return {name: getattr(self, name) for name in names}


class JobQueue:
    """Jobs in the order of their requests, one at a time."""

    def __init__(self, worker: Worker, limits: StudioLimits):
        self.limits = limits
        self.version = 0  # counts changes: pages are sent the list when it grows
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._change = threading.Condition()
        self._closed = False
        self._worker = worker
        threading.Thread(target=self._run_all, daemon=True).start()

    def add(self, new_job: Callable[[], Job]) -> Job:
        """A run or an analysis that waits for its turn; `new_job` is called once there is room for it."""
        with self._change:
            self.check_room()
            number = next(self._numbers)
            job = replace(new_job(), number=number, added=time())
            self._jobs[number] = job
            self._changed()
        return job

    def check_room(self) -> None:
        """Nothing, where one more run may wait.

        Raises:
            RequestError: too many wait.
        """
        with self._change:
            waiting = sum(job.state in OPEN for job in self._jobs.values())
        most = self.limits.jobs
        if waiting >= most:
            raise RequestError(f"{most} runs wait already: cancel some first", 429)

    def job(self, number: int) -> Job | None:
        """The job of a number, None where there is none."""
        with self._change:
            return self._jobs.get(number)

    def jobs(self) -> list[dict[str, Any]]:
        """All jobs as plain data, the newest first."""
        with self._change:
            jobs = [*self._jobs.values()]
        return [{**job.listed(), "has_result": job.has_result} for job in jobs[::-1]]

    def cancel(self, number: int) -> bool:
        """Ends a run; what is done is saved. False if there is no such run, or it has ended."""
        with self._change:
            job = self._jobs.get(number)
            if job is None or job.state not in OPEN:
                return False
            if job.state == QUEUED:
                self._update(number, state=CANCELLED, ended=time())
                _remove_empty(job.path)
            else:
                self._update(number, stopping=True)
                self._worker.stop()
        return True

    def close(self) -> None:
        """Ends everything."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        self._worker.close()

    # --- the thread of the worker -----------------------------------------------------------------------------------

    def _run_all(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or self._next() is not None)
                job = self._next()
                if self._closed or job is None:
                    return
                self._update(job.number, state=RUNNING, started=time())
            self._run(job)

    def _next(self) -> Job | None:
        """The oldest job that waits; jobs are held in the order of their numbers."""
        waiting = (job for job in self._jobs.values() if job.state == QUEUED)
        return next(waiting, None)

    def _run(self, job: Job) -> None:
        def watch(progress: dict[str, Any]) -> None:
            with self._change:
                now = self._jobs[job.number]
                # A request to stop before the call began was dropped with those of earlier calls.
                if now.stopping:
                    self._worker.stop()
                if "picture" in progress:
                    progress["pictures"] = now.pictures + 1
                self._update(job.number, moving=now.moving or time(), **progress)

        limit_s = self.limits.run_s
        try:
            answer = self._worker.call(VERB, job.request, limit_s, watch)
            outcome: dict[str, Any] = {"state": DONE, "answer": answer}
            if job.call == SIMULATE:
                outcome["result"] = answer
        except CallFailed as failure:
            stopped = failure.reason["kind"] == "interrupted"
            state = CANCELLED if stopped else FAILED
            outcome = {"state": state, "error": failure.reason}
            outcome["answer"] = failure.reason.get("partial")
        with self._change:
            outcome |= {"ended": time(), "stopping": False, "picture": None}
            self._update(job.number, **outcome)
            _remove_empty(job.path)
            ended = [n for n, one in self._jobs.items() if one.state not in OPEN]
            for number in ended[: -self.limits.history]:
                del self._jobs[number]

    def _update(self, number: int, **values: Any) -> None:
        self._jobs[number] = replace(self._jobs[number], **values)
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._change.notify_all()


def _remove_empty(path: Path | None) -> None:
    """Gives back the name that was reserved for a result where there is none."""
    if path is not None and path.is_file() and path.stat().st_size == 0:
        path.unlink()
