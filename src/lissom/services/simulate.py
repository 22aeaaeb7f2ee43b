"""Motion in time."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analyse.robot_facts import has_damping, named_nodes, values_by_name
from ..compiled_code import home_folder
from ..describe import DescriptionError, Problem, Scenario
from ..describe.modelled import modelled_run
from ..runs.failures import FailedRun, UnsavedRun
from ..runs.law_files import problems_in_files, scenario_with_law
from ..runs.output_files import (
    PAGE,
    PICTURE,
    RESULT,
    TABLE,
    Outputs,
    output_problems,
)
from ..runs.result_files import loaded_run
from ..runs.sources import runs_from_rest
from .frozen_model import FrozenModel, Position
from .modelled_result import ModelledResult
from .robot_request import Source

if TYPE_CHECKING:
    from ..runs.run import Run
    from ..show.viewer import Content
    from ..solve.model import Model
    from ..solve.simulate import Snapshot


class SimulateRequest(FrozenModel):
    """A scenario, changes to it, and the files for what comes out."""

    scenario: Source  # library name, scenario, robot or result file, or the data itself
    # By dotted path: {"t_end": 0.5, "robot.links.upper.beam.material.E": 9e9}.
    changes: dict[str, Any] = {}
    # File of a controller that takes the place of the scenario's.
    law: str | None = None
    start: str | None = None  # result file of a run that this one continues
    result: str | None = None  # NetCDF file
    # Go on with a run that was interrupted, from the checkpoint beside its result file, where there is one.
    resume: bool = False
    picture: str | None = None
    animation: str | None = None

    @property
    def checkpoint(self) -> Path | None:
        """The file beside the result that keeps a run while it goes on."""
        return None if self.result is None else Path(self.result + ".checkpoint")

    def outputs(self) -> Outputs:
        """The files that are asked for, and how their names may end."""
        return {
            "result": (self.result, (*RESULT, *TABLE)),
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


class SimulateResult(ModelledResult):
    """The end of a run, by the names of joints and nodes."""

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
    warnings: tuple[str, ...]  # one line each
    files: dict[str, str]


@dataclass(frozen=True)
class PreparedRun:
    """A run that was asked for, checked and ready to start."""

    request: SimulateRequest
    scenario: Scenario
    notes: tuple[str, ...]
    model: "Model"  # built for checking: the run goes on with it
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
    problems = [*output_problems(request.outputs()), *_resume_problems(request)]
    try:
        changes = {**request.changes, **_initial_of(request.start)}
        scenario = scenario_with_law(request.scenario, request.law, changes)
    except DescriptionError as failure:
        raise DescriptionError([*problems, *failure.problems]) from None
    if problems:
        raise DescriptionError(problems)
    # A scenario that is given as data stands in no file.
    file = request.scenario if isinstance(request.scenario, str) else ""
    began = perf_counter()
    # The solvers are slow to import: what is wrong with the request is said without them.
    from ..runs.dry_run import startable_model

    model = startable_model(scenario, file or None)
    build_s = perf_counter() - began
    return PreparedRun(request, scenario, _notes(request, scenario), model, build_s)


def _initial_of(file: str | None) -> dict[str, Any]:
    """The start of a scenario where another run ended.

    Raises:
        DescriptionError: the file is no result.
    """
    if file is None:
        return {}
    run = loaded_run(file)
    try:
        return {"initial": run.initial()}
    except ValueError as failure:
        raise DescriptionError([Problem(file, None, "", None, str(failure))]) from None


def _resume_problems(request: SimulateRequest) -> list[Problem]:
    if not request.resume or request.result is not None:
        return []
    message = "needs a result file: the checkpoint of a run lies beside it"
    return [Problem(None, None, "resume", "true", message)]


def _notes(request: SimulateRequest, scenario: Scenario) -> tuple[str, ...]:
    notes = []
    if runs_from_rest(request.scenario):
        span = f"{scenario.t_end:g} s"
        notes.append(f"a robot without a scenario: {span} under gravity from rest")
    if not has_damping(scenario.robot):
        notes.append("no damping in the robot: vibration does not die out")
    checkpoint = request.checkpoint
    if request.resume and checkpoint is not None:
        found = "from" if checkpoint.exists() else "from the beginning: there is no"
        notes.append(f"going on {found} {checkpoint}")
    return tuple(notes)


def run_prepared(
    prepared: PreparedRun,
    watch: Callable[[float], None] = lambda t: None,
    observe: Callable[[Any], None] = lambda snapshot: None,
) -> SimulateResult:
    """The run, its files, and its final state.

    Args:
        prepared: from `prepare`.
        watch: called with the simulated time that is reached [s].
        observe: called likewise with the robot as it is then, a `Snapshot`; `live_picture` draws it.

    Raises:
        DescriptionError: there is no such controller for this robot.
        FailedRun: it stopped early; the part that was computed is saved.
        UnsavedRun: it is complete, but a file could not be written where it was asked for.
    """
    from ..runs.run import Interrupted, SimulationError
    from ..runs.simulation import run_scenario
    from ..solve.checkpoint import CheckpointError

    request = prepared.request
    try:
        with problems_in_files(request.scenario, request.law):
            run = run_scenario(
                prepared.scenario,
                watch,
                model=prepared.model,
                build_s=prepared.build_s,
                checkpoint=request.checkpoint,
                resume=request.resume,
                progress=False,
                observe=observe,
            )
    except CheckpointError as failure:
        file = str(request.checkpoint)
        message = f"{failure}. Remove it, or run without resuming"
        raise DescriptionError([Problem(file, None, "", None, message)]) from None
    except SimulationError as failure:
        # What was computed until then is worth keeping: it often shows why.
        interrupted = isinstance(failure, Interrupted)
        files, notes, problem = _saved(
            failure.run, request, keep_checkpoint=interrupted
        )
        notes = (*notes, *problem)
        result = _result(failure.run, (*prepared.notes, *notes), files)
        message = "\n".join(
            [f"{failure}{_advice(failure.run, prepared.model)}", *notes]
        )
        raise FailedRun(message, result, interrupted) from failure
    files, notes, problem = _saved(run, request)
    # Pictures are drawn even where the result could not be saved: they may go to another disk.
    drawn, problems = _drawn(run, request)
    problems = (*problem, *problems)
    result = _result(run, (*prepared.notes, *notes, *problems), {**files, **drawn})
    if problems:
        raise UnsavedRun("\n".join(problems), result)
    return result


def live_picture(model: "Model", snapshot: "Snapshot") -> "Content":
    """The robot in the middle of a run, as something to draw."""
    from ..show.robot_scene import scene_of
    from ..show.viewer import still_content

    poses = snapshot.poses
    return still_content(
        scene_of(model.robot),
        model.node_rows(poses.position),
        erls_position=model.node_rows(poses.erls_position),
        rotation=model.node_rows(poses.rotation),
        frame=np.asarray(poses.frame)[list(model.first_bodies)],
    )


def _saved(
    run: "Run", request: SimulateRequest, keep_checkpoint: bool = False
) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Files that hold the run, notes about them, and the problem if it could not be saved where it was asked for.

    Where a disk is full, another place is found: the file there is `rescued`, not `result`.
    """
    if request.result is None:
        return {}, (), ()
    checkpoint = request.checkpoint
    assert checkpoint is not None
    is_table = Path(request.result).suffix.lower() in TABLE
    save = run.to_csv if is_table else run.save
    wanted = Path(request.result)
    try:
        path, reason = saved_somewhere(save, wanted)
    except OSError as failure:
        return {}, (), (f"{failure}{_older(wanted)}",)
    if reason is not None:
        problem = f"{reason}; the run is in {path}{_older(wanted)}"
        return {"rescued": str(path)}, (), (problem,)
    if not keep_checkpoint:
        checkpoint.unlink(missing_ok=True)
    if not checkpoint.exists():
        return {"result": request.result}, (), ()
    files = {"result": request.result, "checkpoint": str(checkpoint)}
    return files, (f"--resume goes on from {checkpoint}",), ()


def _older(wanted: Path) -> str:
    """What to say of the file that stands where a result could not be written; a place kept free is an empty one."""
    try:
        is_there = wanted.stat().st_size > 0
    except OSError:
        is_there = False
    return f"; {wanted} still holds an older result" if is_there else ""


def _drawn(
    run: "Run", request: SimulateRequest
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Picture and animation as far as they were asked for and could be written, and why others could not."""
    wanted = (
        ("plot", request.picture, run.plot),
        ("animation", request.animation, run.animate),
    )
    files: dict[str, str] = {}
    problems: list[str] = []
    for kind, path, draw in wanted:
        if path is None:
            continue
        try:
            draw(path)
            files[kind] = path
        except OSError as failure:
            problems.append(_unwritable(path, failure))
    return files, tuple(problems)


def _unwritable(path: str | Path, failure: OSError) -> str:
    return f"{path} cannot be written: {failure.strerror or failure}"


def saved_somewhere(
    save: Callable[[Path], object], wanted: Path
) -> tuple[Path, str | None]:
    """Where a file was written: as wanted, else in the folder for temporary files or at home, with the reason.

    Raises:
        OSError: it could be written nowhere.
    """
    try:
        save(wanted)
        return wanted, None
    except OSError as failure:
        reason = _unwritable(wanted, failure)
    name = f"lissom-{os.getpid()}-{wanted.name}"
    folders = (Path(tempfile.gettempdir()), home_folder())
    places = [folder / name for folder in folders if folder is not None]
    for place in places:
        try:
            save(place)
            return place, reason
        except OSError:
            continue
    tried = ", ".join(map(str, places))
    raise OSError(f"{reason}; nor can {tried}. Free some space and run again")


def _advice(run: "Run", model: "Model") -> str:
    """What to try where the reason itself does not say."""
    from ..solve.massless import massless_coordinates, massless_message

    if float(run.t[-1]) == 0.0:
        # A run that does not even begin often has nothing to move.
        massless = massless_coordinates(model, model.at(np.asarray(run.q[0])))
        if massless:
            return f" {massless_message(massless)}"
    from ..types import RESULTS

    bare = (RESULTS[RESULTS.not_finite], RESULTS[RESULTS.step_too_small])
    if run.facts["reason"] not in bare:
        return ""
    return " Try solver.rtol=1e-8, a smaller solver.max_step, damping, smaller loads or gains, or another reference."


def _result(
    run: "Run", notes: tuple[str, ...], files: dict[str, str]
) -> SimulateResult:
    """The final state of a run, how it was computed, and how long that took."""
    facts = run.facts
    joints = [str(name) for name in run.values("joint")]
    nodes = [str(name) for name in run.values("node")]
    kinds = [str(kind) for kind in run.values("kind")]
    return SimulateResult(
        robot=facts["name"],
        **modelled_run(facts)._asdict(),
        t_end=float(run.t[-1]),
        complete=bool(facts["complete"]),
        q=values_by_name(joints, run.q[-1]),
        qd=values_by_name(joints, run.values("qd")[-1]),
        encoder=values_by_name(joints, run.values("encoder")[-1]),
        torque=values_by_name(joints, run.values("torque")[-1]),
        position=named_nodes(nodes, run.values("position")[-1]),
        energy=values_by_name(kinds, run.values("energy")[-1]),
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
    return run.energy_residual
