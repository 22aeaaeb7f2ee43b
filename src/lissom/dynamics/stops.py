"""End stops of joints: stiff springs with dampers that push a joint back into its range and never pull.

With the depth d of a joint beyond its limit, a stop pushes with F = k d + c d', and with nothing where that would pull.
The spring stores k d^2 / 2 as long as d > 0, and what F does beyond the spring is lost: (F - k d) d' >= 0.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..types import Real


class Stops(eqx.Module):
    """Range of every moving joint and what stops it there; joints without stops have an infinite range."""

    low: Float[Real, " j"]  # [rad or m]
    high: Float[Real, " j"]
    stiffness: Float[Real, " j"]  # k [N m/rad or N/m]
    damping: Float[Real, " j"]  # c [N m s/rad or N s/m]

    def depth(
        self, encoder: Float[Array, " j"], encoder_d: Float[Array, " j"]
    ) -> tuple[Float[Array, "2 j"], Float[Array, "2 j"]]:
        """How far each joint is beyond its lower and its upper limit, and how fast it goes on."""
        beyond = jnp.stack([self.low - encoder, encoder - self.high])
        return beyond, jnp.stack([-encoder_d, encoder_d])

    def push(self, depth: Float[Array, "2 j"], rate: Float[Array, "2 j"]):
        """Force of spring and damper together, towards the inside; negative where it would pull."""
        is_far = jnp.isinf(depth)
        spring = self.stiffness * jnp.where(is_far, 0.0, depth)
        return jnp.where(is_far, 0.0, spring + self.damping * rate)

    def pushing(
        self, encoder: Float[Array, " j"], encoder_d: Float[Array, " j"]
    ) -> Float[Array, "2 j"]:
        """1 for each stop that pushes in this state, 0 for the others."""
        depth, rate = self.depth(encoder, encoder_d)
        return jnp.where((depth > 0) & (self.push(depth, rate) > 0), 1.0, 0.0)

    def torque(
        self,
        encoder: Float[Array, " j"],
        encoder_d: Float[Array, " j"],
        pushing: Float[Array, "2 j"],
    ) -> Float[Array, " j"]:
        """Torque on every joint while some stops push: smooth as long as these stay the same."""
        depth, rate = self.depth(encoder, encoder_d)
        lower, upper = pushing * self.push(depth, rate)
        return lower - upper

    def energy(self, encoder: Float[Array, " j"]) -> Float[Array, ""]:
        """Energy in the springs [J]."""
        depth, _ = self.depth(encoder, jnp.zeros_like(encoder))
        inside = jnp.maximum(jnp.where(jnp.isinf(depth), 0.0, depth), 0.0)
        return 0.5 * jnp.sum(self.stiffness * inside**2)

    def loss(
        self,
        encoder: Float[Array, " j"],
        encoder_d: Float[Array, " j"],
        pushing: Float[Array, "2 j"],
    ) -> Float[Array, ""]:
        """Power that the dampers take [W]: what the stops do beyond their springs."""
        depth, rate = self.depth(encoder, encoder_d)
        inside = jnp.maximum(jnp.where(jnp.isinf(depth), 0.0, depth), 0.0)
        beyond_spring = pushing * self.push(depth, rate) - self.stiffness * inside
        return jnp.sum(beyond_spring * rate)


def stop_energy(stops: Stops | None, encoder: Float[Array, " j"]) -> Float[Array, ""]:
    """Energy in the springs of the stops, where a robot has some [J]."""
    return jnp.zeros(()) if stops is None else stops.energy(encoder)
