"""Joint PD control on encoder readings."""

from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array
from typing_extensions import override

from jaxnative.compiled import compiled_quickly
from jaxnative.marks import noinline, vmap_rows

from ..describe.controllers import ErrorGains, RateGains, Seconds
from ..describe.time_tables import ReferenceTable
from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..files.part import Part
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.schedule import stack
from ..solve.signals import AbstractSignal, PolynomialPiece, Table, signal_of
from ..solve.static import kept_rest_at
from ..types import Float, Real, Scalar, namespace, real
from .described_law import DescribedLaw
from .described_numbers import actuated_columns
from .references import reference_through

MOST_SAMPLES = 100_000  # in a table of torques
AT_ONCE = 64  # pieces of a reference whose gravity torques are computed in one batch


class PDController(Part):
    """Joint PD control: torque = kp (reference - q) - kd qd, on encoder angles.

    One gain for each moving joint, or one for each actuated joint where some are passive.
    """

    type: Literal["pd"]
    kp: ErrorGains
    kd: RateGains
    reference: ReferenceTable
    # Adds the torque that holds the rigid robot at the reference.
    gravity_compensation: bool = False
    # Seconds between two samples of the law, its torque held in between; None: a continuous law.
    sample: Seconds | None = None


class PD(AbstractLaw):
    """tau = kp (r - e) + kd (rdot - edot) + feed-forward, e the encoder readings of the actuated joints.

    Args:
        kp: proportional gains, one for each actuated joint [N m/rad or N/m].
        kd: derivative gains [N m s/rad or N s/m].
        reference: r(t) of these joints: a `Table`, smooth between its points, or a pose that is held.
        compensate: a formulation: adds the torque that holds the rigid robot at the reference.
        sample: period [s]; None: continuous.
        feedforward: torques over time that are added as they are.
    """

    kp: Float[Real, " a"]
    kd: Float[Real, " a"]
    reference: AbstractSignal
    feedforward: AbstractSignal | None
    sample: Scalar | None

    def __init__(
        self,
        kp: Any,
        kd: Any,
        reference: Any,
        compensate: AbstractFormulation | None = None,
        sample: Scalar | None = None,
        feedforward: AbstractSignal | None = None,
    ):
        self.kp = namespace(kp).asarray(kp, dtype=float)
        self.kd = namespace(kd).asarray(kd, dtype=float)
        self.reference = signal_of(reference)
        self.feedforward = feedforward
        if compensate is not None:
            self.feedforward = GravityTorque(compensate, self.reference)
        self.sample = sample

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Encoders of the actuated joints, then their speeds."""
        self._check_gains(model)
        encoders = [f"{name}.encoder" for name in model.actuated_names]
        speeds = [f"{name}.speed" for name in model.actuated_names]
        return (*encoders, *speeds)

    def _check_gains(self, model: Any) -> None:
        names = ", ".join(model.actuated_names)
        count = len(model.actuated_names)
        for name, gains in (("kp", self.kp), ("kd", self.kd)):
            # A single gain is that of every joint.
            if np.shape(gains) not in ((), (count,)):
                raise ValueError(
                    f"{name} must have {count} gains, one for each actuated joint ({names}), "
                    f"got shape {np.shape(gains)}"
                )

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]; no memory."""
        encoder, speed = jnp.split(measured, 2)
        error = self.reference.value(t) - encoder
        error_d = self.reference.rate(t) - speed
        torque = jnp.asarray(self.kp) * error + jnp.asarray(self.kd) * error_d
        if self.feedforward is not None:
            torque = torque + self.feedforward.value(t)
        return torque, memory

    @property
    def breakpoints(self) -> np.ndarray:
        """Times where the reference jumps or bends."""
        return self.reference.breakpoints

    def on(self, start: float, end: float) -> "PD":
        """The law along a smooth piece of its reference."""
        return self.pieces([start], [end])[0]

    def pieces(self, starts: Sequence[float], ends: Sequence[float]) -> list["PD"]:
        """The laws along many pieces of the reference."""
        references = self.reference.pieces(starts, ends)
        feedforwards: Sequence[Any] = [None] * len(references)
        if self.feedforward is not None:
            feedforwards = self.feedforward.pieces(starts, ends)
        pairs = zip(references, feedforwards, strict=True)
        return [self._along(reference, extra) for reference, extra in pairs]

    def _along(
        self, reference: AbstractSignal, feedforward: AbstractSignal | None
    ) -> "PD":
        sample = self.sample
        return PD(self.kp, self.kd, reference, sample=sample, feedforward=feedforward)


class GravityTorque(AbstractSignal):
    """Torque of the actuated joints that holds the rigid robot along a reference."""

    formulation: AbstractFormulation
    reference: AbstractSignal

    @property
    @override
    def breakpoints(self) -> np.ndarray:
        return self.reference.breakpoints

    @override
    def value(self, t: Any) -> Float[Array, " a"]:
        return rigid_gravity_torque(self.formulation, self.reference.value(t))

    @override
    def rate(self, t: Any) -> Float[Array, " a"]:
        return jax.jvp(self.value, (real(t),), (jnp.ones(()),))[1]

    def on(self, start: float, end: float) -> PolynomialPiece:
        """The cubic through four gravity torques along the piece: cheap to evaluate at every stage of every step."""
        return self.pieces([start], [end])[0]

    def pieces(
        self, starts: Sequence[float], ends: Sequence[float]
    ) -> list[PolynomialPiece]:
        """The cubics of many pieces, their torques computed in one batch."""
        times = np.linspace(starts, ends, 4, axis=1)
        references = self.reference.pieces(starts, ends)
        parts = []
        for first in range(0, len(references), AT_ONCE):
            own = slice(first, first + AT_ONCE)
            parts.append(self._torques(references[own], times[own]))
        torques = namespace(parts).concatenate(parts)
        since = times - times[:, :1]
        powers = since[..., None] ** np.arange(4)
        coefficients = np.linalg.inv(powers) @ torques
        return [
            PolynomialPiece(np.float64(start), row)
            for start, row in zip(starts, coefficients, strict=True)
        ]

    def _torques(self, references: Sequence[AbstractSignal], times: np.ndarray) -> Any:
        """Torques (piece, time, joint) along some pieces; compiled code takes `AT_ONCE`, so some are filled up."""
        count = len(references)
        missing = AT_ONCE - count
        filled_up = [*references, *[references[-1]] * missing]
        along = jax.tree.map(lambda *leaves: stack(leaves), *filled_up)
        times = np.concatenate([times, np.repeat(times[-1:], missing, axis=0)])
        torques = _torques_along(self.formulation, along, times)
        traced = isinstance(torques, Tracer)
        return (torques if traced else np.asarray(torques))[:count]


def at_samples(torque: GravityTorque, sample: float, end: float) -> AbstractSignal:
    """The torques of a reference that stands from a time on, as a table of samples, for sampled laws."""
    count = int(np.ceil(end / sample)) + 2
    if count > MOST_SAMPLES:
        return torque
    times = sample * np.arange(count)
    torques = _torques_at(torque.formulation, torque.reference, times)
    return Table(times, np.asarray(torques), "linear", after="hold")


@compiled_quickly
def _torques_at(formulation: AbstractFormulation, reference: AbstractSignal, times):
    """Gravity torques (time, joint) along a reference."""
    along = vmap_rows(reference.value)(times)
    return vmap_rows(lambda r: _rigid_gravity_torque(formulation, r))(along)


@compiled_quickly
def rigid_gravity_torque(
    formulation: AbstractFormulation, reference: Float[Array, " r"]
) -> Float[Array, " a"]:
    """Torque that holds the rigid robot against gravity, dV/dtheta, with its joints at the reference.

    The reference is that of all moving joints or of the actuated ones. In a closed chain the independent joints carry
    the weight.
    """
    return _rigid_gravity_torque(formulation, reference)


@noinline
def _rigid_gravity_torque(f: AbstractFormulation, reference):
    actuated = jnp.asarray(f.joints.actuated, dtype=int)
    independent = jnp.asarray(f.independent, dtype=int)
    theta = reference
    if reference.shape[0] != f.n_encoders:
        theta = jnp.asarray(f.mechanism.home).at[actuated].set(reference)
    on_branch = on_branch_near(f, theta)
    x = jnp.concatenate([theta[independent], jnp.zeros(f.n_elastic)])
    # The work of the weight along the joints is dV/dtheta.
    rest = kept_rest_at(on_branch, x, jnp.zeros(f.n_encoders))
    torque = rest.weight[: f.n_joints]
    return jnp.zeros_like(theta).at[independent].set(torque)[actuated]


@compiled_quickly
def _torques_along(formulation: AbstractFormulation, along: AbstractSignal, times):
    """Gravity torques (piece, time, joint) at times (piece, time) along references, stacked piece by piece."""

    def one(along, times):
        value_at = vmap_rows(along.value)(times)
        return vmap_rows(lambda r: _rigid_gravity_torque(formulation, r))(value_at)

    return vmap_rows(one)(along, times)


def pd_law(model: Model, controller: PDController) -> PD:
    """The PD law of a description."""
    table = controller.reference
    whole = reference_through(table.t, table.value, table.interpolation)
    feedforward = None
    if controller.gravity_compensation:
        # Passive joints carry no torque; their coordinates in the reference fix the pose.
        feedforward = GravityTorque(model.formulation, whole)
        if controller.sample is not None:
            feedforward = at_samples(feedforward, controller.sample, float(table.t[-1]))
    columns = actuated_columns(model, table.value)
    return PD(
        actuated_columns(model, controller.kp),
        actuated_columns(model, controller.kd),
        reference_through(table.t, columns, table.interpolation),
        sample=controller.sample,
        feedforward=feedforward,
    )


LAW = DescribedLaw(PDController, pd_law)
