"""Simulate a robot or a scenario: from the start to a run with its results."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..analyse.validity.watch import doubts_of_scenario
from ..describe.doubt import Doubt, lines_of
from ..describe.scenario import Solver
from ..dynamics.formulation import near
from ..native.compiled import compiled_quickly, using
from ..progress import shown_progress
from ..scenarios.ready import ready
from ..scenarios.scenario_argument import ScenarioLike, scenario_from
from ..solve.arguments import (
    ArgumentError,
    ModelLike,
    Seconds,
    SolverLike,
    model_from,
    seconds_from,
    solver_of,
    state_from,
)
from ..solve.dead_point import DeadPointError, with_prescribed_joints
from ..solve.feedback import WiredLaw
from ..solve.inputs import Inputs, inputs_from
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..solve.node_motion import prepare_node_motions, recorded_nodes
from ..solve.outputs import prepare_outputs
from ..solve.simulate import Before, Observe, output_times, prepare
from ..solve.simulate import simulate as solve_run
from ..solve.solution import Solution
from ..solve.state import State, state_at
from ..types import RESULTS, ended_as
from .checkpoint_file import CheckpointFile
from .run import Interrupted, Run, SimulationError
from .run_table import run_table


def simulate(
    model: ModelLike,
    state: Any = None,
    *,
    start: Any = None,
    t_start: Any = 0.0,
    t_end: Seconds = 1.0,
    output_dt: Seconds = 0.001,
    torque: Any = None,
    inputs: Inputs | None = None,
    solver: SolverLike = None,
    record: Sequence[str] = (),
    progress: Any = None,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    scenario: Mapping[str, Any] | None = None,
    build_s: float = 0.0,
    doubts: Sequence[Doubt] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
    observe: Observe = lambda snapshot: None,
) -> Run:
    """Motion of a robot in time.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: at the start, from `model.at` or `model.static`, or a pose, in which the robot rests undeformed; q = 0 by
            default.
        start: a run that goes on where it ended: state, time and works are those of its end. A sampled law goes on with
            what it remembers, unless the run comes from a file.
        t_start: time at the start [s], for states that come from elsewhere; inputs are read from there on.
        t_end: time at the end [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        record: nodes, such as `lower/tip`, whose velocities and accelerations the run holds too.
        progress: True for a bar; False for none; None for one in terminals and notebooks if it takes over a second.
        watch: called with the time reached while the run goes on.
        throw: raise `SimulationError` if the run fails; else the incomplete run is returned.
        scenario: what the result file should remember as its origin.
        build_s: time already spent on building the model, for the record.
        doubts: about what the run was made of, to be told beside those about the run itself.
        checkpoint: file that keeps the run while it goes on, every 20 s and where it is interrupted; it stays.
        resume: go on from the checkpoint, where there is one.
        observe: called like `watch`, with the robot as it is then (`Snapshot`).

    Raises:
        SimulationError: the run did not reach its end.
        CheckpointError: the checkpoint is not that of this run.
    """
    model = model_from(model)
    law = inputs.law if isinstance(inputs, Inputs) else torque
    _check_sample("torque" if law is torque else "inputs.law", law, t_end)
    state, t_start, left = _start_of(state, start, t_start)
    state = state_from(model, state)
    options = solver_of(solver)
    inputs = inputs_from(model, torque, inputs).wired(model)
    state = starting_state(model, state, inputs, t_start)
    model.check_reference(state.q)
    times = output_times(t_end, output_dt, t_start)
    nodes = recorded_nodes(model, record)
    kept = None
    if checkpoint is not None:
        schedule = inputs.schedule(float(times[-1]))
        numbers = (model.formulation, state, schedule, times, options.model_dump_json())
        kept = CheckpointFile(checkpoint, dict(scenario) if scenario else numbers)
    began = time.perf_counter()
    with shown_progress("simulating", float(times[-1]), "s", progress, watch) as tell:
        compile_run(model, state, inputs, times, options, nodes)
        compiled = time.perf_counter()
        solution = solve_run(
            model,
            state,
            inputs,
            times,
            options,
            tell,
            kept,
            resume,
            left.before,
            observe,
        )
    data, seen = run_table(model, inputs, solution, options, nodes)
    ended = time.perf_counter()
    warnings = [*lines_of(doubts), *lines_of(seen), *_incidents(inputs)]
    warnings += _forgotten(inputs, t_start, left.before)
    data.variables["energy"][1][:, -1] += left.residual
    data.attrs |= {
        "wall_build_s": build_s,
        "wall_compile_s": compiled - began,
        "wall_run_s": ended - compiled,
        "scenario": json.dumps(scenario if scenario is not None else {}),
        "warnings": "\n".join(warnings),
    }
    run = Run(data)
    run._control = solution.control
    if throw and not run.complete:
        raise _error(run, solution)
    return run


def _check_sample(field: str, law: Any, t_end: Any) -> None:
    """Refuse a law that would act once, and hold its first command to the end."""
    sample = law.sample if isinstance(law, AbstractLaw) else None
    end = seconds_from("t_end", t_end)
    if sample is not None and float(np.asarray(sample)) > end:
        message = f"must not be longer than the run (t_end {end:g} s)"
        raise ArgumentError(f"{field}.sample", sample, message)


class _End(NamedTuple):
    """What a run leaves to the one that continues it."""

    before: Before = Before()
    residual: float = 0.0  # of its energy balance [J]


def _start_of(state: Any, start: Any, t_start: Any) -> tuple[Any, float, "_End"]:
    """State and time at which a run begins, and what was before."""
    if start is None:
        is_number = isinstance(t_start, int | float | np.floating)
        if not is_number or isinstance(t_start, bool) or not 0.0 <= t_start < np.inf:
            message = "must be a number of seconds, zero or more"
            raise ArgumentError("t_start", t_start, message)
        return state, float(t_start), _End()
    if not isinstance(start, Run):
        message = "must be a Run; a state or a pose is given as `state`"
        raise ArgumentError("start", type(start).__name__, message)
    if state is not None or t_start != 0.0:
        message = "gives state and time: leave out `state` and `t_start`"
        raise ArgumentError("start", "Run", message)
    works = start.values("energy")[-1]
    kinds = start.values("kind").tolist()
    put_in, dissipated, residual = (
        float(works[kinds.index(kind)]) for kind in ("input", "dissipated", "residual")
    )
    before = Before((put_in, dissipated), start._control)
    return start.state(), float(start.t[-1]), _End(before, residual)


def _forgotten(inputs: Inputs, t_start: float, before: Before) -> list[str]:
    """Tells that a sampled law in the middle of time knows nothing of what was before."""
    law = inputs.feedback
    if (
        t_start == 0.0
        or law is None
        or law.sample is None
        or before.control is not None
    ):
        return []
    return [
        f"the control law begins anew at {t_start:g} s: what it remembered is not in the file of the first run"
    ]


def _incidents(inputs: Inputs) -> tuple[str, ...]:
    """What went wrong for the control law of a run."""
    feedback = inputs.law
    return feedback.law.incidents() if isinstance(feedback, WiredLaw) else ()


def run_scenario(
    scenario: ScenarioLike,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    *,
    model: Model | None = None,
    build_s: float = 0.0,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Any = None,
    observe: Observe = lambda snapshot: None,
) -> Run:
    """Build, start and simulate a scenario; a model of it that is there already, built in `build_s`, is taken.

    A `Scenario`, its name in the library, its file or its data. For the other arguments see `simulate`.
    """
    began = time.perf_counter()
    scenario = scenario_from(scenario)
    with using(scenario.solver.backend):
        model, state, inputs = ready(scenario, model)
    return simulate(
        model,
        state,
        t_start=scenario.initial.time,
        t_end=scenario.t_end,
        output_dt=scenario.output_dt,
        inputs=inputs,
        solver=scenario.solver,
        record=scenario.record,
        progress=progress,
        watch=watch,
        throw=throw,
        scenario=scenario.to_dict(),
        build_s=build_s + time.perf_counter() - began,
        doubts=doubts_of_scenario(scenario),
        checkpoint=checkpoint,
        resume=resume,
        observe=observe,
    )


def compile_run(
    model: Model,
    state: State,
    inputs: Inputs,
    times: np.ndarray,
    solver: Solver,
    nodes: Sequence[str] = (),
) -> None:
    """Compile everything that a run and its results need, without running it; `nodes` are recorded."""
    prepare(model, state, inputs, times, solver)
    end = float(times[-1])
    with using(solver.backend):
        prepare_outputs(model, state, inputs, end)
        if nodes:
            prepare_node_motions(model, state, inputs, end, nodes)


def starting_state(
    model: Model, state: State, inputs: Inputs, t_start: float = 0.0
) -> State:
    """The state in which joints with a prescribed motion start where and as fast as it says."""
    if not inputs.motion:
        return state
    q = np.array(state.q)
    qd = np.array(state.qd)
    for joint, spline in inputs.motion:
        # The motion is that of the encoder; with some choices of the ERLS it reads something else than q.
        elastic_part = np.array(state.encoder)[joint] - q[joint]
        # Before its first point and after its last one a motion stands still.
        place, speed, *_ = spline.on(t_start, t_start).coefficients
        q[joint] = float(place) - elastic_part
        qd[joint] = float(speed)
    if model.closed:
        return _starting_closed_chain(model, state, q, qd, inputs.prescribed)
    return eqx.tree_at(lambda s: (s.q, s.qd), state, (jnp.asarray(q), jnp.asarray(qd)))


def _starting_closed_chain(
    model: Model,
    state: State,
    q: np.ndarray,
    qd: np.ndarray,
    prescribed: tuple[int, ...],
) -> State:
    """The joints that follow a motion become coordinates of the closed chain, and the others follow them."""
    try:
        f, state = with_prescribed_joints(
            model.formulation_at(state), state, prescribed
        )
    except DeadPointError:
        names = ", ".join(model.joint_names[joint] for joint in prescribed)
        raise ValueError(
            f"inputs.motion: {names}: a dead point of the closed chain: these joints do not set its starting pose"
        ) from None
    x = np.array(state.x)
    xd = np.array(state.xd)
    for joint in prescribed:
        row = f.independent.index(joint)
        x[row] = q[joint]
        xd[row] = qd[joint]
    on_branch = near(f, jnp.asarray(q))
    return _state_at(on_branch, jnp.asarray(x), jnp.asarray(xd))


_state_at = compiled_quickly(state_at)


def _error(run: Run, solution: Solution) -> SimulationError:
    at = f"at t = {float(solution.last.t):.6g} s"
    if ended_as(solution.result, RESULTS.interrupted):
        return Interrupted(f"interrupted {at}", run)
    return SimulationError(f"stopped {at}: {run.facts['reason']}", run)
