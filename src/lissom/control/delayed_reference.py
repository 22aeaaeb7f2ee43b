"""Delayed reference control: the position loop is unchanged, its reference is delayed while the links are strained.

The inner loop tracks r(t - delta). The delay follows from the strain eps that motion causes, [Boschetti2012],
[Caracciolo2018]:

    delta' = sat( k (rd . W eps) / (|rd|^2 + sigma^2) ),    |delta'| <= limit < 1,    delta >= 0.

Where the reference moves, strain thus feeds its speed, which damps the links; where it rests, nothing happens. Catching
up means to brake later and harder: a second, smaller limit holds delta' from below, and with none of it the delay only
grows.
"""

from typing import Annotated, Any, Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import Common, JointGains, Positive
from ..files.quantity import Quantity
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_motions import end_rows
from .described_numbers import actuated_columns
from .described_references import design_pose, shaped_reference
from .nominal import NominalMotion, nominal_motion
from .pid import PID, PIDMemory, position_loop
from .strain_filter import strain_filter
from .tuning import delay_gain


class DelayedReferenceController(Common):
    """A PID whose reference is delayed while the links are strained."""

    type: Literal["delayed-reference"]
    gains: JointGains
    sensors: tuple[str, ...]
    # k; None: the stable gain with the most damping.
    gain: Positive | None = None
    slowest: Positive = 0.05  # [rad/s or m/s]
    limit: Annotated[float, Quantity("", above=0, below=1)] = 0.5
    # Largest rate at which a delay shrinks; None: the limit.
    catch_up: Annotated[float, Quantity("", least=0, below=1)] | None = None


class DelayMemory(NamedTuple):
    """The inner loop's memory, and the delay so far [s]."""

    inner: PIDMemory
    delay: Float[Array, ""]


class DelayedReference(AbstractLaw):
    """A PID whose reference is delayed by what strain gauges measure.

    Args:
        inner: the position loop, unchanged.
        sample: its period [s].
        static: the same motion, infinitely slow: what the gauges read under the weight alone.
        strain_names: channels of the gauges.
        filter: W, what each joint's speed is fed with, from the gauges (a, m).
        gain: k.
        slowest: sigma, speed below which the delay fades [rad/s or m/s].
        limit: largest delta'; below one, so that time never runs backwards.
        catch_up: largest -delta', at which a delay shrinks.
        stable: gains for which small vibrations die out while the reference moves fast.
    """

    inner: PID
    sample: Scalar
    static: NominalMotion
    strain_names: tuple[str, ...] = eqx.field(static=True)
    filter: Float[Real, "a m"]
    gain: Scalar
    slowest: Scalar
    limit: Scalar
    catch_up: Scalar
    stable: tuple[float, float] | None = eqx.field(static=True, default=None)

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Encoders of the actuated joints, then the gauges."""
        return (*self.inner.sensors(model), *self.strain_names)

    @override
    def init(self, model: Any) -> DelayMemory:
        return DelayMemory(self.inner.init(model), jnp.zeros(()))

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: DelayMemory
    ) -> tuple[Float[Array, " a"], DelayMemory]:
        """Joint torques [N m or N]."""
        joints = np.shape(self.filter)[0]
        encoder, strain = measured[:joints], measured[joints:]
        then = t - memory.delay
        torque, inner = self.inner(then, encoder, memory.inner)
        eps = strain - self.static.measured.value(then)
        delay = memory.delay + self.sample * self.delay_rate(then, eps)
        return torque, DelayMemory(inner, jnp.maximum(delay, 0.0))

    def delay_rate(self, then, eps: Float[Array, " m"]) -> Float[Array, ""]:
        """Delta' of the law above."""
        speed = self.inner.nominal.reference.rate(then)
        fed = speed @ (jnp.asarray(self.filter) @ eps)
        wanted = self.gain * fed / (speed @ speed + self.slowest**2)
        return jnp.clip(wanted, -self.catch_up, self.limit)

    def remarks(self) -> tuple[str, ...]:
        """The gain and its stable range."""
        if self.stable is None:
            return ()
        least, largest = self.stable
        return (
            f"gain of the delay {float(self.gain):.3g}, stable from {least:.3g} to {largest:.3g} about the end "
            "of the motion",
        )


def delayed_reference_law(
    model: Model, controller: DelayedReferenceController
) -> DelayedReference:
    """A position loop whose reference is delayed while links are strained."""
    inner = position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    slow = _at_rest(model, controller, sensors)
    q = design_pose(model, controller)
    W = strain_filter(model, q, sensors)
    first, last = end_rows(model, controller)
    direction = actuated_columns(model, last - first)
    gains = delay_gain(model, q, inner, sensors, W, direction)
    gain, catch_up = controller.gain, controller.catch_up
    return DelayedReference(
        inner=inner,
        sample=controller.sample,
        static=slow,
        strain_names=sensors,
        filter=W,
        gain=gains.chosen if gain is None else gain,
        slowest=controller.slowest,
        limit=controller.limit,
        catch_up=controller.limit if catch_up is None else catch_up,
        stable=(gains.least, gains.largest),
    )


def _at_rest(
    model: Model, controller: Common, sensors: tuple[str, ...]
) -> NominalMotion:
    """What sensors read along the motion if it were infinitely slow."""
    reference = shaped_reference(model, controller)
    return nominal_motion(
        model, reference, sensors, "gravity", step=controller.sample, slow=True
    )


LAW = DescribedLaw(DelayedReferenceController, delayed_reference_law)
