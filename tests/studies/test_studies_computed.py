"""Studies computed by worker processes: right numbers, failing runs as rows, killed workers and killed studies."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import lissom as ls

from . import kill_study
from .made_up_runs import E

pytestmark = pytest.mark.slow

PENDULUM = {
    "scenario": "double-pendulum",
    "changes": {"t_end": 0.2, "output_dt": 0.01},
    "over": {E: "150:220:4 GPa", "payload.mass": "0.1:1:4 kg"},
    "metrics": ["tip_deflection", "torque_peak", "steps"],
    "series": ["deflection.lower/tip"],
    "runs": "all",
}


@pytest.fixture(scope="module")
def pendulums(tmp_path_factory):
    store = tmp_path_factory.mktemp("pendulums") / "s"
    return ls.sweep({**PENDULUM, "chunk": 8}, store=store, workers=1)


def test_a_run_of_a_study_is_the_run_that_simulate_gives(pendulums):
    for k in (0, 7, 15):
        alone = ls.run_scenario(pendulums.scenario(k))
        bend = alone.position("lower/tip") - alone.values("erls_position")[:, -1]
        size = np.linalg.norm(bend, axis=1)
        in_study = pendulums.data["deflection.lower.tip"].values[k]
        # The march keeps 1e-6 of what it moves; lanes round in another order.
        np.testing.assert_allclose(in_study, size, atol=1e-5 * size.max())
        kept = pendulums.run(k)
        np.testing.assert_allclose(kept.q, alone.q, atol=1e-6)
        assert float(pendulums.data["tip_deflection"][k]) == in_study.max()


def test_a_softer_and_a_more_loaded_arm_bends_more(pendulums):
    bend = pendulums.on_grid()["tip_deflection"].values
    assert (np.diff(bend, axis=0) < 0).all()


def test_a_failing_run_is_a_row_with_its_reason(tmp_path):
    data = {**PENDULUM, "over": {"solver.max_steps": [2, 100_000]}, "runs": "none"}
    sweep = ls.sweep(data, store=tmp_path / "s", workers=1)
    assert sweep.tally.failed == 1
    (reason,) = sweep.failures().values()
    assert "max_steps" in reason or "steps" in reason
    assert np.isnan(sweep.data["tip_deflection"].values[0])
    assert np.isfinite(sweep.data["tip_deflection"].values[1])


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(tmp_path):
    killed = []

    def kill_a_worker(tally):
        if killed or not tally.done:
            return
        own = str(os.getpid())
        for number in os.listdir("/proc"):
            try:
                words = open(f"/proc/{number}/cmdline").read().split("\0")
                parent = (
                    open(f"/proc/{number}/stat").read().rsplit(")", 1)[1].split()[1]
                )
            except (OSError, IndexError):
                continue
            if "lissom.studies.worker" in words and parent == own:
                os.kill(int(number), signal.SIGKILL)
                killed.append(number)
                return

    data = {**PENDULUM, "runs": "none", "chunk": 2}
    sweep = ls.sweep(data, store=tmp_path / "s", workers=1, watch=kill_a_worker)
    assert killed and sweep.tally.failed == 0
    assert np.isfinite(sweep.data["tip_deflection"].values).all()


def test_the_status_is_read_while_a_study_grows_and_ctrl_c_keeps_what_is_done(tmp_path):
    file = kill_study.study_file(tmp_path, 400)
    store = tmp_path / "s"
    process = subprocess.Popen(
        kill_study.command(file, store),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not kill_study.kept(store):
        assert process.poll() is None
        time.sleep(0.1)
    # Another process reads the store while it grows.
    asked = kill_study.command(file, store)
    growing = subprocess.run([*asked, "--status"], check=True, capture_output=True)
    state = json.loads(growing.stdout)
    assert 0 < state["done"] <= state["runs"] == 400
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "runs are stored in" in told and "the same command continues" in told
    before = kill_study.kept(store)
    subprocess.run(kill_study.command(file, store), check=True, capture_output=True)
    after = kill_study.kept(store)
    assert all(after[name] == facts for name, facts in before.items())


def test_a_study_that_is_killed_many_times_loses_and_doubles_nothing(tmp_path):
    report = kill_study.main(tmp_path, runs=900, kills=8)
    assert report["runs"] == 900
    assert (report["lost"], report["doubled"], report["identical"]) == (0, 0, True)


def test_orphaned_workers_end(tmp_path):
    """A worker whose asker is gone hears its input close, and leaves."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "lissom.studies.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    time.sleep(1.0)
    assert worker.stdin is not None
    worker.stdin.close()
    assert worker.wait(timeout=60) == 3
