"""A whole run: piece after piece between discontinuities, in bursts that can be watched, or in one pure call."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..compilation import compiled_quickly
from ..describe.scenario import Solver
from ..dynamics.coordinates import (
    change_coordinates,
    other_coordinates,
    with_coordinates,
)
from ..dynamics.formulation import AbstractFormulation, near
from ..kinematics.mechanism import DEAD_POINT_GAIN
from ..types import RESULTS, real, whole
from .explicit import Explicit
from .generalised_alpha import GeneralisedAlpha
from .inputs import Inputs
from .march import (
    DEAD_POINT,
    FAILURES,
    Counts,
    Record,
    Walk,
    march,
    new_record,
    set_off,
)
from .problem import Problem, State, state_of
from .radau import Radau
from .step import AbstractStep, Moment, Tolerance

BURST = 400  # tries between two looks at the clock, the screen and the keyboard
FIRST_STEP = 1e-4  # [s]
SUSPECT = 5.0  # joint gain at which a failed step may be the work of a dead point


class Stretch(NamedTuple):
    """Part of a run with one choice of independent joints."""

    formulation: AbstractFormulation
    row: int  # of the record, where it begins
    time: float  # [s]


class Outcome(NamedTuple):
    """A run on its output grid; `filled` rows are valid."""

    record: Record
    counts: Counts
    failure: RESULTS
    time: float  # how far it got [s]
    filled: int
    stretches: tuple[Stretch, ...]
    joints: np.ndarray  # coordinates of all moving joints at that time


def step_of(solver: Solver, portable: bool = False) -> AbstractStep:
    """The step method that a scenario names; `portable` if its code will be batched."""
    if solver.method in ("auto", "radau"):
        return Radau(portable)
    if solver.method == "generalised-alpha":
        return GeneralisedAlpha(solver.spectral_radius, portable)
    return Explicit(solver.method, portable)


def output_times(t_end: float, output_dt: float) -> np.ndarray:
    """0, output_dt, ... and t_end, however it divides."""
    times = np.arange(int(np.floor(t_end / output_dt * (1 + 1e-12))) + 1) * output_dt
    return times if abs(times[-1] - t_end) < 1e-9 * t_end else np.append(times, t_end)


_set_off = compiled_quickly(set_off)
_march = eqx.filter_jit(march)


def integrate(
    formulation: AbstractFormulation,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    watch: Callable[[float], None] = lambda t: None,
) -> Outcome:
    """Run to the last output time; an interrupt or a failure keeps what has been computed.

    Args:
        formulation: the robot.
        state: at t = 0.
        inputs: torques, wrenches, motions, control law.
        times: output grid, from 0 [s].
        solver: method and tolerances.
        watch: called with the time reached, every few hundred steps; may raise to stop the run.
    """
    prescribed = tuple(joint for joint, _ in inputs.motion)
    formulation, state = driven(formulation, state, prescribed)
    walk, step, tolerance, limits = _start(formulation, state, times, solver)
    pieces = inputs.breakpoints(float(times[-1]))
    stretches, interrupted = [Stretch(formulation, 0, 0.0)], False
    try:
        for a, b in zip(pieces[:-1], pieces[1:], strict=True):
            loads = _arrays(inputs.on(a, b))
            while float(walk.now.t) < b and int(walk.failure) == 0:
                problem = Problem(stretches[-1].formulation, loads)
                walk = _set_off(
                    step,
                    problem,
                    tolerance,
                    walk.now,
                    walk.joints,
                    walk.h,
                    walk.record,
                    walk.counts,
                )
                while float(walk.now.t) < b and int(walk.failure) == 0:
                    walk = _march(
                        step,
                        problem,
                        tolerance,
                        walk,
                        real(b),
                        limits[0],
                        whole(BURST),
                        limits[1],
                    )
                    watch(float(walk.now.t))
                if int(walk.failure):
                    walk, stretch = past_dead_point(
                        stretches[-1].formulation, walk, prescribed
                    )
                    stretches += stretch
            if int(walk.failure):
                break
    except KeyboardInterrupt:
        interrupted = True
    outcome = RESULTS.interrupted if interrupted else FAILURES[int(walk.failure)]
    filled, joints = int(walk.record.filled), np.asarray(walk.joints)
    return Outcome(
        walk.record,
        walk.counts,
        outcome,
        float(walk.now.t),
        filled,
        tuple(stretches),
        joints,
    )


def driven(
    formulation: AbstractFormulation, state: State, prescribed: tuple[int, ...]
) -> tuple[AbstractFormulation, State]:
    """The robot with the joints that follow a motion among its coordinates, and the state in those coordinates."""
    if state.independent is not None:
        formulation = with_coordinates(formulation, state.independent)
    if set(prescribed) <= set(formulation.independent):
        return formulation, state
    here = near(formulation, state.q)
    other = other_coordinates(here, np.asarray(state.x), prescribed)
    if other is None:
        raise DeadPointError(prescribed)
    x, xd = change_coordinates(here, other, state.x, state.xd)
    return other, state_of(near(other, state.q), x, xd, state.torque)


class DeadPointError(ValueError):
    """Joints that follow a motion and cannot set the pose of a closed chain where it starts."""

    def __init__(self, joints: tuple[int, ...]):
        super().__init__(f"joints {joints} do not set the pose of the closed chain")
        self.joints = joints


def past_dead_point(
    formulation: AbstractFormulation, walk: Walk, prescribed: tuple[int, ...]
) -> tuple[Walk, list[Stretch]]:
    """The march with other independent joints, the same physical state; as it was where no choice is regular."""
    if (
        formulation.n_joints == formulation.n_encoders
        or FAILURES[int(walk.failure)] == RESULTS.too_many_steps
    ):
        return walk, []
    f = near(formulation, walk.joints)
    if float(_joint_gain(f, walk.now.x)) < SUSPECT:
        return walk, []
    other = other_coordinates(f, np.asarray(walk.now.x), prescribed)
    stuck = eqx.tree_at(lambda w: w.failure, walk, whole(DEAD_POINT))
    if other is None or other.independent == f.independent:
        return stuck, []
    x, xd = change_coordinates(f, other, walk.now.x, walk.now.xd)
    if float(_joint_gain(near(other, walk.joints), x)) > 0.5 * DEAD_POINT_GAIN:
        return stuck, []
    now = Moment(walk.now.t, x, xd, walk.now.work)
    joints = _joints(near(other, walk.joints), x)
    walk = Walk(now, joints, walk.h, None, walk.counts, walk.record, whole(0))
    return walk, [Stretch(other, int(walk.record.filled), float(now.t))]


@compiled_quickly
def _joints(f: AbstractFormulation, x):
    return f.mechanism.joint_coordinates(x)


@compiled_quickly
def _joint_gain(f: AbstractFormulation, x):
    return f.mechanism.joint_gain(x)


def rollout(
    formulation: AbstractFormulation,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
) -> Walk:
    """The same run as one pure JAX function of the formulation's numbers and the state: for `jit`, `vmap` and `jvp`."""
    walk, step, tolerance, limits = _start(
        formulation, state, times, solver, portable=True
    )
    pieces = inputs.breakpoints(float(times[-1]))
    for a, b in zip(pieces[:-1], pieces[1:], strict=True):
        problem = Problem(formulation, _arrays(inputs.on(a, b)))
        walk = set_off(
            step,
            problem,
            tolerance,
            walk.now,
            walk.joints,
            walk.h,
            walk.record,
            walk.counts,
        )
        walk = march(
            step, problem, tolerance, walk, real(b), limits[0], whole(2**62), limits[1]
        )
    return walk


def _start(
    formulation, state: State, times, solver: Solver, portable: bool = False
) -> tuple[Walk, AbstractStep, Tolerance, tuple[Any, Any]]:
    t_end = float(times[-1])
    tolerance = Tolerance(
        real(solver.rtol), real(solver.atol), solver.resolve == "everything"
    )
    now = Moment(real(0.0), state.x, state.xd, jnp.zeros(2))
    first = solver.first_step or min(FIRST_STEP, 0.01 * t_end)
    zero = whole(0)
    record = new_record(real(times), formulation.size, formulation.n_encoders)
    walk = Walk(
        now, real(state.q), real(first), None, Counts(zero, zero, zero), record, zero
    )
    limits = (real(solver.max_step or t_end), whole(solver.max_steps))
    return walk, step_of(solver, portable), tolerance, limits


def _arrays(loads):
    return jax.tree.map(real, loads)
