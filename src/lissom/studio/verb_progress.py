"""How a verb tells the pages how far it is: what its function is watched by, from the word of its row."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from inspect import signature
from time import monotonic
from typing import Any

from ..verbs.verb import Verb

# Called with what is known of the progress; raises KeyboardInterrupt where the call is to stop.
Watch = Callable[[dict[str, Any]], None]

REPORT_S = 0.1  # between two reports of a run
PICTURE_S = 0.25  # between two pictures of a run
PATIENCE_S = 0.8  # before the first of them


def shares(watch: Watch, unit: str) -> Callable[..., None]:
    """Reports of the share that is done."""

    def report(share: float, remark: str = "") -> None:
        watch({"t": share, "t_end": 1.0, "unit": unit})

    return report


@contextmanager
def mapped(watch: Watch) -> Iterator[Any]:
    """The share of a map that is done."""
    yield shares(watch, "of the map")


@contextmanager
def comparison(watch: Watch) -> Iterator[Any]:
    """How many controllers have been run."""
    from ..studies.controller_comparison import ComparisonWatch

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Any]:
        def report(share: float) -> None:
            watch({"t": k + share, "t_end": float(count), "unit": "controllers"})

        report(0.0)
        yield report

    yield ComparisonWatch(law=law)


@contextmanager
def study_runs(watch: Watch) -> Iterator[Any]:
    """How many runs of a study are done; one that is stopped keeps them."""
    from ..studies.sweep import interruptions

    def report(tally: Any) -> None:
        watch({"t": float(tally.done), "t_end": float(tally.runs), "unit": "runs"})

    with interruptions():
        yield report


@contextmanager
def one_run(watch: Watch) -> Iterator[Any]:
    """The time that is simulated, and the robot as it is then."""
    from ..show.live_picture import live_picture

    @contextmanager
    def session(prepared: Any) -> Iterator[Any]:
        t_end = float(prepared.scenario.t_end)
        next_report, next_picture = 0.0, None

        def report(t: float) -> None:
            nonlocal next_report
            now = monotonic()
            if now > next_report:
                next_report = now + REPORT_S
                watch({"t": t, "t_end": t_end})

        def observe(snapshot: Any) -> None:
            nonlocal next_picture
            now = monotonic()
            # What is over at once is not drawn on the way.
            if next_picture is None:
                next_picture = now + PATIENCE_S
            if now > next_picture:
                next_picture = now + PICTURE_S
                picture = live_picture(prepared.model, snapshot)
                watch({"t": snapshot.t, "t_end": t_end, "picture": picture})

        yield report, observe

    yield session


REPORTS: dict[str, Callable[[Watch], AbstractContextManager[Any]]] = {
    "modes": mapped,
    "controllers": comparison,
    "runs": study_runs,
    "run": one_run,
}


@contextmanager
def reporting(verb: Verb, watch: Watch) -> Iterator[Any]:
    """What the function of a verb is watched by; None where it tells nothing."""
    if verb.progress in REPORTS:
        with REPORTS[verb.progress](watch) as report:
            yield report
    elif verb.watch in signature(verb.load()).parameters:
        yield shares(watch, "done")
    else:
        yield None
