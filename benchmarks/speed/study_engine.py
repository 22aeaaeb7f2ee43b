"""What studies cost beside their runs, and what a second Dask worker brings."""

import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lissom.bench.cases import Log
from lissom.studies.chunk import encode
from lissom.studies.compute import compute_chunk
from lissom.studies.engine import compute_missing
from lissom.studies.local_workers import Progress
from lissom.studies.store import ChunkStore, Plan
from lissom.studies.study import Study
from lissom.studies.sweep import finish_sweep, sweep

ROUNDS = 5
RUNS = 256  # on each cluster, in each round
ENGINE_RUNS = 512  # what a study does once, at its end, counts little then
CHUNK = 32
SPAN = 1.0  # [s] of a run, which takes ten milliseconds and more
OUTPUT_DT = 0.01  # [s]


def payload_study(runs: int, first: float = 0.1) -> Study:
    """Runs of the double pendulum over its payload, from a first one on [kg]."""
    return Study.of(
        {
            "scenario": "double-pendulum",
            "changes": {"t_end": SPAN, "output_dt": OUTPUT_DT},
            "over": {"payload.mass": {"from": first, "to": first + 1, "count": runs}},
            "metrics": ["tip_deflection", "torque_peak"],
            "chunk": min(CHUNK, runs),
        }
    )


def measure_studies(
    repeat: int, log: Log = lambda text: None, runs: int | None = None
) -> dict[str, Any]:
    """Part of the engine in the time of a study, and the speed of two Dask workers in parts of that of one."""
    count = runs or ENGINE_RUNS
    report: dict[str, Any] = {"runs": count, "span": SPAN}
    log(f"studies: the engine beside {count} runs")
    report |= engine_share(count)
    if find_spec("distributed") is not None:
        report |= two_workers(max(repeat, ROUNDS), runs or RUNS, log)
    return report


def engine_share(runs: int) -> dict[str, Any]:
    """Processor seconds of runs, and of all that a study does beside them, both in this process.

    Beside them: the plan, the names of chunks, their bytes and checksums, the files, the dataset.
    """
    compute = CountedCompute()
    with tempfile.TemporaryDirectory() as folder:
        # The first chunk compiles.
        _computed_here(payload_study(CHUNK, 2.0), Path(folder) / "first", compute)
        compute.seconds = 0.0
        began = time.process_time()
        _computed_here(payload_study(runs), Path(folder) / "study", compute)
        whole = time.process_time() - began
    return {
        "run_s": compute.seconds / runs,
        "engine_s": (whole - compute.seconds) / runs,
        "engine_share": whole / compute.seconds - 1,
    }


class CountedCompute:
    """A source of chunks that counts the processor seconds of their runs."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self, plan: Plan, missing: Sequence[int]) -> Iterator[Progress]:
        """The chunks with these numbers, computed here."""
        for number in missing:
            began = time.process_time()
            content = compute_chunk(plan.recipe, plan.task(number))
            self.seconds += time.process_time() - began
            yield Progress(number, encode(content))


def _computed_here(study: Study, folder: Path, source: CountedCompute) -> None:
    plan, store = Plan.of(study), ChunkStore(folder)
    finish_sweep(plan, store, compute_missing(plan, store, source)).data.close()


def two_workers(rounds: int, runs: int, log: Log) -> dict[str, Any]:
    """Times of a study on one Dask worker and on two, in turns, and the median of their ratios."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    with (
        tempfile.TemporaryDirectory() as folder,
        _cluster(1) as one,
        _cluster(2) as two,
    ):
        clients = {1: one, 2: two}
        # The first study of each compiles, on every worker.
        for k in range(-1, rounds):
            for workers, client in clients.items():
                log(f"studies: {workers} Dask workers, round {k + 1} of {rounds}")
                store = Path(folder) / f"{workers}-{k}"
                began = time.perf_counter()
                sweep(payload_study(runs), store=store, cluster=client).data.close()
                if k >= 0:
                    walls[workers].append(time.perf_counter() - began)
    pairs = zip(walls[1], walls[2], strict=True)
    return {
        "one_worker_s": statistics.median(walls[1]),
        "two_workers_s": statistics.median(walls[2]),
        "speed_up": statistics.median(alone / both for alone, both in pairs),
        "rounds": rounds,
        "cluster_runs": runs,
    }


def _cluster(workers: int) -> Any:
    from lissom.studies.cluster import client_of

    return client_of("local", workers, workers)
