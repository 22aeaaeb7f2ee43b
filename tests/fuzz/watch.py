"""The watch over the workers: hands out cases, ends what hangs, starts anew what crashed, counts."""

import multiprocessing as mp
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from .kinds import KINDS
from .outcome import Case, Outcome
from .worker import STACK, serve

START = 300.0  # [s] that a process may take to import everything on a busy machine
RECYCLED = 3000  # cases after which a process is replaced


class Worker:
    """A process, the case that it is running, and since when."""

    def __init__(self, folder: Path):
        spawn = mp.get_context("spawn")
        self.folder = folder
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(target=serve, args=(theirs, folder), daemon=True)
        self.process.start()
        theirs.close()
        self.case: Case | None = None
        self.began = time.monotonic()
        self.limit = START
        self.done = 0

    def give(self, case: Case) -> None:
        """Hands a case over."""
        kind = KINDS[case.kind]
        self.case = case
        self.limit = kind.limit
        self.began = time.monotonic()
        self.connection.send((case, kind.limit, kind.memory))

    @property
    def is_late(self) -> bool:
        """True if it takes longer than a case may take."""
        return time.monotonic() - self.began > self.limit

    def end(self) -> None:
        """Ends the process."""
        with suppress(OSError, ValueError):
            self.connection.send(None)
        self.process.join(0.0 if self.is_late else 2.0)
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    jobs: int, folder: Path, next_case: Callable[[int], Case | None], until: float
) -> Iterator[tuple[Case, Outcome, Path]]:
    """How each case ended, with the folder of its files, until the time is up and what was begun is done.

    Args:
        jobs: processes at once.
        folder: for the files of the cases.
        next_case: the next case for the process of a number.
        until: `time.monotonic` at which no case is begun any more.
    """
    workers: dict[int, Worker] = {k: Worker(folder / f"{k}") for k in range(jobs)}
    try:
        while workers:
            connections = {worker.connection: k for k, worker in workers.items()}
            ready = [connections[one] for one in wait(list(connections), 0.5)]
            for k, worker in list(workers.items()):
                if k in ready:
                    answer, has_crashed = _answer(worker)
                elif worker.is_late:
                    answer, has_crashed = _hang(worker), True
                else:
                    continue
                if answer is not None and worker.case is not None:
                    yield worker.case, answer, worker.folder
                case = next_case(k) if time.monotonic() < until else None
                worker.done += 1
                if case is None or has_crashed or worker.done > RECYCLED:
                    worker.end()
                    del workers[k]
                    if case is not None:
                        workers[k] = Worker(worker.folder)
                else:
                    worker.give(case)
    finally:
        for worker in workers.values():
            worker.end()


def _answer(worker: Worker) -> tuple[Outcome | None, bool]:
    """What a process says, and whether it is gone."""
    try:
        return worker.connection.recv(), False
    except (EOFError, OSError):
        worker.process.join(5.0)
        code = worker.process.exitcode
        label = "" if worker.case is None else worker.case.kind
        text = f"the process ended with the code {code}"
        return Outcome("crash", label, text), True


def _hang(worker: Worker) -> Outcome:
    """A case that does not end; its process is stopped."""
    stack: Any = worker.folder / STACK
    where = stack.read_text() if stack.exists() else ""
    label = "" if worker.case is None else worker.case.kind
    text = f"no end after {worker.limit:.0f} s\n{where}"
    return Outcome("hang", label, text, seconds=worker.limit)
