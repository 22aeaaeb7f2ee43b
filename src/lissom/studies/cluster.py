"""Chunks computed by the workers of a Dask cluster: Dask only schedules, the chunks are stored here."""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__
from ..files.errors import refused
from ..runs.failures import AnalysisError
from .local_workers import PAUSE, Progress, processors
from .store import Plan
from .worker import compute_remotely

LOCAL = "local"
# Protocol, host and port: tcp://head:8786, head:8786, tls://[::1]:8786.
ADDRESS = re.compile(r"(\w+://)?(\[[^\]\s]+\]|[^:/\s]+):\d+")
LOOPBACK = "127.0.0.1"  # all that a local cluster listens on
# No dashboard, and no other pages.
SERVES_NOTHING = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
PATIENCE = 10.0  # [s] for a scheduler to answer
# Chunks submitted at once for each thread of the cluster: so many wait in its memory at most.
AHEAD = 2
EXTRA = "pip install 'lissom[cluster]'"


class ClusterError(AnalysisError):
    """A cluster that cannot be used."""


class Address(NamedTuple):
    """Address of a cluster, and its certificates."""

    scheduler: str  # tcp://host:8786, tls://host:8786, or local
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None

    def check(self) -> None:
        """Refuses invalid addresses, and certificates that are unused or missing.

        Raises:
            DescriptionError: with what is accepted.
        """
        if self.scheduler != LOCAL and not ADDRESS.fullmatch(self.scheduler):
            message = "must be local, or the address of a Dask scheduler: tcp://HOST:8786, tls://HOST:8786"
            raise refused("cluster", self.scheduler, message)
        for name in ("tls_ca", "tls_cert", "tls_key"):
            path = getattr(self, name)
            if path is not None and not self.scheduler.startswith("tls://"):
                raise refused(name, path, "belongs to the address tls://HOST:PORT")
            if path is not None and not Path(path).is_file():
                raise refused(name, path, "no such file")


def compute_on_cluster(
    cluster: Any, plan: Plan, numbers: Sequence[int], workers: int | None
) -> Iterator[Progress]:
    """Chunks as a cluster gets them done, in any order.

    Raises:
        ClusterError: it cannot be reached, or its workers have another version.
    """
    with client_of(cluster, workers, len(numbers)) as client:
        address = client.scheduler.address
        try:
            _check_versions(client)
            yield from _compute(client, plan, numbers)
        except (OSError, CancelledError) as failure:
            message = f"{address}: the connection to the cluster was lost: {failure}"
            raise ClusterError(message) from None


def _compute(client: Any, plan: Plan, numbers: Sequence[int]) -> Iterator[Progress]:
    wait = _distributed().wait
    recipe = json.dumps(plan.recipe.to_dict())
    fingerprint = plan.recipe.fingerprint
    todo = list(reversed(numbers))
    under_way: dict[Any, int] = {}
    while todo or under_way:
        room = AHEAD * max(1, sum(client.nthreads().values()))
        while todo and len(under_way) < room:
            number = todo.pop()
            request = plan.task(number)._asdict()
            # Not pure: Dask would otherwise remember results by their arguments.
            future = client.submit(
                compute_remotely, recipe, fingerprint, request, pure=False
            )
            under_way[future] = number
        try:
            with client.as_current():
                futures = list(under_way)
                news = wait(futures, timeout=PAUSE, return_when="FIRST_COMPLETED")
        except TimeoutError:
            yield Progress(None)
            continue
        for future in news.done:
            number = under_way.pop(future)
            yield Progress(number, _result(future))


def _result(future: Any) -> bytes:
    KilledWorker = _distributed().KilledWorker
    try:
        return future.result()
    except KilledWorker as failure:
        raise ClusterError(f"a chunk ended several workers: {failure}") from None
    except (OSError, CancelledError):
        raise
    except RuntimeError as failure:
        raise ClusterError(str(failure)) from None
    except Exception as failure:
        # Of a run it would be a row: this is something about the worker.
        failure_text = f"{type(failure).__name__}: {failure}"
        raise ClusterError(
            f"a worker could not compute a chunk: {failure_text}"
        ) from None


@contextmanager
def client_of(cluster: Any, workers: int | None, most: int) -> Iterator[Any]:
    """A client of the cluster; one that was passed in stays open.

    Args:
        cluster: an `Address`, its text, `local`, or a client.
        workers: of a local cluster; default: one for each core.
        most: workers that have something to do.
    """
    distributed = _distributed()
    if isinstance(cluster, distributed.Client):
        yield cluster
        return
    address = cluster if isinstance(cluster, Address) else Address(str(cluster))
    address.check()
    if address.scheduler == LOCAL:
        with (
            import_module("dask").config.set(SERVES_NOTHING),
            _local_cluster(distributed, workers, most) as local,
            distributed.Client(local, set_as_default=False) as client,
        ):
            yield client
        return
    with _remote(distributed, address) as client:
        yield client


def _distributed() -> Any:
    try:
        return import_module("distributed")
    except ModuleNotFoundError:
        message = f"--cluster needs dask.distributed, which is not installed: {EXTRA}"
        raise ClusterError(message) from None


def _local_cluster(distributed: Any, workers: int | None, most: int) -> Any:
    return distributed.LocalCluster(
        n_workers=min(workers or processors(), most),
        threads_per_worker=1,
        processes=True,
        host=LOOPBACK,
        # Dask opens this port in any case: one that nobody else uses, with nothing behind it.
        dashboard_address=f"{LOOPBACK}:0",
        scheduler_kwargs={"dashboard": False},
        # What it warns of, such as a worker that is slow to leave, is nothing that a user could do about.
        silence_logs=logging.ERROR,
    )


def _remote(distributed: Any, address: Address) -> Any:
    security = None
    if address.tls_ca or address.tls_cert or address.tls_key:
        security = distributed.Security(
            tls_ca_file=address.tls_ca,
            tls_client_cert=address.tls_cert,
            tls_client_key=address.tls_key,
            require_encryption=True,
        )
    try:
        return distributed.Client(
            address.scheduler,
            security=security,
            timeout=PATIENCE,
            set_as_default=False,
        )
    except (OSError, TimeoutError, ValueError, TypeError) as failure:
        how = " with TLS" if security is not None else ""
        raise ClusterError(
            f"{address.scheduler}: no Dask scheduler answered within {PATIENCE:g} s{how}: {failure or 'timeout'}"
        ) from None


def _check_versions(client: Any) -> None:
    """Refuses workers of another version, or none at all."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ClusterError(f"{client.scheduler.address}: has no workers") from None
    versions = client.run(version_here)
    others = {name: v for name, v in versions.items() if v != __version__}
    if others:
        differing = ", ".join(
            f"{name} has {version}" for name, version in others.items()
        )
        raise ClusterError(
            f"workers of another version than {__version__}: {differing}"
        )


def version_here() -> str:
    """Version of this package where the call is made."""
    try:
        from lissom import __version__ as version
    except ImportError:
        return "none"
    return version
