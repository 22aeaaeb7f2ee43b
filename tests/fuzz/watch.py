"""The watch over the workers: hands out cases, ends what hangs, starts anew what crashed, counts."""

import multiprocessing as mp
import os
import signal
import time
from collections.abc import Generator
from contextlib import suppress
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

from .kinds import KINDS
from .outcome import Case, Outcome
from .worker import STACK, serve

START = 900.0  # [s] that a process may take to import everything on a busy machine
IDLE = 15  # times the limit that a case may take by the clock, where others compute as well
ASLEEP = 120.0  # [s] in which a case that goes on computes something, however busy the machine is
RECYCLED = 3000  # cases after which a process is replaced
TICKS = os.sysconf("SC_CLK_TCK")


def _start(process: Any) -> None:
    """Starts a process that does not hear a terminal's Ctrl-C, which is the business of the one that watches."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.start()
    finally:
        signal.signal(signal.SIGINT, before)


class AbstractDeal(Protocol):
    """What hands out cases."""

    jobs: int  # processes at once

    def kinds_of(self, worker: int) -> tuple[str, ...]:
        """Kinds of the cases of a process."""
        ...

    def next_case(self, worker: int) -> Case | None:
        """The next case of a process."""
        ...


def computed(pid: int) -> float:
    """Seconds that a process has computed; none where the system does not tell."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    # Fields 14 and 15 of the line: in user code, and in the kernel.
    return (int(words[11]) + int(words[12])) / TICKS


def computed_by_all(pid: int) -> float:
    """Seconds that a process has computed, and the processes that it started and that are there still."""
    try:
        started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        started = []
    return computed(pid) + sum(computed_by_all(int(child)) for child in started)


class Worker:
    """A process, the case that it is running, and since when."""

    def __init__(self, folder: Path, kinds: tuple[str, ...]):
        spawn = mp.get_context("spawn")
        self.folder = folder
        self.kinds = kinds
        self.connection, theirs = spawn.Pipe()
        self.process = spawn.Process(
            target=serve, args=(theirs, folder, kinds), daemon=True
        )
        _start(self.process)
        theirs.close()
        self.case: Case | None = None
        self.limit = START
        self.done = 0
        self._begin()

    def _begin(self) -> None:
        self.began = time.monotonic()
        self.computed = computed(self.process.pid or 0)
        self.stirred = (self.began, self.computed)

    def give(self, case: Case) -> None:
        """Hands a case over."""
        kind = KINDS[case.kind]
        self.case = case
        self.limit = kind.limit
        self._begin()
        self.connection.send((case, kind.memory))

    @property
    def is_late(self) -> bool:
        """True if it computes longer than a case may take, or does not end at all."""
        if time.monotonic() - self.began > IDLE * self.limit:
            return True
        if self._sleeps():
            return True
        return computed(self.process.pid or 0) - self.computed > self.limit

    def _sleeps(self) -> bool:
        """True if nothing was computed for long, neither here nor in processes that it started."""
        since, before = self.stirred
        now, by_now = time.monotonic(), computed_by_all(self.process.pid or 0)
        if by_now != before:
            self.stirred = (now, by_now)
            return False
        return now - since > ASLEEP

    def where(self) -> str:
        """Where the process stands."""
        if self.process.pid is not None:
            os.kill(self.process.pid, signal.SIGUSR1)
            time.sleep(1.0)
        stack = self.folder.with_suffix(STACK)
        return stack.read_text() if stack.exists() else ""

    def end(self, at_once: bool = False) -> None:
        """Ends the process."""
        if not at_once:
            with suppress(OSError, ValueError):
                self.connection.send(None)
            self.process.join(2.0)
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    deal: AbstractDeal, folder: Path, until: float
) -> Generator[tuple[Case, Outcome, Path], None, None]:
    """How each case ended, with the folder of its files, until the time is up and what was begun is done.

    Args:
        deal: which cases come next.
        folder: for the files of the cases.
        until: `time.monotonic` at which no case is begun any more.
    """
    workers = {k: Worker(folder / f"{k}", deal.kinds_of(k)) for k in range(deal.jobs)}
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
                worker.done += 1
                is_over = time.monotonic() >= until
                if has_crashed or worker.done > RECYCLED:
                    worker.end(at_once=has_crashed)
                    workers[k] = Worker(worker.folder, worker.kinds)
                    continue
                case = None if is_over else deal.next_case(k)
                if case is None:
                    worker.end()
                    del workers[k]
                else:
                    worker.give(case)
    finally:
        for worker in workers.values():
            worker.end(at_once=True)


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
    """A case that does not end."""
    label = "" if worker.case is None else worker.case.kind
    took = time.monotonic() - worker.began
    text = f"no end after {took:.0f} s\n{worker.where()}"
    return Outcome("hang", label, text, seconds=took)
