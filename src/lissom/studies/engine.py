"""A study computed: what is missing in its store, by whatever computes chunks."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .chunk import decode
from .local_workers import Progress
from .store import ChunkStore, Plan

# Gives the chunks of these numbers as they get done.
Source = Callable[[Plan, Sequence[int]], Iterator[Progress]]


class Tally(NamedTuple):
    """How far a study is."""

    runs: int  # of the study
    done: int
    failed: int
    computed: int  # by this process
    seconds: float  # of this process
    compute_seconds: float  # spent on runs, added up over all workers

    @property
    def rate(self) -> float | None:
        """Runs in a second, as this process has seen it."""
        return self.computed / self.seconds if self.computed and self.seconds else None

    @property
    def left(self) -> float | None:
        """Expected time to the end [s]."""
        return (self.runs - self.done) / self.rate if self.rate else None


class Survey(NamedTuple):
    """Inventory of the chunks of a study in its store."""

    names: list[str]  # of all chunks
    missing: list[int]
    tally: Tally


def survey(plan: Plan, store: ChunkStore) -> Survey:
    """Looks through a store; every chunk is read, and its checksum tried."""
    names, missing = [], []
    done = failed = 0
    fingerprint = plan.recipe.fingerprint
    present = store.present()
    for number in range(plan.chunks):
        task = plan.task(number)
        name = task.name(fingerprint)
        names.append(name)
        content = store.read_if_intact(name) if name in present else None
        if content is None:
            missing.append(number)
            continue
        done += len(content.reasons)
        failed += content.failed
    tally = Tally(plan.study.design.count, done, failed, 0, 0.0, 0.0)
    return Survey(names, missing, tally)


def compute_missing(
    plan: Plan,
    store: ChunkStore,
    source: Source,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Survey:
    """Computes what a store does not hold yet, and keeps every chunk as soon as it is there.

    Raises:
        DescriptionError: the store holds another study.
        StoreError: it cannot be written, or another process does.
    """
    store.begin(plan)
    with store.in_use():
        inventory = survey(plan, store)
        tally = inventory.tally
        if not inventory.missing:
            return inventory
        began = time.monotonic()
        watch(tally)
        for news in source(plan, inventory.missing):
            if news.number is not None:
                store.keep(inventory.names[news.number], news.data)
                tally = _with(tally, news)
            tally = tally._replace(seconds=time.monotonic() - began)
            watch(tally)
    return inventory._replace(missing=[], tally=tally)


def _with(tally: Tally, news: Progress) -> Tally:
    content = decode(news.data)
    count = len(content.reasons)
    return tally._replace(
        done=tally.done + count,
        failed=tally.failed + content.failed,
        computed=tally.computed + count,
        compute_seconds=tally.compute_seconds + content.seconds,
    )
