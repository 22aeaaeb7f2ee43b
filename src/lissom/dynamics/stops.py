"""End stops of joints: stiff springs with dampers that push a joint back into its range and never pull.

With the depth d of a joint beyond its limit, a stop pushes with F = k d + c d', and with nothing where that would pull.
The spring stores k d^2 / 2 as long as d > 0, and what F does beyond the spring is lost: (F - k d) d' >= 0.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float, Real

APART, RELAXING, PUSHING = 0.0, 0.5, 1.0


class Stops(eqx.Module):
    """Range of every moving joint and what stops it there; joints without stops have an infinite range."""

    low: Float[Real, " j"]  # [rad or m]
    high: Float[Real, " j"]
    stiffness: Float[Real, " j"]  # k [N m/rad or N/m]
    damping: Float[Real, " j"]  # c [N m s/rad or N s/m]

    def depth(
        self, encoder: Float[Array, " j"], encoder_d: Float[Array, " j"]
    ) -> tuple[Float[Array, "2 j"], Float[Array, "2 j"]]:
        """Distance of each joint beyond its lower and upper limit [rad or m], and its rate."""
        beyond = jnp.stack([self.low - encoder, encoder - self.high])
        return beyond, jnp.stack([-encoder_d, encoder_d])

    def push(self, depth: Float[Array, "2 j"], rate: Float[Array, "2 j"]):
        """Force of spring and damper together, towards the inside; negative where it would pull."""
        is_far = jnp.isinf(depth)
        spring = self.stiffness * jnp.where(is_far, 0.0, depth)
        return jnp.where(is_far, 0.0, spring + self.damping * rate)

    def contact(
        self, encoder: Float[Array, " j"], encoder_d: Float[Array, " j"]
    ) -> Float[Array, "2 j"]:
        """Contact at each stop: `APART`, `RELAXING` (touched, without a force) or `PUSHING`."""
        depth, rate = self.depth(encoder, encoder_d)
        touched = jnp.where(self.push(depth, rate) > 0, PUSHING, RELAXING)
        return jnp.where(depth > 0, touched, APART)

    def torque(
        self,
        encoder: Float[Array, " j"],
        encoder_d: Float[Array, " j"],
        contact: Float[Array, "2 j"],
    ) -> Float[Array, " j"]:
        """Torque on every joint: smooth as long as the contact stays the same."""
        depth, rate = self.depth(encoder, encoder_d)
        push = jnp.where(contact == PUSHING, self.push(depth, rate), 0.0)
        return push[0] - push[1]

    def energy(self, encoder: Float[Array, " j"]) -> Float[Array, ""]:
        """Energy in the springs [J]."""
        depth, _ = self.depth(encoder, jnp.zeros_like(encoder))
        inside = jnp.maximum(jnp.where(jnp.isinf(depth), 0.0, depth), 0.0)
        return 0.5 * jnp.sum(self.stiffness * inside**2)

    def loss(
        self,
        encoder: Float[Array, " j"],
        encoder_d: Float[Array, " j"],
        contact: Float[Array, "2 j"],
    ) -> Float[Array, ""]:
        """Power that the dampers take [W]: what the stops do beyond their springs."""
        depth, rate = self.depth(encoder, encoder_d)
        push = jnp.where(contact == PUSHING, self.push(depth, rate), 0.0)
        spring = self.stiffness * jnp.where(contact == APART, 0.0, depth)
        return jnp.sum((push - spring) * rate)


def stop_energy(stops: Stops | None, encoder: Float[Array, " j"]) -> Float[Array, ""]:
    """Energy in the springs of the stops, where a robot has some [J]."""
    return jnp.zeros(()) if stops is None else stops.energy(encoder)
