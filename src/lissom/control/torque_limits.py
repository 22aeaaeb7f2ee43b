"""Torques within the limits of the drives."""

import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float, Real


def saturate(
    torque: Float[Array, " a"], limit: Float[Real, " a"] | None
) -> Float[Array, " a"]:
    """Torques cut off at the limits of the drives."""
    if limit is None:
        return torque
    bound = jnp.asarray(limit)
    return jnp.clip(torque, -bound, bound)
