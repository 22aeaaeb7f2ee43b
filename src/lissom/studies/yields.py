"""Which part of the runs keeps a specification."""

from typing import Any, NamedTuple

import numpy as np
import scipy

from .study import Bound, Study

CONFIDENCE = 0.95
ALL = "all of them"


class Yield(NamedTuple):
    """Part of the runs that keep a bound, with the interval of Wilson's score for the true part."""

    name: str
    part: float
    low: float
    high: float
    runs: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {100 * self.part:.4g} % of {self.runs} runs "
            f"({100 * self.low:.4g} to {100 * self.high:.4g} %, confidence {100 * CONFIDENCE:g} %)"
        )


def yields_of(study: Study, data: Any) -> list[Yield]:
    """The yield of each bound of the specification, and of all of them; a failed run keeps none."""
    masks = {}
    for name, bound in study.specification.items():
        masks[_words(name, bound)] = _keeps(np.asarray(data[name].values), bound)
    if len(masks) > 1:
        masks[ALL] = np.logical_and.reduce(list(masks.values()))
    return [_yield(name, mask) for name, mask in masks.items()]


def _words(name: str, bound: Bound) -> str:
    words = [] if bound.above is None else [f"above {bound.above:g}"]
    words += [] if bound.below is None else [f"below {bound.below:g}"]
    return f"{name} {' and '.join(words)}"


def _keeps(numbers: np.ndarray, bound: Bound) -> np.ndarray:
    # NaN keeps no bound: a comparison with it is false.
    rows = numbers.reshape(len(numbers), -1)
    keeps = np.full(rows.shape, True)
    if bound.below is not None:
        keeps &= rows < bound.below
    if bound.above is not None:
        keeps &= rows > bound.above
    return np.asarray(keeps.all(axis=1))


def _yield(name: str, mask: np.ndarray) -> Yield:
    # Slow to import, and few studies have a specification.
    good, runs = int(mask.sum()), len(mask)
    interval = scipy.stats.binomtest(good, runs).proportion_ci(
        CONFIDENCE, method="wilson"
    )
    return Yield(name, good / runs, interval.low, interval.high, runs)
