"""A whole run: in bursts with callbacks in between, or as one pure function."""

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array

from jaxnative.call_memory import with_positive_zeros
from jaxnative.compilation import QUICK
from jaxnative.compiled import (
    NativeAhead,
    compiled_quickly,
    compiling,
    is_compiling_quickly,
    is_native,
    on_device,
    using,
)

from ..describe.scenario import Solver
from ..dynamics.coordinates import with_independent_joints
from ..dynamics.formulation import AbstractFormulation, on_branch_near
from ..dynamics.nodes import Poses
from ..once import LastValueCache
from ..types import (
    RESULTS,
    Float,
    Real,
    ended_as,
    host_module,
    host_real,
    host_whole,
    is_traced,
    picked,
    real,
    whole,
    with_fields,
)
from .adjoint import record_march, record_steps, replay
from .arguments import (
    ArgumentError,
    ModelLike,
    Seconds,
    SolverLike,
    model_from,
    seconds_from,
    solver_of,
    state_from,
)
from .checkpoint import Checkpoint, CheckpointStore
from .contacts import first_contacts
from .dead_point import beyond_dead_point, with_prescribed_joints
from .explicit import Explicit
from .feedback import ControlState
from .generalised_alpha import GeneralisedAlpha
from .inputs import Inputs, inputs_from
from .march import DrivenRobot, MarchState, begin_march, first_sample, march
from .model import Model, poses_at
from .node_motion import node_channels
from .problem import MotionProblem
from .radau import Radau
from .record import COLUMNS, Record, RunRecord, empty_record, rows_of_window, window
from .recorded import RecordedQuantities
from .schedule import piece_from
from .solution import Counts, Segment, Solution
from .state import State, host_coordinates
from .step import AbstractStep, Moment, Tolerance

BURST = 400  # tries between two callbacks
# Tries in code that was compiled quickly, under `compiling(quickly=True)`. One takes 20 to 150 us longer than
# in optimised code: so many cost up to 0.6 s, while optimisation takes 0.6 to 1.2 s.
QUICK_TRIES = 4000
FIRST_STEP = 1e-4  # [s]
ENDLESS = 2**62


def numbers_of_robot(step: AbstractStep, robot: DrivenRobot, *_: Any) -> Any:
    """Arguments of a march that stay the same from call to call."""
    return robot.formulation


_first_sample = NativeAhead(first_sample, is_inner=True, **QUICK)
_begin_march = NativeAhead(
    begin_march, numbers_of_robot, once=True, is_inner=True, **QUICK
)
_march = NativeAhead(march, numbers_of_robot, is_inner=True)
_first_contacts = compiled_quickly(first_contacts)


class Settings(NamedTuple):
    """Step method, tolerances and limits of a run."""

    step: AbstractStep
    tolerance: Tolerance
    max_step: Any
    max_steps: Any


def method_of(solver: Solver) -> str:
    """Name of the integration method; `auto` resolved."""
    return Radau.name if solver.method == "auto" else solver.method


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
    rtol, atol = host_real(solver.rtol), host_real(solver.atol)
    energy = host_real(lost_share(solver.rtol) / t_end)
    tolerance = Tolerance(rtol, atol, everything, energy)
    max_step = host_real(solver.max_step or t_end)
    most = host_whole(solver.max_steps)
    return Settings(step_of(solver), tolerance, max_step, most)


def settings_of_run(
    model: Model, solver: Solver, times: np.ndarray, recorded: Sequence[str] = ()
) -> Settings:
    """Settings of a run that records some nodes."""
    settings = _same_settings(solver, float(times[-1]))
    if not recorded or not settings.step.follows_recorded:
        return settings
    share, duration = float(solver.recorded), float(times[-1] - times[0])
    quantities = RecordedQuantities(
        nodes=tuple(model.find_node(node) for node in recorded),
        motions=node_channels(model, recorded),
        share=host_real(share),
        per_second=host_real(share / duration),
    )
    tolerance = with_fields(settings.tolerance, recorded=quantities)
    return settings._replace(tolerance=tolerance)


def lost_share(rtol: float) -> float:
    """Part of the largest energy that a run under a law may lose to its steps: 1e-4 at rtol 1e-6, 1e-6 at 1e-9."""
    return rtol ** (2 / 3)


# Cached: compiled code recognises the same objects at once.
_same_settings: Any = functools.lru_cache(maxsize=32)(settings_of)


def output_times(
    t_end: Seconds, output_dt: Seconds, t_start: float = 0.0
) -> np.ndarray:
    """t_start, t_start + output_dt, ... and t_end, however it divides."""
    t_end = seconds_from("t_end", t_end)
    output_dt = seconds_from("output_dt", output_dt)
    if t_end <= t_start:
        message = f"must lie after the start, {t_start:g} s: time continues from there"
        raise ArgumentError("t_end", t_end, message)
    duration = t_end - t_start
    if output_dt > duration * (1 + 1e-12):
        start = f" from {t_start:g} s on" if t_start else ""
        message = f"must not be longer than the run (t_end {t_end:g} s{start})"
        raise ArgumentError("output_dt", output_dt, message)
    count = int(np.floor(duration / output_dt * (1 + 1e-12))) + 1
    times = t_start + np.arange(count) * output_dt
    if abs(times[-1] - t_end) < 1e-9 * t_end:
        return times
    return np.append(times, t_end)


class PreviousRun(NamedTuple):
    """Works and controller state of a run, for the run that continues it."""

    work: tuple[float, float] = (0.0, 0.0)  # put in and dissipated [J]
    control: ControlState | None = None  # of a sampled law


class _Start(NamedTuple):
    state: State
    before: PreviousRun


class Snapshot(NamedTuple):
    """State of a running simulation, for pictures."""

    t: float  # [s]
    formulation: AbstractFormulation
    joints: Any  # of all moving joints: the branch of a closed chain
    x: Any  # coordinates

    @property
    def poses(self) -> Poses:
        """Positions and rotations of the nodes of all links, in the world."""
        return poses_at(on_branch_near(self.formulation, self.joints), self.x)


Observe = Callable[[Snapshot], None]


# --- a run that can be watched -------------------------------------------------------------------------------------


def integrate(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    watch: Callable[[float], None] = lambda t: None,
    checkpoint: CheckpointStore | None = None,
    resume: bool = False,
    before: "PreviousRun | None" = None,
    observe: Observe = lambda snapshot: None,
    recorded: Sequence[str] = (),
) -> Solution:
    """Run to the last output time; after an interrupt or a failure with what has been computed.

    Args:
        model: the robot.
        state: at the first output time.
        inputs: torques, wrenches, motions, control law.
        times: output grid [s]; inputs are read at these times, wherever the grid begins.
        solver: method and tolerances.
        watch: called with the time reached, every few hundred steps; may raise to stop the run.
        checkpoint: where the run is stored at intervals.
        resume: continue from that file, where it exists.
        before: what a run that this one continues has left beside its state.
        observe: called like `watch`, with the robot as it is then.
        recorded: nodes whose velocities and accelerations the steps follow.

    Raises:
        CheckpointError: the file is not that of this run.
    """
    with using(solver.backend):
        start = _Start(state, before or PreviousRun())
        settings = settings_of_run(model, solver, times, recorded)
        return _simulate(
            model,
            start,
            inputs,
            times,
            solver,
            settings,
            watch,
            checkpoint,
            resume,
            observe,
        )


def _simulate(
    model: Model,
    start: _Start,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    settings: Settings,
    watch: Callable[[float], None],
    checkpoint: CheckpointStore | None,
    resume: bool,
    observe: Observe,
) -> Solution:
    """The solution of a run from its start to its last output time; see `simulate`."""
    inputs = inputs.wired(model)
    end = float(times[-1])
    robot, at = _at_start(model, start, inputs, times, solver)
    rows = RunRecord(times, at.record)
    segments = [_segment(robot, 0, times[0])]
    stored = checkpoint.read() if checkpoint is not None and resume else None
    if stored is not None:
        segments = list(stored.segments)
        robot, at = _resume(model, robot, settings, at, stored)
        stored.restore(rows)
    interrupted = False
    try:
        while True:
            if not _is_successful(at):
                # A closed chain may continue with other joints as its coordinates.
                robot, at = _beyond_dead_point(robot, at, inputs.prescribed)
            independent = robot.formulation.independent
            if independent != segments[-1].independent:
                segments.append(_segment(robot, rows.take(at.record), at.now.t))
            if not _is_under_way(at, end):
                break
            for reached in _bursts(robot, settings, rows, at, end):
                # Stored before `watch` may stop the run: an interrupt loses nothing.
                at = reached
                if checkpoint is not None:
                    checkpoint.keep(at, rows, tuple(segments))
                t = float(at.now.t)
                observe(Snapshot(t, robot.formulation, at.joints, at.now.x))
                watch(t)
    except KeyboardInterrupt:
        interrupted = True
        if checkpoint is not None and at.memory is not None:
            checkpoint.keep(at, rows, tuple(segments), at_once=True)
    solution = stored_solution(rows, at, tuple(segments))
    if interrupted:
        return eqx.tree_at(lambda s: s.result, solution, RESULTS.interrupted)
    return solution


def _segment(robot: DrivenRobot, row: int, t: Any) -> Segment:
    """The part of a run that begins now, with an output row."""
    independent = robot.formulation.independent
    return host_module(Segment, independent=independent, row=row, time=float(t))


def _resume(
    model: Model,
    robot: DrivenRobot,
    settings: Settings,
    at: MarchState,
    stored: Checkpoint,
) -> tuple[DrivenRobot, MarchState]:
    """The robot in the coordinates of a checkpoint, and its march; `robot` and `at` are those of the start."""
    f = with_independent_joints(model.formulation, stored.segments[-1].independent)
    robot = DrivenRobot(f, robot.schedule)
    shapes = _begin_march.prepare(settings.step, robot, settings.tolerance, at)
    return robot, stored.state(shapes)


def _beyond_dead_point(
    robot: DrivenRobot, at: MarchState, prescribed: tuple[int, ...]
) -> tuple[DrivenRobot, MarchState]:
    f, at = beyond_dead_point(robot.formulation, _as_jax(at), prescribed)
    return DrivenRobot(f, robot.schedule), at


def _at_start(
    model: Model, start: _Start, inputs: Inputs, times: np.ndarray, solver: Solver
) -> tuple[DrivenRobot, MarchState]:
    """The robot with its inputs, and its march before the first step."""
    begin, end = float(times[0]), float(times[-1])
    robot, state = _driven_robot(model, start.state, inputs, end)
    record = first_window(robot, times, rows_of_window())
    first_step = first_step_of(solver, end - begin)
    work = np.array(start.before.work, dtype=float)
    x, xd = host_coordinates(state)
    now = host_module(Moment, t=host_real(begin), x=x, xd=xd, work=work)
    joints = host_real(state.q)
    held = None if robot.sampled_law is None else _held_before(robot, state)
    piece = piece_from(robot.schedule, begin)
    at = march_from(robot, now, joints, held, record, first_step, _first_sample, piece)
    if start.before.control is not None:
        at = with_fields(at, control=start.before.control)
    return robot, at


def _driven_robot(
    model: Model, state: State, inputs: Inputs, end: float
) -> tuple[DrivenRobot, State]:
    """The robot with its inputs, in the coordinates in which a run begins, and the state in those."""
    f, state = with_prescribed_joints(model.formulation, state, inputs.prescribed)
    return inputs.robot(f, end), state


_compiled_for = LastValueCache()


def prepare(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    recorded: Sequence[str] = (),
) -> None:
    """Compile what a run needs before it begins. Each structure of robot and loads is compiled once in a process."""
    with using(solver.backend):
        _prepare(model, state, inputs, times, solver, tuple(recorded))


def _prepare(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    recorded: tuple[str, ...],
) -> None:
    inputs = inputs.wired(model)
    end = float(times[-1])
    settings = settings_of_run(model, solver, times, recorded)
    robot, _ = _driven_robot(model, state, inputs, end)
    # Programs depend on the robot and the method, not on where it starts.
    circumstances = (solver, end, recorded, is_native(), is_compiling_quickly())
    if _compiled_for.get(robot) == circumstances:
        return
    _compiled_for.set(robot, circumstances)
    step, tolerance, max_step, max_steps = settings
    robot, at = _at_start(model, _Start(state, PreviousRun()), inputs, times, solver)
    under_way = _begin_march.prepare(step, robot, tolerance, at)
    limits = (host_real(end), max_step, host_whole(BURST), max_steps)
    _march.prepare(step, robot, tolerance, under_way, *limits)


def _is_successful(at: MarchState) -> bool:
    return ended_as(at.result, RESULTS.successful)


def _is_under_way(at: MarchState, end: float) -> bool:
    return float(at.now.t) < end and _is_successful(at)


def _bursts(
    robot: DrivenRobot, settings: Settings, rows: RunRecord, at: MarchState, end: float
) -> Iterator[MarchState]:
    """A march after each burst of steps, to its end or until it fails; the rows of full windows are stored."""
    step, tolerance, max_step, max_steps = settings
    if at.memory is None:
        with compiling(quickly=_quick_tries_left(at) > 0):
            at = _begin_march(step, robot, tolerance, at)
    end_time, burst = host_real(end), host_whole(BURST)
    is_under_way = True
    while is_under_way:
        record = rows.next_window(at.record)
        if record is not at.record:
            at = with_fields(at, record=record)
        quick_tries = _quick_tries_left(at)
        tries = burst
        if 0 < quick_tries < BURST:
            # Up to exactly the try at which optimised code takes over, also in resumed runs.
            tries = host_whole(quick_tries)
        with compiling(quickly=quick_tries > 0):
            at = _march(
                step, robot, tolerance, at, end_time, max_step, tries, max_steps
            )
        yield at
        is_under_way = _is_under_way(at, end)


def _quick_tries_left(at: MarchState) -> int:
    """Remaining tries of a march in quickly compiled code; none unless `compiling(quickly=True)`."""
    if not is_compiling_quickly():
        return 0
    tries = int(at.counts.steps) + int(at.counts.rejected)
    return max(QUICK_TRIES - tries, 0)


# --- a pure run ----------------------------------------------------------------------------------------------------


def rollout(
    model: ModelLike,
    state: Any = None,
    *,
    t_end: Seconds = 1.0,
    output_dt: Seconds = 0.001,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: SolverLike = None,
    most_steps: int | None = None,
    steps: Any = None,
) -> Solution:
    """A run as one pure JAX function of the model's numbers and the state: for `jax.jit`, `jax.vmap`, `jax.jvp`.

    The same steps as `simulate`, without checks of the clock in between. A closed chain that comes to a dead point of
    its independent joints stops there.

    Args:
        model: the robot; its numbers may be traced (`model.replace({"payload.mass": mass})`).
        state: at t = 0, or a pose in which the robot rests undeformed; q = 0 by default.
        t_end: duration [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        most_steps: where the run is to be differentiated in reverse mode (`jax.grad`): the steps are found first, at
            most so many, and then taken again as a loop of known length. Memory grows with this number.
        steps: times [s] from `step_times`, an array: these steps are taken, and no others are looked for.

    Returns:
        `Solution`: times [s], coordinates, speeds and works [J] as arrays, numbers alone.

    Raises:
        ArgumentError: an invalid time or option.
        ValueError: reverse mode is asked for of a robot with end stops.

    Example:
        >>> import jax, lissom as ls
        >>> model = ls.Model("simple-pendulum")
        >>> tip = jax.jit(lambda q: ls.rollout(model, model.at([q]), t_end=0.01).x[-1, 0])
        >>> tip(0.3).shape
        ()
    """
    times = output_times(t_end, output_dt)
    start = _pure_start(model, state, times, torque, inputs, solver)
    step, tolerance, max_step, max_steps = start.settings
    robot, at = start.robot, start.at
    end = real(float(times[-1]))
    segments = (Segment(robot.formulation.independent, 0, 0.0),)
    if most_steps is None and steps is None:
        at = march(step, robot, tolerance, at, end, max_step, whole(ENDLESS), max_steps)
        return solution_of(at, segments)
    if robot.formulation.joints.stops is not None:
        raise ValueError(
            "most_steps: a run with end stops has no reverse mode; use forward mode, "
            "or leave out limits.stop"
        )
    adaptive = at
    if steps is None:
        assert most_steps is not None
        adaptive, recording = record_march(
            step, robot, tolerance, at, end, max_step, max_steps, most_steps
        )
    else:
        recording = record_steps(step, robot, tolerance, at, _times_of_steps(steps))
    at, record = replay(step, robot, tolerance, at, recording, at.record)
    at = eqx.tree_at(
        lambda s: (s.record, s.counts, s.result),
        at,
        (record, adaptive.counts, adaptive.result),
    )
    return solution_of(at, segments)


def _times_of_steps(steps: Any) -> Float[Array, " s"]:
    """Times of steps as an array of JAX.

    Raises:
        ArgumentError: they are no times, or go back.
    """
    message = "must be times as from `step_times`, two or more that do not decrease"
    try:
        times = real(steps)
    except (TypeError, ValueError):
        raise ArgumentError("steps", steps, message) from None
    is_list = times.ndim == 1 and len(times) > 1
    if not is_list or not is_traced(times) and not np.all(np.diff(times) >= 0.0):
        raise ArgumentError("steps", steps, message)
    return times


def step_times(
    model: ModelLike,
    state: Any = None,
    *,
    t_end: Seconds = 1.0,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: SolverLike = None,
    most_steps: int = 1024,
) -> Float[Array, " s"]:
    """Times at which the steps of a run begin and end, the last one repeated: `rollout` takes the same steps again.

    With other numbers of the robot too, so that a loss over runs is a smooth function of them.

    Args:
        model: the robot; its numbers may be traced (`model.replace({"payload.mass": mass})`).
        state: at t = 0, or a pose in which the robot rests undeformed; q = 0 by default.
        t_end: duration [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        most_steps: length of the result less one; a run that needs more steps ends early.

    Returns:
        Times [s], for `rollout(..., steps=...)`.

    Raises:
        ArgumentError: an invalid time or option.

    Example:
        >>> import lissom as ls
        >>> times = ls.step_times("simple-pendulum", [0.3], t_end=0.01, most_steps=64)
        >>> times.shape, float(times[-1])
        ((65,), 0.01)
    """
    times = np.array([0.0, seconds_from("t_end", t_end)])
    start = _pure_start(model, state, times, torque, inputs, solver)
    step, tolerance, max_step, max_steps = start.settings
    _, recording = record_march(
        step,
        start.robot,
        tolerance,
        start.at,
        real(t_end),
        max_step,
        max_steps,
        most_steps,
    )
    return recording.times


class PureStart(NamedTuple):
    """Start of a pure run: march, robot, method and settings."""

    settings: Settings
    robot: DrivenRobot
    at: MarchState


def _pure_start(
    model: ModelLike,
    state: Any,
    times: np.ndarray,
    torque: Any,
    inputs: Inputs | None,
    solver: SolverLike,
) -> PureStart:
    """A march under way, its whole output grid in one window."""
    model = model_from(model)
    state = state_from(model, state)
    inputs = inputs_from(model, torque, inputs).wired(model)
    options = solver_of(solver)
    end = float(times[-1])
    f = model.formulation
    settings = settings_of(options, end)
    robot = DrivenRobot(f, inputs.schedule(end))
    commands = _command_count(robot)
    record = empty_record(real(times), f.size, f.n_encoders, commands)
    first_step = first_step_of(options, end)
    at = start_of_march(robot, state, record, first_step, first_sample)
    at = begin_march(settings.step, robot, settings.tolerance, at)
    return PureStart(settings, robot, at)


# --- start and end -------------------------------------------------------------------------------------------------


def first_step_of(solver: Solver, duration: float) -> np.ndarray:
    """Length of the first step that is tried [s]."""
    return host_real(solver.first_step or min(FIRST_STEP, 0.01 * duration))


def start_of_march(
    robot: DrivenRobot,
    state: State,
    record: Record,
    first_step: Any,
    sample: Callable[[MotionProblem, Moment, Any], Any],
    begin: Any = 0.0,
) -> MarchState:
    """The march from a state at a time on the first piece, in arrays of JAX; see `march_from`."""
    now = Moment(real(begin), state.x, state.xd, np.zeros(2))
    joints, held = real(state.q), _held_before(robot, state)
    return march_from(robot, now, joints, held, record, first_step, sample)


def march_from(
    robot: DrivenRobot,
    now: Moment,
    joints: Float[Real, " j"],
    held: Float[Array, " a"] | None,
    record: Record,
    first_step: Any,
    sample: Callable[[MotionProblem, Moment, Any], Any],
    piece: int = 0,
) -> MarchState:
    """The march before its first step, on a piece of time; `sample` lets a sampled law act for the first time."""
    control = None
    if robot.sampled_law is not None:
        problem = robot.on_piece(piece).on_branch_near(joints)
        control = sample(problem, now, held)
    contacts = None
    if robot.formulation.joints.stops is not None:
        contacts = _first_contacts(
            on_branch_near(robot.formulation, joints), now.x, now.xd
        )
    zero = host_whole(0)
    counts = host_module(Counts, steps=zero, rejected=zero, evaluations=zero)
    return host_module(
        MarchState,
        now=now,
        joints=joints,
        piece=host_whole(piece),
        h=first_step,
        memory=None,
        control=control,
        contacts=contacts,
        counts=counts,
        record=record,
        result=RESULTS.successful,
    )


def _held_before(robot: DrivenRobot, state: State) -> Float[Array, " a"]:
    """Torques of the actuated joints before the first sample: those that hold a static state, none otherwise."""
    actuated = np.asarray(robot.formulation.joints.actuated, dtype=int)
    if state.torque is None:
        return real(np.zeros(len(actuated)))
    return picked(state.torque, actuated)


def first_window(robot: DrivenRobot, times: np.ndarray, rows: int) -> Record:
    """The output grid's first window."""
    f = robot.formulation
    t = window(times, 0, rows)
    return empty_record(t, f.size, f.n_encoders, _command_count(robot))


def _command_count(robot: DrivenRobot) -> int:
    """How many torques a sampled law holds; none without one."""
    if robot.sampled_law is None:
        return 0
    return len(robot.formulation.joints.actuated)


def solution_of(at: MarchState, segments: tuple[Segment, ...]) -> Solution:
    """The solution of a march whose whole output grid is in one window."""
    record = at.record
    return _solution(record.t, vars(record), record.filled, _end_of(at), segments)


def stored_solution(
    rows: RunRecord, at: MarchState, segments: tuple[Segment, ...]
) -> Solution:
    """The solution of a march whose rows are stored on the host."""
    filled = int(at.record.first) + int(at.record.filled)
    columns = with_positive_zeros(rows.all_rows(at.record))
    end = _end_of(at)
    if at.memory is not None:
        # After a step: before, these are the arrays of the user's state.
        with_positive_zeros(end)
    return _solution(rows.t, columns, filled, end, segments)


def _as_jax(at: MarchState) -> MarchState:
    """A march whose numbers are arrays of JAX: machine code leaves NumPy's."""
    return on_device(with_fields(at, memory=None))


def _end_of(at: MarchState) -> dict[str, Any]:
    return {
        "counts": at.counts,
        "result": at.result,
        "last": at.now,
        "last_joints": at.joints,
        "control": at.control,
    }


def _solution(
    t: Any,
    columns: Mapping[str, Any],
    filled: Any,
    end: dict[str, Any],
    segments: tuple[Segment, ...],
) -> Solution:
    arrays = {name: columns[name] for name in COLUMNS}
    return host_module(Solution, t=t, **arrays, filled=filled, **end, segments=segments)
