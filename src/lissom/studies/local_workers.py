"""Workers on this machine: one process for each core, each computing one chunk after the other."""

import json
import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ..runs.failures import AnalysisError
from ..worker_process import WorkerDied, WorkerProcess, with_this_package
from .chunk import ChunkTask
from .recipe import StudyRecipe
from .store import Plan

PAUSE = 0.2  # [s] after which a waiting caller gets control back
PROGRAM = (sys.executable, "-m", "lissom.studies.worker")
TRIES = 2  # of a chunk whose process ends, before its runs are tried one by one


class Progress(NamedTuple):
    """Event of the workers: a finished chunk, or only that some time has passed."""

    number: int | None
    data: bytes = b""


class LostWorker(AnalysisError):
    """A process that ended in the middle of its work."""

    def __init__(self, message: str, run: int | None):
        super().__init__(message)
        self.run = run  # that it was at


class ChunkWorker:
    """One process that computes chunks."""

    def __init__(self, recipe: StudyRecipe, threads: int):
        self._process = WorkerProcess(PROGRAM, with_this_package(threads))
        # With the first request it learns the study.
        self._first: dict[str, Any] = {"recipe": recipe.to_dict()}

    def compute(self, task: ChunkTask, lost: dict[int, str] | None) -> bytes:
        """The bytes of a chunk.

        Raises:
            LostWorker: the process ended.
        """
        run: int | None = None

        def report(content: bytes) -> None:
            nonlocal run
            run = json.loads(content)["run"]

        request = {**task._asdict(), "lost": lost, **self._first}
        self._first = {}
        try:
            return self._process.call(json.dumps(request).encode(), report)
        except WorkerDied as death:
            message = f"the process ended while computing this run ({death})"
            raise LostWorker(message, run) from None

    def end(self) -> None:
        """End the process at once, in the middle of a chunk too."""
        self._process.end()


def compute_locally(
    plan: Plan, numbers: Sequence[int], workers: int
) -> Iterator[Progress]:
    """Chunks as they are finished, in any order, and an event at least every `PAUSE` seconds."""
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in numbers:
        todo.put(number)
    done: queue.SimpleQueue[Progress | BaseException] = queue.SimpleQueue()
    team = Team(plan, max(1, min(workers, len(numbers))))
    team.start(todo, done)
    try:
        left = len(numbers)
        while left:
            try:
                news = done.get(timeout=PAUSE)
            except queue.Empty:
                yield Progress(None)
                continue
            if isinstance(news, BaseException):
                raise news
            left -= 1
            yield news
    finally:
        team.end()


class Team:
    """Threads that each drive one worker."""

    def __init__(self, plan: Plan, size: int):
        self.plan = plan
        self.size = size
        self.stopped = threading.Event()
        self.workers: dict[int, ChunkWorker] = {}

    def start(self, todo: Any, done: Any) -> None:
        """Set all workers to work."""
        for k in range(self.size):
            look_after = threading.Thread(
                target=self._look_after, args=(k, todo, done), daemon=True
            )
            look_after.start()

    def end(self) -> None:
        """End all worker processes."""
        self.stopped.set()
        for worker in list(self.workers.values()):
            worker.end()

    def _look_after(self, k: int, todo: Any, done: Any) -> None:
        try:
            while not self.stopped.is_set():
                try:
                    number = todo.get_nowait()
                except queue.Empty:
                    return
                done.put(Progress(number, self._computed(k, self.plan.task(number))))
        except Exception as failure:
            if not self.stopped.is_set():
                done.put(failure)

    def _computed(self, k: int, task: ChunkTask) -> bytes:
        """The bytes of a chunk, on a new process where one ends; a run that ends every process has failed."""
        lost: dict[int, str] | None = None
        tries = 0
        while True:
            try:
                return self._worker(k).compute(task, lost)
            except LostWorker as failure:
                self.workers.pop(k, None)
                if self.stopped.is_set():
                    raise
                tries += 1
                if lost is not None and failure.run is not None:
                    lost[failure.run] = str(failure)
                elif tries >= 2 * TRIES:
                    raise
                elif tries >= TRIES:
                    # From here on one by one, so that it is known which run it is.
                    lost = {}

    def _worker(self, k: int) -> ChunkWorker:
        if k not in self.workers:
            self.workers[k] = ChunkWorker(self.plan.recipe, threads=1)
        if self.stopped.is_set():
            self.workers[k].end()
        return self.workers[k]


def processors() -> int:
    """Number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
