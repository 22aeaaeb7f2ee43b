"""A process that runs cases one by one, so that a hang or a crash of one is found and named."""

import faulthandler
import gc
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from . import kinds
from .outcome import Case, Outcome

# The rooms whose shapes and types are checked while they run, as in the test suite: all but `native`.
ROOMS = (
    "algebra analyse benchmarks bodies commands control describe dynamics kinematics "
    "robots scenarios verbs show solve studies studio"
)
MAPS = Path("/proc/self/maps")
MOST_MAPS = 20_000  # pieces of memory; a process may have some 65 000, and compiled code takes many
STACK = ".stack.txt"  # ending of the file that says where a process stood


def serve(connection: Connection, folder: Path, names: tuple[str, ...]) -> None:
    """Runs what it is given and tells how it ended, until it is given nothing more."""
    prepare(folder, names)
    stack = folder.with_suffix(STACK)
    with open(stack, "w") as file:
        # The watch asks where the process stands before it ends it.
        faulthandler.register(signal.SIGUSR1, file=file)
        connection.send(None)
        while (task := connection.recv()) is not None:
            case, memory = task
            clear(folder)
            connection.send(finished(case, folder, memory))
            tidy_up()


def prepare(folder: Path, names: tuple[str, ...]) -> None:
    """Types are checked, everything is imported, and nothing is read from the terminal."""
    from jaxtyping import install_import_hook

    rooms = [f"lissom.{room}" for room in ROOMS.split()]
    install_import_hook(rooms, "beartype.beartype")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("LISSOM_CACHE", "off")
    os.chdir(folder)
    # From here on a terminal's Ctrl-C goes past this process, and what its cases start hears signals again.
    os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(os.devnull)
    kinds.load(names)


def finished(case: Case, folder: Path, memory: float) -> Outcome:
    """How a case ended, an exception included."""
    began = time.monotonic()
    bound_memory(memory)
    try:
        outcome = kinds.run(case, folder)
    except BaseException as failure:
        # SystemExit and KeyboardInterrupt too: nothing may leave a case but its outcome.
        label = getattr(failure, "label", case.kind)
        outcome = Outcome("traceback", label, traceback.format_exc())
    return outcome._replace(seconds=time.monotonic() - began)


def bound_memory(gigabytes: float) -> None:
    """The process may take so much more than it holds now."""
    resource.setrlimit(resource.RLIMIT_DATA, (-1, -1))
    held = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limit = held + int(1e9 * gigabytes)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, -1))


def clear(folder: Path) -> None:
    """Nothing is left of the case before."""
    os.chdir(folder)
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def tidy_up() -> None:
    """Lets go of compiled code in time."""
    if "jax" in sys.modules and MAPS.exists():
        if MAPS.read_bytes().count(b"\n") > MOST_MAPS:
            import jax

            jax.clear_caches()
            gc.collect()
