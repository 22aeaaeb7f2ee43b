"""Progress of a command: a bar on a terminal's stderr; everywhere else the words of the clock's next line."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from ..progress import PREPARING, Watch, terminal_progress
from .wall_clock import how_far

Show = Callable[..., None]


@contextmanager
def described_progress(first: str, estimates: bool = True) -> Iterator[Show]:
    """A function `show(share, text, remark)` of the share of the work that is done, 0 to 1, and what is done now.

    Args:
        first: text until the first call.
        estimates: a bar shows the time that is left; False where the remark says it.
    """
    # Lines that move would fill a log file.
    if sys.stderr.isatty():
        with terminal_progress(first, estimates) as show:
            yield show
        return

    def note(share: float, text: str, remark: str = "") -> None:
        how_far.words = f"{text}, {remark or f'{share:.0%}'}"

    try:
        yield note
    finally:
        how_far.words = ""


@contextmanager
def share_progress(task: str) -> Iterator[Show]:
    """A function `watch(share, remark)` that moves the bar to the share of the work that is done, 0 to 1."""
    with described_progress(f"{task}: {PREPARING}") as show:
        yield lambda share, remark="": show(share, f"{task}{remark}")


@contextmanager
def progress(t_end: float) -> Iterator[Watch]:
    """A function `watch(t)` that moves the bar to the simulated time t [s]."""
    with described_progress(PREPARING) as show:
        yield lambda t: show(t / t_end, "simulating", f"{t:.4g} of {t_end:.4g} s")


@contextmanager
def study_progress() -> Iterator[Callable[[Any], None]]:
    """A function `watch(tally)` that shows how many runs of a study are done, and how long the rest takes."""
    with described_progress("starting", estimates=False) as show:

        def watch(tally: Any) -> None:
            pace, left = "starting", "?"
            if tally.rate is not None:
                pace = f"{tally.rate:.3g}/s"
                left = str(timedelta(seconds=round(tally.left)))
            if tally.failed:
                pace += f", {tally.failed} failed"
            runs = f"{tally.done} of {tally.runs} runs"
            show(tally.done / tally.runs, runs, f"{pace}, left {left}")

        yield watch


@contextmanager
def job_progress(began: float, k: int, count: int, name: str) -> Iterator[Watch]:
    """A function of the share of a job that is done: a bar on a terminal, elsewhere a line, with the time left.

    Args:
        began: when the first job began, by `time.monotonic`.
        k: number of the job, from 0.
        count: of all jobs.
        name: of the job.
    """

    def left(share: float) -> str:
        done = (k + share) / count
        if not done:
            return ""
        seconds = (time.monotonic() - began) * (1 / done - 1)
        shown = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
        return f" (about {shown} left)"

    title = f"{k + 1} of {count}: {name}"
    if not sys.stderr.isatty():
        print(f"{title}{left(0.0)}", file=sys.stderr, flush=True)
    with share_progress(title) as show:
        yield lambda share: show(share, left(share))
