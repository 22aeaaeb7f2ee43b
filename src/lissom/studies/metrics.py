"""The metrics of a study, checked against its analysis."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from ..files.errors import nearest
from ..files.names import Name
from ..files.part import Finding, Part, finding
from ..files.quantity import Quantity, Whole

# These register what they measure.
from . import control_metrics as control_metrics
from . import model_metrics as model_metrics
from . import run_metrics as run_metrics
from .metric import MODES, Metric, known_metrics

Worst = Literal["largest", "smallest"]


def metrics_of(analysis: str) -> dict[str, Metric]:
    """The metrics that an analysis gives, by name."""
    return known_metrics.get(analysis, {})


def _written_short(value: Any) -> Any:
    return {"metric": value} if isinstance(value, str) else value


class MetricEntries(Part):
    """A metric of a study, and what it is measured on."""

    metric: str
    name: Name | None = None  # in the results; default: that of the metric
    node: str | None = None  # default: the last link's tip
    # Time at which the motion ends [s]; default: the end of inputs and reference.
    after: Annotated[float, Quantity("s", least=0)] | None = None
    count: Annotated[int, Whole(1, 1000)] | None = None  # of modes
    controller: str | None = None  # of a comparison; default: each of them
    worst: Worst | None = None

    @property
    def label(self) -> str:
        """Name of its numbers in the results."""
        name = self.name or self.metric
        # A slash would begin a folder in files.
        of = (self.controller or "").replace("/", "-")
        return f"{name}.{of}" if of else name


MetricRequest = Annotated[MetricEntries, BeforeValidator(_written_short)]


def metric_findings(analysis: str, request: MetricEntries) -> list[Finding]:
    """Problems of a metric that does not fit the analysis."""
    known = metrics_of(analysis)
    if request.metric not in known:
        return [finding(_misfit(analysis, request.metric), value=request.metric)]
    findings = []
    for option in ("node", "after", "count", "controller"):
        is_given = getattr(request, option) is not None
        if is_given and option not in known[request.metric].options:
            message = f"{request.metric} does not take it"
            findings.append(finding(message, option, value=getattr(request, option)))
    return findings


def of_each_controller(
    requests: Iterable[MetricEntries], controllers: Iterable[str]
) -> tuple[MetricEntries, ...]:
    """Requests of a comparison, each for one controller: those that name none are meant for all of them."""
    names = list(controllers)
    metrics = []
    for request in requests:
        for name in [request.controller] if request.controller else names:
            metrics.append(request.model_copy(update={"controller": name}))
    return tuple(metrics)


def _misfit(analysis: str, name: str) -> str:
    known = metrics_of(analysis)
    accepted = f"Accepted: {', '.join(known)}"
    others = [other for other in known_metrics if name in known_metrics[other]]
    if others:
        which = " and ".join(others)
        return f"does not fit the analysis {analysis}: it is one of {which}. {accepted}"
    guess = nearest(name, known) or "."
    return f"no such metric{guess} {accepted}"


def metric_of(analysis: str, request: MetricEntries) -> Metric:
    """The metric that a request names."""
    return metrics_of(analysis)[request.metric]


def changed_meanings(
    analysis: str, requests: Iterable[MetricEntries]
) -> tuple[str, ...]:
    """One line for each metric of the study whose name meant something else in an earlier version."""
    names = dict.fromkeys(request.metric for request in requests)
    known = metrics_of(analysis)
    return tuple(
        f"{name}: {known[name].changed}" for name in names if known[name].changed
    )


def width(known: Metric, request: MetricEntries) -> int | None:
    """How many numbers a metric gives; None for one alone."""
    return (request.count or MODES) if known.is_row else None
