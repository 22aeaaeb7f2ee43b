"""Metrics: numbers by name that a study saves of each run; the functions that measure them register themselves."""

from collections.abc import Callable
from typing import Any, NamedTuple

LARGEST, SMALLEST = "largest", "smallest"
MODES = 6  # number of frequencies unless a study says otherwise


class Metric(NamedTuple):
    """A number of a run, or a row of numbers, by name."""

    name: str
    unit: str
    worst: str  # which end of its range is the bad one
    about: str  # description in words
    # (outcome of the analysis, request) -> number(s)
    measure: Callable[[Any, Any], Any]
    options: tuple[str, ...] = ()  # keys of a request that it reads
    is_row: bool = False  # one number for each mode
    changed: str = ""  # what the name meant before, and what that is called now


known_metrics: dict[str, dict[str, Metric]] = {}  # by analysis and name


def metric(
    analysis: str,
    unit: str,
    *options: str,
    worst: str = LARGEST,
    is_row: bool = False,
    changed: str = "",
) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """Decorator of the function that measures: its name and its docstring are those of the metric."""

    def register(measure: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        name = measure.__name__
        about = (measure.__doc__ or "").strip().partition("\n")[0].rstrip(".")
        known = Metric(name, unit, worst, about, measure, options, is_row, changed)
        known_metrics.setdefault(analysis, {})[name] = known
        return measure

    return register
