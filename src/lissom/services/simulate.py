"""Motion in time."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import DescriptionError, Scenario
from .failures import FailedRun
from .frozen_model import FrozenModel, Position
from .output_files import PAGE, PICTURE, RESULT, Outputs, output_problems
from .robot_facts import has_damping, named_nodes, values_by_name
from .sources import Source, runs_from_rest, scenario_of
from .validate import checked_model

if TYPE_CHECKING:
    from ..show.run import Run
    from ..solve.model import Model

ENERGIES = ("kinetic", "strain", "gravity", "input", "dissipated")


class SimulateRequest(FrozenModel):
    """A scenario, changes to it, and the files for what comes out."""

    scenario: Source  # library name, scenario, robot or result file, or the data itself
    # By dotted path: {"t_end": 0.5, "robot.links.upper.beam.material.E": 9e9}.
    changes: dict[str, Any] = {}
    result: str | None = None  # NetCDF file
    picture: str | None = None
    animation: str | None = None

    def outputs(self) -> Outputs:
        """The files that are asked for, and how their names may end."""
        return {
            "result": (self.result, RESULT),
            "picture": (self.picture, PICTURE),
            "animation": (self.animation, PAGE),
        }


class SolverCounts(FrozenModel):
    """How the run was computed."""

    method: str
    steps: int
    rejected: int
    rhs_evaluations: int


class WallTimes(FrozenModel):
    """How long it took [s]."""

    build: float
    compile: float
    run: float


class SimulateResult(FrozenModel):
    """The end of a run, by the names of joints and nodes."""

    robot: str
    formulation: str
    t_end: float  # reached [s]
    complete: bool
    q: dict[str, float]
    qd: dict[str, float]
    encoder: dict[str, float]
    torque: dict[str, float]
    position: dict[str, Position]
    energy: dict[str, float]  # [J]
    energy_residual: float  # largest, against the largest energy
    solver: SolverCounts
    wall_s: WallTimes
    notes: tuple[str, ...]
    warnings: tuple[str, ...]  # what there is to doubt, one line each
    files: dict[str, str]


@dataclass(frozen=True)
class PreparedRun:
    """A run that was asked for, checked and ready to start."""

    request: SimulateRequest
    scenario: Scenario
    notes: tuple[str, ...]
    model: "Model | None"  # if checking needed one: the run goes on with it
    build_s: float  # spent on that


def simulate(
    request: SimulateRequest, watch: Callable[[float], None] = lambda t: None
) -> SimulateResult:
    """The run of a scenario, its files, and its final state; see `run_prepared`."""
    return run_prepared(prepare(request), watch)


def prepare(request: SimulateRequest) -> PreparedRun:
    """Checks everything about a run before it begins: the scenario, its changes, and where the results go.

    Raises:
        DescriptionError: with everything that is wrong.
    """
    problems = output_problems(request.outputs())
    try:
        scenario = scenario_of(request.scenario, request.changes)
    except DescriptionError as failure:
        raise DescriptionError([*problems, *failure.problems]) from None
    if problems:
        raise DescriptionError(problems)
    # A scenario that is given as data stands in no file.
    file = request.scenario if isinstance(request.scenario, str) else ""
    began = perf_counter()
    model = checked_model(scenario, file)
    build_s = perf_counter() - began
    return PreparedRun(request, scenario, _notes(request, scenario), model, build_s)


def _notes(request: SimulateRequest, scenario: Scenario) -> tuple[str, ...]:
    notes = []
    if runs_from_rest(request.scenario):
        span = f"{scenario.t_end:g} s"
        notes.append(f"a robot without a scenario: {span} under gravity from rest")
    if not has_damping(scenario.robot):
        notes.append("no damping in the robot: vibration does not die out")
    return tuple(notes)


def run_prepared(
    prepared: PreparedRun, watch: Callable[[float], None] = lambda t: None
) -> SimulateResult:
    """The run, its files, and its final state.

    Args:
        prepared: from `prepare`.
        watch: called with the simulated time that is reached [s].

    Raises:
        FailedRun: it stopped early; the part that was computed is saved.
    """
    from ..show.run import Interrupted, SimulationError, run_scenario

    request = prepared.request
    try:
        run = run_scenario(
            prepared.scenario, watch, model=prepared.model, build_s=prepared.build_s
        )
    except SimulationError as failure:
        # What was computed until then is worth keeping: it often shows why.
        files = _saved(failure.run, request.result)
        result = _result(failure.run, prepared.notes, files)
        message = f"{failure}{_advice(failure.run)}"
        interrupted = isinstance(failure, Interrupted)
        raise FailedRun(message, result, interrupted) from failure
    files = _saved(run, request.result)
    if request.picture is not None:
        run.plot(request.picture)
        files["plot"] = request.picture
    if request.animation is not None:
        run.animate(request.animation)
        files["animation"] = request.animation
    return _result(run, prepared.notes, files)


def _saved(run: "Run", path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    run.save(path)
    return {"result": path}


def _advice(run: "Run") -> str:
    """What to try where the reason itself does not say."""
    from ..types import RESULTS

    bare = (RESULTS[RESULTS.not_finite], RESULTS[RESULTS.step_too_small])
    if run.data.attrs["reason"] not in bare:
        return ""
    return " Try solver.rtol=1e-8, a smaller solver.max_step, damping, smaller loads or gains, or another reference."


def _result(
    run: "Run", notes: tuple[str, ...], files: dict[str, str]
) -> SimulateResult:
    """The final state of a run, how it was computed, and how long that took."""
    data = run.data
    facts = data.attrs
    final = data.isel(time=-1)
    joints = [str(name) for name in data["joint"].values]
    nodes = [str(name) for name in data["node"].values]
    kinds = [str(kind) for kind in data["kind"].values]
    return SimulateResult(
        robot=facts["name"],
        formulation=facts["formulation"],
        t_end=final["time"].item(),
        complete=bool(facts["complete"]),
        q=values_by_name(joints, final["q"]),
        qd=values_by_name(joints, final["qd"]),
        encoder=values_by_name(joints, final["encoder"]),
        torque=values_by_name(joints, final["torque"]),
        position=named_nodes(nodes, final["position"].values),
        energy=values_by_name(kinds, final["energy"]),
        energy_residual=energy_residual(run),
        solver=SolverCounts(
            method=facts["method"],
            steps=facts["steps"],
            rejected=facts["rejected"],
            rhs_evaluations=facts["rhs_evaluations"],
        ),
        wall_s=WallTimes(
            build=facts["wall_build_s"],
            compile=facts["wall_compile_s"],
            run=facts["wall_run_s"],
        ),
        notes=notes,
        warnings=run.warnings,
        files=files,
    )


def energy_residual(run: "Run") -> float:
    """Largest gap in the energy balance, against the largest energy of the run."""
    energies = run.data["energy"].sel(kind=list(ENERGIES))
    largest = np.abs(energies.values).max()
    residual = np.abs(run.energy("residual")).max()
    # A robot at rest without gravity has no energy at all: nothing over nothing is nothing.
    return float(residual / max(largest, 1e-300))
