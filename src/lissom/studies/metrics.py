"""Numbers by name that a study keeps of each run, and which analyses give them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator

from ..describe.errors import nearest
from ..describe.names import Name
from ..describe.part import Finding, Part, finding
from ..describe.quantity import Quantity, Whole

LARGEST, SMALLEST = "largest", "smallest"
MODES = 6  # whose frequencies are kept unless a study says how many
Worst = Literal["largest", "smallest"]


class Metric(NamedTuple):
    """A number of a run, or a row of numbers, by name."""

    name: str
    unit: str
    worst: str  # which end of its range is the bad one
    about: str  # what it is, for people
    measure: Callable[
        [Any, Any], Any
    ]  # (outcome of the analysis, request) -> number(s)
    options: tuple[str, ...] = ()  # keys of a request that it reads
    is_row: bool = False  # one number for each mode


_known: dict[str, dict[str, Metric]] = {}  # by analysis and name


def metric(
    analysis: str,
    unit: str,
    *options: str,
    worst: str = LARGEST,
    is_row: bool = False,
) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """Decorator of the function that measures: its name and its docstring are those of the metric."""

    def register(measure: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        name = measure.__name__
        about = (measure.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        known = Metric(name, unit, worst, about, measure, options, is_row)
        _known.setdefault(analysis, {})[name] = known
        return measure

    return register


def metrics_of(analysis: str) -> dict[str, Metric]:
    """The metrics that an analysis gives, by name."""
    # They register themselves where they stand.
    from . import model_metrics as model_metrics
    from . import run_metrics as run_metrics

    return _known.get(analysis, {})


def _written_short(value: Any) -> Any:
    return {"metric": value} if isinstance(value, str) else value


class MetricEntries(Part):
    """A metric that a study asks for, and what it is measured on."""

    metric: str
    name: Name | None = None  # in the results; default: that of the metric
    node: str | None = None  # default: the last link's tip
    # Time at which the motion ends [s]; default: the end of inputs and reference.
    after: Annotated[float, Quantity("s", least=0)] | None = None
    count: Annotated[int, Whole(1, 1000)] | None = None  # of modes
    worst: Worst | None = None

    @property
    def label(self) -> str:
        """Name of its numbers in the results."""
        return self.name or self.metric


MetricRequest = Annotated[MetricEntries, BeforeValidator(_written_short)]


def metric_findings(analysis: str, request: MetricEntries) -> list[Finding]:
    """What does not fit the analysis."""
    known = metrics_of(analysis)
    if request.metric not in known:
        return [finding(_misfit(analysis, request.metric), value=request.metric)]
    found = []
    for option in ("node", "after", "count"):
        is_given = getattr(request, option) is not None
        if is_given and option not in known[request.metric].options:
            message = f"{request.metric} does not take it"
            found.append(finding(message, option, value=getattr(request, option)))
    return found


def _misfit(analysis: str, name: str) -> str:
    known = metrics_of(analysis)
    accepted = f"Accepted: {', '.join(known)}"
    others = [other for other in _known if name in _known[other]]
    if others:
        which = " and ".join(others)
        return f"does not fit the analysis {analysis}: it is one of {which}. {accepted}"
    guess = nearest(name, known) or "."
    return f"no such metric{guess} {accepted}"


def metric_of(analysis: str, request: MetricEntries) -> Metric:
    """The metric that a request names."""
    return metrics_of(analysis)[request.metric]


def width(known: Metric, request: MetricEntries) -> int | None:
    """How many numbers a metric gives; None for one alone."""
    return (request.count or MODES) if known.is_row else None
