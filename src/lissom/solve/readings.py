"""Readings of gauges along a run that is over."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..dynamics.formulation import AbstractFormulation, near
from ..native.compiled import compiled_quickly
from ..native.marks import over_rows
from ..types import Float
from .balance import of_independent
from .channels import Channel
from .model import Model


def gauge_readings(
    model: Model,
    channels: tuple[Channel, ...],
    q: Float[np.ndarray, "t j"],
    elastic: Float[np.ndarray, "t e"],
) -> Float[np.ndarray, "t m"]:
    """Strains or section forces of a motion, one column for each channel."""
    found = _readings(model.formulation, channels, jnp.asarray(q), jnp.asarray(elastic))
    return np.asarray(found)


@compiled_quickly
def _readings(
    f: AbstractFormulation,
    channels: tuple[Channel, ...],
    q: Float[Array, "t j"],
    elastic: Float[Array, "t e"],
) -> Float[Array, "t m"]:
    def one(q, eta):
        x = jnp.concatenate([of_independent(f, q), eta])
        place = near(f, q).configuration(x)
        values = [jnp.asarray(c.row) @ place.q[c.index] for c in channels]
        return jnp.stack(values)

    return over_rows(one)(q, elastic)
