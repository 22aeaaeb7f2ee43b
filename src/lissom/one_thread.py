"""Products of matrices in one thread.

The library behind NumPy distributes even products of 100 x 100 matrices over all cores, and its threads wait for each
other at the end of each. Where another program holds a core, many of them one after the other take thirty times as
long.
"""

import functools
from contextlib import AbstractContextManager
from typing import Any

import threadpoolctl


@functools.cache
def _libraries() -> Any:
    """The linear-algebra libraries that are loaded, cached: finding them takes milliseconds."""
    return threadpoolctl.ThreadpoolController()


def in_one_thread() -> AbstractContextManager[object]:
    """Context in which matrix products run in the calling thread only."""
    return _libraries().limit(limits=1, user_api="blas")
