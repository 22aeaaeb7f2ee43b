"""Studies on Dask: the same numbers, workers that die, and clusters that are not there."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
import xarray as xr

import lissom as ls
from lissom.studies.cluster import ClusterError, client_of

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


def test_a_local_cluster_shows_no_pages_and_listens_on_loopback_alone():
    with client_of("local", 1, 1) as client:
        assert client.scheduler.address.startswith("tcp://127.0.0.1:")
        for page in ("status", "health", "info/main/workers.html"):
            address = client.dashboard_link.replace("status", page)
            assert address.startswith("http://127.0.0.1:")
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(address, timeout=10)


def certificates(folder) -> dict[str, str]:
    """A certificate authority and a certificate that it has signed, by their roles."""
    files = {name: str(folder / name) for name in ("ca.key", "ca.pem", "key", "pem")}

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    new = ("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj")
    authority = ("-x509", "-days", "2", "-out", files["ca.pem"])
    openssl(*new, "/CN=authority", "-keyout", files["ca.key"], *authority)
    asked = str(folder / "request")
    openssl(*new, "/CN=localhost", "-keyout", files["key"], "-out", asked)
    by = ("-CA", files["ca.pem"], "-CAkey", files["ca.key"], "-CAcreateserial")
    openssl("x509", "-req", "-in", asked, *by, "-days", "2", "-out", files["pem"])
    return {"ca": files["ca.pem"], "cert": files["pem"], "key": files["key"]}


def sweep_command(file, store, *words) -> subprocess.CompletedProcess:
    module = [sys.executable, "-m", "lissom.commands.cli", "sweep", str(file)]
    return subprocess.run(
        [*module, "--store", str(store), *words], capture_output=True, text=True
    )


def test_a_cluster_behind_tls_asks_for_certificates(here, tmp_path):
    import distributed

    own = certificates(tmp_path)
    roles = {}
    for role in ("scheduler", "worker", "client"):
        roles |= {f"tls_{role}_cert": own["cert"], f"tls_{role}_key": own["key"]}
    security = distributed.Security(
        tls_ca_file=own["ca"], require_encryption=True, **roles
    )
    file = tmp_path / "study.yaml"
    file.write_text(
        "analysis: static\nscenario: double-pendulum\nchunk: 4\nover:\n"
        f"  {E}: 150:220:4 GPa\n  payload.mass: 0.1:1:6 kg\nmetrics: [sag, torque_peak]\n"
    )
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        security=security,
        protocol="tls://",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        store = tmp_path / "s"
        refused = sweep_command(file, store, "--cluster", address)
        assert refused.returncode == 1
        assert f"{address}: no Dask scheduler answered" in refused.stderr
        options = []
        for role, path in own.items():
            options += [f"--tls-{role}", path]
        gone = sweep_command(file, store, "--cluster", address, *options[:-1], "gone")
        assert gone.returncode == 2 and "gone" in gone.stderr
        done = sweep_command(file, store, "--cluster", address, *options)
        assert done.returncode == 0, done.stderr
    with xr.open_dataset(store / "dataset.nc") as there:
        for name in here.data.variables:
            assert np.array_equal(here.data[name].values, there[name].values)


def test_a_scheduler_that_dies_is_named_and_what_is_done_is_kept(tmp_path):
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
    ):
        address = cluster.scheduler_address
        done = []

        def end_it(tally):
            if tally.done and not done:
                done.append(tally.done)
                cluster.close()

        with pytest.raises(ClusterError, match=f"{address}: the connection"):
            ls.sweep(STUDY, store=tmp_path / "s", cluster=address, watch=end_it)
    again = ls.sweep(STUDY, store=tmp_path / "s", workers=1)
    assert again.tally.done == 24 and again.tally.computed <= 24 - done[0]
