"""The clock of a command: `--max-wall`, and a line every 30 s where no terminal shows progress."""

import _thread
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from .interrupt import SIGNALS
from .parsing import readable, without_option

MAX_WALL = "--max-wall"  # may stand anywhere on the line
HEARTBEAT = 30.0  # [s] between two lines
ENDLESS = ("lissom studio",)  # commands without an end
GRACE = 15.0  # [s] for saving partial results, once the time is up


# How far the command of this process is, in words, for the line where no terminal shows a bar.
how_far = SimpleNamespace(words="")


class WallClock:
    """When the command began, its time limit, and whether that is over."""

    def __init__(self, limit: float = math.inf):
        self.began = time.monotonic()
        self.limit = limit
        self.expired = False

    @property
    def elapsed(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self.began

    @property
    def message(self) -> str:
        """Why a command was stopped."""
        return f"stopped after {self.limit:g} s ({MAX_WALL})"


def wall_limit(line: list[str]) -> tuple[list[str], float]:
    """The command line without `--max-wall SECONDS`, and the seconds; infinite without it.

    Raises:
        DescriptionError: there is no number, or none that is positive.
    """
    rest, texts = without_option(line, MAX_WALL)
    limit = math.inf
    for text in texts:
        with readable(MAX_WALL, text, "must be a positive number of seconds"):
            limit = float(text)
            # NaN is not above zero either.
            if not limit > 0.0:
                raise ValueError(text)
    return rest, limit


@contextmanager
def running(clock: WallClock, name: str, report: Callable[[], int]) -> Iterator[None]:
    """Context in which the clock runs: it reports on stderr, and interrupts the command when its time is up.

    Args:
        clock: with the limit.
        name: of the command.
        report: reports that the time is up, and returns the exit code.
    """
    done = threading.Event()
    beats = not sys.stderr.isatty() and name not in ENDLESS

    def watch() -> None:
        pause = HEARTBEAT if beats else threading.TIMEOUT_MAX
        while not done.wait(max(min(pause, clock.limit - clock.elapsed), 0.0)):
            if clock.elapsed >= clock.limit:
                clock.expired = True
                # As Ctrl-C does: a run under way is saved, everything else is left at once.
                _interrupt_command()
                # Python handles no interrupt before a compiler is done.
                if not done.wait(GRACE):
                    os._exit(report())
                return
            if beats:
                remark = f": {how_far.words}" if how_far.words else ""
                sys.stderr.write(f"{name}: {clock.elapsed:.0f} s{remark}\n")
                sys.stderr.flush()

    if beats or clock.limit < math.inf:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _interrupt_command() -> None:
    """Ends the command as a signal does; one that the process ignores, as SIGINT in the background, does nothing."""
    for number in SIGNALS:
        if callable(signal.getsignal(number)):
            return _thread.interrupt_main(number)
