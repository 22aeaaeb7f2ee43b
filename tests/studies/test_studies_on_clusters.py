"""Studies on Dask: the same numbers, workers that die, and clusters that are not there."""

import os
import signal
import time

import numpy as np
import pytest

import lissom as ls
from lissom.studies.cluster import ClusterError

from .made_up_runs import E

pytestmark = pytest.mark.slow

STUDY = {
    "analysis": "static",
    "scenario": "double-pendulum",
    "over": {E: "150:220:4 GPa", "payload.mass": "0.1:1:6 kg"},
    "metrics": ["sag", "torque_peak"],
    "chunk": 4,
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    store = tmp_path_factory.mktemp("here") / "s"
    return ls.sweep(STUDY, store=store, workers=1)


def same_chunks(one, other) -> bool:
    found = []
    for sweep in (one, other):
        files = sorted((sweep.store / "chunks").glob("*/*.chunk"))
        found.append([path.name for path in files])
    return found[0] == found[1]


def test_a_local_cluster_gives_the_same_numbers(here, tmp_path):
    there = ls.sweep(STUDY, store=tmp_path / "s", cluster="local", workers=2)
    assert same_chunks(here, there)
    for name in here.data.variables:
        assert np.array_equal(here.data[name].values, there.data[name].values)


def test_a_worker_that_is_killed_costs_nothing(here, tmp_path):
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        killed = []

        def kill_one(tally):
            if not killed and tally.done:
                numbers = list(client.run(os.getpid).values())
                os.kill(numbers[0], signal.SIGKILL)
                killed.append(numbers[0])

        there = ls.sweep(STUDY, store=tmp_path / "s", cluster=client, watch=kill_one)
    assert killed and there.tally.failed == 0
    for name in here.data.variables:
        assert np.array_equal(here.data[name].values, there.data[name].values)


def test_a_cluster_that_is_not_there_is_named_with_what_was_tried(tmp_path):
    began = time.monotonic()
    with pytest.raises(ClusterError, match="tcp://127.0.0.1:9: no Dask scheduler"):
        ls.sweep(STUDY, store=tmp_path / "s", cluster="tcp://127.0.0.1:9")
    assert time.monotonic() - began < 60


def test_workers_of_another_version_are_refused(tmp_path, monkeypatch):
    import distributed

    from lissom.studies import cluster as module

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        monkeypatch.setattr(module, "__version__", "9.9")
        with pytest.raises(ClusterError, match="another version than 9.9"):
            ls.sweep(STUDY, store=tmp_path / "s", cluster=client)
