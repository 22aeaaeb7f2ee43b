"""Which key matters how much: Sobol indices of a study that was sampled for them."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import sobol_indices

from .sampling import SALTELLI
from .study import Study

CONFIDENCE = 0.95
RESAMPLES = 500


class SobolIndices(NamedTuple):
    """Parts of the variance of a metric: of each key alone, and with all that it acts together with.

    Intervals (2, keys) are bootstrapped. Reference: [Saltelli2010], table 2: first-order (b), total (f).
    """

    metric: str
    labels: tuple[str, ...]
    first: np.ndarray
    first_interval: np.ndarray
    total: np.ndarray
    total_interval: np.ndarray
    samples: int  # that were used
    dropped: int  # because a run of theirs failed


def sobol(study: Study, data: Any, metric: str) -> SobolIndices:
    """Sobol indices of a metric.

    Raises:
        ValueError: the study was sampled in another way, or too many of its runs failed.
    """
    if study.table is not None or study.sampling != SALTELLI:
        how = "table" if study.table is not None else study.sampling
        raise ValueError(
            f"sampling: {how}: Sobol indices need a study with sampling: saltelli and samples: 256 (a power of two)"
        )
    keys = len(study.over)
    if keys < 2:
        raise ValueError(
            "over: one key alone has all of the variance: name two or more"
        )
    numbers = np.asarray(data[metric].values, dtype=float)
    if numbers.ndim > 1:
        numbers = numbers[:, 0]
    pages = numbers.reshape(keys + 2, -1)
    # A sample counts only if all of its runs have a number, and the estimator takes a power of two of them.
    whole = np.flatnonzero(np.isfinite(pages).all(axis=0))
    if len(whole) < 2:
        raise ValueError(
            f"{metric}: in every sample a run failed or is infinite, but in {len(whole)}"
        )
    count = 2 ** int(np.log2(len(whole)))
    pages = pages[:, whole[:count]]
    values = {"f_A": pages[:1], "f_B": pages[1:2], "f_AB": pages[2:, None]}
    indices = sobol_indices(func=values, n=count)
    spread = indices.bootstrap(confidence_level=CONFIDENCE, n_resamples=RESAMPLES)
    return SobolIndices(
        metric=metric,
        labels=study.labels,
        first=np.ravel(indices.first_order),
        first_interval=_interval(spread.first_order),
        total=np.ravel(indices.total_order),
        total_interval=_interval(spread.total_order),
        samples=count,
        dropped=numbers.size // (keys + 2) - count,
    )


def _interval(result: Any) -> np.ndarray:
    bounds = result.confidence_interval
    return np.stack([np.ravel(bounds.low), np.ravel(bounds.high)])
