"""How far a run has come: a bar on a terminal's stderr, silence everywhere else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..progress import Watch, terminal_bar


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
    with terminal_bar("simulating", t_end, "s") as watch:
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
