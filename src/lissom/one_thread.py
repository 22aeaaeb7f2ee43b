"""Products of matrices in one thread.

The library behind NumPy deals out even products of 100 x 100 matrices to all cores, and its threads wait for each other
at the end of each. Where another program holds a core, many of them one after the other take thirty times as long.
"""

import functools
from contextlib import AbstractContextManager
from typing import Any

import threadpoolctl


@functools.cache
def _libraries() -> Any:
    """The libraries for linear algebra that are loaded; to look for them takes milliseconds."""
    return threadpoolctl.ThreadpoolController()


def in_one_thread() -> AbstractContextManager[object]:
    """While it lasts, products of matrices stay in the thread that asks for them."""
    return _libraries().limit(limits=1, user_api="blas")
