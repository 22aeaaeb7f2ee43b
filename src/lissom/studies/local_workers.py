"""Workers on this machine: one process for each core, each asked for one chunk after the other."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .chunk import ChunkTask
from .recipe import StudyRecipe
from .store import Plan

PAUSE = 0.2  # [s] after which a waiting caller gets control back
TRIES = 2  # of a chunk whose process ends, before its runs are tried one by one


class Progress(NamedTuple):
    """What comes from the workers: a chunk that is done, or only that some time has passed."""

    number: int | None
    data: bytes = b""


class LostWorker(RuntimeError):
    """A process that ended in the middle of its work."""

    def __init__(self, message: str, run: int | None):
        super().__init__(message)
        self.run = run  # that it was at


class WorkerProcess:
    """One process that computes chunks."""

    def __init__(self, recipe: StudyRecipe, threads: int):
        # Libraries that share out their work over all cores would fight over them.
        limits = dict.fromkeys(
            ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
        )
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lissom.studies.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **limits, "PYTHONPATH": _search_path()},
            # Ctrl-C is for the one who asks, not for those who are asked.
            start_new_session=True,
        )
        self._ask({"recipe": recipe.to_dict()})

    def _ask(self, request: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def compute(self, task: ChunkTask, lost: dict[int, str] | None) -> bytes:
        """The bytes of a chunk.

        Raises:
            LostWorker: the process ended.
        """
        run = None
        answers = self.process.stdout
        assert answers is not None
        try:
            self._ask({**task._asdict(), "lost": lost})
            while True:
                line = answers.readline()
                if not line:
                    break
                head = json.loads(line)
                if "run" in head:
                    run = head["run"]
                    continue
                data = answers.read(head["size"])
                # Less than promised comes from a process that ended while it answered.
                if len(data) == head["size"]:
                    return data
                break
        except OSError:
            pass
        code = self.process.wait()
        reason = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise LostWorker(f"the process ended while computing this run ({reason})", run)

    def end(self) -> None:
        """Ends the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def _search_path() -> str:
    """Where a worker finds this very package, installed or not."""
    here = str(Path(__file__).parents[2])
    given = os.environ.get("PYTHONPATH")
    return os.pathsep.join([here, given] if given else [here])


def compute_locally(
    plan: Plan, numbers: Sequence[int], workers: int
) -> Iterator[Progress]:
    """Chunks as they get done, in any order, and a sign of life at least every `PAUSE` seconds."""
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
    """Threads that each look after one worker."""

    def __init__(self, plan: Plan, size: int):
        self.plan = plan
        self.size = size
        self.stopped = threading.Event()
        self.workers: dict[int, WorkerProcess] = {}

    def start(self, todo: Any, done: Any) -> None:
        """Set all workers to work."""
        for k in range(self.size):
            look_after = threading.Thread(
                target=self._look_after, args=(k, todo, done), daemon=True
            )
            look_after.start()

    def end(self) -> None:
        """Ends all processes."""
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

    def _worker(self, k: int) -> WorkerProcess:
        if k not in self.workers:
            self.workers[k] = WorkerProcess(self.plan.recipe, threads=1)
        if self.stopped.is_set():
            self.workers[k].end()
        return self.workers[k]


def processors() -> int:
    """Number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
