"""The runs at the bad end of each metric: which they are, their values, and the command that repeats them."""

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..files.part import is_list
from .axis import column_of
from .keys import POSE, changes_of
from .metric import SMALLEST
from .metrics import metric_of
from .study import Study


class WorstCase(NamedTuple):
    """A run at the bad end of a metric."""

    metric: str
    run: int
    value: float
    unit: str
    values: dict[str, Any]  # of the keys, by label
    command: str | None  # that repeats it; None where the scenario has no name


def worst_cases(study: Study, data: Any, count: int = 1) -> list[WorstCase]:
    """The worst runs of every metric; of metrics with several numbers, by the first of them."""
    cases = []
    for request in study.requests:
        known = metric_of(study.analysis, request)
        numbers = np.asarray(data[request.label].values, dtype=float)
        if numbers.ndim > 1:
            numbers = numbers[:, 0]
        end = request.worst or known.worst
        for k in _order(numbers, end)[:count]:
            case = WorstCase(
                metric=request.label,
                run=int(k),
                value=float(numbers[k]),
                unit=known.unit,
                values=run_values(study, int(k)),
                command=command_of(study, int(k)),
            )
            cases.append(case)
    return cases


def _order(numbers: np.ndarray, end: str) -> np.ndarray:
    """Places of the numbers, the worst first; runs without a number are left out."""
    sign = 1.0 if end == SMALLEST else -1.0
    order = np.argsort(sign * numbers, kind="stable")
    return order[~np.isnan(numbers[order])]


def run_values(study: Study, k: int) -> dict[str, Any]:
    """The values of the keys in one run, by label."""
    values = study.design.settings(k, k + 1)[0]
    shown = [
        study.display_value(key, v)
        for key, v in zip(study.design.keys, values, strict=True)
    ]
    return dict(zip(study.labels, shown, strict=True))


def command_of(study: Study, k: int) -> str | None:
    """The command line that computes one run alone."""
    if not isinstance(study.scenario, str):
        return None
    design = study.design
    changes = {key: _read(value) for key, value in study.changes.items()}
    changes |= changes_of(study.base, design.keys, design.settings(k, k + 1)[0])
    verb = ["control", "compare"] if study.analysis == "control" else [study.analysis]
    words = ["lissom", *verb, study.scenario]
    if study.analysis not in ("simulate", "control") and POSE in changes:
        words += ["--q", ",".join(repr(float(q)) for q in changes.pop(POSE))]
    words += _option_words(study)
    for key, value in changes.items():
        words += ["--set", f"{key}={_yaml(value)}"]
    return shlex.join(words)


def _read(value: Any) -> Any:
    return value if is_list(value) else column_of([value])[0]


def _option_words(study: Study) -> list[str]:
    options = study.options
    words = []
    if options.locked:
        words.append("--locked")
    if options.damped:
        words.append("--damped")
    for name in ("kp", "kd"):
        gains = getattr(options, name)
        if gains is not None:
            listed = gains if is_list(gains) else [gains]
            words += [f"--{name}", ",".join(repr(float(g)) for g in listed)]
    return words


def _yaml(value: Any) -> str:
    """A value as `--set` reads it; JSON is YAML, and numbers keep all their digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) or is_list(value):
        return json.dumps(value)
    return json.dumps(value.item() if isinstance(value, np.generic) else value)
