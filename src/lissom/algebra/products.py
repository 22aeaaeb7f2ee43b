"""Products and sums of matrices whose zeros are zeros."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..types import Float, Real, namespace

# Of one rounding; factors that were computed themselves, such as modes, are known to some of them.
ROUNDING = 100 * np.finfo(float).eps


def clean_product(*factors: Float[Real, "..."]) -> Any:
    r"""Product of matrices from left to right; where all terms cancel, exactly zero and not their rounding.

    A sum of $n$ terms is known to $n \epsilon$ times the sum of their sizes, $|A| |B|$. What is smaller
    says nothing, but differs from robot to robot, and costs machine code a multiplication. Traced factors are
    multiplied as they are.
    """
    value = functools.reduce(_times, factors)
    if namespace(*factors) is jnp:
        return value
    terms = max(factor.shape[-2] for factor in factors[1:])
    size = functools.reduce(_times, map(np.abs, factors))
    return np.where(np.abs(value) > terms * ROUNDING * size, value, 0.0)


def clean_sum(left: Float[Real, "..."], right: Float[Real, "..."]) -> Any:
    """Sum of two arrays; where both cancel, exactly zero. Traced ones are added as they are."""
    value = left + right
    if namespace(left, right) is jnp:
        return value
    size = np.abs(left) + np.abs(right)
    return np.where(np.abs(value) > ROUNDING * size, value, 0.0)


def _times(left: Any, right: Any) -> Any:
    return left @ right
