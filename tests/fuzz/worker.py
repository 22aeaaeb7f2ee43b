"""A process that runs cases one by one, so that a hang or a crash of one is found and named."""

import faulthandler
import gc
import os
import resource
import shutil
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from .outcome import Case, Outcome

# The rooms whose shapes and types are checked while they run, as in the test suite: all but `native`.
ROOMS = (
    "algebra analyse benchmarks bodies commands control describe dynamics kinematics "
    "robots scenarios services show solve"
)
MAPS = Path("/proc/self/maps")
MOST_MAPS = 20_000  # pieces of memory; a process may have some 65 000, and compiled code takes many
STACK = "where-it-hung.txt"


def serve(connection: Connection, folder: Path) -> None:
    """Runs what it is given and tells how it ended, until it is given nothing more."""
    prepare(folder)
    connection.send(None)
    while (task := connection.recv()) is not None:
        case, limit, memory = task
        clear(folder)
        with open(folder / STACK, "w") as stack:
            # Before the watch outside ends the process, it says where it stands.
            faulthandler.dump_traceback_later(0.9 * limit, file=stack)
            outcome = finished(case, folder, memory)
            faulthandler.cancel_dump_traceback_later()
        connection.send(outcome)
        tidy_up()


def prepare(folder: Path) -> None:
    """Types are checked, own caches are used, and nothing is printed."""
    from jaxtyping import install_import_hook

    rooms = [f"lissom.{room}" for room in ROOMS.split()]
    install_import_hook(rooms, "beartype.beartype")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("LISSOM_CACHE", "off")
    os.chdir(folder)
    # A terminal's Ctrl-C is the business of the process that watches.
    os.setpgrp()
    sys.stdin = open(os.devnull)


def finished(case: Case, folder: Path, memory: float) -> Outcome:
    """How a case ended, an exception included."""
    from .kinds import run

    began = time.monotonic()
    bound_memory(memory)
    try:
        outcome = run(case, folder)
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
