"""Studies: many runs over chosen keys, kept in a folder, and gone on with where they stopped."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..describe import DescriptionError
from ..describe.control_study import ControlStudy
from ..files.errors import refused
from ..runs.failures import AnalysisError, FailedRun
from ..runs.output_files import PAGE, PICTURE, RESULT, check_outputs, written_files
from .frozen_model import FrozenModel
from .modelled_result import ModelledResult, model_of

if TYPE_CHECKING:
    from ..studies.engine import Tally
    from ..studies.store import ChunkStore, Plan
    from ..studies.study import Study
    from ..studies.sweep import Sweep

Watch = Callable[["Tally"], None]


class SweepRequest(FrozenModel):
    """A study, where it is kept, what computes it, and the files for what comes out."""

    study: Any  # file, data, or a `Study`
    store: str | None = None  # default: beside the study's file
    workers: int | None = None  # default: one for each core
    cluster: str | None = None  # address of a Dask scheduler, or `local`
    tls_ca: str | None = None  # certificates of a cluster that asks for them
    tls_cert: str | None = None
    tls_key: str | None = None
    result: str | None = None  # copy of the dataset
    picture: str | None = None
    report: str | None = None


class WorstRun(FrozenModel):
    """A run at the bad end of a metric."""

    metric: str
    run: int
    value: float
    unit: str
    values: dict[str, Any]
    command: str | None


class YieldResult(FrozenModel):
    """Part of the runs that keep a bound."""

    name: str
    part: float
    low: float
    high: float


class FailedRunOfStudy(FrozenModel):
    """A run without numbers."""

    run: int
    reason: str


class SweepResult(ModelledResult):
    """How far a study is, and its worst cases once it is complete."""

    store: str
    complete: bool
    runs: int
    done: int
    failed: int
    computed: int  # by this command
    seconds: float  # of this command
    compute_seconds: float  # spent on runs, added up over all workers
    worst: tuple[WorstRun, ...] = ()
    yields: tuple[YieldResult, ...] = ()
    failures: tuple[FailedRunOfStudy, ...] = ()  # the first of them
    files: dict[str, str] = {}
    # Metrics whose names meant something else in an earlier version, one line each.
    notes: tuple[str, ...] = ()


SHOWN_FAILURES = 10
VARIED = "varied"  # over the runs of a study


def sweep(request: SweepRequest, watch: Watch = lambda tally: None) -> SweepResult:
    """Computes what is missing of a study, and gathers its results.

    Raises:
        DescriptionError: the study is wrong, or its store holds another one.
        FailedRun: it was interrupted; what is done is kept.
        AnalysisError: the store cannot be written, or the cluster cannot be reached.
    """
    check_outputs(
        {
            "result": (request.result, RESULT),
            "picture": (request.picture, PICTURE),
            "report": (request.report, PAGE),
        }
    )
    cluster = _cluster(request)
    plan, store = _planned(request)
    from ..studies.cluster import ClusterError
    from ..studies.engine import compute_missing, survey
    from ..studies.local_workers import LostWorker
    from ..studies.store import StoreError
    from ..studies.sweep import finish_sweep, source_of

    last: list[Tally] = []

    def watched(tally: "Tally") -> None:
        last.append(tally)
        del last[:-1]
        watch(tally)

    source = source_of(request.workers, cluster)
    try:
        found = compute_missing(plan, store, source, watched)
        results = finish_sweep(plan, store, found)
    except KeyboardInterrupt:
        tally = last[-1] if last else survey(plan, store).tally
        message = f"interrupted: {_kept(tally, store)}; the same command goes on"
        raise FailedRun(message, _state(plan, store, tally), interrupted=True) from None
    except (StoreError, ClusterError, LostWorker) as failure:
        kept = f" ({_kept(last[-1], store)})" if last else ""
        raise AnalysisError(f"{failure}{kept}") from None
    return _result(request, results)


def _planned(request: SweepRequest) -> "tuple[Plan, ChunkStore]":
    from ..studies.store import ChunkStore, Plan, default_store
    from ..studies.study import Study

    study = Study.of(request.study)
    if request.store is not None:
        folder = request.store
    elif isinstance(request.study, str):
        folder = str(default_store(request.study))
    else:
        raise refused("store", None, "a study without a file needs a folder")
    return Plan.of(study), ChunkStore(folder)


def _cluster(request: SweepRequest) -> Any:
    """Where the chunks are computed; None for this machine.

    Raises:
        DescriptionError: what is no address, or certificates that nobody asks for or that are not there.
    """
    from ..studies.cluster import LOCAL, Address

    tls = (request.tls_ca, request.tls_cert, request.tls_key)
    address = Address(request.cluster or LOCAL, *tls)
    address.check()
    return None if request.cluster is None else address


def _kept(tally: "Tally", store: "ChunkStore") -> str:
    return f"{tally.done} of {tally.runs} runs are kept in {store.folder}"


def status(folder: str) -> SweepResult:
    """How far the study in a folder is, also while another process computes it.

    Raises:
        DescriptionError: it is not the folder of a study.
    """
    from ..studies.engine import survey
    from ..studies.store import ChunkStore

    store = ChunkStore(folder)
    plan = recorded_plan(store)
    return _state(plan, store, survey(plan, store).tally)


def recorded_plan(store: "ChunkStore") -> "Plan":
    """The plan of the study that a store remembers."""
    from ..studies.store import Plan
    from ..studies.study import Study

    held = store.record_of_study()
    if held is None:
        message = f"is not the folder of a study: {store.folder} has no study.json"
        raise refused("--status", str(store.folder), message)
    # The scenario as it was, whatever has become of its file since.
    data = {**held["study"], "scenario": held["scenario"], "changes": {}}
    try:
        return Plan.of(Study.of(data))
    except DescriptionError as failure:
        message = f"holds a study that this version does not read: {failure}"
        raise refused("store", str(store.folder), message) from None


def _state(plan: "Plan", store: "ChunkStore", tally: "Tally") -> SweepResult:
    return SweepResult(
        **_model(plan.study),
        store=str(store.folder),
        complete=tally.done == tally.runs,
        **_counts(tally),
    )


def _model(study: "Study") -> dict[str, Any]:
    """How the robot of a study is modelled; what differs from run to run is said to."""
    from ..studies.keys import paths_of

    base = study.base
    scenario = base.changed_scenario if isinstance(base, ControlStudy) else base
    varied = [path for key in study.design.keys for path in paths_of(key)]
    keys = {"formulation": "formulation", "basis": "basis", "modes": "kept_modes"}
    told = model_of(scenario)
    return told | {keys[path]: VARIED for path in varied if path in keys}


def _counts(tally: "Tally") -> dict[str, Any]:
    return tally._asdict()


def _result(request: SweepRequest, results: "Sweep") -> SweepResult:
    if request.result is not None:
        from ..atomic import write_atomically

        data = results.file.read_bytes()
        write_atomically(request.result, lambda file: file.write(data))
    if request.picture is not None:
        results.plot(request.picture)
    if request.report is not None:
        results.report(request.report)
    failures = list(results.failures().items())[:SHOWN_FAILURES]
    return SweepResult(
        **_model(results.study),
        store=str(results.store),
        complete=True,
        **_counts(results.tally),
        worst=tuple(WorstRun(**case._asdict()) for case in results.worst()),
        yields=tuple(
            YieldResult(name=one.name, part=one.part, low=one.low, high=one.high)
            for one in results.yields()
        ),
        failures=tuple(FailedRunOfStudy(run=k, reason=why) for k, why in failures),
        files={
            "dataset": str(results.file),
            **written_files(
                result=request.result, plot=request.picture, report=request.report
            ),
        },
        notes=results.study.notes,
    )
