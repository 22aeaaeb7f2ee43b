"""How far a run has come: a bar on a terminal's stderr, silence everywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Watch = Callable[[float], None]


@contextmanager
def share_progress(task: str) -> Iterator[Watch]:
    """A function `watch(share)` that moves the bar to the share of the work that is done, 0 to 1."""
    # Lines that move would fill a log file.
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    # On stderr, and gone when the work is done: stdout is for the answer.
    with Progress(console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(f"{task}: building and compiling", total=1.0)
        yield lambda share: bar.update(row, completed=share, description=task)


@contextmanager
def progress(t_end: float) -> Iterator[Watch]:
    """A function `watch(t)` that moves the bar to the simulated time t [s]."""
    if not sys.stderr.isatty():
        yield lambda t: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[reached]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        # The first call of `watch` comes with the first steps; until then the model is built and compiled.
        task = bar.add_task("building and compiling", total=t_end, reached="")

        def watch(t: float) -> None:
            bar.update(
                task,
                completed=t,
                description="simulating",
                reached=f"{t:.3g} of {t_end:g} s",
            )

        yield watch


@contextmanager
def stages() -> Iterator[Callable[[str, float], None]]:
    """A function `watch(text, share)` that shows what a long job is doing and how far that part of it is."""
    if not sys.stderr.isatty():
        yield lambda text, share: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda text, share: bar.update(task, description=text, completed=share)


@contextmanager
def counted_progress(
    things: str,
) -> Iterator[Callable[[int, int, float | None, int], None]]:
    """A function `watch(done, total, rate, failed)` that shows how many are done, and how long the rest takes."""
    if not sys.stderr.isatty():
        yield lambda done, total, rate, failed: None
        return
    from rich.console import Console
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
            pace = "starting" if rate is None else f"{rate:.3g}/s"
            pace += f", {failed} failed" if failed else ""
            left = "?" if rate is None else _duration((total - done) / rate)
            bar.update(row, completed=done, total=total, pace=pace, left=left)

        yield watch


def _duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"
