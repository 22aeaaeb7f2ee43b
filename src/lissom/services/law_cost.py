"""What a law costs from sample to sample."""

import time
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..solve.feedback import WiredLaw, wired
from ..solve.law import AbstractLaw
from ..solve.model import Model


def microseconds_per_sample(model: Model, law: AbstractLaw, count: int = 200) -> float:
    """Median time that a law takes for one sample, compiled, on this machine."""
    feedback: Any = wired(model, law)
    assert isinstance(feedback, WiredLaw)
    act = eqx.filter_jit(lambda t, y, memory: feedback.law(t, y, memory))
    measured = jnp.zeros(len(feedback.channels))
    memory = jax.tree.map(jnp.asarray, feedback.memory)
    t = jnp.asarray(0.0)
    jax.block_until_ready(act(t, measured, memory))
    seconds = []
    for _ in range(count):
        started = time.perf_counter()
        jax.block_until_ready(act(t, measured, memory))
        seconds.append(time.perf_counter() - started)
    return 1e6 * float(np.median(seconds))
