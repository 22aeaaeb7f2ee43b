"""How the command of a long verb shows the way: by a bar, and by what is there where it is stopped."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from jaxnative.compiled import compiling

from ..runs.failures import FailedRun, UnsavedRun
from ..verbs.verb import Verb
from .interrupt import stopping_between_steps, telling_first
from .output import console, print_summary
from .progress import Jobs, Watch, counted_progress, progress, share_progress, stages

if TYPE_CHECKING:
    from ..runs.saved_run import PreparedRun


@contextmanager
def comparison(quiet: bool) -> Iterator[Any]:
    """A bar for each controller; where the comparison is stopped, the rows that are done are printed unless quiet."""
    # What commands show is imported with its verb.
    from ..studies.controller_comparison import ComparisonWatch

    jobs = Jobs()
    tables: list[Any] = []

    def tell() -> None:
        if tables and not quiet:
            print_summary(console(), tables[-1].summary())

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Watch]:
        with jobs.job(k, count, name) as bar, stopping_between_steps(bar) as watch:
            yield watch

    # Until the first step of a run a signal leaves at once: what is there is told before.
    with telling_first(tell):
        try:
            yield ComparisonWatch(law, tables.append)
        except FailedRun as failure:
            tables.append(failure.result)
            tell()
            raise


@contextmanager
def study_runs(quiet: bool) -> Iterator[Any]:
    """A bar with rate and time left; a signal stops the study, and what is done is kept."""
    from ..studies.sweep import interruptions

    with (
        interruptions(),
        counted_progress("runs") as show,
        stopping_between_steps(lambda _: None) as stop,
    ):

        def watch(tally: Any) -> None:
            show(tally.done, tally.runs, tally.rate, tally.failed)
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
            # The run is complete, and its end is worth seeing; why files are missing is told like every failure.
            # A reader that has gone, for which rich leaves, does not make a success of it.
            with suppress(OSError, SystemExit):
                if not quiet:
                    print_summary(screen, failure.result.summary())
            raise

    yield session


# By the word that a verb has for it; each gives what the function of the verb is watched by.
BARS: dict[str, Callable[[bool], AbstractContextManager[Any]]] = {
    "modes": lambda quiet: share_progress("modes"),
    "stages": lambda quiet: stages(),
    "controllers": comparison,
    "runs": study_runs,
    "run": one_run,
}


@contextmanager
def watching(verb: Verb, quiet: bool) -> Iterator[Any]:
    """What the function of a verb tells how far it is; None of short ones. `quiet`: partial results are not shown."""
    if not verb.progress:
        yield None
        return
    with BARS[verb.progress](quiet) as watch:
        yield watch
