"""Run times of library scenarios: build, compile, first run, warm runs, and the error of the result."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..describe.scenario import Scenario, Solver
from ..files.description_files import library_names
from ..runs.run import Run, SimulationError
from ..runs.run_table import run_table
from ..runs.simulation import compile_run
from ..runs.start import initial_state, start_scenario
from ..show.robot_scene import scene_text
from ..show.scene import moving_tip, scene_from_json
from ..solve.march import DrivenRobot
from ..solve.model import Model
from ..solve.outputs import Outputs, outputs_of
from ..solve.simulate import integrate
from ..solve.solution import Solution
from ..types import RESULTS, ended_as
from .machine import Timing, one_core, timed
from .residual_times import operations_inside, time_inside

# Tolerances of references: a thousand times tighter than the default.
TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}

BACKENDS = ("native", "xla")

Log = Callable[[str], None]  # takes a line about what is measured now


class Case:
    """A scenario made ready, phase by phase, to be run again and again."""

    def __init__(self, scenario: Scenario):
        self.scenario = scenario
        building, self.model = timed(lambda: Model.of_scenario(scenario))
        starting, _ = timed(lambda: initial_state(self.model, scenario))
        self.start = start_scenario(scenario, self.model)
        self.state = self.start.state
        self.inputs = self.start.inputs
        self.times = self.start.times
        self.build_s = building.best
        self.start_s = starting.best
        self.tip = f"{self.model.link_names[-1]}/tip"

    @property
    def robot(self) -> DrivenRobot:
        """The robot with its inputs."""
        schedule = self.inputs.schedule(self.scenario.t_end)
        return DrivenRobot(self.model.formulation, schedule)

    def solver(self, **changes: Any) -> Solver:
        """The scenario's solver with other options."""
        if not changes:
            return self.scenario.solver
        options = self.scenario.solver.model_dump() | changes
        return Solver(**options)

    def compile(self, **solver: Any) -> float:
        """Seconds until everything that a run needs is compiled."""
        options = self.solver(**solver)

        def job() -> None:
            compile_run(self.start._replace(solver=options))

        return timed(job)[0].best

    def numbers(self, **solver: Any) -> tuple[Outputs, np.ndarray]:
        """One run: positions, energies and torques at all output times, in memory, unnamed and unchecked."""
        options = self.solver(**solver)
        solution = self._solution(options)
        with using(options.backend):
            return outputs_of(self.model, self.inputs, solution)

    def _solution(
        self, options: Solver, watch: Callable[[float], None] = lambda t: None
    ) -> Solution:
        return integrate(
            self.model, self.state, self.inputs, self.times, options, watch
        )

    def run(
        self, watch: Callable[[float], None] = lambda t: None, **solver: Any
    ) -> Run:
        """One run, all its results in memory when it returns."""
        options = self.solver(**solver)
        solution = self._solution(options, watch)
        if ended_as(solution.result, RESULTS.interrupted):
            raise KeyboardInterrupt
        data, _ = run_table(self.model, self.inputs, solution, options)
        data.attrs["scene"] = scene_text(self.model.robot)
        run = Run(data)
        if not run.complete:
            reached = float(solution.last.t)
            reason = run.data.attrs["reason"]
            raise SimulationError(f"stopped at t = {reached:.6g} s: {reason}", run)
        return run


def compiled_case(scenario: Scenario) -> Case:
    """The scenario, ready to run at full speed."""
    case = Case(scenario)
    case.compile()
    return case


def default_cases() -> tuple[str, ...]:
    """The robots of the library, each with the scenario of its name."""
    return library_names()


# --- what is read off a run ----------------------------------------------------------------------------------------


def path_of_tip(run: Run) -> np.ndarray:
    """Path (time, 3) of the robot's tip [m]; where a loop holds that in its place, of the tip that moves farthest."""
    position = run.data["position"].values
    scene = scene_from_json(run.data.attrs["scene"])
    return position[:, moving_tip(scene, position)]


def distance(path: np.ndarray, reference: np.ndarray) -> float:
    """Largest distance between two paths (time, 3) [m]; the first may have fewer times, evenly left out."""
    every = (len(reference) - 1) // (len(path) - 1)
    gap = path - reference[::every]
    return float(np.linalg.norm(gap, axis=1).max())


def solver_counts(run: Run) -> dict[str, int]:
    """Steps taken, steps rejected, and right-hand sides evaluated."""
    keys = ("steps", "rejected", "rhs_evaluations")
    return {key: int(run.data.attrs[key]) for key in keys}


# --- measuring -----------------------------------------------------------------------------------------------------


def measure_case(
    name: str,
    repeat: int,
    log: Log = lambda text: None,
    backends: Sequence[str] = BACKENDS,
) -> dict[str, Any]:
    """Times and error of one library scenario or file, as plain data."""
    return measure_scenario(name, Scenario.load(name), repeat, log, backends)


def measure_scenario(
    name: str,
    scenario: Scenario,
    repeat: int,
    log: Log = lambda text: None,
    backends: Sequence[str] = BACKENDS,
) -> dict[str, Any]:
    """Times and error of a scenario under a name, as plain data; machine code is the first of the back ends."""
    log(f"{name}: building")
    case = Case(scenario)
    compile_s = {}
    for backend in backends:
        log(f"{name}: compiling, {backend}")
        compile_s[backend] = case.compile(backend=backend)

    def reference_run() -> Run:
        return case.run(lambda t: log(f"{name}: reference, t = {t:.3g} s"), **TIGHT)

    with one_core():
        log(f"{name}: first and {repeat} warm runs")
        first, _ = timed(case.run)
        warm, run = timed(case.run, repeat)
        log(f"{name}: reference")
        tight, reference = timed(reference_run)
        path = path_of_tip(reference)
        native, *others = backends
        rows = [measure_backend(native, first, warm, run, path)]
        for backend in others:
            log(f"{name}: runs under {backend}")
            timed_runs = _timed_runs(case, backend, repeat)
            rows.append(measure_backend(backend, *timed_runs, path))
        log(f"{name}: residuals")
        residual_s = time_inside(case.robot, case.state, backends)
    for row in rows:
        backend = row["backend"]
        row["compile_s"] = compile_s[backend]
        row["residual_s"] = residual_s[backend]
        row["operations"] = None
    rows[0]["operations"] = operations_inside(case.robot, case.state)
    simulated = float(run.t[-1])
    return {
        "backends": rows,
        "case": name,
        "coordinates": case.model.formulation.size,
        "simulated_s": simulated,
        "build_s": case.build_s,
        # The state at t = 0: a static one is solved for, and that is compiled the first time.
        "start_s": case.start_s,
        "compile_s": compile_s[native],
        "first_run_s": first.best,
        "warm": warm.report(),
        "real_time_factor": simulated / warm.best,
        "method": run.data.attrs["method"],
        "rtol": case.scenario.solver.rtol,
        **solver_counts(run),
        "tip_error_m": distance(path_of_tip(run), path_of_tip(reference)),
        "reference": {
            "rtol": TIGHT["rtol"],
            "wall_s": tight.best,
            "steps": solver_counts(reference)["steps"],
        },
    }


# --- back ends -----------------------------------------------------------------------------------------------------


def _timed_runs(case: Case, backend: str, repeat: int) -> tuple[Timing, Timing, Run]:
    """The first run, warm runs, and the last of them."""
    first, _ = timed(lambda: case.run(backend=backend))
    warm, run = timed(lambda: case.run(backend=backend), repeat)
    return first, warm, run


def measure_backend(
    backend: str, first: Timing, warm: Timing, run: Run, reference: np.ndarray
) -> dict[str, Any]:
    """Times of one back end: first and warm runs of the scenario; and the error of its run."""
    return {
        "backend": backend,
        "first_run_s": first.best,
        "warm_s": warm.best,
        "warm_cpu_s": min(warm.cpu),
        "steps": solver_counts(run)["steps"],
        "tip_error_m": distance(path_of_tip(run), reference),
    }
