"""Simulations of a chunk: those that share their structure run in lanes, the others one by one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from ..describe.scenario import Scenario
from ..runs.run import Run, SimulationError
from ..runs.run_table import table_of_outputs
from ..runs.start import RunStart, start_scenario
from ..show.robot_scene import scene_text
from ..solve.family import same_structure
from ..solve.family_runs import FamilyTask, lane_solution
from ..solve.outputs import outputs_of
from ..solve.simulate import integrate
from ..solve.solution import Solution
from .run_metrics import MeasuredRun

LEAST = 4  # runs that are worth a lane each
LANE_LAWS = ("pd",)  # whose numbers are not made from the robot's


class ReadyRun(NamedTuple):
    """A run that is ready to start."""

    number: int  # within its chunk
    scenario: Scenario
    start: RunStart

    @property
    def shared(self) -> tuple[Any, ...]:
        """Settings that runs in lanes share, beside the structure of their robots."""
        scenario = self.scenario
        return (
            scenario.initial.time,
            scenario.t_end,
            scenario.output_dt,
            scenario.solver,
            scenario.inputs,
            scenario.controller,
            scenario.formulation,
            scenario.record,
        )

    def goes_in_lanes(self) -> bool:
        """True if several such runs can share each instruction."""
        law = self.scenario.controller
        if self.start.model.closed or not (law is None or law.type in LANE_LAWS):
            return False
        # Each lane would have to look up its own piece of time.
        return not self.start.inputs.schedule(self.start.t_end).has_jumps


def measure_runs(
    scenarios: Mapping[int, Scenario], before_run: Callable[[int], None], alone: bool
) -> Iterator[tuple[int, Any]]:
    """Runs of all scenarios, each with its number, as something to measure, or as the exception that ended it."""
    starts: list[ReadyRun] = []
    for k, scenario in scenarios.items():
        try:
            starts.append(_ready(k, scenario))
        except Exception as failure:
            yield k, failure
    for group in _groups(starts, alone):
        if len(group) < LEAST:
            for one in group:
                before_run(one.number)
                yield one.number, _single(one)
        else:
            yield from _in_lanes(group)


def _ready(number: int, scenario: Scenario) -> ReadyRun:
    return ReadyRun(number, scenario, start_scenario(scenario))


def _groups(starts: list[ReadyRun], alone: bool) -> Iterator[list[ReadyRun]]:
    """Runs that share their structure."""
    groups: list[list[ReadyRun]] = []
    for one in starts:
        if alone or not one.goes_in_lanes():
            yield [one]
            continue
        for group in groups:
            if _share_structure(one, group[0]):
                group.append(one)
                break
        else:
            groups.append([one])
    yield from groups


def _share_structure(one: ReadyRun, other: ReadyRun) -> bool:
    same = one.shared == other.shared
    return same and same_structure(
        one.start.model.formulation, other.start.model.formulation
    )


def _single(one: ReadyRun) -> Any:
    try:
        model, state, inputs, times, solver, nodes = one.start
        solution = integrate(model, state, inputs, times, solver, recorded=nodes)
        return _measure(one, solution)
    except Exception as failure:
        return failure


def _in_lanes(group: list[ReadyRun]) -> Iterator[tuple[int, Any]]:
    first = group[0].start
    starts = [one.start for one in group]
    task = FamilyTask(
        model=first.model,
        formulation=_stack([one.model.formulation for one in starts]),
        which=np.arange(len(group)),
        state=_stack([one.state for one in starts]),
        inputs=first.inputs,
        times=first.times,
        solver=first.solver,
        # A run of a study is the one that `lissom simulate` gives.
        common_steps=False,
        recorded=first.recorded,
    )
    try:
        runs = lane_solution(task)
    except Exception:
        # If one of them fails, the others are run alone.
        yield from ((one.number, _single(one)) for one in group)
        return
    # Back on the host at once: to take members out of JAX arrays one by one costs more than the runs.
    runs = jax.tree.map(np.asarray, runs)
    for k, one in enumerate(group):
        try:
            yield one.number, _measure(one, _member(runs, k))
        except Exception as failure:
            yield one.number, failure


def _stack(trees: list[Any]) -> Any:
    return jax.tree.map(
        lambda *leaves: np.stack([np.asarray(a) for a in leaves]), *trees
    )


def _member(runs: Solution, k: int) -> Solution:
    """The run of one member of a family."""
    # The output times are those of all members.
    fields = {name: value for name, value in vars(runs).items() if name != "t"}
    own = jax.tree.map(lambda leaf: leaf[k], fields)
    return Solution(t=runs.t, **own)


def _measure(one: ReadyRun, solution: Solution) -> MeasuredRun:
    model, _, inputs, _, solver, _ = one.start
    outputs, torque = outputs_of(model, inputs, solution)
    table = table_of_outputs(model, solution, solver, outputs, torque)
    table.attrs["scene"] = scene_text(model.robot)
    run = Run(table)
    if not run.complete:
        at = float(solution.last.t)
        raise SimulationError(f"stopped at t = {at:.6g} s: {run.facts['reason']}", run)
    return MeasuredRun(model, one.scenario, run, outputs)
