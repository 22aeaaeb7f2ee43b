"""The clock beside a command: a line now and then where no terminal shows progress, and `--max-wall`."""

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..files.errors import refused
from .interrupt import SIGNALS
from .parsing import without_option

MAX_WALL = "--max-wall"  # may stand anywhere on the line
HEARTBEAT = 30.0  # [s] between two lines
ENDLESS = ("lissom studio",)  # commands of which nobody waits for the end
GRACE = 15.0  # [s] that a command has to save what it has, once its time is up


class HowFar:
    """How far the command of this process has come, in words: for those who see no bar."""

    def __init__(self):
        self.words = ""

    @contextmanager
    def told(self) -> Iterator[Callable[[str], None]]:
        """While a job goes on: a function that takes its words."""
        try:
            yield self._say
        finally:
            self.words = ""

    def _say(self, words: str) -> None:
        self.words = words


how_far = HowFar()


class WallClock:
    """What the clock knows: when the command began, what it is doing, and whether its time is up."""

    def __init__(self, limit: float | None):
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


def wall_limit(line: list[str]) -> tuple[list[str], float | None]:
    """The command line without `--max-wall SECONDS`, and the seconds.

    Raises:
        DescriptionError: there is no number, or none that is positive.
    """
    rest, texts = without_option(line, MAX_WALL)
    limit = None
    for text in texts:
        try:
            limit = float(text)
        except ValueError:
            limit = 0.0
        # Not a number is not above zero either.
        if not limit > 0.0:
            raise refused(MAX_WALL, text, "must be a positive number of seconds")
    return rest, limit


@contextmanager
def running(clock: WallClock, name: str, say: Callable[[], int]) -> Iterator[None]:
    """While it lasts, the clock runs: it speaks on stderr, and interrupts the command when its time is up.

    Args:
        clock: with the limit.
        name: of the command.
        say: tells that the time is up, and gives the exit code.
    """
    done = threading.Event()
    beats = not sys.stderr.isatty() and name not in ENDLESS
    thread = threading.Thread(
        target=_watch, args=(clock, name, say, done, beats), daemon=True
    )
    if beats or clock.limit is not None:
        thread.start()
    try:
        yield
    finally:
        done.set()


def _watch(
    clock: WallClock,
    name: str,
    say: Callable[[], int],
    done: threading.Event,
    beats: bool,
) -> None:
    while not done.wait(_pause(clock, beats)):
        if clock.limit is not None and clock.elapsed >= clock.limit:
            clock.expired = True
            # As Ctrl-C does: a run under way is saved, everything else is left at once.
            _interrupt_command()
            # A compiler at work hears nothing until it is done.
            if not done.wait(GRACE):
                os._exit(say())
            return
        if beats:
            remark = f": {how_far.words}" if how_far.words else ""
            sys.stderr.write(f"{name}: {clock.elapsed:.0f} s{remark}\n")
            sys.stderr.flush()


def _interrupt_command() -> None:
    """Ends the command as a signal does; one that the process ignores, as SIGINT in the background, does nothing."""
    for number in SIGNALS:
        if callable(signal.getsignal(number)):
            return _thread.interrupt_main(number)


def _pause(clock: WallClock, beats: bool) -> float | None:
    """Seconds to the next thing to do."""
    pauses = [HEARTBEAT] if beats else []
    if clock.limit is not None:
        pauses.append(max(clock.limit - clock.elapsed, 0.0))
    return min(pauses)
