"""Mixed-norm synthesis: the least H2 cost among controllers with a bounded H-infinity norm [SchererGahinetChilali1997].

The robot about a pose, with deviations from its nominal motion,

    x' = A x + B u + B_w w,     y = C x + D_w w,     z_2 = C_2 x + D_2 u,     z_inf = D_inf u,   w_inf at the drives.

H2: white torques and sensor noise w against errors, vibration and torques, each in parts of its tolerance. H-infinity:
from torques at the drives to what the controller answers, the complementary sensitivity T; the loop stays stable for
every error of the drives' gain below 1/|T|. Both hold for one controller of the order of the model, from linear matrix
inequalities in its changed variables with common Lyapunov matrices.
"""

import warnings
from typing import Annotated, Any, Literal, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array
from typing_extensions import override

from ..describe.controllers import EstimatedStateFeedback
from ..files.quantity import Quantity
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float, Real, Scalar
from .described_law import DescribedLaw
from .described_numbers import each_or_none, for_drives
from .described_references import design_pose, nominal_of
from .design_error import DesignError
from .design_model import Matrix
from .nominal import NominalMotion
from .optional_package import optional_package
from .regulator import AllowedDeviations
from .slow_model import SlowModel, encoder_names, slow_model
from .state_feedback import tolerances_of
from .torque_limits import saturate

LARGEST = 16  # states of the model
ROOM = 1.02  # of the H2 cost that is given away for a controller of moderate numbers
SCALES = (1.0, 2.0, 0.5)  # of the peak's unit, tried around that of the disturbances
LASTING = 1e-6  # decay, in the scaled unit of time, of a motion that is taken to last
NEGLIGIBLE = 1e-7  # relative: balanced motions of less than this take no part
INSIDE = 1e-7  # by which strict inequalities hold


class MixedNormController(EstimatedStateFeedback):
    """The least H2 cost among controllers with a bounded peak."""

    type: Literal["mixed-norm"]
    # Bound of the complementary sensitivity at the drives.
    peak: Annotated[float, Quantity("", above=1)] = 1.5


class SynthesisError(RuntimeError):
    """The matrix inequalities were not solved; the message gives the reason."""


class Plant(NamedTuple):
    """A linear robot with disturbances and weighted outputs."""

    A: Matrix
    B: Matrix
    C: Matrix
    B_w: Matrix
    D_w: Matrix
    C_2: Matrix
    D_2: Matrix
    B_inf: Matrix
    D_inf: Matrix


class Controller(NamedTuple):
    """k' = A k + B y, u = C k."""

    A: Matrix
    B: Matrix
    C: Matrix


class Synthesis(NamedTuple):
    """A controller, the bounds that the inequalities promise, and the norms that it has."""

    controller: Controller
    h2_bound: float
    peak_bound: float
    h2: float
    peak: float


def mixed_synthesis(plant: Plant, peak: float) -> Synthesis:
    """The controller with the least H2 bound among those whose H-infinity norm is below `peak`.

    Raises:
        DesignError: the model has too many states, no controller has such a peak, or a package is missing.
    """
    scaled, time = scaled_plant(plant)
    states = len(scaled.A)
    if states > LARGEST:
        raise DesignError(
            f"the model of a mixed-norm design has {states} states, at most {LARGEST} can be designed for. Lower "
            "`fastest`, or take fewer modes (`model: {modes: 2}`).",
            "fastest",
        )
    reason = ""
    for scale in SCALES:
        try:
            controller, bound = _controller(_rescaled(scaled, scale), peak)
        except SynthesisError as failure:
            reason = str(failure)
            continue
        slowed = Controller(controller.A / time, controller.B / time, controller.C)
        # H2 of the scaled plant counts with the root of its unit of time, H-infinity does not.
        synthesis = _measured(plant, slowed, bound / np.sqrt(time), peak)
        if synthesis.h2 <= synthesis.h2_bound and synthesis.peak <= peak:
            return synthesis
        reason = "the controller misses its bounds"
    raise DesignError(
        f"no controller with a peak of {peak:g} was found ({reason}). Allow a higher `peak`, or lower `fastest`.",
        "peak",
    )


def _rescaled(plant: Plant, scale: float) -> Plant:
    """The plant with its peak in another unit: one Lyapunov matrix for both norms suits some units better."""
    unit = scale * np.linalg.norm(plant.B_w) / np.linalg.norm(plant.B_inf)
    return plant._replace(B_inf=unit * plant.B_inf, D_inf=plant.D_inf / unit)


def _measured(plant: Plant, controller: Controller, bound: float, peak: float):
    loop = closed_loop(plant, controller)
    return Synthesis(
        controller,
        bound,
        peak,
        h2_norm(loop.A, loop.B_w, loop.C_2),
        peak_norm(loop.A, loop.B_inf, loop.C_inf),
    )


# --- norms ---------------------------------------------------------------------------------------------------------


class ClosedLoop(NamedTuple):
    """The robot with a controller; states are those of the robot, then those of the controller."""

    A: Matrix
    B_w: Matrix
    C_2: Matrix
    B_inf: Matrix
    C_inf: Matrix


def closed_loop(plant: Plant, controller: Controller) -> ClosedLoop:
    """The robot with a controller."""
    A_k, B_k, C_k = controller
    states = len(A_k)
    none = np.zeros((states, plant.B_inf.shape[1]))
    return ClosedLoop(
        np.block([[plant.A, plant.B @ C_k], [B_k @ plant.C, A_k]]),
        np.concatenate([plant.B_w, B_k @ plant.D_w]),
        np.concatenate([plant.C_2, plant.D_2 @ C_k], axis=1),
        np.concatenate([plant.B_inf, none]),
        np.concatenate(
            [np.zeros((len(plant.D_inf), len(plant.A))), plant.D_inf @ C_k], axis=1
        ),
    )


def h2_norm(A: Matrix, B: Matrix, C: Matrix) -> float:
    """Root of the power of the outputs under white noise of unit intensity; infinite if unstable."""
    if np.linalg.eigvals(A).real.max() >= 0:
        return float("inf")
    P = scipy.linalg.solve_continuous_lyapunov(A, -B @ B.T)
    return float(np.sqrt(max(np.trace(C @ P @ C.T), 0.0)))


def peak_norm(A: Matrix, B: Matrix, C: Matrix, accuracy: float = 1e-6) -> float:
    """H-infinity norm, by bisection on the Hamiltonian matrix; infinite if unstable [BoydBalakrishnanKabamba1989]."""
    poles = np.linalg.eigvals(A)
    if poles.real.max() >= 0:
        return float("inf")
    omegas = [0.0, *np.abs(poles)]
    low = max(_gain(A, B, C, omega) for omega in omegas)
    high = 2 * low + 1e-300
    while _crosses(A, B, C, high):
        high *= 2
    while high - low > accuracy * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _crosses(A, B, C, middle) else (low, middle)
    return float(high)


def _gain(A: Matrix, B: Matrix, C: Matrix, omega: float) -> float:
    G = C @ np.linalg.solve(1j * omega * np.eye(len(A)) - A, B)
    return float(np.linalg.norm(G, 2))


def _crosses(A: Matrix, B: Matrix, C: Matrix, level: float) -> bool:
    """True if the largest gain reaches a level at some frequency."""
    H = np.block([[A, B @ B.T / level], [-C.T @ C / level, -A.T]])
    poles = np.linalg.eigvals(H)
    return bool(np.any(np.abs(poles.real) < 1e-9 * (1 + np.abs(poles))))


# --- synthesis -----------------------------------------------------------------------------------------------------


def scaled_plant(plant: Plant) -> tuple[Plant, float]:
    """The plant in a unit of time in which its motions are neither fast nor slow, and in balanced states.

    Balanced: costs of control and of estimation (the two Riccati equations of LQG) are equal and diagonal.
    """
    poles = np.abs(np.linalg.eigvals(plant.A))
    moving = poles[poles > 1e-3 * poles.max()]
    time = 1 / float(np.exp(np.mean(np.log(moving)))) if len(moving) else 1.0
    A, B, B_w, B_inf = (time * M for M in (plant.A, plant.B, plant.B_w, plant.B_inf))
    R = plant.D_2.T @ plant.D_2
    V = plant.D_w @ plant.D_w.T
    X = _riccati(A, B, plant.C_2.T @ plant.C_2, R)
    Y = _riccati(A.T, plant.C.T, B_w @ B_w.T, V)
    of_control, of_estimate = _root(X), _root(Y)
    U, sizes, W = np.linalg.svd(of_control.T @ of_estimate)
    # Motions that nothing disturbs or no output shows are left out.
    significant = sizes > NEGLIGIBLE * sizes[0]
    size = np.sqrt(sizes[significant])
    T = of_estimate @ W[significant].T / size
    T_inverse = (U[:, significant] / size).T @ of_control.T
    scaled = plant._replace(
        A=T_inverse @ A @ T,
        B=T_inverse @ B,
        C=plant.C @ T,
        B_w=T_inverse @ B_w,
        C_2=plant.C_2 @ T,
        B_inf=T_inverse @ B_inf,
    )
    return scaled, time


def _riccati(A: Matrix, B: Matrix, Q: Matrix, R: Matrix) -> Matrix:
    """The solution of a Riccati equation that stabilises, or a refusal."""
    try:
        X = scipy.linalg.solve_continuous_are(A, B, Q, R)
        slowest = np.linalg.eigvals(A - B @ np.linalg.solve(R, B.T @ X)).real.max()
    except np.linalg.LinAlgError:
        slowest = np.inf
    if slowest < -LASTING:
        return X
    raise DesignError(
        "mixed-norm: an undamped motion is not excited by any torque, not measured by "
        "any sensor, or has no tolerance"
    )


def _root(P: Matrix) -> Matrix:
    """F with F F^T = P, of a matrix that is not negative but for rounding."""
    lam, V = np.linalg.eigh(0.5 * (P + P.T))
    return V * np.sqrt(np.maximum(lam, 0.0))


def _controller(plant: Plant, peak: float) -> tuple[Controller, float]:
    """The controller and its H2 bound: first the least bound, then moderate numbers within a little more."""
    cp = optional_package("cvxpy", "mixed-norm control")
    optional_package("clarabel", "mixed-norm control")
    unknown = _Unknowns.of(cp, plant)
    limits = _inequalities(cp, plant, unknown, peak)
    cost = cp.trace(unknown.W)
    least = _solved(cp, cp.Problem(cp.Minimize(cost), limits))
    n = len(plant.A)
    room = cp.Variable()
    apart = cp.bmat([[unknown.X, room * np.eye(n)], [room * np.eye(n), unknown.Y]])
    more = [*limits, cost <= ROOM**2 * least, apart >> 0]
    _solved(cp, cp.Problem(cp.Maximize(room), more))
    return _recovered(plant, unknown), float(np.sqrt(cost.value))


class _Unknowns(NamedTuple):
    """Variables of the matrix inequalities."""

    X: Any
    Y: Any
    A: Any
    B: Any
    C: Any
    W: Any  # bounds the covariance of z_2

    @classmethod
    def of(cls, cp: Any, plant: Plant) -> "_Unknowns":
        n, u = plant.B.shape
        y = len(plant.C)
        z = len(plant.C_2)
        return cls(
            cp.Variable((n, n), symmetric=True),
            cp.Variable((n, n), symmetric=True),
            cp.Variable((n, n)),
            cp.Variable((n, y)),
            cp.Variable((u, n)),
            cp.Variable((z, z), symmetric=True),
        )


def _inequalities(cp: Any, plant: Plant, unknown: _Unknowns, peak: float) -> list[Any]:
    X, Y, A_h, B_h, C_h, W = unknown
    A, B, C = plant.A, plant.B, plant.C
    n = len(A)
    upper = A @ X + B @ C_h
    lower = Y @ A + B_h @ C
    motion = cp.bmat([[upper + upper.T, A_h.T + A], [A_h + A.T, lower + lower.T]])
    noise = cp.vstack([plant.B_w, Y @ plant.B_w + B_h @ plant.D_w])
    outputs = cp.hstack([plant.C_2 @ X + plant.D_2 @ C_h, plant.C_2])
    pair = cp.bmat([[X, np.eye(n)], [np.eye(n), Y]])
    small_h2 = cp.bmat([[motion, noise], [noise.T, -np.eye(plant.B_w.shape[1])]])
    covariance = cp.bmat([[pair, outputs.T], [outputs, W]])
    drive = cp.vstack([plant.B_inf, Y @ plant.B_inf])
    answer = cp.hstack([plant.D_inf @ C_h, np.zeros((len(plant.D_inf), n))])
    w, z = plant.B_inf.shape[1], len(plant.D_inf)
    small_peak = cp.bmat(
        [
            [motion, drive, answer.T],
            [drive.T, -peak * np.eye(w), np.zeros((w, z))],
            [answer, np.zeros((z, w)), -peak * np.eye(z)],
        ]
    )
    return [
        _symmetric(small_h2) << -INSIDE * np.eye(small_h2.shape[0]),
        _symmetric(small_peak) << -INSIDE * np.eye(small_peak.shape[0]),
        _symmetric(covariance) >> INSIDE * np.eye(covariance.shape[0]),
    ]


def _symmetric(matrix: Any) -> Any:
    return 0.5 * (matrix + matrix.T)


def _solved(cp: Any, problem: Any) -> float:
    with warnings.catch_warnings():
        # A solution that may be inaccurate is judged by the norms that it has.
        warnings.simplefilter("ignore", UserWarning)
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.error.SolverError:
            raise SynthesisError("the solver failed") from None
    if problem.status not in ("optimal", "optimal_inaccurate"):
        raise SynthesisError(f"the inequalities are {problem.status}")
    return float(problem.value)


def _recovered(plant: Plant, unknown: _Unknowns) -> Controller:
    """The controller from the changed variables."""
    X, Y, A_h, B_h, C_h = (variable.value for variable in unknown[:5])
    U, sizes, V = np.linalg.svd(np.eye(len(X)) - X @ Y)
    # M N^T = 1 - X Y.
    M = U * np.sqrt(sizes)
    N = V.T * np.sqrt(sizes)
    C_k = np.linalg.solve(M, C_h.T).T
    B_k = np.linalg.solve(N, B_h)
    within = A_h - N @ B_k @ plant.C @ X - Y @ plant.B @ C_k @ M.T - Y @ plant.A @ X
    A_k = np.linalg.solve(M, np.linalg.solve(N, within).T).T
    return Controller(A_k, B_k, C_k)


def robot_plant(
    slow: SlowModel,
    sensors: int,
    tolerances: AllowedDeviations,
    noise: Any,
    torque_noise: Any,
) -> Plant:
    """A robot about a pose with its tolerances and noises.

    Args:
        slow: its slow motions; outputs are the sensors, then the encoders of the actuated joints.
        sensors: number of sensors.
        tolerances: deviations that cost one each.
        noise: intensity of each sensor's noise.
        torque_noise: intensity of unknown torques.
    """
    A, B, C, D = slow[:4]
    states, torques = B.shape
    B_d = B * np.broadcast_to(torque_noise, (torques,))
    D_d = D[:sensors] * np.broadcast_to(torque_noise, (torques,))
    R = np.diag(np.broadcast_to(noise, (sensors,)))
    limit = np.broadcast_to(tolerances.torque, (torques,))
    position = np.broadcast_to(tolerances.position, (torques,))
    costs = [C[sensors:] / position[:, None]]
    if np.isfinite(tolerances.energy):
        lam, V = np.linalg.eigh(slow.energy)
        costs.append((V * np.sqrt(np.maximum(lam, 0.0) / tolerances.energy)).T)
    errors = np.concatenate(costs)
    return Plant(
        A=A,
        B=B,
        C=C[:sensors],
        B_w=np.concatenate([B_d, np.zeros((states, sensors))], axis=1),
        D_w=np.concatenate([D_d, R], axis=1),
        C_2=np.concatenate([errors, np.zeros((torques, states))]),
        D_2=np.concatenate([np.zeros((len(errors), torques)), np.diag(1 / limit)]),
        B_inf=B * limit,
        D_inf=np.diag(1 / limit),
    )


# --- the law -------------------------------------------------------------------------------------------------------


class OutputMemory(NamedTuple):
    """State of a controller, and the deviation of the torque that is held."""

    state: Float[Array, " k"]
    held: Float[Array, " a"]


class OutputFeedback(AbstractLaw):
    """du = C k + D dy, k_(n+1) = A k_n + B dy: any linear controller of the measured deviations, sampled.

    What the held torque itself adds to accelerations is taken out of the measurement first.
    """

    A: Float[Real, "k k"]
    B: Float[Real, "k m"]
    C: Float[Real, "a k"]
    D: Float[Real, "a m"]
    through: Float[Real, "m a"]  # from torques to measurements, at once
    nominal: NominalMotion
    sample: Scalar
    sensor_names: tuple[str, ...] = eqx.field(static=True)
    torque_limit: Float[Real, " a"] | None = None

    @override
    def sensors(self, model: Any) -> tuple[str, ...]:
        return self.sensor_names

    @override
    def init(self, model: Any) -> OutputMemory:
        return OutputMemory(jnp.zeros(len(self.A)), jnp.zeros(len(self.C)))

    @override
    def holding(
        self, t: Float[Any, ""], torque: Float[Any, " a"], memory: OutputMemory
    ) -> OutputMemory:
        held = self.nominal.deviation_before(t, torque, self.sample)
        return memory._replace(held=held)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " m"], memory: OutputMemory
    ) -> tuple[Float[Array, " a"], OutputMemory]:
        """Joint torques [N m or N]."""
        deviation = measured - self.nominal.measured.value(t)
        dy = deviation - jnp.asarray(self.through) @ memory.held
        answer = jnp.asarray(self.C) @ memory.state + jnp.asarray(self.D) @ dy
        nominal = self.nominal.torque.value(t)
        torque = saturate(nominal + answer, self.torque_limit)
        state = jnp.asarray(self.A) @ memory.state + jnp.asarray(self.B) @ dy
        return torque, OutputMemory(state, torque - nominal)


def sampled_controller(controller: Controller, sample: float) -> tuple[Matrix, ...]:
    """A, B, C, D of a controller in steps, by the trapezoidal rule."""
    A, B, C = controller
    D = np.zeros((len(C), B.shape[1]))
    stepped: Any = scipy.signal.cont2discrete((A, B, C, D), sample, "bilinear")
    return tuple(stepped[:4])


def mixed_norm_law(model: Model, controller: MixedNormController) -> OutputFeedback:
    """The sampled controller of a mixed-norm synthesis."""
    encoders = encoder_names(model)
    sensors = controller.sensors or encoders
    count = len(sensors)
    q = design_pose(model, controller)
    outputs = tuple(dict.fromkeys((*sensors, *encoders)))
    whole = slow_model(model, q, outputs, controller.sample, controller.fastest)
    # Sensors, then encoders, those that are sensors once more.
    rows = [outputs.index(name) for name in (*sensors, *encoders)]
    slow = whole._replace(C=whole.C[rows], D=whole.D[rows], outputs=whole.outputs[rows])
    noise = each_or_none("noise.sensors", controller.noise.sensors, count)
    tolerances = tolerances_of(controller)
    stirred = for_drives(model, "noise.torque", controller.noise.torque)
    plant = robot_plant(slow, count, tolerances, noise, stirred)
    synthesis = mixed_synthesis(plant, controller.peak)
    A, B, C, D = sampled_controller(synthesis.controller, controller.sample)
    return OutputFeedback(
        A=A,
        B=B,
        C=C,
        D=D,
        through=slow.D[:count],
        nominal=nominal_of(model, controller, sensors),
        sample=controller.sample,
        sensor_names=sensors,
        torque_limit=for_drives(model, "torque_limit", controller.torque_limit),
    )


LAW = DescribedLaw(MixedNormController, mixed_norm_law)
