"""Predictive control: at every sample the best torques ahead within limits of torque, rate and deflection.

With v = du + d, the torque less what is expected to disturb, the sampled robot is dx_(i+1) = A dx_i + B v_i. Over the
control horizon v is free, after it v = -K dx: without active limits the law is the optimal state feedback. The
quadratic program in V = (v_0 ... v_(c-1)) has a constant Hessian; from sample to sample only its vectors change.
"""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import daqp
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import Positive, PreviewedFeedback, TorqueRates, Torques
from ..files.part import Finding, Part, finding
from ..files.quantity import Whole
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import for_drives
from .design_model import DesignModel, Matrix
from .estimator import Estimate, Estimator
from .nominal import NominalMotion
from .preview import Preview
from .regulator import Regulator
from .state_feedback import estimated, known_motion, over_time

SOFT = 8  # DAQP's sense of a soft constraint


class DeflectionLimits(Part):
    """Limits that predictive control keeps: torques, torque rates, deflections."""

    torque: Torques | None = None
    rate: TorqueRates | None = None
    # Of outputs among the sensors, by name.
    deflection: dict[str, Positive] = {}
    hard: bool = False


class MPCController(PreviewedFeedback):
    """Model predictive control with limits on torques, torque rates and deflections."""

    of_drives: ClassVar[tuple[str, ...]] = ("limits.torque", "limits.rate")

    type: Literal["mpc"]
    horizon: Annotated[int, Whole(1, 2000)] = 50
    control_horizon: Annotated[int, Whole(1, 500)] = 20
    limits: DeflectionLimits = DeflectionLimits()

    def findings(self) -> list[Finding]:
        """The control horizon is part of the horizon; limited outputs are measured."""
        findings = super().findings()
        if self.control_horizon > self.horizon:
            message = f"must not be longer than the horizon ({self.horizon} samples)"
            findings.append(
                finding(message, "control_horizon", value=self.control_horizon)
            )
        for name in self.limits.deflection:
            if name not in (self.sensors or ()):
                message = f"{name} is not among the sensors: add it there"
                findings.append(finding(message, "limits", "deflection", name))
        return findings


class PredictiveLimits(NamedTuple):
    """Limits of a predictive controller; infinite where there is none."""

    torque: Float[np.ndarray, " a"]
    rate: Float[np.ndarray, " a"]  # of the torque [N m/s or N/s]
    deflection: Float[np.ndarray, " c"]  # of the constrained outputs, in their units
    hard: bool = False  # deflections too


class QuadraticProgram(NamedTuple):
    """Matrices of the quadratic program: 1/2 V^T H V + (F dx)^T V within bounds of (V, A V)."""

    H: Matrix
    F: Matrix
    A: Matrix  # rate rows, then deflection rows
    on_deflection: Matrix  # dx -> deflections ahead without V
    reach: Float[
        np.ndarray, "i s v"
    ]  # V -> dx at each sample of the control horizon, and at its end
    horizon: int
    control: int


def program_of(
    design: DesignModel,
    regulator: Regulator,
    constrained: tuple[str, ...],
    horizon: int,
    control: int,
) -> QuadraticProgram:
    """The quadratic program over a horizon, condensed to the torques.

    Args:
        design: sampled model.
        regulator: optimal feedback, whose weights count here and which goes on after the control horizon.
        constrained: outputs with limits.
        horizon: samples ahead over which deflections are limited.
        control: samples ahead over which torques are free.
    """
    A, B = design.A, design.B
    s, a = B.shape
    c = control
    rows = [design.output_names.index(name) for name in constrained]
    C, D = design.C[rows], design.D[rows]
    # State and torque of every sample ahead as (dx, V) -> (s, a).
    on_x, on_V = np.eye(s), np.zeros((s, c * a))
    H = np.zeros((c * a, c * a))
    F = np.zeros((c * a, s))
    y_x, y_V, reach = [], [], []
    for i in range(horizon):
        if i <= c:
            reach.append(on_V)
        if i < c:
            v_x = np.zeros((a, s))
            v_V = np.eye(c * a)[i * a : (i + 1) * a]
            Q_i, R_i = regulator.Q, regulator.R
            H += on_V.T @ Q_i @ on_V + v_V.T @ R_i @ v_V
            F += on_V.T @ Q_i @ on_x
        else:
            v_x = -regulator.K @ on_x
            v_V = -regulator.K @ on_V
        on_x, on_V = A @ on_x + B @ v_x, A @ on_V + B @ v_V
        if i == c - 1:
            # The feedback that goes on from here costs 1/2 dx^T P dx in all.
            H += on_V.T @ regulator.P @ on_V
            F += on_V.T @ regulator.P @ on_x
        # Measured under the torque that is held until then.
        y_x.append(C @ on_x + D @ v_x)
        y_V.append(C @ on_V + D @ v_V)
    if horizon == c:
        reach.append(on_V)
    steps = np.eye(c * a) - np.eye(c * a, k=-a)
    deflection = np.concatenate(y_V) if constrained else np.zeros((0, c * a))
    ahead = np.concatenate(y_x) if constrained else np.zeros((0, s))
    return QuadraticProgram(
        H=0.5 * (H + H.T),
        F=F,
        A=np.concatenate([steps, deflection]),
        on_deflection=ahead,
        reach=np.array(reach),
        horizon=horizon,
        control=c,
    )


class PreviewProgram(NamedTuple):
    """Linear terms of the program at every sample, due to the known motion."""

    slope: Float[np.ndarray, "t v"]  # to F dx
    deflection: Float[np.ndarray, "t h c"]  # to the deflections ahead


def preview_program(
    design: DesignModel,
    regulator: Regulator,
    program: QuadraticProgram,
    known: Preview,
    constrained: tuple[str, ...],
) -> PreviewProgram:
    """Linear terms of the program along a motion, from the states that the neglected forces alone would cause."""
    samples = len(known.push)
    horizon, c = program.horizon, program.control
    after = ((0, horizon + 1), (0, 0))
    push, value, torque = (
        np.pad(part, after) for part in (known.push, known.value, known.torque)
    )
    rows = [design.output_names.index(name) for name in constrained]
    C, D = design.C[rows], design.D[rows]
    xi = np.zeros((samples, design.states))
    slope = np.zeros((samples, len(program.H)))
    bends = []
    for i in range(horizon):
        v = np.zeros((samples, design.B.shape[1]))
        if i < c:
            slope += xi @ regulator.Q @ program.reach[i]
        else:
            v = torque[i : i + samples] - xi @ regulator.K.T
        xi = xi @ design.A.T + v @ design.B.T + push[i : i + samples]
        if i == c - 1:
            costate = xi @ regulator.P + value[c : c + samples]
            slope += costate @ program.reach[c]
        bends.append(xi @ C.T + v @ D.T)
    return PreviewProgram(slope, np.stack(bends, axis=1))


class Infeasible(NamedTuple):
    """A sample at which no torque satisfies all limits."""

    t: float  # [s]
    limit: str  # the one that is exceeded most, with the torque free within its limits
    passed_at: float  # [s]
    excess: float  # in parts of the limit


class QuadraticSolver:
    """A quadratic program that is set up once and solved at every sample, warm-started from its last active set.

    Args:
        program: its matrices.
        limits: of torque, rate and deflection.
        sample: period [s].
        constrained: names of the limited outputs.
        foreseen: what a motion adds to the program at each of its samples.
    """

    def __init__(
        self,
        program: QuadraticProgram,
        limits: PredictiveLimits,
        sample: float,
        constrained: tuple[str, ...] = (),
        preview: PreviewProgram | None = None,
    ):
        self.program = program
        self.limits = limits
        self.sample = sample
        self.constrained = constrained
        self.preview = preview
        self.seconds: list[float] = []  # that every solution took
        self.iterations: list[
            int
        ] = []  # changes of the active limits in every solution
        self.failures: list[Infeasible] = []
        c = program.control
        torques = np.tile(limits.torque, c)
        rates = np.tile(limits.rate * sample, c)
        bends = np.tile(limits.deflection, program.horizon)
        self._bound = np.concatenate([torques, rates, bends])
        self._count = len(torques)
        self._soft_from = len(self._bound) if limits.hard else 2 * len(torques)
        self._model = self._set_up(self._soft_from)

    def _set_up(self, soft_from: int) -> Any:
        """The program with soft constraints from a row on."""
        sense = np.zeros(len(self._bound), dtype=np.int32)
        sense[soft_from:] = SOFT
        model = daqp.Model()
        model.setup(
            np.ascontiguousarray(self.program.H),
            np.zeros(len(self.program.H)),
            np.ascontiguousarray(self.program.A),
            self._bound.copy(),
            -self._bound,
            sense,
        )
        return model

    def torque(self, t, state, disturbance, before, nominal, deflection) -> np.ndarray:
        """The torque of this sample [N m or N].

        Args:
            t: time [s].
            state: deviation of the state.
            disturbance: expected unknown torque.
            before: torque held so far.
            nominal: torques of the nominal motion over the control horizon.
            deflection: constrained outputs of the nominal motion over the horizon.
        """
        program = self.program
        slope, bend = self._preview_at(float(t))
        # Total torque = nominal - disturbance + v.
        offset = nominal - disturbance
        count = self._count
        shift = np.zeros_like(self._bound)
        shift[:count] = offset.ravel()
        change = np.diff(offset, axis=0, prepend=before[None])
        shift[count : 2 * count] = change.ravel()
        ahead = program.on_deflection @ state
        shift[2 * count :] = deflection.ravel() + ahead + bend
        vectors = {
            "f": program.F @ state + slope,
            "bupper": self._bound - shift,
            "blower": -self._bound - shift,
        }
        self._model.update(**vectors)
        V, _, flag, info = self._model.solve()
        self.seconds.append(float(info["solve_time"]))
        self.iterations.append(int(info["iterations"]))
        if flag < 0:
            # The old active set may be a bad start: once more from an empty one.
            self._model = self._set_up(self._soft_from)
            self._model.update(**vectors)
            V, _, flag, _ = self._model.solve()
        if flag < 0:
            self.failures.append(self._passed(float(t), vectors))
            return self._within(np.asarray(before))
        return self._within(offset[0] + V[: offset.shape[1]])

    def _within(self, torque: np.ndarray) -> np.ndarray:
        """The torque clipped to its limits, which the solver satisfies only to its tolerance."""
        return np.clip(torque, -self.limits.torque, self.limits.torque)

    def _preview_at(self, t: float) -> tuple[Any, Any]:
        known = self.preview
        k = round(t / self.sample)
        if known is None or not 0 <= k < len(known.slope):
            return 0.0, 0.0
        return known.slope[k], known.deflection[k].ravel()

    def _passed(self, t: float, vectors: dict[str, Any]) -> Infeasible:
        """The limit that is exceeded most if rates and deflections are soft."""
        relaxed = self._set_up(self._count)
        relaxed.update(**vectors)
        V = relaxed.solve()[0]
        rows = np.concatenate([V, self.program.A @ V])
        excess = np.maximum(rows - vectors["bupper"], vectors["blower"] - rows)
        finite = np.isfinite(self._bound)
        share = np.full(len(rows), -np.inf)
        share[finite] = excess[finite] / self._bound[finite]
        worst = int(np.argmax(share))
        count = self._count
        drives = len(self.limits.torque)
        if worst < 2 * count:
            name = "torque" if worst < count else "rate"
            samples = worst % count // drives
        else:
            samples, column = divmod(worst - 2 * count, len(self.constrained))
            name, samples = self.constrained[column], samples + 1
        return Infeasible(t, name, t + samples * self.sample, float(share[worst]))

    def incidents(self) -> tuple[str, ...]:
        """Samples at which no torque satisfied all limits, and which limit is exceeded."""
        if not self.failures:
            return ()
        first = self.failures[0]
        # Compiled code may evaluate a sample more than once.
        samples = len({failure.t for failure in self.failures})
        return (
            f"no torque satisfies all hard limits at {samples} samples, the first at "
            f"{first.t:.4g} s: the limit of {first.limit} would be exceeded by "
            f"{100 * first.excess:.3g} % at {first.passed_at:.4g} s. The previous "
            "torque was held there",
        )


class MPC(AbstractLaw):
    """Predictive control on the estimate of a Kalman filter, offset-free, within limits.

    If no torque is feasible (hard deflection limits), the last one is held, and `incidents` reports it. Linear models
    of the loop take the unconstrained gain.
    """

    K: Float[Real, "a s"]
    estimator: Estimator
    nominal: NominalMotion
    sample: Scalar
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    constrained: tuple[int, ...] = eqx.field(static=True)  # places among the sensors
    solver: QuadraticSolver = eqx.field(static=True)
    push: AbstractSignal | None = None  # of the state, foreseen

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.sensor_names

    @override
    def init(self, model: Any) -> Estimate:
        self.solver.failures.clear()
        return self.estimator.start()

    @override
    def holding(
        self, t: Float[Any, ""], torque: Float[Any, " a"], memory: Estimate
    ) -> Estimate:
        held = self.nominal.deviation_before(t, torque, self.sample)
        return memory._replace(held=held)

    def incidents(self) -> tuple[str, ...]:
        """Samples without a feasible torque."""
        return self.solver.incidents()

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Estimate
    ) -> tuple[Float[Array, " a"], Estimate]:
        """Joint torques [N m or N]."""
        nominal = self.nominal
        deviation = measured - nominal.measured.value(t)
        state, disturbance = self.estimator.update(memory, deviation)
        program = self.solver.program
        now = t + self.sample * jnp.arange(program.control)
        ahead = t + self.sample * (1 + jnp.arange(program.horizon))
        torques = jax.vmap(nominal.torque.value)(now)
        rows = jnp.asarray(self.constrained, dtype=int)
        bends = jax.vmap(nominal.measured.value)(ahead)[:, rows]
        before = memory.held + nominal.torque.value(t - self.sample)
        torque = solver_torque(
            self.solver, self.K, t, state, disturbance, before, torques, bends
        )
        own = torque - torques[0]
        push = 0.0 if self.push is None else self.push.value(t)
        return torque, self.estimator.predict(state, disturbance, own, push)


def solver_torque(
    solver: QuadraticSolver, K, t, state, disturbance, before, torques, bends
) -> Float[Array, " a"]:
    """The solver's torque inside compiled code; its derivative is the unconstrained feedback."""
    shape = jax.ShapeDtypeStruct(torques.shape[1:], torques.dtype)

    def host(*at):
        return solver.torque(*(np.asarray(part) for part in at))

    @jax.custom_jvp
    def call(t, state, disturbance, before, torques, bends):
        return jax.pure_callback(
            host,
            shape,
            t,
            state,
            disturbance,
            before,
            torques,
            bends,
            vmap_method="sequential",
        )

    def derivative(primals, tangents):
        _, state_d, disturbance_d, _, torques_d, _ = tangents
        change = torques_d[0] - jnp.asarray(K) @ state_d - disturbance_d
        return call(*primals), change

    call.defjvp(derivative)
    return call(t, state, disturbance, before, torques, bends)


def mpc_law(model: Model, controller: MPCController) -> MPC:
    """Predictive control on the estimate of a Kalman filter."""
    sensors, design, gains, estimator = estimated(model, controller)
    described = controller.limits
    names = tuple(described.deflection)
    program = program_of(
        design, gains, names, controller.horizon, controller.control_horizon
    )
    infinite = np.full(len(model.actuated), np.inf)
    torque = for_drives(
        model, "limits.torque", described.torque or controller.torque_limit
    )
    rate = for_drives(model, "limits.rate", described.rate)
    limits = PredictiveLimits(
        infinite if torque is None else torque,
        infinite if rate is None else rate,
        np.array(list(described.deflection.values())),
        described.hard,
    )
    nominal, known = known_motion(model, controller, sensors, design, gains)
    foreseen, push = None, None
    if known is not None:
        foreseen = preview_program(design, gains, program, known, names)
        push = over_time(controller, known.push)
    return MPC(
        K=gains.K,
        estimator=estimator,
        nominal=nominal,
        sample=controller.sample,
        sensor_names=sensors,
        constrained=tuple(sensors.index(name) for name in names),
        solver=QuadraticSolver(program, limits, controller.sample, names, foreseen),
        push=push,
    )


LAW = DescribedLaw(MPCController, mpc_law)
