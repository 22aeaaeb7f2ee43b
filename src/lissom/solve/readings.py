"""Coordinates of bodies, and readings of gauges, along a run that is over."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import vmap_rows

from ..dynamics.formulation import AbstractFormulation, on_branch_near
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
    return readings_of_bodies(channels, body_coordinates(model, q, elastic))


def readings_of_bodies(
    channels: tuple[Channel, ...], body: Float[np.ndarray, "t l c"]
) -> Float[np.ndarray, "t m"]:
    """Strains or section forces from the coordinates of all bodies, one column for each channel."""
    columns = [body[:, c.index] @ np.asarray(c.row) for c in channels]
    return np.stack(columns, axis=1)


def body_coordinates(
    model: Model, q: Float[np.ndarray, "t j"], elastic: Float[np.ndarray, "t e"]
) -> Float[np.ndarray, "t l c"]:
    """Coordinates of all bodies along a motion."""
    bodies = _bodies(model.formulation, jnp.asarray(q), jnp.asarray(elastic))
    return np.asarray(bodies)


@compiled_quickly
def _bodies(
    f: AbstractFormulation, q: Float[Array, "t j"], elastic: Float[Array, "t e"]
) -> Float[Array, "t l c"]:
    def one(q, eta):
        x = jnp.concatenate([of_independent(f, q), eta])
        return on_branch_near(f, q).configuration(x).q

    return vmap_rows(one)(q, elastic)
