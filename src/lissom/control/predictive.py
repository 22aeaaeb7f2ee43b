"""Predictive control: at every sample the best torques ahead within limits of torque, rate and deflection.

With v = du + d, the torque less what is expected to disturb, the sampled robot is dx_(i+1) = A dx_i + B v_i. Over the
control horizon v is free, after it v = -K dx: without active limits the law is the optimal state feedback. The
quadratic program in V = (v_0 ... v_(c-1)) has a constant Hessian; from sample to sample only its vectors change.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..solve.law import AbstractLaw
from ..types import Real, Scalar
from .design_model import DesignModel, Matrix
from .estimator import Estimate, Estimator
from .nominal import NominalMotion
from .optimal import Regulator

SOFT = 8  # DAQP's sense of a limit that may be passed at a price


class Limits(NamedTuple):
    """Limits of a predictive controller; infinite where there is none."""

    torque: Float[np.ndarray, " a"]
    rate: Float[np.ndarray, " a"]  # of the torque [N m/s or N/s]
    deflection: Float[np.ndarray, " c"]  # of the constrained outputs, in their units
    hard: bool = False  # deflections too


class Program(NamedTuple):
    """Matrices of the quadratic program: 1/2 V^T H V + (F dx)^T V within bounds of (V, A V)."""

    H: Matrix
    F: Matrix
    A: Matrix  # rate rows, then deflection rows
    on_deflection: Matrix  # dx -> deflections ahead without V
    horizon: int
    control: int


def program_of(
    design: DesignModel,
    regulator: Regulator,
    constrained: tuple[str, ...],
    horizon: int,
    control: int,
) -> Program:
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
    y_x, y_V = [], []
    for i in range(horizon):
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
    steps = np.eye(c * a) - np.eye(c * a, k=-a)
    deflection = np.concatenate(y_V) if constrained else np.zeros((0, c * a))
    ahead = np.concatenate(y_x) if constrained else np.zeros((0, s))
    return Program(
        H=0.5 * (H + H.T),
        F=F,
        A=np.concatenate([steps, deflection]),
        on_deflection=ahead,
        horizon=horizon,
        control=c,
    )


class Solver:
    """A quadratic program that is set up once and solved at every sample, from its last active limits on."""

    def __init__(self, program: Program, limits: Limits, sample: float):
        import daqp

        self.program = program
        self.limits = limits
        self.sample = sample
        self.seconds: list[float] = []  # that every solution took
        self.failures: list[float] = []  # times without a feasible torque [s]
        self._model = daqp.Model()
        c = program.control
        torques = np.tile(limits.torque, c)
        rates = np.tile(limits.rate * sample, c)
        bends = np.tile(limits.deflection, program.horizon)
        self._bound = np.concatenate([torques, rates, bends])
        sense = np.zeros(len(self._bound), dtype=np.int32)
        if not limits.hard:
            sense[len(torques) + len(rates) :] = SOFT
        n = len(program.H)
        self._model.setup(
            np.ascontiguousarray(program.H),
            np.zeros(n),
            np.ascontiguousarray(program.A),
            self._bound.copy(),
            -self._bound,
            sense,
        )

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
        # Total torque = nominal - disturbance + v.
        offset = nominal - disturbance
        shift = np.zeros_like(self._bound)
        count = offset.size
        shift[:count] = offset.ravel()
        change = np.diff(offset, axis=0, prepend=before[None])
        shift[count : 2 * count] = change.ravel()
        ahead = program.on_deflection @ state
        shift[2 * count :] = deflection.ravel() + ahead
        self._model.update(
            f=program.F @ state,
            bupper=self._bound - shift,
            blower=-self._bound - shift,
        )
        V, _, flag, info = self._model.solve()
        self.seconds.append(float(info["solve_time"]))
        if flag < 0:
            self.failures.append(float(t))
            return np.asarray(before)
        return offset[0] + V[: offset.shape[1]]


class MPC(AbstractLaw):
    """Predictive control on the estimate of a Kalman filter, offset-free, within limits.

    Where no torque is feasible (hard deflection limits) the last one is held; `solver.failures` says when. Linear
    models of the loop take the unconstrained gain.
    """

    K: Float[Real, "a s"]
    estimator: Estimator
    nominal: NominalMotion
    sample: Scalar
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    constrained: tuple[int, ...] = eqx.field(static=True)  # places among the sensors
    solver: Solver = eqx.field(static=True)

    def sensors(self, model: Any) -> tuple[str, ...]:
        """What the filter was designed for."""
        return self.sensor_names

    def init(self, model: Any) -> Estimate:
        """Nothing deviates."""
        return self.estimator.start()

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: Estimate
    ) -> tuple[Float[Array, " a"], Estimate]:
        """Joint torques [N m or N]."""
        nominal = self.nominal
        deviation = measured - nominal.measured.value(t)
        state, disturbance = self.estimator.corrected(memory, deviation)
        program = self.solver.program
        now = t + self.sample * jnp.arange(program.control)
        ahead = t + self.sample * (1 + jnp.arange(program.horizon))
        torques = jax.vmap(nominal.torque.value)(now)
        rows = jnp.asarray(self.constrained, dtype=int)
        bends = jax.vmap(nominal.measured.value)(ahead)[:, rows]
        before = memory.held + nominal.torque.value(t - self.sample)
        torque = solved(
            self.solver, self.K, t, state, disturbance, before, torques, bends
        )
        deviation_of_torque = torque - torques[0]
        return torque, self.estimator.ahead(state, disturbance, deviation_of_torque)


def solved(
    solver: Solver, K, t, state, disturbance, before, torques, bends
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
