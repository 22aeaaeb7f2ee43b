"""A real loop: computation delay, quantisation, noise, and drives with limits.

Between the robot and any sampled law, in this order: sensor noise, quantisation, the law, its computation delay, the
limits of torque and of its rate, and the bandwidth of the drive. All of it happens at the samples: a command is held.
"""

import dataclasses
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int
from typing_extensions import override

from ..solve.law import AbstractLaw
from ..types import Float, Real, Scalar
from .torque_limits import saturate


class LoopMemory(NamedTuple):
    """Memory of the law, commands on their way, and the torque of the drives."""

    law: Any
    queue: Float[Array, "d a"]  # oldest first
    drive: Float[Array, " a"]
    samples: Int[Array, ""]


class RealLoop(AbstractLaw):
    """A sampled law behind real sensors and in front of real drives.

    Args:
        law: any sampled law.
        sample: its period [s].
        delay: samples from measurement to torque; until then the robot is held as before the run.
        noise: standard deviation of every sensor, in the order of the law's sensors.
        resolution: step of every sensor; zero: none.
        torque_limit: largest torque of each drive.
        rate_limit: largest rate of the torque [N m/s or N/s].
        bandwidth: of the drives, first order [Hz].
        seed: of the noise.
    """

    law: AbstractLaw
    sample: Scalar  # that of the law [s]
    delay: int = eqx.field(static=True, default=0)
    noise: Float[Real, " m"] | None = None
    resolution: Float[Real, " m"] | None = None
    torque_limit: Float[Real, " a"] | None = None
    rate_limit: Float[Real, " a"] | None = None
    bandwidth: Scalar | None = None
    seed: int = eqx.field(static=True, default=0)

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.law.sensors(model)

    @override
    def remarks(self) -> tuple[str, ...]:
        return self.law.remarks()

    @override
    def incidents(self) -> tuple[str, ...]:
        return self.law.incidents()

    def resting(
        self, memory: LoopMemory, measured: Any
    ) -> tuple["RealLoop", LoopMemory]:
        """The law at rest behind the same sensors and drives."""
        law, inner = self.law.resting(memory.law, measured)
        return dataclasses.replace(self, law=law), memory._replace(law=inner)

    @override
    def init(self, model: Any) -> LoopMemory:
        count = len(model.actuated_names)
        return LoopMemory(
            self.law.init(model),
            jnp.zeros((self.delay, count)),
            jnp.zeros(count),
            jnp.asarray(0),
        )

    @override
    def holding(
        self, t: Float[Any, ""], torque: Float[Any, " a"], memory: LoopMemory
    ) -> LoopMemory:
        queue = jnp.broadcast_to(torque, memory.queue.shape)
        law = self.law.holding(t, torque, memory.law)
        return memory._replace(law=law, queue=queue, drive=torque)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: LoopMemory
    ) -> tuple[Float[Array, " a"], LoopMemory]:
        """Joint torques of the drives [N m or N]."""
        readings = self.sensor_readings(measured, memory.samples)
        command, law = self.law(t, readings, memory.law)
        queue = jnp.concatenate([memory.queue, command[None]])
        torque = self.drive_torques(queue[0], memory)
        return torque, LoopMemory(law, queue[1:], torque, memory.samples + 1)

    def sensor_readings(
        self, measured: Float[Array, " m"], samples: Int[Array, ""]
    ) -> Float[Array, " m"]:
        """Readings of the sensors: noise added, rounded to the resolution."""
        readings = measured
        if self.noise is not None:
            key = jax.random.fold_in(jax.random.key(self.seed), samples)
            spread = jax.random.normal(key, measured.shape, dtype=measured.dtype)
            readings = readings + jnp.asarray(self.noise) * spread
        if self.resolution is not None:
            step = jnp.asarray(self.resolution)
            safe = jnp.where(step > 0, step, 1.0)
            rounded = jnp.where(step > 0, safe * jnp.round(readings / safe), readings)
            # A linear model of the loop sees the slope on average, not that of a stair.
            readings = readings + jax.lax.stop_gradient(rounded - readings)
        return readings

    def drive_torques(
        self, command: Float[Array, " a"], memory: LoopMemory
    ) -> Float[Array, " a"]:
        """Torques of the drives for a command: limited, rate-limited, lagged."""
        period = self.sample
        torque = saturate(command, self.torque_limit)
        if self.bandwidth is not None:
            # A lag of first order, exact for a command that is held from sample to sample.
            share = -jnp.expm1(-2 * jnp.pi * self.bandwidth * period)
            torque = memory.drive + share * (torque - memory.drive)
        if self.rate_limit is not None:
            step = jnp.asarray(self.rate_limit) * period
            torque = memory.drive + jnp.clip(torque - memory.drive, -step, step)
        return torque
