"""Studies of a million results, on full disks, and killed at a hundred moments: the engine alone, on made-up runs."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from lissom.studies.engine import compute_missing, survey
from lissom.studies.store import ChunkStore, Plan, StoreError
from lissom.studies.sweep import finish_sweep

from .kill_study import kept
from .made_up_runs import E, MadeUpWorkers, study

pytestmark = pytest.mark.slow

MILLION = {E: "150:220:1000 GPa", "payload.mass": "0:1:500 kg"}  # times two metrics


GROWTH = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}]
from studies.made_up_runs import MadeUpWorkers, study
from lissom.studies.engine import compute_missing
from lissom.studies.store import Plan, ChunkStore
from lissom.studies.sweep import finish_sweep

def memory(of):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(of)) / 1024

def computed(plan, folder):
    store = ChunkStore(folder)
    return finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))

# What is imported on the way counts once.
computed(Plan.of(study({entries!r})), {folder!r} + "/small")
# From here on the system watches for a new peak.
Path("/proc/self/clear_refs").write_text("5")
before = memory("VmRSS")
plan = Plan.of(study({entries!r}, over={over!r}, chunk={chunk}))
computed(plan, {folder!r} + "/large")
print(memory("VmHWM") - before)
"""


def memory_growth(folder: Path, over: dict, chunk: int, entries: dict) -> float:
    """Memory that a process takes for a large study and its dataset, beyond that of a small one [MB]."""
    tests = str(Path(__file__).parents[1])
    script = GROWTH.format(
        tests=tests, folder=str(folder), over=over, chunk=chunk, entries=entries
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert found.returncode == 0, found.stderr.decode()
    return float(found.stdout)


def test_a_million_results_are_written_in_bounded_memory_and_open_at_once(tmp_path):
    grown = memory_growth(tmp_path, MILLION, 1000, {})
    file = tmp_path / "large" / "dataset.nc"
    # What xarray imports when it opens its first file is not part of this one.
    xr.open_dataset(tmp_path / "small" / "dataset.nc", engine="h5netcdf").close()
    began = time.perf_counter()
    with xr.open_dataset(file, engine="h5netcdf") as data:
        assert data.sizes["run"] == 500_000
        largest = float(data["tip_deflection"].max())
    took = time.perf_counter() - began
    print(f"opened in {took:.3f} s, memory grew by {grown:.0f} MB")
    assert largest == pytest.approx(1e9 / 150e9)
    assert took < 2.0
    # The values of the keys and what is made of them while they are sampled: five columns of 4 MB, some twice.
    assert grown < 80


def test_time_series_larger_than_the_memory_they_may_take_are_written(tmp_path):
    """200 MB of results, a chunk at a time."""
    over = {E: "150:220:100 GPa", "payload.mass": "0.1:1:125 kg"}
    entries = {
        "changes": {"t_end": 0.2, "output_dt": 1e-4},
        "series": ["q.upper"],
    }
    grown = memory_growth(tmp_path, over, 64, entries)
    with xr.open_dataset(tmp_path / "large" / "dataset.nc") as data:
        assert data["q.upper"].shape == (12_500, 2001)
        assert (
            data["q.upper"][777].values.tolist()
            == [float(data["payload.mass"][777])] * 2001
        )
    print(f"memory grew by {grown:.0f} MB")
    assert grown < 50


def test_the_engine_takes_less_than_two_percent_of_runs_of_ten_milliseconds(tmp_path):
    """Everything but the runs themselves: hashes, files, checksums, the dataset."""
    plan = Plan.of(
        study(over={E: "150:220:100 GPa", "payload.mass": "0.1:1:64 kg"}, chunk=64)
    )
    store = ChunkStore(tmp_path / "s")
    began = time.process_time()
    finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
    overhead = (time.process_time() - began) / plan.study.design.count
    print(f"{1e6 * overhead:.0f} us of each run")
    assert overhead < 0.02 * 10e-3


def test_a_disk_that_is_full_stops_a_study_which_goes_on_when_there_is_room(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "none", disk], check=True
    )
    try:
        plan = Plan.of(study(over={E: "150:220:30 GPa", "payload.mass": "0:1:10 kg"}))
        store = ChunkStore(disk / "s")
        with pytest.raises(StoreError, match="no room left on the disk"):
            finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
        done = survey(plan, store).tally.done
        assert 0 < done < 300
        assert not list(disk.rglob("*.tmp"))
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        workers = MadeUpWorkers()
        results = finish_sweep(plan, store, compute_missing(plan, store, workers))
        assert 3 * len(workers.asked) == 300 - done
        assert results.data.sizes["run"] == 300
        results.data.close()
    finally:
        subprocess.run(["umount", disk], check=True)


SCRIPT = """
import sys, time
sys.path[:0] = [{tests!r}]
from studies.made_up_runs import MadeUpWorkers, study
from lissom.studies.engine import compute_missing
from lissom.studies.store import Plan, ChunkStore
from lissom.studies.sweep import finish_sweep

plan = Plan.of(study(over={over!r}, chunk=2))
store = ChunkStore({store!r})
print("ready", flush=True)
finish_sweep(plan, store, compute_missing(plan, store, MadeUpWorkers()))
"""


def test_a_hundred_kills_lose_and_double_nothing(tmp_path):
    """Kills fall into writing, renaming and reading: chunks come thousands a second."""
    over = {E: "150:220:100 GPa", "payload.mass": "0.1:1:100 kg"}
    tests = str(Path(__file__).parents[1])
    store = tmp_path / "s"
    script = SCRIPT.format(tests=tests, over=over, store=str(store))
    moments = random.Random(7)
    before: dict = {}
    kills = 0
    code = None
    while code != 0:
        process = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        if kills < 100:
            time.sleep(moments.uniform(0.0, 1.0))
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        code = process.wait()
        assert code in (0, -signal.SIGKILL)
        now = kept(store)
        assert set(before) <= set(now)
        assert all(now[name] == facts for name, facts in before.items())
        before = now
    plan = Plan.of(study(over=over, chunk=2))
    again = finish_sweep(
        plan,
        other := ChunkStore(tmp_path / "o"),
        compute_missing(plan, other, MadeUpWorkers()),
    )
    with xr.open_dataset(store / "dataset.nc") as killed, again.data as whole:
        for name in whole.variables:
            assert np.array_equal(killed[name].values, whole[name].values)
    print(f"{kills} kills")
    assert kills == 100
