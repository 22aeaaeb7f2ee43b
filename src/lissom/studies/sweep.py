"""Studies from Python: `ls.sweep` computes or continues one and returns its results."""

import io
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..files.summary import Summarised, Summary, count, number
from ..runs.run import Run, unknown_name
from .cluster import compute_on_cluster
from .dataset import FAILURE, REASON, write_dataset
from .engine import Source, Survey, Tally, compute_missing, survey
from .local_workers import compute_locally, processors
from .store import DATASET, ChunkStore, Plan, StoreError, default_store
from .study import Study
from .worst_cases import WorstCase, command_of, run_values, worst_cases
from .yields import Yield, yields_of


class Sweep(Summarised):
    """The results of a study: `sweep.data` is the xarray.Dataset over all runs, with units and the study inside."""

    def __init__(self, plan: Plan, store: ChunkStore, inventory: Survey):
        self._plan = plan
        self._store = store
        self._inventory = inventory
        self._data: Any = None

    @property
    def study(self) -> Study:
        """The study whose results these are."""
        return self._plan.study

    @property
    def store(self) -> Path:
        """The folder that holds it."""
        return self._store.folder

    @property
    def tally(self) -> Tally:
        """How many runs there are, how many failed, and how long they took."""
        return self._inventory.tally

    @property
    def file(self) -> Path:
        """The NetCDF file with all results."""
        return self.store / DATASET

    @property
    def data(self) -> Any:
        """All results, read from their file when first used."""
        if self._data is None:
            import xarray as xr

            self._data = xr.open_dataset(self.file, engine="h5netcdf")
        return self._data

    def on_grid(self) -> Any:
        """The results of a grid with one dimension for each key.

        Raises:
            ValueError: the study is no grid.
        """
        study = self.study
        if study.table is not None or study.sampling != "grid":
            raise ValueError(
                f"sampling: {study.sampling}: only the runs of a grid lie on one"
            )
        from .grids import on_grid

        return on_grid(study, self.data)

    def worst(self, count: int = 1) -> list[WorstCase]:
        """The worst runs of every metric."""
        return worst_cases(self.study, self.data, count)

    def yields(self) -> list[Yield]:
        """Which part of the runs keeps the specification, with its confidence."""
        return yields_of(self.study, self.data)

    def failures(self) -> dict[int, str]:
        """Runs that failed, and why."""
        places = self.data[FAILURE].values
        if not places.any():
            return {}
        reasons = self.data[REASON].values
        rows = np.flatnonzero(places)
        return {int(k): str(reasons[places[k] - 1]) for k in rows}

    def values(self, run: int) -> dict[str, Any]:
        """The values of the keys in one run."""
        return run_values(self.study, self._checked(run))

    def scenario(self, run: int) -> Any:
        """The scenario of one run: `ls.run_scenario` repeats it."""
        return self.study.run_scenario(self._checked(run))

    def command(self, run: int) -> str | None:
        """The command line that repeats one run."""
        return command_of(self.study, self._checked(run))

    def run(self, run: int) -> "Run":
        """A whole run, of studies that keep them (`runs: all`).

        Raises:
            ValueError: the study keeps none, or this one failed.
        """
        if self.study.runs != "all":
            raise ValueError("the study keeps no whole runs: runs: all")
        number, place = divmod(self._checked(run), self.study.chunk_size)
        data = self._store.read(self._inventory.names[number]).runs[place]
        if not data:
            raise ValueError(f"run {run} failed: {self.failures()[run]}")
        # Brings xarray.
        from ..runs.node_index import dataset_of_file

        return Run(dataset_of_file(io.BytesIO(data)))

    # --- pictures -----------------------------------------------------------------------------------------------------

    def plot(self, path: str | Path | None = None) -> Any:
        """Figure of all metrics: a curve over one key, heat maps over a grid of two, else scatter."""
        return _pictures().plot_study(self.study, self.data, self.worst(), path)

    def plot_heat_map(self, metric: str, path: str | Path | None = None) -> Any:
        """Figure of a metric over a grid of two keys."""
        names = [self._metric(metric)]
        return _pictures().plot_heat_map(
            self.study, self.data, names, self.worst(), path
        )

    def plot_scatter(self, metric: str, path: str | Path | None = None) -> Any:
        """Figure of a metric against every key, the worst runs marked."""
        names, worst = [self._metric(metric)], self.worst(3)
        return _pictures().plot_scatter(self.study, self.data, names, worst, path)

    def plot_parallel(self, metric: str, path: str | Path | None = None) -> Any:
        """Figure of parallel coordinates, one line for each run, coloured by a metric."""
        return _pictures().plot_parallel(
            self.study, self.data, self._metric(metric), path
        )

    def plot_bands(self, series: str, path: str | Path | None = None) -> Any:
        """Figure of a time series of all runs: median and percentiles."""
        return _pictures().plot_bands(self.study, self.data, series, path)

    def sobol(self, metric: str) -> Any:
        """Sobol indices of a metric with their confidence, of a study with `sampling: saltelli`."""
        from .sensitivity import sobol

        return sobol(self.study, self.data, self._metric(metric))

    def plot_sobol(self, metric: str, path: str | Path | None = None) -> Any:
        """Figure of the Sobol indices of a metric."""
        return _pictures().plot_sobol(self.sobol(metric), path)

    def report(self, path: str | Path) -> Path:
        """One self-contained HTML page about the study."""
        from .report import StudyResults, write_report

        results = StudyResults(self.study, self.data, self.tally, self.failures())
        return write_report(results, path)

    def _metric(self, name: str) -> str:
        names = [request.label for request in self.study.requests]
        if name not in names:
            raise unknown_name("metric", name, names)
        return name

    def _checked(self, run: int) -> int:
        count = self.study.design.count
        if not 0 <= run < count:
            raise ValueError(f"run: {run}: the study has runs 0 to {count - 1}")
        return run

    def summary(self) -> Summary:
        """What was computed, and the worst case of each metric."""
        study, tally = self.study, self.tally
        lines = [
            ("analysis", study.analysis),
            (
                "runs",
                f"{tally.done} of {count(tally.runs, 'run')}, {tally.failed} failed",
            ),
            ("over", ", ".join(study.labels)),
            ("store", str(self.store)),
        ]
        for one in self.yields():
            lines.append(("yield", str(one)))
        rows = []
        for case in self.worst():
            where = ", ".join(f"{key} = {_told(v)}" for key, v in case.values.items())
            rows.append(
                (case.metric, number(case.value), case.unit, str(case.run), where)
            )
        columns = ("worst case of", "value", "unit", "run", "values")
        return Summary("Study", tuple(lines), columns, tuple(rows))


def _told(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def sweep(
    study: Any,
    *,
    store: str | Path | None = None,
    workers: int | None = None,
    cluster: Any = None,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Sweep:
    """A study computed on all cores; what its store holds already is not computed again.

    Args:
        study: a `Study`, the path of a study file, or its data.
        store: folder for what is done; default: beside the file of the study, or a temporary one.
        workers: processes; default: one for each core.
        cluster: address of a Dask scheduler, `local`, or a `dask.distributed.Client`, instead of processes here.
        watch: called with a `Tally` during the study; an exception that it raises stops the study.

    Returns:
        `Sweep`: `data` (an xarray dataset) with the values of the keys and the metrics of every run, `on_grid()`,
        `worst()`, `plot()`.

    Raises:
        DescriptionError: the study is wrong, or its store holds another one.
        StoreError: the store cannot be written.

    Warns:
        UserWarning: a metric whose name meant something else in an earlier version.

    Example:
        >>> import lissom as ls
        >>> study = {
        ...     "scenario": "simple-pendulum",
        ...     "changes": {"t_end": 0.1},
        ...     "over": {"payload.mass": [0.0, 0.1]},
        ...     "metrics": ["tip_deflection"],
        ... }
        >>> ls.sweep(study, workers=1).data["tip_deflection"].shape
        (2,)
    """
    described = Study.of(study)
    for line in described.notes:
        warnings.warn(line, stacklevel=2)
    plan = Plan.of(described)
    folder = ChunkStore(store or _usual_store(study))
    source = source_of(workers, cluster)
    inventory = compute_missing(plan, folder, source, watch)
    return finish_sweep(plan, folder, inventory)


def _pictures() -> Any:
    # Brings matplotlib, which is optional.
    from . import pictures

    return pictures


def source_of(workers: int | None, cluster: Any) -> Source:
    """What computes the chunks: processes on this machine, or a cluster."""
    if cluster is not None:
        return lambda plan, numbers: compute_on_cluster(cluster, plan, numbers, workers)
    return lambda plan, numbers: compute_locally(plan, numbers, workers or processors())


def finish_sweep(plan: Plan, store: ChunkStore, inventory: Survey) -> Sweep:
    """The results of a store that holds all chunks; the dataset is written where it is not there yet."""
    target = store.folder / DATASET
    if inventory.tally.computed or not target.exists():
        write_dataset(plan, store, inventory.names, target)
    return Sweep(plan, store, inventory)


def open_sweep(study: Study, folder: str | Path) -> Sweep:
    """The results of a store that is complete, without computing anything.

    Raises:
        StoreError: it is not complete yet.
    """
    plan, store = Plan.of(study), ChunkStore(folder)
    inventory = survey(plan, store)
    if inventory.missing:
        tally = inventory.tally
        raise StoreError(f"{folder}: {tally.done} of {tally.runs} runs are done")
    return finish_sweep(plan, store, inventory)


def _usual_store(study: Any) -> Path:
    if isinstance(study, str | Path):
        return default_store(study)
    return Path(tempfile.mkdtemp(prefix="lissom-sweep-")) / "store"
