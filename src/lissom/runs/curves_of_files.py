"""Curves of runs over time: recorded quantities, section forces, and differences between runs."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from jaxnative.compiled import using

from ..describe import DescriptionError
from ..files.errors import refused
from ..solve.channels import SECTION_FORCES, UnknownNameError, output_named
from ..solve.readings import gauge_readings
from .forecast import affordable_model
from .result_files import loaded_run
from .run import Run
from .run_curves import Curves, recorded_curves
from .sources import scenario_of

if TYPE_CHECKING:
    from ..solve.channels import Channel
    from ..solve.model import Model

# `lower/element0.mz`: a section force or a strain; `*` stands for all elements of the link.
OF_ELEMENT = re.compile(r"(?P<link>[^/]+)/element(?P<number>\d+|\*)\.(?P<signal>\w+)")
FORCES = ("n", "vy", "vz")  # [N]; the other section forces are moments
STRAIN_UNITS = {"strain": "1", "twist": "rad/m", "ky": "1/m", "kz": "1/m"}


class RunCurves(NamedTuple):
    """The curves of one run."""

    run: str
    t: np.ndarray  # [s]
    panels: tuple[Curves, ...]
    missing: tuple[str, ...] = ()  # quantities that this run does not have

    def changed(self, t: np.ndarray, change: Callable[[np.ndarray], np.ndarray]):
        """The same at other times, every curve changed in the same way."""
        panels = []
        for panel in self.panels:
            lines = {name: change(line) for name, line in panel.lines.items()}
            panels.append(panel._replace(lines=lines))
        return self._replace(t=t, panels=tuple(panels))


class CurvesOfRuns(NamedTuple):
    """Curves of runs, and the differences of the others from the first, at its times."""

    runs: tuple[RunCurves, ...]
    differences: tuple[RunCurves, ...]


def curves_of_files(
    files: Sequence[str], what: Sequence[str], most_rows: int | None = None
) -> CurvesOfRuns:
    """Curves of every run, and the differences of the others from the first over the time that they share.

    Args:
        files: result files; the first is what the others are compared with.
        what: `q`, `torque.upper`, `position.lower/tip`, `displacement.lower/tip`, `energy`, `lower/element0.mz`.
        most_rows: of each run, evenly thinned out; None: all.

    Raises:
        DescriptionError: a file that is no run, or that holds no such quantity.
    """
    if not files or not what:
        raise refused("runs", len(files), "a result file and a quantity needed")
    curves = [_run_curves(file, what, is_first=k == 0) for k, file in enumerate(files)]
    first, *others = curves
    apart = [_difference(first, other) for other in others]
    return CurvesOfRuns(
        runs=tuple(_thinned(one, most_rows) for one in curves),
        differences=tuple(_thinned(one, most_rows) for one in apart),
    )


def _run_curves(file: str, wanted: Sequence[str], is_first: bool) -> RunCurves:
    run = loaded_run(file)
    panels, missing = [], []
    for what in wanted:
        try:
            panels += curves_of(file, run, [what])
        except DescriptionError:
            if is_first:
                raise
            missing.append(what)
    return RunCurves(run=file, t=run.t, panels=tuple(panels), missing=tuple(missing))


def curves_of(file: str, run: Run, what: Sequence[str]) -> list[Curves]:
    """The curves that entries select, see `curves_of_files`.

    Raises:
        DescriptionError: the run holds no such quantity, or its robot has no such element.
    """
    model = None
    curves = []
    for entry in what:
        place = OF_ELEMENT.fullmatch(entry)
        try:
            if place is None:
                curves.append(recorded_curves(run, entry))
                continue
            if "scenario" not in run.facts:
                message = "follows from the robot, which a table does not hold"
                raise refused("what", entry, message, file=file)
            model = model or _model_of(file)
            curves.append(_section_curves(model, run, entry, place))
        except UnknownNameError as failure:
            raise refused("what", failure.name, failure.message) from None
    return curves


# --- sections ------------------------------------------------------------------------------------------------------


def _model_of(file: str) -> "Model":
    """The model of the run of a result file."""
    scenario = scenario_of(file)
    with using(scenario.solver.backend):
        return affordable_model(scenario)


def _section_curves(
    model: "Model", run: Run, entry: str, place: re.Match[str]
) -> Curves:
    """Section forces or strains in the middle of elements, from the coordinates of the run."""
    channels = _channels(model, entry, place)
    values = gauge_readings(model, channels, run.q, run.values("elastic"))
    names = [channel.name.rpartition(".")[0] for channel in channels]
    lines = dict(zip(names, values.T, strict=True))
    return Curves(entry, _unit(place["signal"]), lines)


def _channels(
    model: "Model", entry: str, place: re.Match[str]
) -> "tuple[Channel, ...]":
    names = [entry]
    if place["number"] == "*":
        link, signal = place["link"], place["signal"]
        nodes = [name for name in model.node_names if name.rpartition("/")[0] == link]
        # Elements lie between nodes. The first element of an unknown link is refused by its name.
        count = max(1, len(nodes) - 1)
        names = [f"{link}/element{k}.{signal}" for k in range(count)]
    return tuple(output_named(model, name) for name in names)


def _unit(signal: str) -> str:
    if signal in SECTION_FORCES:
        return "N" if signal in FORCES else "N m"
    return STRAIN_UNITS[signal]


# --- differences ---------------------------------------------------------------------------------------------------


def rows_at(t: np.ndarray, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows interpolated at other times, by a cubic spline where there are enough of them."""
    if np.array_equal(t, times):
        return rows
    order = min(3, len(times) - 1)
    return scipy.interpolate.make_interp_spline(times, rows, k=order)(t)


def _difference(first: RunCurves, other: RunCurves) -> RunCurves:
    """Difference of a run from the first one, at those times of the first that both cover."""
    inside = (first.t >= other.t[0]) & (first.t <= other.t[-1])
    t = first.t[inside]
    lines_of_other = {panel.what: panel.lines for panel in other.panels}
    panels = []
    for panel in first.panels if len(t) else ():
        theirs = lines_of_other.get(panel.what, {})
        shared = {
            name: rows_at(t, other.t, theirs[name]) - line[inside]
            for name, line in panel.lines.items()
            if name in theirs
        }
        if shared:
            panels.append(panel._replace(lines=shared))
    return RunCurves(other.run, t, tuple(panels), other.missing)


def over_one_axis(runs: Sequence[RunCurves]) -> list[RunCurves]:
    """Curves at the times of all runs, linear between their own samples; NaN before and after."""
    times = np.unique(np.concatenate([np.empty(0), *(one.t for one in runs)]))
    beyond = {"left": np.nan, "right": np.nan}
    return [
        one.changed(times, lambda line, t=one.t: np.interp(times, t, line, **beyond))
        for one in runs
    ]


def _thinned(one: RunCurves, most: int | None) -> RunCurves:
    if most is None or len(one.t) <= most:
        return one
    rows = np.linspace(0, len(one.t) - 1, most).round().astype(int)
    return one.changed(one.t[rows], lambda line: line[rows])
