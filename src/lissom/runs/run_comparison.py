"""Comparison of runs: their differences, in a table and in a picture."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..describe.modelled import run_model_facts
from ..files.errors import refused
from ..files.summary import Result, Summary, number, plain
from ..parameters import ComparedNode, ResultFiles
from ..solve.channels import UnknownNameError
from .curves_of_files import rows_at
from .result_files import run_or_table
from .run import Run
from .run_columns import node_label

COLUMNS = ("run", "quantity", "largest", "at [s]", "rms", "unit", "% of its motion")
STILL = "-"  # share of a motion that is none
# [rad or m] What rounding does to the place of a joint or a node of a robot that stands still.
NO_MOTION = 1e-12


@dataclass(frozen=True)
class Difference:
    """Difference of one quantity of a run from that of the first run."""

    run: str
    quantity: str  # `q.upper`, `position.lower/tip`
    unit: str
    largest: float
    at: float  # time of the largest difference [s]
    rms: float
    # Largest difference against the extent of the first run's own motion; None where that stands still.
    share: float | None


@dataclass(frozen=True, repr=False, eq=False)
class RunComparison(Result):
    """Differences between runs; prints as a table."""

    runs: Mapping[str, Run]  # by file; the first is what the others are compared with
    node: str | None
    shared_time: tuple[float, float]  # [s]
    differences: tuple[Difference, ...]

    @property
    def first(self) -> str:
        """The run that the others are compared with."""
        return next(iter(self.runs))

    @property
    def not_shared(self) -> tuple[str, ...]:
        """Joints and tips that only some of the runs have."""
        return tuple(_not_shared(self.runs))

    def to_dict(self) -> dict[str, Any]:
        """Differences and models as plain data."""
        models = {name: run_model_facts(run.facts) for name, run in self.runs.items()}
        return plain(
            {
                "first": self.first,
                "models": models,
                "shared_time": self.shared_time,
                "differences": [asdict(one) for one in self.differences],
                "not_shared": self.not_shared,
            }
        )

    def summary(self) -> Summary:
        """Differences in a table, and how the robot of each run is modelled."""
        start, end = self.shared_time
        title = f"Differences from {self.first}, {start:g} to {end:g} s"
        rows = [
            (
                d.run,
                d.quantity,
                *map(number, (d.largest, d.at, d.rms)),
                d.unit,
                STILL if d.share is None else number(100 * d.share),
            )
            for d in self.differences
        ]
        facts = []
        for name, run in self.runs.items():
            known = run_model_facts(run.facts)
            model = known["model"] if "formulation" in run.facts else "a table"
            facts.append((name, f"{known['robot']}, {model}"))
        if self.not_shared:
            facts.append(("not in all runs", ", ".join(self.not_shared)))
        return Summary(title, tuple(facts), COLUMNS, tuple(rows))

    def plot(self, path: str | Path | None = None) -> Any:
        """Figure of the path of a node in every run, and of their distance."""
        from ..show.plot import plot_compare

        first = self.runs[self.first]
        if not all(map(_tips, self.runs.values())):
            message = "a table holds no positions: the path of a node cannot be drawn"
            raise refused("runs", ", ".join(self.runs), message)
        node = self.node or _tips(first)[-1]
        label = node_label(first.labels("node"), node)
        datasets = {
            _short(name, self.runs): run.data for name, run in self.runs.items()
        }
        try:
            return plot_compare(datasets, label, path)
        except ValueError as failure:
            raise refused("node", node, str(failure)) from None


def compare_runs(runs: ResultFiles, *, node: ComparedNode = None) -> RunComparison:
    """Differences of joints and tips between runs, over the time that they share.

    Args:
        runs: result files or tables of runs (.csv); the first is what the others are compared with.
        node: whose path is drawn, and compared beside the tips; default: the last link's tip.

    Returns:
        The `RunComparison`: `differences` by run and quantity; it prints as a table.

    Raises:
        DescriptionError: fewer than two runs, a file that is no run, runs without a common time or node.

    Example:
        >>> import lissom as ls
        >>> files = ["stiff.nc", "soft.nc"]
        >>> for file, q in zip(files, (0.3, 0.31)):
        ...     path = ls.simulate("simple-pendulum", [q], t_end=0.01).save(file)
        >>> ls.compare_runs(files).differences[0].quantity
        'q.rod'
    """
    if len(runs) < 2:
        raise refused("runs", len(runs), "two result files or more are needed")
    loaded = {name: run_or_table(name) for name in runs}
    if len(loaded) < len(runs):
        raise refused("runs", ", ".join(runs), "a file is named twice")
    first, *others = loaded
    start = max(float(run.t[0]) for run in loaded.values())
    end = min(float(run.t[-1]) for run in loaded.values())
    if not start < end:
        raise refused("runs", ", ".join(loaded), "the runs share no time")
    if node is not None:
        _require_node(loaded, node)
    comparisons = []
    for name in others:
        comparisons += _differences(
            loaded[first], name, loaded[name], (start, end), node
        )
    if not comparisons:
        message = "the runs have no joint and no tip in common"
        raise refused("runs", ", ".join(loaded), message)
    return RunComparison(loaded, node, (start, end), tuple(comparisons))


def _require_node(runs: Mapping[str, Run], node: str) -> None:
    """Refuse a node that one of the runs does not have."""
    for name, run in runs.items():
        try:
            run.position(node)
        except UnknownNameError as failure:
            raise refused("node", node, failure.message, file=name) from None


def _differences(
    first: Run,
    name: str,
    run: Run,
    time: tuple[float, float],
    node: str | None,
) -> Iterator[Difference]:
    """Differences of every joint and tip that both runs have, and of the node."""
    start, end = time
    inside = (first.t >= start) & (first.t <= end)
    t = first.t[inside]
    joints, others = _joints(first), _joints(run)
    for joint in joints:
        if joint in others:
            own = first.q[inside][:, [joints.index(joint)]]
            other = run.q[:, [others.index(joint)]]
            distance = rows_at(t, run.t, other) - own
            yield _difference(name, f"q.{joint}", "rad or m", t, own, distance)
    places = [tip for tip in _tips(first) if tip in _tips(run)]
    if node is not None and node not in places:
        places.append(node)
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
        share=float(size[k] / extent) if extent > NO_MOTION else None,
    )


def _joints(run: Run) -> list[str]:
    # A table may hold other quantities alone.
    return run.labels("joint") if "q" in run.names else []


def _tips(run: Run) -> list[str]:
    if "position" not in run.names:
        return []
    return [f"{link}/tip" for link in run.labels("link")]


def _not_shared(runs: Mapping[str, Run]) -> Iterator[str]:
    """Joints and tips that some runs lack."""
    for names_of in (_joints, _tips):
        lists = [names_of(run) for run in runs.values()]
        every = dict.fromkeys(name for names in lists for name in names)
        for name in every:
            if not all(name in names for names in lists):
                yield name


def _short(name: str, runs: Mapping[str, Run]) -> str:
    """A file's name, without its folder if that is unique."""
    stem = Path(name).stem
    same_name = [other for other in runs if Path(other).stem == stem]
    return stem if len(same_name) == 1 else name
