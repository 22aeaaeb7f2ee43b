"""Computing time of a law per sample."""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import NativeAhead

from ..solve.feedback import WiredLaw, wire_law
from ..solve.law import AbstractLaw
from ..solve.model import Model

SAMPLES = 300  # in one call, so that the call itself does not count
CALLS = 3


def microseconds_per_sample(
    model: Model, law: AbstractLaw, t: float, measured: np.ndarray
) -> float:
    """Time that a law takes for one sample inside a compiled run, on this machine; the best of some calls.

    Args:
        model: the robot.
        law: the law, sampled.
        t: of the first sample [s].
        measured: what it measures at all of them, such as where the robot rests.
    """
    feedback: Any = wire_law(model, law)
    assert isinstance(feedback, WiredLaw)
    memory = jax.tree.map(jnp.asarray, feedback.memory)
    given = (feedback.law, jnp.asarray(t), jnp.asarray(measured), memory)
    jax.block_until_ready(_many_samples(*given))
    seconds = []
    for _ in range(CALLS):
        started = time.perf_counter()
        jax.block_until_ready(_many_samples(*given))
        seconds.append(time.perf_counter() - started)
    return 1e6 * min(seconds) / SAMPLES


def _sampled(law: AbstractLaw, t: Any, measured: Any, memory: Any) -> Any:
    """The last command and memory of many samples."""
    command, _ = law(t, measured, memory)

    def sample(k, before):
        command, memory = law(t + k * jnp.asarray(law.sample), measured, before[1])
        return command, memory

    return jax.lax.fori_loop(0, SAMPLES, sample, (command, memory))


_many_samples = NativeAhead(_sampled)
