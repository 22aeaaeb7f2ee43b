"""Minimum-time motions from rest to rest: torques within limits that bring the linear robot to rest, links included.

The robot is linear about the middle of the motion and its torques are held from step to step. For a number N of steps
the least effort that leads from one equilibrium to the other,

    min gamma    with    x_N = A^N x_0 + sum_k A^(N-1-k) B u_k,    |u_0 + u_k| <= gamma tau,

is a linear program, and it falls with N: the least N with gamma <= 1 is found by bisection. Torques are then at one of
their limits nearly always (bang-bang).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from ..solve.arguments import ModelLike, model_from
from ..solve.model import Model
from ..solve.signals import Table
from ..types import Float
from .design_error import DesignError
from .design_model import Matrix
from .nominal import NominalMotion
from .references import PolynomialSignal
from .slow_model import SlowModel, Vector, encoder_names, slow_model, zero_order_hold
from .time_optimal import limit_of_each_joint

COARSE = 64  # steps of the first search for the time
FINE = 300  # steps, about, of the motion that comes out
LONGEST = 4096.0  # controller samples per coarse step at which the search gives up
GROWTH = 1.3  # of the time, from one coarse try to the next


class TorqueEffort(NamedTuple):
    """Torques of every step, and the largest in parts of its limit."""

    torque: Float[np.ndarray, "n a"]
    share: float


class MinimumTime(NamedTuple):
    """A motion in least time."""

    nominal: NominalMotion
    duration: float  # [s]
    step: float  # time over which a torque is held [s]
    torque: Float[np.ndarray, "n a"]  # of every step


def least_effort(
    A: Matrix,
    B: Matrix,
    start: Vector,
    end: Vector,
    limit: Vector,
    steps: int,
    offset: Any = 0.0,
) -> TorqueEffort | None:
    """The torques of a number of steps that lead from one state to another with the least effort.

    Args:
        A: x_(k+1) = A x_k + B u_k.
        B: see A.
        start: x_0.
        end: x_N.
        limit: of each torque.
        steps: N.
        offset: torque that acts beside u.

    Returns:
        None where no torques of any size lead there.
    """
    s, a = B.shape
    columns = np.zeros((s, steps, a))
    moved = B
    for k in range(steps - 1, -1, -1):
        columns[:, k] = moved
        moved = A @ moved
    wanted = end - np.linalg.matrix_power(A, steps) @ start
    rows = columns.reshape(s, steps * a)
    size = np.abs(rows).max(axis=1)
    size = np.where(size > 0, size, 1.0)
    count = steps * a
    # |offset + u| <= gamma limit, for each torque from both sides.
    one = scipy.sparse.eye(count)
    share = scipy.sparse.csr_matrix(np.tile(-limit, steps)[:, None])
    beside = np.broadcast_to(np.asarray(offset, dtype=float), (a,))
    both = scipy.sparse.vstack(
        [scipy.sparse.hstack([one, share]), scipy.sparse.hstack([-one, share])]
    )
    bound = np.concatenate([np.tile(-beside, steps), np.tile(beside, steps)])
    answer = scipy.optimize.linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=both.tocsr(),
        b_ub=bound,
        A_eq=np.hstack([rows / size[:, None], np.zeros((s, 1))]),
        b_eq=wanted / size,
        bounds=[(None, None)] * count + [(0.0, None)],
        method="highs",
    )
    if not answer.success:
        return None
    return TorqueEffort(answer.x[:-1].reshape(steps, a) + beside, float(answer.x[-1]))


def fewest_steps(
    effort_of: Any, fewest: int, most: int
) -> tuple[int, TorqueEffort] | None:
    """The fewest steps whose effort is within the limits, and this effort; None if it takes more than `most`."""
    best = effort_of(most)
    if best is None or best.share > 1.0:
        return None
    while most - fewest > 1:
        middle = (fewest + most) // 2
        effort = effort_of(middle)
        if effort is not None and effort.share <= 1.0:
            most, best = middle, effort
        else:
            fewest = middle
    return most, best


def minimum_time(
    model: ModelLike,
    start: Any,
    end: Any,
    torque: Any,
    sensors: tuple[str, ...] = (),
    *,
    sample: float = 1e-3,
    fastest: float | None = None,
) -> MinimumTime:
    """The motion of the actuated joints from one pose to another in the least time.

    Exact for the robot that is linear about the middle of the motion: the further the joints turn, the more vibration
    the real one keeps. Torques change at multiples of the sample alone, so that a sampled controller applies them as
    they are.

    Args:
        model: the robot as the controller knows it.
        start: joint coordinates, of the actuated joints or of all moving ones.
        end: joint coordinates of the pose to reach.
        torque: largest torque of each actuated joint [N m or N].
        sensors: names of the channels to predict.
        sample: period of the controller [s].
        fastest: natural frequency up to which motions are brought to rest [Hz]; a tenth of the sampling frequency by
            default.

    Returns:
        `MinimumTime`: the motion with its torques, its duration [s], the time for which each torque is held [s].

    Raises:
        DesignError: no torques within the limits lead there.

    Example:
        >>> import lissom as ls
        >>> motion = ls.minimum_time("simple-pendulum", start=[-1.5], end=[-1.2], torque=[60.0])
        >>> f"{motion.duration:.3f}", motion.torque.shape
        ('0.047', (47, 1))
    """
    model = model_from(model)
    limit = limit_of_each_joint("torque", torque, len(model.actuated))
    plant = _plant(model, start, end, sensors, sample, fastest)
    period = sample * _samples_per_step(plant, limit, sample)
    effort_of = _effort(plant, limit, period)
    longest = int(np.ceil(GROWTH * FINE)) + 2
    solution = fewest_steps(effort_of, 0, longest)
    if solution is None:
        raise _hopeless(limit)
    steps, effort = solution
    repeats = round(period / sample)
    nominal = _nominal(plant, np.repeat(effort.torque, repeats, axis=0), sample)
    return MinimumTime(nominal, steps * period, period, effort.torque)


class _Plant(NamedTuple):
    """The slow motions about the middle pose, and the equilibria at both ends."""

    slow: SlowModel  # outputs: encoders of the actuated joints, then sensors
    start: Vector
    end: Vector
    torque_end: Vector


def _plant(model: Model, start, end, sensors, sample: float, fastest) -> _Plant:
    first, last = (np.asarray(row, dtype=float) for row in (start, end))
    encoders = encoder_names(model)
    outputs = (*encoders, *sensors)
    slow = slow_model(model, 0.5 * (first + last), outputs, sample, fastest)
    columns = list(model.actuated) if len(first) == model.n_joints else slice(None)
    half_way = 0.5 * (last - first)[columns]
    count = len(encoders)
    A, B, C, D = slow[:4]
    state, torque = _equilibrium(A, B, C[:count], D[:count], half_way)
    return _Plant(slow, -state, state, slow.torque + torque)


def _equilibrium(A, B, C, D, outputs: Vector) -> tuple[Vector, Vector]:
    """State and torque at rest with the outputs away from their own by an amount."""
    s = len(A)
    whole = np.block([[A, B], [C, D]])
    # Rows of very different size: each equation counts as much as the others.
    size = np.abs(whole).max(axis=1)
    right = np.concatenate([np.zeros(s), outputs]) / size
    answer = np.linalg.lstsq(whole / size[:, None], right, rcond=None)[0]
    return answer[:s], answer[s:]


def _effort(plant: _Plant, limit: Vector, period: float):
    A, B = zero_order_hold(plant.slow.A, plant.slow.B, period)

    def effort_of(steps: int) -> TorqueEffort | None:
        return least_effort(
            A, B, plant.start, plant.end, limit, steps, plant.slow.torque
        )

    return effort_of


def _samples_per_step(plant: _Plant, limit: Vector, sample: float) -> int:
    """Controller samples over which a torque is held, so that the motion has about `FINE` steps."""
    samples = 1.0 / COARSE
    while samples < LONGEST:
        effort = _effort(plant, limit, samples * sample)(COARSE)
        if effort is not None and effort.share <= 1.0:
            return max(1, int(np.ceil(samples * COARSE / FINE)))
        samples *= GROWTH
    raise _hopeless(limit)


def _hopeless(limit: Vector) -> DesignError:
    return DesignError(
        f"no torques within {limit.tolist()} lead from the first row to the last one. "
        "Raise the limits: the weight alone may exceed them.",
        "reference.torque",
    )


def _nominal(plant: _Plant, torque, sample: float) -> NominalMotion:
    """Joints, torques and measurements at every sample."""
    A, B = zero_order_hold(plant.slow.A, plant.slow.B, sample)
    slow = plant.slow
    change = torque - slow.torque
    states = [plant.start]
    for u in change:
        states.append(A @ states[-1] + B @ u)
    x = np.array(states)
    count = len(torque)
    times = sample * np.arange(count + 1)
    # Measured under the torque that is held so far.
    before = np.concatenate([[slow.torque - plant.torque_end], change])
    y = slow.outputs + x @ slow.C.T + before @ slow.D.T
    joints = slow.B.shape[1]
    after = np.concatenate([change, [plant.torque_end - slow.torque]])
    reference = _joints(slow, x, after, times)
    return NominalMotion(
        reference=reference,
        torque=Table(times.tolist(), [*torque, plant.torque_end], "hold", after="hold"),
        measured=Table(times.tolist(), y[:, joints:], "linear", after="hold"),
    )


def _joints(slow: SlowModel, x, torque, times) -> PolynomialSignal:
    """Cubics through the encoders' places with their rates."""
    joints = slow.B.shape[1]
    C, D = slow.C[:joints], slow.D[:joints]
    places = slow.outputs[:joints] + x @ C.T + torque @ D.T
    rates = (x @ slow.A.T + torque @ slow.B.T) @ C.T
    spline = scipy.interpolate.CubicHermiteSpline(times, places, rates)
    return PolynomialSignal(times, np.moveaxis(spline.c[::-1], 1, 0))
