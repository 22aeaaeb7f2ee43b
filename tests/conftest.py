"""Double precision, as in a simulation."""

import os
import signal
from pathlib import Path

import jax
import pytest

import lissom  # noqa: F401  (switches JAX to double precision)

# Code that JAX compiles is shared by the workers of a suite in a folder: machine code is shared there too.
os.environ.setdefault("LISSOM_CACHE", os.environ.get("JAX_COMPILATION_CACHE_DIR", ""))
MAPS, MOST = Path("/proc/self/maps"), 20_000
# Only Linux counts the memory maps of a process.
collect_ignore = [] if MAPS.exists() else ["test_memory_maps.py"]


def pytest_configure():
    """Ctrl-C reaches tests and the processes that they start, also in a suite in the background.

    Shells start such a suite with SIGINT ignored, and its processes inherit that; a handler they do not.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def bounded_code():
    """A process may map some 65 000 pieces of memory, and compiled code takes many: let go of it in time."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST:
        jax.clear_caches()


class UnhandledSignal(BaseException):
    """A signal that a command should have handled, or that would have ended the process."""


@pytest.fixture
def signals(monkeypatch):
    """Signals reach Python, also in a suite that runs in the background and ignores some, and none ends the process."""
    from lissom.commands import interrupt

    def unhandled(number, *_):
        raise UnhandledSignal(number)

    monkeypatch.setattr(interrupt, "leave_process", unhandled)
    before = {number: signal.signal(number, unhandled) for number in interrupt.SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
