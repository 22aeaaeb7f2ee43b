"""A whole run: in bursts that can be watched, or in one pure call."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..compilation import QUICK
from ..describe.scenario import Solver
from ..dynamics.formulation import AbstractFormulation
from ..native.compiled import NativeAhead, using
from ..types import RESULTS, real, whole
from .dead_point import beyond_dead_point, with_prescribed_joints
from .explicit import Explicit
from .generalised_alpha import GeneralisedAlpha
from .inputs import Inputs, inputs_of_torque
from .march import DrivenRobot, MarchState, first_sample, march, set_off
from .model import Model
from .problem import MotionProblem
from .radau import Radau
from .record import COLUMNS, Record, Rows, empty_record, window
from .schedule import Schedule
from .solution import Counts, Segment, Solution
from .state import State
from .step import AbstractStep, Moment, Tolerance

BURST = 400  # tries between two looks at the clock, the screen and the keyboard
FIRST_STEP = 1e-4  # [s]
ENDLESS = 2**62


def _numbers_of_robot(step: AbstractStep, robot: DrivenRobot, *_: Any) -> Any:
    return robot.formulation


_first_sample = NativeAhead(first_sample, **QUICK)
_set_off = NativeAhead(set_off, _numbers_of_robot, **QUICK)
_march = NativeAhead(march, _numbers_of_robot)


class Settings(NamedTuple):
    """How a run is stepped through."""

    step: AbstractStep
    tolerance: Tolerance
    max_step: Any
    max_steps: Any


def step_of(solver: Solver) -> AbstractStep:
    """The step method that a scenario names."""
    if solver.method in ("auto", "radau"):
        return Radau()
    if solver.method == "generalised-alpha":
        return GeneralisedAlpha(solver.spectral_radius)
    return Explicit(solver.method)


def settings_of(solver: Solver, t_end: float) -> Settings:
    """The options of a scenario as numbers of compiled code."""
    everything = solver.resolve == "everything"
    tolerance = Tolerance(real(solver.rtol), real(solver.atol), everything)
    max_step = real(solver.max_step or t_end)
    return Settings(step_of(solver), tolerance, max_step, whole(solver.max_steps))


def output_times(t_end: float, output_dt: float) -> np.ndarray:
    """0, output_dt, ... and t_end, however it divides."""
    count = int(np.floor(t_end / output_dt * (1 + 1e-12))) + 1
    times = np.arange(count) * output_dt
    if abs(times[-1] - t_end) < 1e-9 * t_end:
        return times
    return np.append(times, t_end)


def solver_of(options: Solver | Mapping[str, Any] | None) -> Solver:
    """Solver options from a mapping of them."""
    if isinstance(options, Solver):
        return options
    return Solver(**dict(options or {}))


# --- a run that can be watched -------------------------------------------------------------------------------------


def simulate(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    watch: Callable[[float], None] = lambda t: None,
) -> Solution:
    """Run to the last output time; an interrupt or a failure keeps what has been computed.

    Args:
        model: the robot.
        state: at t = 0.
        inputs: torques, wrenches, motions, control law.
        times: output grid, from 0 [s].
        solver: method and tolerances.
        watch: called with the time reached, every few hundred steps; may raise to stop the run.
    """
    with using(solver.backend):
        return _simulated(model, state, inputs, times, solver, watch)


def _simulated(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    watch: Callable[[float], None],
) -> Solution:
    """The run itself."""
    inputs = inputs.wired(model)
    prescribed = inputs.prescribed
    f, state = with_prescribed_joints(model.formulation, state, prescribed)
    end = float(times[-1])
    settings = settings_of(solver, end)
    schedule = inputs.schedule(end)
    robot = DrivenRobot(f, schedule)
    record = _first_window(f, schedule, times)
    at = _start(robot, state, record, solver, end, _first_sample)
    rows = Rows(times, at.record)
    segments = [Segment(f.independent, 0, 0.0)]
    interrupted = False
    try:
        while _is_under_way(at, end):
            for reached in _bursts(robot, settings, rows, at, end):
                # Kept before anyone may stop the run: an interrupt loses nothing.
                at = reached
                watch(float(at.now.t))
            if not _is_well(at):
                # A closed chain may go on with other joints as its coordinates.
                f, at = beyond_dead_point(robot.formulation, _as_jax(at), prescribed)
                robot = DrivenRobot(f, schedule)
            if f.independent != segments[-1].independent:
                row = rows.take(at.record)
                segments.append(Segment(f.independent, row, float(at.now.t)))
    except KeyboardInterrupt:
        interrupted = True
    solution = kept_solution(rows, at, tuple(segments))
    if interrupted:
        return eqx.tree_at(lambda s: s.result, solution, RESULTS.interrupted)
    return solution


def prepare(
    model: Model, state: State, inputs: Inputs, times: np.ndarray, solver: Solver
) -> None:
    """Compile what a run needs before it begins. Each structure of robot and loads is compiled once in a process."""
    with using(solver.backend):
        _prepared(model, state, inputs, times, solver)


def _prepared(
    model: Model, state: State, inputs: Inputs, times: np.ndarray, solver: Solver
) -> None:
    inputs = inputs.wired(model)
    f, state = with_prescribed_joints(model.formulation, state, inputs.prescribed)
    end = float(times[-1])
    step, tolerance, max_step, max_steps = settings_of(solver, end)
    schedule = inputs.schedule(end)
    robot = DrivenRobot(f, schedule)
    record = _first_window(f, schedule, times)
    at = _start(robot, state, record, solver, end, _first_sample.prepare)
    under_way = _set_off.prepare(step, robot, tolerance, at)
    limits = (real(end), max_step, whole(BURST), max_steps)
    _march.prepare(step, robot, tolerance, under_way, *limits)


def _is_well(at: MarchState) -> bool:
    return bool(at.result == RESULTS.successful)


def _is_under_way(at: MarchState, end: float) -> bool:
    return float(at.now.t) < end and _is_well(at)


def _bursts(
    robot: DrivenRobot, settings: Settings, rows: Rows, at: MarchState, end: float
) -> Iterator[MarchState]:
    """The march after each burst of steps, to its end or until it fails; the rows of full windows are kept."""
    step, tolerance, max_step, max_steps = settings
    at = _set_off(step, robot, tolerance, at)
    limits = (real(end), max_step, whole(BURST), max_steps)
    while _is_under_way(at, end):
        record = rows.next_window(at.record)
        at = eqx.tree_at(lambda s: s.record, at, record)
        at = _march(step, robot, tolerance, at, *limits)
        yield at


# --- a pure run ----------------------------------------------------------------------------------------------------


def rollout(
    model: Model,
    state: State | None = None,
    *,
    t_end: float = 1.0,
    output_dt: float = 0.001,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: Solver | Mapping[str, Any] | None = None,
) -> Solution:
    """A run as one pure JAX function of the model's numbers and the state: for `jax.jit`, `jax.vmap`, `jax.jvp`.

    The same steps as `simulate`, without a look at the clock in between. A closed chain that comes to a dead point of
    its independent joints stops there.

    Args:
        model: the robot; its numbers may be traced (`model.replace({"payload.mass": mass})`).
        state: at t = 0; at rest with q = 0 by default.
        t_end: duration [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.

    Example:
        >>> import jax, lissom as ls
        >>> model = ls.Model("simple-pendulum")
        >>> tip = jax.jit(lambda q: ls.rollout(model, model.at([q]), t_end=0.01).x[-1, 0])
        >>> tip(0.3).shape
        ()
    """
    state = model.at() if state is None else state
    inputs = inputs_of_torque(model, torque) if inputs is None else inputs
    inputs = inputs.wired(model)
    options = solver_of(solver)
    times = output_times(t_end, output_dt)
    end = float(times[-1])
    f = model.formulation
    step, tolerance, max_step, max_steps = settings_of(options, end)
    robot = DrivenRobot(f, inputs.schedule(end))
    commands = _command_count(f, robot.schedule)
    record = empty_record(real(times), f.size, f.n_encoders, commands)
    at = _start(robot, state, record, options, end, first_sample)
    at = set_off(step, robot, tolerance, at)
    limits = (real(end), max_step, whole(ENDLESS), max_steps)
    at = march(step, robot, tolerance, at, *limits)
    return solution_of(at, (Segment(f.independent, 0, 0.0),))


# --- start and end -------------------------------------------------------------------------------------------------


def _start(
    robot: DrivenRobot,
    state: State,
    record: Record,
    solver: Solver,
    t_end: float,
    sample: Callable[[MotionProblem, Moment], Any],
) -> MarchState:
    """The march before its first step; `sample` lets a sampled law act for the first time."""
    now = Moment(real(0.0), state.x, state.xd, jnp.zeros(2))
    joints = real(state.q)
    control = sample(robot.at_start.near(joints), now)
    first_step = solver.first_step or min(FIRST_STEP, 0.01 * t_end)
    zero = whole(0)
    return MarchState(
        now=now,
        joints=joints,
        piece=zero,
        h=real(first_step),
        memory=None,
        control=control,
        counts=Counts(zero, zero, zero),
        record=record,
        result=RESULTS.successful,
    )


def _first_window(
    f: AbstractFormulation, schedule: Schedule, times: np.ndarray
) -> Record:
    """The output grid's first window."""
    commands = _command_count(f, schedule)
    return empty_record(real(window(times, 0)), f.size, f.n_encoders, commands)


def _command_count(f: AbstractFormulation, schedule: Schedule) -> int:
    """How many torques a sampled law holds; none without one."""
    law = MotionProblem(f, schedule.loads(0)).sampled_law
    return 0 if law is None else len(f.joints.actuated)


def solution_of(at: MarchState, segments: tuple[Segment, ...]) -> Solution:
    """What a march has come to, its whole output grid in one window."""
    record = at.record
    return _solution(record.t, vars(record), record.filled, at, segments)


def kept_solution(
    rows: Rows, at: MarchState, segments: tuple[Segment, ...]
) -> Solution:
    """What a march has come to, with the rows that the host has kept."""
    filled = rows.take(at.record)
    return _solution(rows.t, rows.columns, filled, _as_jax(at), segments)


def _as_jax(at: MarchState) -> MarchState:
    """A march whose numbers are arrays of JAX: machine code leaves NumPy's."""
    memory = eqx.tree_at(
        lambda s: s.memory, at, None, is_leaf=lambda leaf: leaf is None
    )
    return jax.tree.map(jnp.asarray, memory)


def _solution(
    t: Any,
    columns: Mapping[str, Any],
    filled: Any,
    at: MarchState,
    segments: tuple[Segment, ...],
) -> Solution:
    return Solution(
        t=t,
        **{name: columns[name] for name in COLUMNS},
        filled=filled,
        counts=at.counts,
        result=at.result,
        last=at.now,
        last_joints=at.joints,
        control=at.control,
        segments=segments,
    )
