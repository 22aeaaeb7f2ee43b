"""Hybrid control: a position loop, and beside it a loop that damps what gauges or accelerometers feel."""

from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..solve.law import AbstractLaw
from ..types import Float, Real, Scalar
from .nominal import NominalMotion
from .pid import PID, PIDMemory, saturate


class HybridMemory(NamedTuple):
    """Memory of the position loop, and what the vibration has settled about."""

    inner: PIDMemory
    mean: Float[Array, " m"]
    signal: Float[Array, " m"]  # at the sample before


class Hybrid(AbstractLaw):
    """tau = tau_PID + G w: w the vibration in the signals, or its rate, without what lasts.

    What lasts is taken out by a first-order high-pass filter, so that position control and vibration control do not
    work against each other at rest.

    Args:
        inner: the position loop.
        sample: its period [s].
        nominal: what the signals read in the nominal motion.
        signal_names: strains (`rod/element0.kz`) or accelerations (`rod/tip.ay`).
        gain: G, from signals to joint torques (a, m).
        settling: time constant of the high-pass filter [s].
        of_rate: True: the rate of the signal is fed back (strains); False: the signal itself (accelerations).
    """

    inner: PID
    sample: Scalar
    nominal: NominalMotion
    signal_names: tuple[str, ...] = eqx.field(static=True)
    gain: Float[Real, "a m"]
    settling: Scalar
    of_rate: bool = eqx.field(static=True)

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Encoders of the actuated joints, then the signals."""
        return (*self.inner.sensors(model), *self.signal_names)

    @override
    def init(self, model: Any) -> HybridMemory:
        zero = jnp.zeros(len(self.signal_names))
        return HybridMemory(self.inner.init(model), zero, zero)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: HybridMemory
    ) -> tuple[Float[Array, " a"], HybridMemory]:
        """Joint torques [N m or N]."""
        joints = np.shape(self.gain)[0]
        encoder, signal = measured[:joints], measured[joints:]
        torque, inner = self.inner(t, encoder, memory.inner)
        deviation = signal - self.nominal.measured.value(t)
        share = self.sample / (self.settling + self.sample)
        mean = memory.mean + share * (deviation - memory.mean)
        vibration = deviation - mean
        fed = vibration
        if self.of_rate:
            fed = (vibration - memory.signal) / self.sample
        damped = torque + jnp.asarray(self.gain) @ fed
        torque = saturate(damped, self.inner.torque_limit)
        return torque, HybridMemory(inner, mean, vibration)
