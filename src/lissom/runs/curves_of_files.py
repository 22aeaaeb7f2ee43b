"""Curves of runs over time: recorded quantities, section forces, and differences between runs."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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


class CurvePanel(NamedTuple):
    """The curves of one quantity of all runs."""

    what: str
    unit: str
    names: tuple[str, ...]  # of the curves
    values: np.ndarray  # (time, curve)


class RunCurves(NamedTuple):
    """The curves of one run."""

    run: str
    t: np.ndarray  # [s]
    panels: tuple[CurvePanel, ...]
    missing: tuple[str, ...] = ()  # what only the first run has


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
        most_rows: of each run, evenly left out; None: all.

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
            panels.append(_panel(curves_of(file, run, [what])[0]))
        except DescriptionError:
            if is_first:
                raise
            missing.append(what)
    return RunCurves(run=file, t=run.t, panels=tuple(panels), missing=tuple(missing))


def _panel(one: Curves) -> CurvePanel:
    values = np.stack(list(one.lines.values()), axis=1)
    return CurvePanel(
        what=one.what, unit=one.unit, names=tuple(one.lines), values=values
    )


def curves_of(file: str, run: Run, what: Sequence[str]) -> list[Curves]:
    """The curves that entries mean, see `curves_of_files`.

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
            model = model or _model_of(file)
            curves.append(_section_curves(model, run, entry, place))
        except UnknownNameError as failure:
            raise refused("what", failure.name, failure.message) from None
    return curves


# --- sections ------------------------------------------------------------------------------------------------------


def _model_of(file: str) -> "Model":
    """The robot of a result, as its run had it."""
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
    if place["number"] != "*":
        return (output_named(model, entry),)
    names = [
        f"{place['link']}/element{k}.{place['signal']}"
        for k in range(max(1, _element_count(model, place["link"])))
    ]
    return tuple(output_named(model, name) for name in names)


def _element_count(model: "Model", link: str) -> int:
    """Elements between the nodes of a link."""
    nodes = [name for name in model.node_names if name.rpartition("/")[0] == link]
    return len(nodes) - 1


def _unit(signal: str) -> str:
    if signal in SECTION_FORCES:
        return "N" if signal in FORCES else "N m"
    return STRAIN_UNITS[signal]


# --- differences ---------------------------------------------------------------------------------------------------


def rows_at(t: np.ndarray, times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows at other times, by a cubic spline where there are enough of them."""
    from scipy.interpolate import make_interp_spline

    if np.array_equal(t, times):
        return rows
    order = min(3, len(times) - 1)
    return make_interp_spline(times, rows, k=order)(t)


def _difference(first: RunCurves, other: RunCurves) -> RunCurves:
    """Difference of a run from the first one, at those times of the first that both cover."""
    inside = (first.t >= other.t[0]) & (first.t <= other.t[-1])
    t = first.t[inside]
    panels = tuple(_shared_panels(first, other, inside, t)) if len(t) else ()
    return RunCurves(run=other.run, t=t, panels=panels, missing=other.missing)


def _shared_panels(
    first: RunCurves, other: RunCurves, inside: np.ndarray, t: np.ndarray
) -> Iterator[CurvePanel]:
    held = {panel.what: panel for panel in other.panels}
    for panel in first.panels:
        there = held.get(panel.what)
        if there is None:
            continue
        names = tuple(name for name in panel.names if name in there.names)
        if not names:
            continue
        own = panel.values[inside][:, [panel.names.index(name) for name in names]]
        its = there.values[:, [there.names.index(name) for name in names]]
        apart = rows_at(t, other.t, its) - own
        yield CurvePanel(what=panel.what, unit=panel.unit, names=names, values=apart)


def _thinned(one: RunCurves, most: int | None) -> RunCurves:
    if most is None or len(one.t) <= most:
        return one
    rows = np.linspace(0, len(one.t) - 1, most).round().astype(int)
    panels = []
    for panel in one.panels:
        panels.append(panel._replace(values=panel.values[rows]))
    return one._replace(t=one.t[rows], panels=tuple(panels))
