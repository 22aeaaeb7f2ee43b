"""Hybrid control: a position loop, and a second loop that damps the signals of gauges or accelerometers."""

from typing import Annotated, Any, Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import Common, JointGains, Seconds
from ..describe.time_tables import Row
from ..files.quantity import Numbers, Quantity
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_references import design_pose, nominal_of
from .design_error import DesignError
from .nominal import NominalMotion
from .pid import PID, PIDMemory, position_loop
from .strain_filter import strain_filter
from .torque_limits import saturate
from .tuning import first_driven_mode, joint_inertia, vibration_gain

# Periods of the first mode: time constant of a vibration loop's high-pass filter.
SETTLING = 3.0


class HybridController(Common):
    """A PID, and beside it a loop that damps strains or accelerations."""

    type: Literal["hybrid"]
    gains: JointGains
    sensors: tuple[str, ...]
    # Of each sensor on each actuated joint; None: the gain with the most damping.
    gain: Annotated[tuple[Row, ...], Numbers((None, None), Quantity(""))] | None = None
    settling: Seconds | None = None  # default: three periods of the first mode
    signal: Literal["rate", "value"] = "rate"


class HybridMemory(NamedTuple):
    """Memory of the position loop, and the state of the high-pass filter."""

    inner: PIDMemory
    mean: Float[Array, " m"]
    signal: Float[Array, " m"]  # at the sample before


class Hybrid(AbstractLaw):
    """tau = tau_PID + G w: w the high-pass filtered signals, or their rate.

    The constant part is removed by a first-order high-pass filter, so that position control and vibration control do
    not work against each other at rest.

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


def hybrid_law(model: Model, controller: HybridController) -> Hybrid:
    """A position loop, and a loop on strains or accelerations beside it."""
    inner = position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    nominal = nominal_of(model, controller, sensors)
    q = design_pose(model, controller)
    first = first_driven_mode(model, q)
    settling = controller.settling or SETTLING * 2 * np.pi / first.omega

    def law_with(gain: np.ndarray) -> Hybrid:
        return Hybrid(
            inner=inner,
            sample=controller.sample,
            nominal=nominal,
            signal_names=sensors,
            gain=gain,
            settling=settling,
            of_rate=controller.signal == "rate",
        )

    if controller.gain is not None:
        return law_with(_written_gain(model, controller))
    # Torques per joint acceleration, from what the gauges read per joint acceleration.
    W = strain_filter(model, q, sensors)
    direction = joint_inertia(model, q)[:, None] * W
    gains = vibration_gain(model, q, lambda g: law_with(g * direction), 100.0)
    return law_with(gains.chosen * direction)


def _written_gain(model: Model, controller: HybridController) -> np.ndarray:
    """A gain as it is written.

    Raises:
        DesignError: another size than a row for each drive, a number for each sensor.
    """
    gain = np.asarray(controller.gain, dtype=float)
    wanted = (len(model.actuated), len(controller.sensors))
    if gain.shape != wanted:
        raise DesignError(
            f"{wanted[0]} rows (drives) of {wanted[1]} numbers (sensors), got {gain.shape[0]} of {gain.shape[1]}",
            "gain",
        )
    return gain


LAW = DescribedLaw(HybridController, hybrid_law)
