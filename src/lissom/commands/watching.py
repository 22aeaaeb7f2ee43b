"""Progress of the command of a long verb: a bar, and the partial result where it is stopped."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from jaxnative.compiled import compiling

from ..progress import Watch
from ..runs.failures import FailedRun, UnsavedRun
from ..verbs.verb import Verb
from .interrupt import reporting_first, stopping_between_steps
from .output import console, print_summary
from .progress import (
    described_progress,
    job_progress,
    progress,
    share_progress,
    study_progress,
)

if TYPE_CHECKING:
    from ..runs.saved_run import PreparedRun


@contextmanager
def comparison(quiet: bool) -> Iterator[Any]:
    """A bar for each controller; where the comparison is stopped, the finished rows are printed unless quiet."""
    from ..studies.controller_comparison import ComparisonWatch

    began = time.monotonic()
    tables: list[Any] = []

    def report() -> None:
        if tables and not quiet:
            print_summary(console(), tables[-1].summary())

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Watch]:
        with job_progress(began, k, count, name) as bar:
            with stopping_between_steps(bar) as watch:
                yield watch

    # Until the first step of a run a signal leaves at once: the finished rows are printed before.
    with reporting_first(report):
        try:
            yield ComparisonWatch(law, tables.append)
        except FailedRun as failure:
            tables.append(failure.result)
            report()
            raise


@contextmanager
def study_runs(quiet: bool) -> Iterator[Any]:
    """A bar with rate and time left; a signal stops the study, and its finished runs are saved."""
    from ..studies.sweep import interruptions

    with (
        interruptions(),
        study_progress() as show,
        stopping_between_steps(lambda _: None) as stop,
    ):

        def watch(tally: Any) -> None:
            show(tally)
            stop(float(tally.done))

        yield watch


@contextmanager
def one_run(quiet: bool) -> Iterator[Any]:
    """Notes before the run starts, a bar while it goes on, and the summary of one whose files could not be written."""

    @contextmanager
    def session(prepared: "PreparedRun") -> Iterator[tuple[Watch, Any]]:
        screen = console()
        for note in () if quiet else prepared.notes:
            screen.print(note)
        try:
            with (
                progress(prepared.scenario.t_end) as bar,
                stopping_between_steps(bar) as watch,
                # One run is over sooner than its code would be compiled well; a long one changes over to good code.
                compiling(quickly=True),
            ):
                yield watch, lambda snapshot: None
        except UnsavedRun as failure:
            # The run is complete: its summary is shown, and the missing files are reported like every failure. Without
            # a reader rich raises SystemExit, which must not turn the failure into a success.
            with suppress(OSError, SystemExit):
                if not quiet:
                    print_summary(screen, failure.result.summary())
            raise

    yield session


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A bar with what is done now, for each stage from 0 to 1."""
    with described_progress("reading") as show:
        yield lambda text, share: show(share, text)


# By the name in a verb's row; each yields what the function of the verb is watched by.
BARS: dict[str, Callable[[bool], AbstractContextManager[Any]]] = {
    "": lambda quiet: nullcontext(),
    "modes": lambda quiet: share_progress("modes"),
    "stages": stages,
    "controllers": comparison,
    "runs": study_runs,
    "run": one_run,
}


def watching(verb: Verb, quiet: bool) -> AbstractContextManager[Any]:
    """What reports the progress of a verb's function; None for short ones. `quiet`: partial results are not shown."""
    return BARS[verb.progress](quiet)
