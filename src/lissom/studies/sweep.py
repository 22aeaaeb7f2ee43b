"""Studies from Python: `ls.sweep` computes or continues one and returns its results."""

import io
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..atomic import write_atomically
from ..describe.control_study import ControlStudy
from ..describe.modelled import Modelled, model_facts, modelled_scenario
from ..describe.scenario import Scenario
from ..files.errors import DescriptionError, refuse_idle, refused
from ..files.hdf5_checksum import checksum_problem
from ..files.summary import Result, Summary, number, plain
from ..parameters import (
    CertificateAuthority,
    Changes,
    Cluster,
    OwnCertificate,
    OwnKey,
    SampleCount,
    Seed,
    StoreFolder,
    StudyAnalysis,
    StudyKeys,
    StudyMetrics,
    StudySampling,
    StudyStatus,
    StudyToRun,
    Workers,
)
from ..runs.failures import FailedRun
from ..runs.run import Run, unknown_name
from .cluster import LOCAL, Address, ClusterError, compute_on_cluster
from .dataset import FAILURE, REASON, write_dataset
from .engine import Source, Survey, Tally, compute_missing, survey
from .keys import paths_of
from .local_workers import LostWorker, compute_locally, processors
from .store import DATASET, ChunkStore, Plan, StoreError, default_store, store_exists
from .study import Study
from .worst_cases import WorstCase, command_of, run_values, worst_cases
from .yields import Yield, yields_of

SHOWN_FAILURES = 10
VARIED = "varied"  # over the runs of a study
COLUMNS = ("metric", "worst", "run", "values")


class Sweep(Result):
    """The results of a study: `sweep.data` is the xarray.Dataset over all runs, with units and the study inside."""

    def __init__(
        self, plan: Plan, store: ChunkStore, inventory: Survey, gathered: bool = True
    ):
        self._gathered = gathered  # into its dataset
        self._plan = plan
        self._store = store
        self._inventory = inventory

    @property
    def study(self) -> Study:
        """The definition of the study."""
        return self._plan.study

    @property
    def store(self) -> Path:
        """The folder of its store."""
        return self._store.folder

    @property
    def tally(self) -> Tally:
        """How many runs there are, how many failed, and how long they took."""
        return self._inventory.tally

    @property
    def file(self) -> Path:
        """The NetCDF file with all results."""
        return self.store / DATASET

    @cached_property
    def data(self) -> Any:
        """All results, read from their file when first used."""
        import xarray as xr

        return xr.open_dataset(self.file, engine="h5netcdf")

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
        """A whole run, of studies that store them (`runs: all`).

        Raises:
            ValueError: the study stores none, or this one failed.
        """
        if self.study.runs != "all":
            raise ValueError("the study stores no whole runs: set runs: all")
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

    # --- summary ------------------------------------------------------------------------------------------------------

    @property
    def complete(self) -> bool:
        """Whether every run is done."""
        return self.tally.done == self.tally.runs

    @property
    def warnings(self) -> tuple[str, ...]:
        """Metrics whose names meant something else in an earlier version, one line each."""
        return tuple(self.study.notes) if self._gathered else ()

    @property
    def nothing_to(self) -> tuple[str, ...]:
        """Nothing is written of a study whose results were not gathered."""
        return () if self._gathered else ("save", "plot", "report")

    @property
    def _base(self) -> Scenario:
        base = self.study.base
        return base.changed_scenario if isinstance(base, ControlStudy) else base

    def modelled(self) -> Modelled:
        """How the robot is modelled; what differs from run to run is `varied`."""
        keys = {"formulation": "formulation", "basis": "basis", "modes": "kept_modes"}
        varied = [path for key in self.study.design.keys for path in paths_of(key)]
        found = {keys[path]: VARIED for path in varied if path in keys}
        return modelled_scenario(self._base)._replace(**found)

    def to_dict(self) -> dict[str, Any]:
        """Progress of the study, and once it is complete its worst cases, as plain data."""
        data = model_facts(self._base.robot.name, self.modelled()) | {
            "store": self.store,
            "complete": self.complete,
            **self.tally._asdict(),
            "worst": (),
            "yields": (),
            "failures": (),
            "files": {},
            "notes": self.warnings,
        }
        if self._gathered:
            data["worst"] = [case._asdict() for case in self.worst()]
            data["yields"] = [_data_of(one) for one in self.yields()]
            data["failures"] = [{"run": k, "reason": r} for k, r in self._shown()]
            data["files"] = {"dataset": self.file}
        return plain(data)

    def summary(self) -> Summary:
        """What was computed, the worst case of each metric, and which runs failed."""
        tally = self.tally
        failed = f", {tally.failed} failed" if tally.failed else ""
        now = f" ({tally.computed} now, in {tally.seconds:.3g} s)"
        title = f"{tally.done} of {tally.runs} runs done{failed}{now if tally.computed else ''}: {self.store}"
        facts = (("model", str(self.modelled())),)
        if not self._gathered:
            return Summary(title, facts)
        worst = self.worst()
        rows = []
        for case in worst:
            unit = "" if case.unit == "1" else f" {case.unit}"
            values = ", ".join(f"{k} = {_shown(v)}" for k, v in case.values.items())
            rows.append(
                (case.metric, f"{number(case.value)}{unit}", str(case.run), values)
            )
        commands = {
            case.run: case.command for case in worst if case.command is not None
        }
        lines = [f"run {run}: {command}" for run, command in commands.items()]
        for one in self.yields():
            low, high = 100 * one.low, 100 * one.high
            lines.append(
                f"yield, {one.name}: {100 * one.part:.4g} % ({low:.4g} to {high:.4g} %)"
            )
        lines += [f"run {run} failed: {reason}" for run, reason in self._shown()]
        table = Summary("Worst cases", (), COLUMNS, tuple(rows))
        parts = (*([table] if rows else ()), *map(Summary, lines))
        return Summary(title, facts, parts=(*parts, Summary(f"dataset: {self.file}")))

    def _shown(self) -> list[tuple[int, str]]:
        """The first runs that failed, and why."""
        return list(self.failures().items())[:SHOWN_FAILURES]

    def save(self, path: Any) -> None:
        """A copy of the dataset, `.nc`."""
        data = self.file.read_bytes()
        write_atomically(path, lambda file: file.write(data))


def _data_of(one: Yield) -> dict[str, Any]:
    return {"name": one.name, "part": one.part, "low": one.low, "high": one.high}


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


class StudyInterrupted(KeyboardInterrupt):
    """A study that was stopped; finished runs are stored, and the same call continues."""

    def __init__(self, message: str, sweep: Sweep):
        super().__init__(message)
        self.sweep = sweep  # its progress


@contextmanager
def interruptions() -> Iterator[None]:
    """Context in which a stopped study raises `StudyInterrupted` with the finished runs."""
    try:
        yield
    except StudyInterrupted as stopped:
        raise FailedRun(str(stopped), stopped.sweep, interrupted=True) from None


def sweep(
    study: StudyToRun,
    *,
    over: StudyKeys = None,
    metrics: StudyMetrics = None,
    analysis: StudyAnalysis = "simulate",
    sampling: StudySampling = "grid",
    samples: SampleCount = None,
    seed: Seed = 0,
    changes: Changes = None,
    store: StoreFolder = None,
    workers: Workers = None,
    cluster: Cluster = None,
    tls_ca: CertificateAuthority = None,
    tls_cert: OwnCertificate = None,
    tls_key: OwnKey = None,
    status: StudyStatus = False,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Sweep:
    """A study computed on all cores; runs that its store holds already are not computed again.

    Args:
        study: a `Study`, the path of a study file, or its data; with `over` a scenario, a robot or a comparison of
            controllers; with `status` the folder of a study.
        over: keys that vary, with their axes, where `study` is a scenario.
        metrics: numbers that are saved of every run, with `over`.
        analysis: `simulate`, `static`, `modes`, `linearize` or `control`, with `over`.
        sampling: how the values are combined, with `over`.
        samples: number of random samples, with `over`.
        seed: of random samples, with `over`.
        changes: of the scenario, by dotted path, with `over`.
        store: folder for what is done; default: beside the file of the study, or a temporary one.
        workers: processes; default: one for each core.
        cluster: address of a Dask scheduler, `local`, or a `dask.distributed.Client`, instead of processes here.
        tls_ca: certificate authority of a cluster at `tls://`.
        tls_cert: own certificate for it.
        tls_key: private key of the certificate.
        status: only report the progress of the study, also while another process computes it.
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
    described_by = {
        "analysis": analysis,
        "sampling": sampling,
        "samples": samples,
        "seed": seed,
    }
    computing = {"workers": workers, "cluster": cluster}
    tls = {"tls_ca": tls_ca, "tls_cert": tls_cert, "tls_key": tls_key}
    if status:
        changed = {"over": over, "metrics": metrics, "changes": changes}
        why = "nothing is computed with --status: leave one of them out"
        refuse_idle(sweep, why, **described_by, **changed, **computing, **tls)
        return _recorded_sweep(study, store)
    if cluster not in (None, LOCAL):
        why = "a cluster that is there already has its own workers: leave this out"
        refuse_idle(sweep, why, workers=workers)
    place = _address(cluster, *tls.values())
    if over or metrics:
        if sampling in ("grid", "zip"):
            why = f"{sampling} draws no random values: leave this out"
            refuse_idle(sweep, why, seed=seed)
        study = described_by | {
            "scenario": study,
            "changes": dict(changes or {}),
            "over": dict(over or {}),
            "metrics": list(metrics or ()),
        }
    else:
        if changes:
            first = next(f"{key}={value}" for key, value in changes.items())
            message = "a study file has `changes`: write them there"
            raise refused("changes", first, message)
        why = "a study file has this as a key: write it there, or name keys (--over)"
        refuse_idle(sweep, why, **described_by)
    described = Study.of(study)
    if store is None and (over or metrics):
        raise refused("store", None, "a study without a file needs a folder")
    for line in described.notes:
        warnings.warn(line, stacklevel=2)
    plan = Plan.of(described)
    folder = ChunkStore(store or _usual_store(study))
    return _computed_sweep(plan, folder, source_of(workers, place), watch)


def _computed_sweep(
    plan: Plan, store: ChunkStore, source: Source, watch: Callable[[Tally], None]
) -> Sweep:
    last: list[Tally] = []

    def watch_last(tally: Tally) -> None:
        last[:] = [tally]
        watch(tally)

    try:
        return finish_sweep(
            plan, store, compute_missing(plan, store, source, watch_last)
        )
    except KeyboardInterrupt:
        inventory = survey(plan, store)
        tally = last[0] if last else inventory.tally
        found = Sweep(plan, store, inventory._replace(tally=tally), gathered=False)
        message = f"interrupted: {_stored(tally, store)}; the same command continues"
        raise StudyInterrupted(message, found) from None
    except (StoreError, ClusterError, LostWorker) as failure:
        # The message has the count if anything was computed.
        if last:
            failure.args = (f"{failure} ({_stored(last[0], store)})",)
        raise


def _stored(tally: Tally, store: ChunkStore) -> str:
    return f"{tally.done} of {tally.runs} runs are stored in {store.folder}"


def _address(cluster: Any, *tls: Any) -> Any:
    """The address of a cluster with its certificates; a client is taken as it is.

    Raises:
        DescriptionError: what is no address, or certificates that are unused or missing.
    """
    if not (cluster is None or isinstance(cluster, str)):
        return cluster
    address = Address(cluster or LOCAL, *tls)
    address.check()
    return None if cluster is None else address


def _recorded_sweep(study: Any, store: Any) -> Sweep:
    """Progress of the study in a folder, or of a study file.

    Raises:
        DescriptionError: it is not the folder of a study.
    """
    folder = study if store_exists(study) else default_store(study)
    chunks = ChunkStore(folder if store is None else store)
    plan = recorded_plan(chunks)
    return Sweep(plan, chunks, survey(plan, chunks), gathered=False)


def recorded_plan(store: ChunkStore) -> Plan:
    """The plan of the study that a store records.

    Raises:
        DescriptionError: it records none that can be read.
    """
    record = store.record_of_study()
    if record is None:
        message = f"is not the folder of a study: {store.folder} has no study.json"
        raise refused("--status", str(store.folder), message)
    # The scenario as recorded: its file may have changed since.
    data = {**record["study"], "scenario": record["scenario"], "changes": {}}
    try:
        return Plan.of(Study.of(data))
    except DescriptionError as failure:
        message = f"holds a study that this version does not read: {failure}"
        raise refused("store", str(store.folder), message) from None


def _pictures() -> Any:
    # Brings matplotlib, which is optional.
    from . import pictures

    return pictures


def source_of(workers: int | None, cluster: Any) -> Source:
    """Function that computes the chunks, in processes on this machine or on a cluster."""
    if cluster is not None:
        return lambda plan, numbers: compute_on_cluster(cluster, plan, numbers, workers)
    return lambda plan, numbers: compute_locally(plan, numbers, workers or processors())


def finish_sweep(plan: Plan, store: ChunkStore, inventory: Survey) -> Sweep:
    """The results of a store that holds all chunks; the dataset is written if it is missing or damaged."""
    target = store.folder / DATASET
    is_whole = target.exists() and checksum_problem(target) is None
    if inventory.tally.computed or not is_whole:
        write_dataset(plan, store, inventory.names, target)
    return Sweep(plan, store, inventory)


def _usual_store(study: Any) -> Path:
    if isinstance(study, str | Path):
        return default_store(study)
    return Path(tempfile.mkdtemp(prefix="lissom-sweep-")) / "store"
