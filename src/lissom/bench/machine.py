"""What a time was measured on, and how: the machine, its cores, and a stopwatch for wall and processor time."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

from threadpoolctl import threadpool_limits

# Wall time beyond this multiple of processor time: other programs held the core.
BUSY = 1.25


@dataclass(frozen=True)
class Timing:
    """Repeated measurements of one job [s]."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]  # processor time of all threads

    @property
    def best(self) -> float:
        """Shortest wall time [s]."""
        return min(self.wall)

    @property
    def busy(self) -> bool:
        """True if even the best repeat waited for the processor."""
        return self.best > BUSY * min(self.cpu)

    def report(self) -> dict[str, Any]:
        """Plain data: median and best of the repeats."""
        return {
            "median_s": median(self.wall),
            "best_s": self.best,
            "cpu_s": min(self.cpu),
            "repeats": len(self.wall),
            "machine_busy": self.busy,
        }


def timed(job: Callable[[], Any], repeat: int = 1) -> tuple[Timing, Any]:
    """Times of `repeat` calls and the last result; the job itself waits for its numbers to be ready."""
    wall: list[float] = []
    cpu: list[float] = []
    result = None
    for _ in range(repeat):
        began = time.perf_counter()
        spent = time.process_time()
        result = job()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - spent)
    return Timing(tuple(wall), tuple(cpu)), result


@contextmanager
def one_core() -> Iterator[bool]:
    """Holds every thread of this process on one core while it lasts; yields whether the system allows it.

    Linear algebra is held to one thread: several on one core would wait for each other.
    """
    threads = Path("/proc/self/task")
    with threadpool_limits(limits=1):
        if not hasattr(os, "sched_setaffinity") or not threads.is_dir():
            yield False
            return
        before = os.sched_getaffinity(0)
        _pin(threads, {max(before)})
        try:
            yield True
        finally:
            _pin(threads, before)


def _pin(threads: Path, cores: set[int]) -> None:
    for thread in threads.iterdir():
        try:
            os.sched_setaffinity(int(thread.name), cores)
        except (ProcessLookupError, PermissionError):
            # The thread has just ended.
            continue


def machine_facts() -> dict[str, Any]:
    """Processor, cores, system, and the versions that decide about speed."""
    cores = os.cpu_count()
    # Not every system lets a process choose its cores, or reports its load.
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
    with one_core() as pinned:
        note = "runs are pinned to one core"
        if not pinned:
            note = "this system cannot pin a process to one core: XLA may use more"
    return {
        "cpu": _processor(),
        "cores_available": cores,
        "cores_used": 1 if pinned else cores,
        "threads": note + "; building and compiling may use all cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("jax", "jaxlib", "lissom")},
        "load": load,
    }


def version(package: str) -> str:
    """Installed version of a package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.is_file() else []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
