"""How far a long computation has come: a bar in a terminal or a notebook, lines of text elsewhere."""

import html
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from importlib import import_module
from time import monotonic
from typing import Any

Watch = Callable[[float], None]

PATIENCE = 1.0  # [s] after which a bar appears unless `progress` is given
LINES = 10  # for a whole computation, where no bar can be drawn
PREPARING = "building and compiling"


@contextmanager
def shown_progress(
    task: str, total: float, unit: str, progress: Any, watch: Watch
) -> Iterator[Watch]:
    """A callback that takes how much is done, moves a bar and calls `watch`.

    Args:
        task: what is done, such as `simulating`.
        total: how much there is to do.
        unit: of that.
        progress: True for a bar from the beginning, or lines of text where there is neither a terminal nor a notebook;
            False for none; None for a bar in terminals and notebooks if the computation takes longer than a second.
        watch: called likewise.
    """
    if progress not in (None, True, False):
        raise ValueError(f"progress: {progress!r}: must be True, False or None")
    patience = monotonic() + PATIENCE
    with ExitStack() as shown:
        bar: Watch | None = None
        if progress:
            bar = shown.enter_context(_bar(task, total, unit, with_lines=True))

        def show(done: float) -> None:
            nonlocal bar
            if bar is None and progress is None and monotonic() > patience:
                bar = shown.enter_context(_bar(task, total, unit, with_lines=False))
            if bar is not None:
                bar(done)
            watch(done)

        yield show


def _bar(
    task: str, total: float, unit: str, with_lines: bool
) -> AbstractContextManager[Watch]:
    """A bar for a notebook or a terminal; lines of text elsewhere."""
    if _notebook() is not None:
        return notebook_bar(task, total, unit)
    if sys.stderr.isatty():
        return terminal_bar(task, total, unit)
    return text_lines(task, total, unit) if with_lines else _silence()


@contextmanager
def _silence() -> Iterator[Watch]:
    yield lambda done: None


def _reached(done: float, total: float, unit: str) -> str:
    return f"{done:.3g} of {total:g} {unit}".rstrip()


@contextmanager
def terminal_progress(
    first: str, estimates: bool = True
) -> Iterator[Callable[..., None]]:
    """A function `show(share, text, remark)` of a bar on stderr, removed at the end: stdout is for the answer.

    Args:
        first: text until the first call: the model is built and compiled before the first steps.
        estimates: the time that is left, too.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    left = (TextColumn("left"), TimeRemainingColumn()) if estimates else ()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[remark]}"),
        TimeElapsedColumn(),
        *left,
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        row = bar.add_task(first, total=1.0, remark="")

        def show(share: float, text: str, remark: str = "") -> None:
            bar.update(row, completed=share, description=text, remark=remark)

        yield show


@contextmanager
def terminal_bar(task: str, total: float, unit: str) -> Iterator[Watch]:
    """A bar on stderr for so much work in a unit."""
    with terminal_progress(PREPARING) as show:
        yield lambda done: show(done / total, task, _reached(done, total, unit))


@contextmanager
def text_lines(task: str, total: float, unit: str) -> Iterator[Watch]:
    """A line on stderr for every tenth of the work."""
    shown = 0

    def show(done: float) -> None:
        nonlocal shown
        part = int(LINES * done / total)
        if part > shown:
            shown = part
            reached = _reached(done, total, unit)
            percent = 100 * done / total
            print(f"{task}: {percent:.0f} %, {reached}", file=sys.stderr, flush=True)

    yield show


# --- notebooks -----------------------------------------------------------------------------------------------------


def _notebook() -> Any:
    """IPython's module of displays in a notebook, None elsewhere."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    # The shell of a terminal has no kernel.
    if shell is None or getattr(shell, "kernel", None) is None:
        return None

    return import_module("IPython.display")


@contextmanager
def notebook_bar(task: str, total: float, unit: str) -> Iterator[Watch]:
    """A bar under the cell, removed at the end."""
    display = _notebook()
    place = display.display(display.HTML(_bar_html(PREPARING, 0.0)), display_id=True)

    def show(done: float) -> None:
        words = f"{task}: {_reached(done, total, unit)}"
        place.update(display.HTML(_bar_html(words, done / total)))

    try:
        yield show
    finally:
        place.update(display.HTML(""))


def _bar_html(words: str, share: float) -> str:
    return (
        f'<progress value="{share:.4f}" max="1" style="width: 20em"></progress> '
        f"<span>{html.escape(words)}</span>"
    )
