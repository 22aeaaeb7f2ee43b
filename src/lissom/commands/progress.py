"""How far a run has come: a bar on a terminal's stderr; everywhere else the words of the clock's next line."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from ..progress import Watch, terminal_bar
from .wall_clock import how_far


@contextmanager
def described_progress(first: str) -> Iterator[Callable[[float, str], None]]:
    """A function `watch(share, text)` that shows what a long job is doing and how far that is, 0 to 1."""
    # Lines that move would fill a log file.
    if not sys.stderr.isatty():
        with how_far.told() as tell:
            yield lambda share, text: tell(f"{text}, {share:.0%}")
        return
    from rich.progress import Progress

    # On stderr, and gone when the work is done: stdout is for the answer.
    with Progress(console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(first, total=1.0)
        yield lambda share, text: bar.update(row, completed=share, description=text)


@contextmanager
def share_progress(task: str) -> Iterator[Callable[..., None]]:
    """A function `watch(share, remark)` that moves the bar to the share of the work that is done, 0 to 1."""
    with described_progress(f"{task}: building and compiling") as show:
        yield lambda share, remark="": show(share, f"{task}{remark}")


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """A function `watch(text, share)` that shows what a long job is doing and how far that part of it is."""
    with described_progress("reading") as show:
        yield lambda text, share: show(share, text)


@contextmanager
def progress(t_end: float) -> Iterator[Watch]:
    """A function `watch(t)` that moves the bar to the simulated time t [s]."""
    if not sys.stderr.isatty():
        with how_far.told() as tell:
            yield lambda t: tell(f"{t:.4g} of {t_end:.4g} s simulated")
        return
    with terminal_bar("simulating", t_end, "s") as watch:
        yield watch


class Jobs:
    """Progress of jobs that follow each other: a bar on a terminal, elsewhere a line for each, with the time left."""

    def __init__(self) -> None:
        self.began = time.monotonic()

    @contextmanager
    def job(self, k: int, count: int, name: str) -> Iterator[Watch]:
        """While job k of so many, from 0, goes on: a function of the share of it that is done."""
        title = f"{k + 1} of {count}: {name}"
        if not sys.stderr.isatty():
            print(f"{title}{self._left(k / count)}", file=sys.stderr, flush=True)
        with share_progress(title) as bar:

            def watch(share: float) -> None:
                bar(share, self._left((k + share) / count))

            yield watch

    def _left(self, done: float) -> str:
        """The time that is left where a share of all is done, as a remark."""
        if not done:
            return ""
        left = (time.monotonic() - self.began) * (1 / done - 1)
        return (
            f" (about {left:.0f} s left)"
            if left < 120
            else f" (about {left / 60:.0f} min left)"
        )


@contextmanager
def counted_progress(
    things: str,
) -> Iterator[Callable[[int, int, float | None, int], None]]:
    """A function `watch(done, total, rate, failed)` that shows how many are done, and how long the rest takes."""
    if not sys.stderr.isatty():
        with how_far.told() as tell:

            def say(done: int, total: int, rate: float | None, failed: int) -> None:
                pace, left = _pace(rate, failed), _left(done, total, rate)
                tell(f"{done} of {total} {things}, {pace}, left {left}")

            yield say
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.completed} of {task.total} {task.description}"),
        BarColumn(),
        TextColumn("{task.fields[pace]}"),
        TimeElapsedColumn(),
        TextColumn("left {task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(things, total=0, pace="starting", left="?")

        def watch(done: int, total: int, rate: float | None, failed: int) -> None:
            pace, left = _pace(rate, failed), _left(done, total, rate)
            bar.update(row, completed=done, total=total, pace=pace, left=left)

        yield watch


def _pace(rate: float | None, failed: int) -> str:
    """How many are done in a second, and how many came to nothing."""
    pace = "starting" if rate is None else f"{rate:.3g}/s"
    return f"{pace}, {failed} failed" if failed else pace


def _left(done: int, total: int, rate: float | None) -> str:
    """How long the rest takes."""
    return "?" if rate is None else _duration((total - done) / rate)


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
