"""The runs of a chunk, computed: each gives a row of numbers, or the reason why it has none."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..analyse.linear.linearize import linearize
from ..analyse.modes.modal import modes
from ..describe.control_study import ControlStudy
from ..describe.scenario import Scenario
from ..files.errors import DescriptionError
from ..runs.forecast import affordable_model
from ..runs.start import scenario_times
from ..solve.model import Model
from .chunk import ChunkContent, ChunkTask, blank_columns
from .columns import run_series, stored_name
from .control_metrics import Comparison
from .controller_numbers import setting_of
from .controller_run import controller_run
from .family_of_runs import measure_runs
from .keys import Base, changes_of
from .metrics import metric_of
from .model_metrics import MeasuredEquilibrium
from .recipe import StudyRecipe

BeforeRun = Callable[[int], None]  # takes the number of the next run within its chunk
Outcome = Any  # of an analysis: what its metrics are measured on


def compute_chunk(
    recipe: StudyRecipe,
    task: ChunkTask,
    before_run: BeforeRun = lambda k: None,
    lost: Mapping[int, str] | None = None,
) -> ChunkContent:
    """Rows of all runs of a chunk.

    Args:
        recipe: how they are computed.
        task: which they are.
        before_run: called before each run that is computed alone.
        lost: runs that are not tried, and why: they have ended their process before. If it is given, even empty, the
            runs are computed one by one.
    """
    began = time.perf_counter()
    count = len(task.settings)
    columns = blank_columns(recipe, count)
    reasons = [""] * count
    runs = [b""] * count
    scenarios: dict[int, Base] = {}
    for k, values in enumerate(task.settings):
        if lost and k in lost:
            reasons[k] = lost[k]
            continue
        try:
            changes = changes_of(recipe.base, recipe.keys, values)
            scenarios[k] = recipe.base.replace(changes)
        except DescriptionError as failure:
            reasons[k] = str(failure)
    with using(recipe.base.solver.backend):
        for k, outcome in _outcomes(
            recipe, scenarios, before_run, alone=lost is not None
        ):
            try:
                if isinstance(outcome, Exception):
                    raise outcome
                _measure(recipe, outcome, columns, k)
                if isinstance(outcome, Comparison):
                    reasons[k] = outcome.reason
                if recipe.runs == "all":
                    runs[k] = whole_run(outcome, scenarios[k])
            except Exception as failure:
                reasons[k] = _reason(failure)
                for column in columns.values():
                    column[k] = np.nan
    stored_runs = runs if recipe.runs == "all" else []
    return ChunkContent(columns, reasons, time.perf_counter() - began, stored_runs)


def _reason(failure: Exception) -> str:
    words = " ".join(str(failure).split())
    known = isinstance(failure, RuntimeError | ValueError) and words
    # An unexpected exception is named as Python names it.
    return words if known else f"{type(failure).__name__}: {words}"


def _measure(
    recipe: StudyRecipe, outcome: Outcome, columns: dict[str, np.ndarray], k: int
) -> None:
    for request in recipe.metrics:
        known = metric_of(recipe.analysis, request)
        columns[request.label][k] = known.measure(outcome, request)
    if recipe.series:
        _check_times(recipe, outcome.run)
    for name in recipe.series:
        columns[stored_name(name)][k] = run_series(outcome.run, name)


def _check_times(recipe: StudyRecipe, run: Any) -> None:
    """Time series of all runs stand in one table: a whole `initial` or a row of a table may say other times."""
    if isinstance(recipe.base, Scenario):
        times = scenario_times(recipe.base)
        if not np.array_equal(run.t, times):
            raise ValueError(
                f"time series need one time grid, {times[0]:g} to {times[-1]:g} s in {len(times)} samples: "
                f"this run has {run.t[0]:g} to {run.t[-1]:g} s in {len(run.t)}"
            )


def _outcomes(
    recipe: StudyRecipe,
    scenarios: Mapping[int, Base],
    before_run: BeforeRun,
    alone: bool,
) -> Iterator[tuple[int, Outcome]]:
    """Outcomes of the analysis in any order, with the numbers of their runs; of failed ones the exception."""
    if recipe.analysis == "simulate":
        runs = {k: s for k, s in scenarios.items() if isinstance(s, Scenario)}
        yield from measure_runs(runs, before_run, alone)
        return
    analyse = {"static": _equilibrium, "modes": _modes, "linearize": _linear_model}
    for k, scenario in scenarios.items():
        before_run(k)
        try:
            if isinstance(scenario, ControlStudy):
                yield k, _comparison(scenario, recipe)
                continue
            model = affordable_model(scenario)
            yield k, analyse[recipe.analysis](model, scenario, recipe)
        except Exception as failure:
            yield k, failure


def _comparison(study: ControlStudy, recipe: StudyRecipe) -> Comparison:
    """The numbers of those controllers that the metrics need."""
    setting = setting_of(study)
    first = next(iter(study.controllers))
    wanted = {request.controller for request in recipe.metrics}
    if any(request.metric == "residual_share" for request in recipe.metrics):
        wanted.add(first)
    numbers, failures = {}, {}
    for name in (name for name in study.controllers if name in wanted):
        try:
            numbers[name] = controller_run(setting, name).numbers
        except (DescriptionError, RuntimeError) as failure:
            failures[name] = _reason(failure)
    return Comparison(first, numbers, failures)


def _equilibrium(model: Model, scenario: Scenario, recipe: StudyRecipe) -> Outcome:
    return MeasuredEquilibrium(model, model.static(scenario.initial.q))


def _modes(model: Model, scenario: Scenario, recipe: StudyRecipe) -> Outcome:
    options = recipe.options
    return modes(
        model,
        scenario.initial.q,
        locked=options.locked,
        count=None,
        damped=options.damped,
        kp=options.kp,
        kd=options.kd,
    )


def _linear_model(model: Model, scenario: Scenario, recipe: StudyRecipe) -> Outcome:
    options = recipe.options
    return linearize(
        model,
        scenario.initial.q,
        locked=options.locked,
        kp=options.kp,
        kd=options.kd,
    )


def whole_run(outcome: Outcome, scenario: Base) -> bytes:
    """The run of a simulation as the bytes of its result file."""
    run = outcome.run
    run.facts["scenario"] = json.dumps(scenario.to_dict())
    return run.netcdf()
