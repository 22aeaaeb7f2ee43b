"""A study as a user writes it: one analysis, the keys that vary, and the metrics."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from ..describe.control_study import ControlStudy
from ..describe.robot import Robot, Version
from ..describe.scenario import Scenario
from ..files.description_files import build, library_names, problem_of
from ..files.document import Document
from ..files.errors import DescriptionError, Problem, nearest, refused
from ..files.named_files import Packages, known_packages, read_with_named_files
from ..files.part import Finding, Part, finding, findings_at, plain
from ..files.quantity import Whole
from ..files.table_file import read_table
from ..files.units import unit_of
from ..parameters import Locked
from .axis import MOST, Axis, AxisEntries, axis_number
from .columns import check_columns
from .keys import Base, changes_of, check_key, paths_of, unit_of_key
from .metrics import (
    MetricEntries,
    MetricRequest,
    changed_meanings,
    metric_findings,
    of_each_controller,
)
from .sampling import (
    GRID,
    SALTELLI,
    SAMPLERS,
    ZIP,
    Design,
    grid,
    samples,
    sampling_name,
    table_design,
    zip_axes,
)

Analysis = Literal["simulate", "static", "modes", "linearize", "control"]
Sampling = Annotated[
    Literal["grid", "zip", "random", "sobol", "halton", "latin-hypercube", "saltelli"],
    BeforeValidator(sampling_name),
]
TIME_GRID = ("initial.time", "t_end", "output_dt")  # keys of the output times
CHECKED = 20  # values of a list that are tried on the scenario before the study begins
CHUNK = 64  # runs that are computed and stored together, at most
CHUNKS = (
    32  # into which a small study is divided, so that all cores have something to do
)


class TableFile(Part):
    """A CSV file: a header of keys, with units if you like (`payload.mass [g]`), and one row for each run."""

    file: str


class Bound(Part):
    """Limits of a metric in a specification."""

    below: Annotated[float, BeforeValidator(axis_number)] | None = None
    above: Annotated[float, BeforeValidator(axis_number)] | None = None

    @override
    def findings(self) -> list[Finding]:
        if self.below is None and self.above is None:
            return [finding("must have below or above")]
        return []


class AnalysisOptions(Part):
    """How modes and linear models are taken."""

    locked: Locked = False
    damped: bool = False
    kp: Any = None
    kd: Any = None


def _scenario_or_name(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


class Study(Part):
    """One analysis over many values of chosen keys."""

    lissom: Version = 1
    analysis: Analysis = "simulate"
    # Library name, file, or the scenario (or robot, or comparison of controllers) inline.
    scenario: Annotated[Any, BeforeValidator(_scenario_or_name)]
    # Keys of scenario and robot with other values in all runs, by dotted path.
    changes: dict[str, Any] = {}
    over: dict[str, Axis] = {}
    table: TableFile | None = None
    sampling: Sampling = "grid"
    samples: Annotated[int, Whole(1, MOST)] | None = None
    seed: Annotated[int, Whole(0, 2**63 - 1)] = 0
    metrics: tuple[MetricRequest, ...] = ()
    # Columns of a run over time: q.upper, torque.upper, position.lower/tip.x, deflection.lower/tip, energy.kinetic.
    series: tuple[str, ...] = ()
    runs: Literal["none", "all"] = "none"  # whole runs that are stored
    options: AnalysisOptions = AnalysisOptions()
    specification: dict[str, Bound] = {}  # by the names of metrics
    chunk: Annotated[int, Whole(1, 100_000)] | None = None  # runs stored together

    @classmethod
    def load(cls, path: str | Path, packages: Packages | None = None) -> "Study":
        """The study of a file.

        Raises:
            DescriptionError: with every problem of the file.
        """
        with known_packages(packages):
            document = read_with_named_files(_existing_file(path))
            study = build(cls, document)
            try:
                study.check()
            except DescriptionError as failure:
                raise DescriptionError(_placed(failure, document)) from None
            return study

    @classmethod
    def of(cls, study: Any) -> "Study":
        """The study itself, or that of a file or of plain data, checked."""
        if isinstance(study, str | Path):
            return cls.load(study)
        if not isinstance(study, Study):
            study = build(cls, Document(None, study, {}))
        study.check()
        return study

    @override
    def findings(self) -> list[Finding]:
        findings = [*self._sources(), *self._axes(), *self._metric_findings()]
        for k, request in enumerate(self.metrics):
            findings += findings_at(
                ("metrics", k), metric_findings(self.analysis, request)
            )
        names = [request.label for request in self.metrics]
        for name in sorted({name for name in names if names.count(name) > 1}):
            message = "two metrics have this name: give one of them a name of its own"
            findings.append(finding(message, "metrics", value=name))
        return findings

    def _sources(self) -> list[Finding]:
        if self.table is not None and self.over:
            return [finding("a study has keys (over) or a table, not both", "table")]
        if self.table is None and not self.over:
            message = "names no key: over: {payload.mass: {from: 0, to: 2, count: 50}}"
            return [finding(message, "over")]
        return []

    def _axes(self) -> list[Finding]:
        findings = []
        drawn = self.sampling in SAMPLERS
        for key, axis in self.over.items():
            if drawn and axis.count is not None:
                message = (
                    f"sampling: {self.sampling} draws `samples` runs; leave it out"
                )
                findings.append(
                    finding(message, "over", key, "count", value=axis.count)
                )
            if not drawn and axis.distribution is not None:
                message = f"a distribution needs sampling: {' or '.join(SAMPLERS)}"
                findings.append(finding(message, "over", key, axis.distribution))
            if not drawn and axis.start is not None and axis.count is None:
                message = "missing: how many values, such as 50"
                findings.append(finding(message, "over", key, "count"))
        if drawn and self.samples is None:
            findings.append(finding("missing: how many, such as 1000", "samples"))
        if not drawn and self.samples is not None:
            message = f"sampling: {self.sampling} takes all values; leave it out"
            findings.append(finding(message, "samples", value=self.samples))
        if findings:
            return findings
        return [*self._counts(), *self._powers()]

    def _counts(self) -> list[Finding]:
        counts = {key: _count(axis) for key, axis in self.over.items()}
        if self.sampling == ZIP and len(set(counts.values())) > 1:
            each = ", ".join(f"{key} has {n}" for key, n in counts.items())
            message = f"sampling: zip needs as many values for each key: {each}"
            return [finding(message, "over")]
        total = float(np.prod([float(n) for n in counts.values()]))
        if self.sampling == GRID and self.over and total > MOST:
            return [finding(f"{total:.0f} runs, at most {MOST}", "over")]
        return []

    def _powers(self) -> list[Finding]:
        n = self.samples
        if self.sampling == SALTELLI and n is not None and n & (n - 1):
            power = 2 ** int(np.round(np.log2(n)))
            message = f"must be a power of two, such as {power}: Sobol indices need it"
            return [finding(message, "samples", value=n)]
        return []

    def _metric_findings(self) -> list[Finding]:
        if not (self.metrics or self.series or self.runs != "none"):
            return [finding("saves nothing: name metrics, series or runs", "metrics")]
        findings = []
        if self.analysis != "simulate" and self.series:
            message = f"only simulations have them, not {self.analysis}"
            findings.append(finding(message, "series"))
        if self.analysis != "simulate" and self.runs != "none":
            message = f"only simulations have them, not {self.analysis}"
            findings.append(finding(message, "runs", value=self.runs))
        for key in self.over:
            if self.series and not set(TIME_GRID).isdisjoint(paths_of(key)):
                message = "time series need one time grid: it cannot vary"
                findings.append(finding(message, "over", key))
        return findings

    # --- what it says ----------------------------------------------------------------------------------------------

    @cached_property
    def base(self) -> Base:
        """The scenario of all runs, or the comparison, with the changes that they share.

        Raises:
            DescriptionError: it cannot be built.
        """
        scenario = _scenario(self.scenario, self.analysis)
        if not self.changes:
            return scenario
        try:
            return scenario.replace(self.changes)
        except DescriptionError as failure:
            problems = [_in_changes(problem) for problem in failure.problems]
            raise DescriptionError(problems) from None

    @cached_property
    def design(self) -> Design:
        """The values of all runs."""
        if self.table is not None:
            return _design_of_table(self.table)
        if self.sampling == GRID:
            return grid(self.over)
        if self.sampling == ZIP:
            return zip_axes(self.over)
        assert self.samples is not None
        return samples(self.over, self.sampling, self.samples, self.seed)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the keys in the results."""
        axes = [self.over.get(key) for key in self.design.keys]
        named = [axis.label if axis is not None else None for axis in axes]
        pairs = zip(named, self.design.keys, strict=True)
        # Files list the labels with spaces between them.
        plain_names = (
            (label, paths_of(key)[0].replace(" ", "_")) for label, key in pairs
        )
        return tuple(label or name for label, name in plain_names)

    def display_value(self, key: str, value: Any) -> Any:
        """The value of a key as results show it."""
        axis = self.over.get(key)
        return value if axis is None else axis.display_value(value)

    @property
    def chunk_size(self) -> int:
        """Runs that are computed and stored together; the study fixes which these are."""
        if self.chunk is not None:
            return self.chunk
        return int(np.clip(self.design.count // CHUNKS, 1, CHUNK))

    @cached_property
    def requests(self) -> tuple[MetricEntries, ...]:
        """The metrics, those of a comparison one for each controller."""
        if not isinstance(self.base, ControlStudy):
            return self.metrics
        return of_each_controller(self.metrics, self.base.controllers)

    @property
    def notes(self) -> tuple[str, ...]:
        """Metrics whose names meant something else in an earlier version, one line each."""
        return changed_meanings(self.analysis, self.metrics)

    def run_scenario(self, k: int) -> Base:
        """The scenario of one run, or its comparison."""
        values = self.design.settings(k, k + 1)[0]
        return self.base.replace(changes_of(self.base, self.design.keys, values))

    def units(self) -> dict[str, str]:
        """Units of the keys, by key."""
        scenario = self.run_scenario(0)
        return {key: unit_of_key(scenario, key) for key in self.design.keys}

    def check(self) -> None:
        """Tries the keys on the scenario, with values from both ends of their ranges.

        Raises:
            DescriptionError: a key that is not there, or a value that it does not take.
        """
        # A scenario or a change that is wrong has its own field: no key of the study is to blame.
        base = self.base
        problems: list[Problem] = []
        for key, values in self._tried_values():
            try:
                check_key(base, self.analysis, key, values)
            except DescriptionError as failure:
                place = f"over.{key}" if self.table is None else f"table.{key}"
                problems += [replace(p, field=place) for p in failure.problems]
        if problems:
            raise DescriptionError(problems)
        self._check_specification()
        check_columns(self.analysis, self.requests, self.series, self.run_scenario(0))

    def _check_specification(self) -> None:
        names = [request.label for request in self.requests]
        for name in self.specification:
            if name not in names:
                guess = nearest(name, names) or "."
                message = f"no metric of the study{guess} Metrics: {', '.join(names)}"
                raise refused(f"specification.{name}", None, message)

    def _tried_values(self) -> list[tuple[str, list[Any]]]:
        if self.table is not None:
            design = self.design
            columns = zip(design.keys, design.columns, strict=True)
            return [(key, [column.min(), column.max()]) for key, column in columns]
        return [(key, _ends(axis)) for key, axis in self.over.items()]


def _in_changes(problem: Problem) -> Problem:
    """A problem of a change, named by its place in the study; one in a file stays where it is."""
    if problem.file is not None:
        return problem
    return replace(problem, field=f"changes.{problem.field}")


def _existing_file(path: str | Path) -> Path:
    """The file of a study."""
    file = Path(path).expanduser()
    if file.is_file():
        return file
    reason = "is a folder, not a study" if file.is_dir() else "no such file"
    raise DescriptionError([Problem(str(path), None, "", None, reason)])


def _count(axis: AxisEntries) -> int:
    return len(axis.values) if axis.values is not None else (axis.count or 0)


def _ends(axis: AxisEntries) -> list[Any]:
    """Values of an axis to be tried, as they are written: their units are looked at too."""
    if axis.values is not None:
        return list(axis.values[:CHECKED])
    if axis.distribution is None:
        return [axis.start, axis.stop]
    numbers = getattr(axis, str(axis.distribution))
    return list(numbers) if axis.distribution != "normal" else [numbers[0]]


def _scenario(source: Any, analysis: str) -> Base:
    """The scenario that a study names or holds; analyses of a robot take the robot of a library name."""
    if analysis == "control":
        return _comparison(source)
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Robot):
        return Scenario(robot=source)
    if isinstance(source, Mapping):
        if "links" in source:
            return Scenario(robot=Robot.from_dict(source))
        return Scenario.from_dict(source)
    if not isinstance(source, str):
        message = "must be a name, a file, or a scenario"
        raise refused("scenario", source, message)
    if analysis != "simulate" and source in library_names():
        return Scenario(robot=Robot.load(source))
    return Scenario.load(source)


def _comparison(source: Any) -> ControlStudy:
    """The comparison of controllers that a study names or holds."""
    if isinstance(source, ControlStudy):
        return source
    if isinstance(source, Mapping):
        return ControlStudy.from_dict(source)
    if isinstance(source, str):
        return ControlStudy.load(source)
    message = "must be a comparison of controllers: a name, a file, or its entries"
    raise refused("scenario", None, message)


def _design_of_table(table: TableFile) -> Design:
    path = Path(table.file).expanduser()
    try:
        names, rows = read_table(path)
    except PydanticCustomError as reason:
        raise refused("table.file", None, reason.message()) from None
    if not names:
        message = "must begin with a header of keys: payload.mass [kg], upper [deg]"
        raise refused("table.file", table.file, message)
    keys, factors = zip(*(_key_and_factor(name) for name in names), strict=True)
    return table_design(keys, rows * np.asarray(factors))


def _key_and_factor(name: str) -> tuple[str, float]:
    """`payload.mass [g]` as the key and what its numbers are multiplied by."""
    key, bracket, unit = name.partition("[")
    if not bracket:
        return key.strip(), 1.0
    try:
        return key.strip(), float(unit_of(unit.strip().removesuffix("]")).factor)
    except ValueError as reason:
        raise refused("table.file", name, str(reason)) from None


def _placed(failure: DescriptionError, document: Document) -> list[Problem]:
    """Problems of a study in its file, with their lines; those of files that it names stay as they are."""
    placed = []
    for problem in failure.problems:
        if problem.file is None:
            head, _, key = problem.field.partition(".")
            located = Finding((head, key) if key else (head,), problem.value, "")
            line = problem_of(located, document).line
            problem = replace(problem, file=document.file, line=line)
        placed.append(problem)
    return placed


def study_data(study: Study) -> dict[str, Any]:
    """A study as plain data, the scenario by name where it has one."""
    data = plain(study)
    source = study.scenario
    if isinstance(source, Scenario | Robot | ControlStudy):
        data["scenario"] = source.to_dict()
    return data
