"""Progress of verbs for the pages: the callbacks of their functions, by the name in their rows."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from inspect import signature
from time import monotonic
from typing import Any

from ..verbs.verb import Verb

# Called with the progress as data; raises KeyboardInterrupt where the call is to stop.
Watch = Callable[[dict[str, Any]], None]

REPORT_S = 0.1  # between two reports of a run
PICTURE_S = 0.25  # between two pictures of a run
PATIENCE_S = 0.8  # before the first of them


def shares(watch: Watch, unit: str) -> Callable[..., None]:
    """A callback for the finished share."""

    def report(share: float, remark: str = "") -> None:
        watch({"t": share, "t_end": 1.0, "unit": unit})

    return report


def comparison(watch: Watch) -> Any:
    """Callbacks for the number of controllers that have been run."""
    from ..studies.controller_comparison import ComparisonWatch

    @contextmanager
    def law(k: int, count: int, name: str) -> Iterator[Any]:
        def report(share: float) -> None:
            watch({"t": k + share, "t_end": float(count), "unit": "controllers"})

        report(0.0)
        yield report

    return ComparisonWatch(law=law)


@contextmanager
def study_runs(watch: Watch) -> Iterator[Any]:
    """A callback for the number of finished runs of a study; a stopped study returns them."""
    from ..studies.sweep import interruptions

    def report(tally: Any) -> None:
        watch({"t": float(tally.done), "t_end": float(tally.runs), "unit": "runs"})

    with interruptions():
        yield report


def one_run(watch: Watch) -> Callable[[Any], AbstractContextManager[Any]]:
    """Callbacks for the simulated time, and for the robot at that time."""
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
            # A run that is over at once is not drawn.
            if next_picture is None:
                next_picture = now + PATIENCE_S
            if now > next_picture:
                next_picture = now + PICTURE_S
                picture = live_picture(prepared.model, snapshot)
                watch({"t": snapshot.t, "t_end": t_end, "picture": picture})

        yield report, observe

    return session


REPORTS: dict[str, Callable[[Watch], AbstractContextManager[Any]]] = {
    "modes": lambda watch: nullcontext(shares(watch, "of the map")),
    "controllers": lambda watch: nullcontext(comparison(watch)),
    "runs": study_runs,
    "run": lambda watch: nullcontext(one_run(watch)),
}


def reporting(verb: Verb, watch: Watch) -> AbstractContextManager[Any]:
    """What the function of a verb reports its progress to; None where it reports none."""
    if verb.progress in REPORTS:
        return REPORTS[verb.progress](watch)
    has_shares = verb.watch in signature(verb.load()).parameters
    return nullcontext(shares(watch, "done") if has_shares else None)
