"""Simulate a robot or a scenario: from the start to a run with its results."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from warnings import warn

from jaxnative.compiled import using

from ..analyse.validity.checks import run_warnings
from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import ValidityWarning, warning_lines
from ..describe.scenario import Scenario
from ..progress import shown_progress
from ..show.robot_scene import scene_text
from ..solve.arguments import (
    ArgumentError,
    ModelLike,
    Seconds,
    SolverLike,
    model_from,
    solver_of,
    state_from,
)
from ..solve.feedback import WiredLaw
from ..solve.inputs import Inputs, inputs_from
from ..solve.model import Model
from ..solve.node_motion import prepare_node_motions
from ..solve.outputs import prepare_outputs
from ..solve.simulate import Observe, PreviousRun, integrate, prepare
from ..solve.solution import Solution
from ..types import RESULTS, ended_as
from .checkpoint_file import CheckpointFile
from .run import Interrupted, Run, SimulationError
from .run_table import run_table
from .sources import scenario_from
from .start import RunStart, start_run, start_scenario


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
    known_warnings: Sequence[ValidityWarning] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
    observe: Observe = lambda snapshot: None,
    doubts: Sequence[ValidityWarning] | None = None,
) -> Run:
    """Motion of a robot in time.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        state: at the start, from `model.at` or `model.static`, or a pose, in which the robot rests undeformed; q = 0 by
            default.
        start: a run to continue: state, time and works are those of its end. A sampled law continues from
            its state, unless the run comes from a file.
        t_start: time at the start [s], for states that come from elsewhere; inputs are read from there on.
        t_end: time at the end [s].
        output_dt: spacing of the output [s].
        torque: joint torques: constant array, function (t, state) -> array, or a controller such as `PD`.
        inputs: tables of torques, wrenches and motions, instead of `torque`.
        solver: `Solver` options, or a mapping of them.
        record: nodes, such as `lower/tip`, whose velocities and accelerations the run holds too, and its steps follow.
        progress: True for a bar; False for none; None for one in terminals and notebooks if it takes over a second.
        watch: called with the time reached during the run [s].
        throw: raise `SimulationError` if the run fails; else the incomplete run is returned.
        scenario: origin of the run, recorded in the result file.
        build_s: time already spent on building the model, for the record.
        known_warnings: about the data of the run, listed before those about the run itself.
        checkpoint: file that stores the run every 20 s and where it is interrupted; it is not deleted.
        resume: go on from the checkpoint, where there is one.
        observe: called like `watch`, with the robot as it is then (`Snapshot`).
        doubts: old name of `known_warnings`.

    Returns:
        The `Run`: times [s], motion, torques, energies; `run.data` names them with their units, `run.save()` writes it.

    Raises:
        ArgumentError: an invalid time, option or input.
        SimulationError: the run did not reach its end.
        CheckpointError: the checkpoint is not that of this run.

    Example:
        >>> import lissom as ls
        >>> run = ls.simulate("simple-pendulum", [0.3], t_end=0.01)
        >>> float(run.t[-1])
        0.01
    """
    if doubts is not None:
        message = "simulate(doubts=...) is now simulate(known_warnings=...); the old name goes in lissom 0.4"
        warn(message, DeprecationWarning, stacklevel=2)
        known_warnings = doubts
    model = model_from(model)
    state, t_start, left = _start_of(state, start, t_start)
    begin = start_run(
        model,
        state_from(model, state),
        inputs_from(model, torque, inputs),
        t_start=t_start,
        t_end=t_end,
        output_dt=output_dt,
        solver=solver_of(solver),
        record=record,
        law_field="torque" if inputs is None else "inputs.law",
    )
    return completed_run(
        begin,
        left,
        progress=progress,
        watch=watch,
        throw=throw,
        scenario=scenario,
        build_s=build_s,
        known_warnings=known_warnings,
        checkpoint=checkpoint,
        resume=resume,
        observe=observe,
    )


def completed_run(
    start: RunStart,
    left: "_End | None" = None,
    *,
    progress: Any = None,
    watch: Callable[[float], None] = lambda t: None,
    throw: bool = True,
    scenario: Mapping[str, Any] | Scenario | None = None,
    build_s: float = 0.0,
    known_warnings: Sequence[ValidityWarning] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
    observe: Observe = lambda snapshot: None,
) -> Run:
    """The run from a start to its end; `left` are the final values of the run that it continues. See `simulate`.

    A `Scenario` is recorded like its data, and its warnings come before those about the run.
    """
    model, state, inputs, times, options, nodes = start
    left = left or _End()
    described = scenario if isinstance(scenario, Scenario) else None
    origin = described.to_dict() if described else scenario
    file = None
    if checkpoint is not None:
        schedule = inputs.schedule(start.t_end)
        numbers = (model.formulation, state, schedule, times, options.model_dump_json())
        file = CheckpointFile(checkpoint, dict(origin) if origin else numbers)
    began = time.perf_counter()
    with shown_progress("simulating", start.t_end, "s", progress, watch) as report:
        compile_run(start)
        compiled = time.perf_counter()
        solution = integrate(
            model,
            state,
            inputs,
            times,
            options,
            report,
            file,
            resume,
            left.before,
            observe,
            nodes,
        )
    data, samples = run_table(model, inputs, solution, options, nodes)
    about_law = _law_warnings(inputs, start.t_start, left.before)
    found = [
        *known_warnings,
        *(scenario_warnings(described) if described else ()),
        *run_warnings(model, inputs, samples),
    ]
    warnings = [*warning_lines(found), *about_law]
    ended = time.perf_counter()
    data.variables["energy"][1][:, -1] += left.residual
    data.attrs |= {
        "wall_build_s": build_s,
        "wall_compile_s": compiled - began,
        "wall_run_s": ended - compiled,
        "scenario": json.dumps(origin if origin is not None else {}),
        "warnings": "\n".join(warnings),
        "scene": scene_text(model.robot),
    }
    run = Run(data)
    run._control = solution.control
    if throw and not run.complete:
        raise _error(run, solution)
    return run


class _End(NamedTuple):
    """Final values of a run, for the run that continues it."""

    before: PreviousRun = PreviousRun()
    residual: float = 0.0  # of its energy balance [J]


def _start_of(state: Any, start: Any, t_start: Any) -> tuple[Any, Any, "_End"]:
    """State and time at which a run begins, and the final values of the run that it continues."""
    if start is None:
        return state, t_start, _End()
    if not isinstance(start, Run):
        message = "must be a Run; a state or a pose is given as `state`"
        raise ArgumentError("start", type(start).__name__, message)
    if state is not None or t_start != 0.0:
        message = "gives state and time: leave out `state` and `t_start`"
        raise ArgumentError("start", "Run", message)
    put_in, dissipated, residual = (
        float(start.energy(kind)[-1]) for kind in ("input", "dissipated", "residual")
    )
    before = PreviousRun((put_in, dissipated), start._control)
    return start.state(), float(start.t[-1]), _End(before, residual)


def _law_warnings(inputs: Inputs, t_start: float, before: PreviousRun) -> list[str]:
    """Incidents of the control law, and a warning that a sampled one starts at `t_start` without its state."""
    feedback, law = inputs.law, inputs.feedback
    lines = list(feedback.law.incidents()) if isinstance(feedback, WiredLaw) else []
    is_sampled = law is not None and law.sample is not None
    if is_sampled and t_start != 0.0 and before.control is None:
        lines.append(
            f"the state of the controller was not saved in the file of the first run: it restarts at t = {t_start:g} s"
        )
    return lines


def run_scenario(
    scenario: Any,
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
    """The run of a scenario: its model is built, started and simulated.

    Args:
        scenario: a `Scenario`, its name in the library, its file or its data.
        watch: called with the time reached during the run [s].
        throw: raise `SimulationError` if the run fails; else the incomplete run is returned.
        model: a model of the scenario that exists already.
        build_s: time that was spent on building it [s], for the record.
        checkpoint: file that stores the run at intervals, as in `simulate`.
        resume: go on from the checkpoint, where there is one.
        progress: True for a bar; False for none; None for one in terminals and notebooks if it takes over a second.
        observe: called like `watch`, with the robot as it is then (`Snapshot`).

    Returns:
        The `Run`: times [s], motion, torques, energies; `run.data` names them with their units.

    Raises:
        DescriptionError: the scenario is wrong.
        SimulationError: the run did not reach its end.
        CheckpointError: the checkpoint is not that of this run.

    Example:
        >>> import lissom as ls
        >>> run = ls.run_scenario("simple-pendulum")
        >>> float(run.t[-1])
        1.5
    """
    began = time.perf_counter()
    scenario = scenario_from(scenario)
    start = start_scenario(scenario, model)
    return completed_run(
        start,
        progress=progress,
        watch=watch,
        throw=throw,
        scenario=scenario,
        build_s=build_s + time.perf_counter() - began,
        checkpoint=checkpoint,
        resume=resume,
        observe=observe,
    )


def compile_run(start: RunStart) -> None:
    """Compile everything that a run and its results need, without running it."""
    model, state, inputs, times, solver, nodes = start
    prepare(model, state, inputs, times, solver, nodes)
    with using(solver.backend):
        prepare_outputs(model, state, inputs, start.t_end)
        if nodes:
            prepare_node_motions(model, state, inputs, start.t_end, nodes)


def _error(run: Run, solution: Solution) -> SimulationError:
    at = f"at t = {float(solution.last.t):.6g} s"
    if ended_as(solution.result, RESULTS.interrupted):
        return Interrupted(f"interrupted {at}", run)
    return SimulationError(f"stopped {at}: {run.facts['reason']}", run)
