"""Library scenarios against the clock: build, compile, first run, warm runs, and the error that the time bought."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..describe.files import library_names
from ..describe.scenario import Scenario, Solver
from ..show.run import (
    Run,
    SimulationError,
    compile_run,
    dataset,
    initial_state,
    inputs_of,
)
from ..solve.inputs import Inputs
from ..solve.integrate import integrate, output_times
from ..solve.model import Model
from ..solve.problem import State
from ..types import RESULTS
from .machine import one_core, timed

TIGHT: dict[str, Any] = {
    "rtol": 1e-9,
    "atol": 1e-11,
}  # the reference: a thousand times tighter than the default
Tell = Callable[[str], None]  # takes a line about what is going on


class Case:
    """A scenario made ready, phase by phase, to be run again and again."""

    def __init__(self, scenario: Scenario):
        self.scenario = scenario
        built, self.model = timed(lambda: model_of(scenario))
        started, (self.state, self.inputs) = timed(lambda: _start(self.model, scenario))
        self.build_s, self.start_s = built.best, started.best
        self.times = output_times(scenario.t_end, scenario.output_dt)
        self.tip = f"{self.model.link_names[-1]}/tip"
        # a loop may hold the last tip in its place
        self.tips = (
            [f"{name}/tip" for name in self.model.link_names]
            if self.model.robot.loops
            else [self.tip]
        )

    def solver(self, **changes: Any) -> Solver:
        """The scenario's solver with other options."""
        return Solver(**(self.scenario.solver.model_dump() | changes))

    def compile(self, **solver: Any) -> float:
        """Seconds until everything that a run needs is compiled."""
        args = self.model, self.state, self.inputs, self.times, self.solver(**solver)
        return timed(lambda: compile_run(*args))[0].best

    def run(
        self, watch: Callable[[float], None] = lambda t: None, **solver: Any
    ) -> Run:
        """One run, all its results in memory when it returns."""
        options = self.solver(**solver)
        outcome = integrate(
            self.model.formulation, self.state, self.inputs, self.times, options, watch
        )
        if outcome.failure == RESULTS.interrupted:
            raise KeyboardInterrupt
        run = Run(dataset(self.model, self.inputs, outcome, self.times, options))
        if not run.complete:
            raise SimulationError(
                f"stopped at t = {outcome.time:.6g} s: {run.data.attrs['reason']}", run
            )
        return run


def model_of(scenario: Scenario) -> Model:
    """The robot of a scenario in its formulation."""
    return Model.of_scenario(scenario)


def _start(model: Model, scenario: Scenario) -> tuple[State, Inputs]:
    return initial_state(model, scenario), inputs_of(model, scenario)


def default_cases() -> tuple[str, ...]:
    """The robots of the library, each with the scenario of its name."""
    return library_names()


def distance(path: np.ndarray, reference: np.ndarray) -> float:
    """Largest distance between two paths (time, 3) [m]; the first may have fewer times, evenly left out."""
    every = (len(reference) - 1) // (len(path) - 1)
    return float(np.linalg.norm(path - reference[::every], axis=1).max())


def measure_case(
    name: str, repeat: int, tell: Tell = lambda text: None
) -> dict[str, Any]:
    """Times and error of one library scenario or file, as plain data."""
    return measure_scenario(name, Scenario.load(name), repeat, tell)


def measure_scenario(
    name: str, scenario: Scenario, repeat: int, tell: Tell = lambda text: None
) -> dict[str, Any]:
    """Times and error of a scenario under a name, as plain data."""
    tell(f"{name}: building")
    case = Case(scenario)
    tell(f"{name}: compiling")
    compile_s = case.compile()
    with one_core():
        tell(f"{name}: first and {repeat} warm runs")
        first, _ = timed(case.run)
        warm, run = timed(case.run, repeat)
        tell(f"{name}: reference")
        tight, reference = timed(
            lambda: case.run(
                lambda t: tell(f"{name}: reference, t = {t:.3g} s"), **TIGHT
            )
        )
    attrs, simulated = run.data.attrs, float(run.t[-1])
    return {
        "case": name,
        "coordinates": case.model.formulation.size,
        "simulated_s": simulated,
        "build_s": case.build_s,
        "start_s": case.start_s,  # the state at t = 0; a static one is solved for, and that is compiled the first time
        "compile_s": compile_s,
        "first_run_s": first.best,
        "warm": warm.report(),
        "real_time_factor": simulated / warm.best,
        "method": attrs["method"],
        "rtol": case.scenario.solver.rtol,
        "steps": int(attrs["steps"]),
        "rejected": int(attrs["rejected"]),
        "rhs_evaluations": int(attrs["rhs_evaluations"]),
        "tip_error_m": max(
            distance(run.position(tip), reference.position(tip)) for tip in case.tips
        ),
        "reference": {
            "rtol": TIGHT["rtol"],
            "wall_s": tight.best,
            "steps": int(reference.data.attrs["steps"]),
        },
    }
