"""Runs beside each other: how far they are apart, in a table and in a picture."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..describe import DescriptionError, Problem
from ..describe.modelled import modelled_run
from ..runs.output_files import PICTURE, check_outputs
from ..runs.result_files import loaded_run
from ..solve.channels import UnknownNameError
from .curves import rows_at
from .frozen_model import FrozenModel
from .modelled_result import ModelledResult

if TYPE_CHECKING:
    from ..runs.run import Run


class CompareRunsRequest(FrozenModel):
    """Result files; the first is what the others are compared with."""

    runs: tuple[str, ...]
    # Whose path is drawn, and compared beside the tips; default: the last link's tip.
    node: str | None = None
    picture: str | None = None


class Difference(FrozenModel):
    """How far one quantity of a run is from that of the first run."""

    run: str
    quantity: str  # `q.upper`, `position.lower/tip`
    unit: str
    largest: float
    at: float  # time of the largest difference [s]
    rms: float
    share: float  # largest difference against the extent of the first run's own motion


class RunModel(ModelledResult):
    """What a run is one of."""


class CompareRunsResult(FrozenModel):
    """Runs beside each other."""

    first: str
    models: dict[str, RunModel]  # by run
    shared_time: tuple[float, float]  # [s]
    differences: tuple[Difference, ...]
    not_shared: tuple[str, ...]  # joints and nodes that only some of the runs have
    picture: str | None


def compare(request: CompareRunsRequest) -> CompareRunsResult:
    """Differences of joints and tips between runs, over the time that they share.

    Raises:
        DescriptionError: fewer than two runs, a file that is no run, runs without a common time or node.
    """
    check_outputs({"picture": (request.picture, PICTURE)})
    if len(request.runs) < 2:
        raise _refusal("runs", len(request.runs), "two result files or more are needed")
    runs = {name: loaded_run(name) for name in request.runs}
    if len(runs) < len(request.runs):
        raise _refusal("runs", ", ".join(request.runs), "a file is named twice")
    first, *others = runs
    start = max(float(run.t[0]) for run in runs.values())
    end = min(float(run.t[-1]) for run in runs.values())
    if not start < end:
        raise _refusal("runs", ", ".join(runs), "the runs share no time")
    asked = [] if request.node is None else [request.node]
    _require_nodes(runs, asked)
    found = []
    for name in others:
        found += _differences(runs[first], name, runs[name], (start, end), asked)
    if not found:
        message = "the runs have no joint and no tip in common"
        raise _refusal("runs", ", ".join(runs), message)
    if request.picture is not None:
        _draw(runs, request.node, request.picture)
    return CompareRunsResult(
        first=first,
        models={name: _model(run) for name, run in runs.items()},
        shared_time=(start, end),
        differences=tuple(found),
        not_shared=tuple(_not_shared(runs)),
        picture=request.picture,
    )


def _model(run: "Run") -> RunModel:
    robot = str(run.facts.get("name", ""))
    return RunModel(robot=robot, **modelled_run(run.facts)._asdict())


def _refusal(field: str, value: object, message: str) -> DescriptionError:
    return DescriptionError([Problem(None, None, field, value, message)])


def _require_nodes(runs: Mapping[str, "Run"], nodes: Sequence[str]) -> None:
    """Refuse nodes that one of the runs does not have."""
    for name, run in runs.items():
        for node in nodes:
            try:
                run.position(node)
            except UnknownNameError as failure:
                problem = Problem(name, None, "node", node, failure.message)
                raise DescriptionError([problem]) from None


def _differences(
    first: "Run",
    name: str,
    run: "Run",
    time: tuple[float, float],
    nodes: Sequence[str],
) -> Iterator[Difference]:
    """Of every joint and tip that both runs have, and of these nodes."""
    start, end = time
    inside = (first.t >= start) & (first.t <= end)
    t = first.t[inside]
    for joint in _names(first, "joint"):
        if joint in _names(run, "joint"):
            own = first.q[:, _names(first, "joint").index(joint)][inside, None]
            other = run.q[:, _names(run, "joint").index(joint)][:, None]
            distance = rows_at(t, run.t, other) - own
            yield _difference(name, f"q.{joint}", "rad or m", t, own, distance)
    places = [tip for tip in _tips(first) if tip in _tips(run)]
    places += [node for node in nodes if node not in places]
    for place in places:
        own = first.position(place)[inside]
        distance = rows_at(t, run.t, run.position(place)) - own
        yield _difference(name, f"position.{place}", "m", t, own, distance)


def _difference(
    run: str,
    quantity: str,
    unit: str,
    t: np.ndarray,
    own: np.ndarray,
    distance: np.ndarray,
) -> Difference:
    size = np.linalg.norm(distance, axis=1)
    extent = np.linalg.norm(np.ptp(own, axis=0))
    k = int(size.argmax())
    return Difference(
        run=run,
        quantity=quantity,
        unit=unit,
        largest=float(size[k]),
        at=float(t[k]),
        rms=float(np.sqrt(np.mean(size**2))),
        share=float(size[k] / max(extent, 1e-300)),
    )


def _names(run: "Run", kind: str) -> list[str]:
    return [str(name) for name in run.values(kind)]


def _tips(run: "Run") -> list[str]:
    return [f"{link}/tip" for link in _names(run, "link")]


def _not_shared(runs: Mapping[str, "Run"]) -> Iterator[str]:
    """Joints and tips that some runs lack."""
    for names_of in (lambda run: _names(run, "joint"), _tips):
        lists = [names_of(run) for run in runs.values()]
        every = dict.fromkeys(name for names in lists for name in names)
        for name in every:
            if not all(name in names for names in lists):
                yield name


def _draw(runs: Mapping[str, "Run"], node: str | None, path: str) -> None:
    from ..runs.run_columns import node_label
    from ..show.plot import plot_compare

    first = next(iter(runs.values()))
    node = node or _tips(first)[-1]
    label = node_label(_names(first, "node"), node)
    datasets = {_short(name, runs): run.data for name, run in runs.items()}
    try:
        plot_compare(datasets, label, path)
    except ValueError as failure:
        raise _refusal("node", node, str(failure)) from None


def _short(name: str, runs: Mapping[str, "Run"]) -> str:
    """A file's name without its folder, where that tells it from the others."""
    stem = Path(name).stem
    alike = [other for other in runs if Path(other).stem == stem]
    return stem if len(alike) == 1 else name
