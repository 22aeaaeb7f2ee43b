"""The run of a scenario with its files: checked before it begins, saved however it ends."""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..compiled_code import home_folder
from ..describe import DescriptionError, Problem, Scenario
from ..describe.robot_facts import has_damping
from ..files.errors import refused, refused_file
from ..parameters import EndTime, FirstRun, LawFile, Method, Recorded, Resume
from ..types import RESULTS
from .failures import FailedRun, UnsavedRun
from .law_files import problems_in_files, scenario_with_law
from .output_files import PAGE, PICTURE, RESULT, TABLE, output_problems
from .result_files import loaded_run
from .sources import Source, runs_from_rest

if TYPE_CHECKING:
    from ..solve.model import Model
    from .run import Run

Watch = Callable[[float], None]
Observe = Callable[[Any], None]
# A context around a prepared run, which gives its `watch` and `observe`.
Session = Callable[["PreparedRun"], AbstractContextManager[tuple[Watch, Observe]]]


class RunFiles(NamedTuple):
    """The files that a run is to write."""

    output: str | None = None  # NetCDF file, or table
    plot: str | None = None
    animate: str | None = None

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint file beside the result."""
        return None if self.output is None else Path(f"{self.output}.checkpoint")

    def problems(self) -> list[Problem]:
        """Why files cannot be written."""
        return output_problems(
            {
                "output": (self.output, (*RESULT, *TABLE)),
                "plot": (self.plot, PICTURE),
                "animate": (self.animate, PAGE),
            }
        )


@dataclass(frozen=True)
class PreparedRun:
    """A run that was checked and is ready to start."""

    source: Source
    law: str | None
    scenario: Scenario
    notes: tuple[str, ...]
    model: "Model"  # built for the checks, and used by the run
    build_s: float  # time to build it [s]
    files: RunFiles
    resume: bool  # continue from the checkpoint, if there is one

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint file beside the result."""
        return self.files.checkpoint

    def run(self, watch: Watch, observe: Observe) -> "Run":
        """The run, with its `notes` and `files`.

        Args:
            watch: called with the simulated time that is reached [s].
            observe: called likewise with the robot as it is then, a `Snapshot`.

        Raises:
            DescriptionError: there is no such controller for this robot.
            FailedRun: it stopped early; the part that was computed is saved.
            UnsavedRun: it is complete, but a file could not be written at its path.
        """
        from ..solve.checkpoint import CheckpointError
        from .run import Interrupted, SimulationError
        from .simulation import run_scenario

        try:
            with problems_in_files(self.source, self.law):
                run = run_scenario(
                    self.scenario,
                    watch,
                    model=self.model,
                    build_s=self.build_s,
                    checkpoint=self.checkpoint,
                    resume=self.resume,
                    progress=False,
                    observe=observe,
                )
        except CheckpointError as failure:
            message = f"{failure}. Remove it, or run without resuming"
            raise refused_file(str(self.checkpoint), message) from None
        except SimulationError as failure:
            # The part that was computed often shows why the run stopped.
            interrupted = isinstance(failure, Interrupted)
            run = failure.run
            run.files, run.closing_notes = _saved(run, self, interrupted)
            run.notes = (*self.notes, *run.closing_notes)
            first = f"{failure}{_advice(run, self.model)}"
            message = "\n".join([first, *run.closing_notes])
            raise FailedRun(message, run, interrupted) from failure
        files, problem = _saved(run, self)
        # Pictures are drawn even where the result could not be saved: they may go to another disk.
        drawn, problems = _drawn(run, self.files)
        problems = (*problem, *problems)
        run.notes = (*self.notes, *problems)
        run.files = files | drawn
        if problems:
            raise UnsavedRun("\n".join(problems), run)
        return run


def saved_run(
    scenario: Source,
    *,
    start: FirstRun = None,
    resume: Resume = False,
    record: Recorded = (),
    t_end: EndTime = None,
    method: Method = None,
    law: str | None = None,
    changes: Mapping[str, Any] | None = None,
    output: str | None = None,
    plot: str | None = None,
    animate: str | None = None,
    watch: Watch = lambda t: None,
    observe: Observe = lambda snapshot: None,
    session: Session | None = None,
) -> Any:  # a `Run`, whose module brings the solvers
    """The run of a scenario, checked before it begins and saved however it ends: what `lissom simulate` does.

    Args:
        scenario: library name, scenario, robot or result file, or the data; a bare robot falls from rest.
        start: result file of a run that this one continues.
        resume: continue an interrupted run from the checkpoint beside its result file, where there is one.
        record: nodes, such as `lower/tip`, whose velocity and acceleration the result holds too, and the steps follow.
        t_end: time at the end [s].
        method: of the integrator.
        law: file of a controller that replaces the scenario's.
        changes: by dotted path: `{"t_end": 0.5, "robot.links.upper.beam.material.E": 9e9}`.
        output: NetCDF file, or a table (.csv).
        plot: figure of the run.
        animate: page with the moving robot.
        watch: called with the time reached while the run goes on.
        observe: called like `watch`, with the robot as it is then (`Snapshot`).
        session: entered with the checked run before it starts and left after its files are written; what it gives takes
            the place of `watch` and `observe`.

    Returns:
        The `Run` with its `notes` and `files`.

    Raises:
        DescriptionError: with everything that is wrong.
        FailedRun: the run stopped early; the part that was computed is saved.
        UnsavedRun: it is complete, but a file could not be written at its path.

    Example:
        >>> import lissom as ls
        >>> run = ls.saved_run("simple-pendulum", t_end=0.01, output="run.nc")
        >>> run.files
        {'result': 'run.nc'}
    """
    own = {"t_end": t_end, "solver.method": method, "record": record or None}
    given = {key: value for key, value in own.items() if value is not None}
    prepared = _prepared(
        scenario,
        law,
        {**(changes or {}), **given},
        RunFiles(output, plot, animate),
        start,
        resume,
    )
    return _watched(prepared, session, watch, observe)


def run_controller(
    scenario: Source,
    *,
    law: LawFile = None,
    changes: Mapping[str, Any] | None = None,
    output: str | None = None,
    plot: str | None = None,
    watch: Watch = lambda t: None,
    session: Session | None = None,
) -> Any:  # a `Run`
    """The run of a controller in closed loop on the full flexible robot: what `lissom control run` does.

    Args:
        scenario: library name or scenario file, or the data, with a controller.
        law: file of a controller that replaces the scenario's.
        changes: of the scenario, by dotted path.
        output: NetCDF file, or a table (.csv).
        plot: figure of the run.
        watch: called with the time reached while the run goes on.
        session: as in `saved_run`.

    Returns:
        The `Run` with its `notes` and `files`.

    Raises:
        DescriptionError: with everything that is wrong; also where there is no controller.
        FailedRun: the run stopped early; the part that was computed is saved.
        UnsavedRun: it is complete, but a file could not be written at its path.

    Example:
        >>> import lissom as ls
        >>> motion = {"t": [0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
        >>> law = {"type": "pid", "sample": 2e-3, "reference": motion, "gains": {"kp": [20], "kd": [1]}}
        >>> run = ls.run_controller("simple-pendulum", changes={"controller": law, "t_end": 0.01})
        >>> run.complete
        True
    """
    prepared = _prepared(scenario, law, changes, RunFiles(output, plot))
    if prepared.scenario.controller is None:
        raise refused("controller", None, "the scenario has none: name one (--law)")
    return _watched(prepared, session, watch)


def _prepared(
    source: Source,
    law: str | None,
    changes: Mapping[str, Any] | None,
    files: RunFiles,
    start: str | None = None,
    resume: bool = False,
) -> PreparedRun:
    """A run that was checked before it begins: the scenario, its changes, and where the results go.

    Raises:
        DescriptionError: with everything that is wrong.
    """
    problems = files.problems()
    if resume and files.output is None:
        message = "needs a result file: the checkpoint of a run lies beside it"
        problems.append(Problem(None, None, "resume", "true", message))
    try:
        scenario = scenario_with_law(
            source, law, {**(changes or {}), **_initial_of(start)}
        )
    except DescriptionError as failure:
        raise DescriptionError([*problems, *failure.problems]) from None
    if problems:
        raise DescriptionError(problems)
    began = perf_counter()
    # The solvers are slow to import: errors of the request are reported without them.
    from .dry_run import startable_model

    # A scenario given as data has no file.
    file = source if isinstance(source, str) else None
    return PreparedRun(
        source=source,
        law=law,
        scenario=scenario,
        notes=tuple(_notes(source, scenario, files.checkpoint if resume else None)),
        model=startable_model(scenario, file or None),
        build_s=perf_counter() - began,
        files=files,
        resume=resume,
    )


def _watched(
    prepared: PreparedRun,
    session: Session | None,
    watch: Watch,
    observe: Observe = lambda snapshot: None,
) -> "Run":
    alone = nullcontext((watch, observe))
    with alone if session is None else session(prepared) as watching:
        return prepared.run(*watching)


def _initial_of(file: str | None) -> dict[str, Any]:
    """The key `initial` of a scenario that starts where another run ended.

    Raises:
        DescriptionError: the file is no result.
    """
    if file is None:
        return {}
    run = loaded_run(file)
    try:
        return {"initial": run.initial()}
    except ValueError as failure:
        raise refused_file(file, str(failure)) from None


def _notes(source: Source, scenario: Scenario, checkpoint: Path | None) -> list[str]:
    notes = []
    if runs_from_rest(source):
        span = f"{scenario.t_end:g} s"
        notes.append(f"a robot without a scenario: {span} under gravity from rest")
    if not has_damping(scenario.robot):
        notes.append("no damping in the robot: vibration does not die out")
    if checkpoint is not None:
        found = checkpoint.exists()
        begin = (
            "continuing from" if found else "starting from the beginning: there is no"
        )
        notes.append(f"{begin} {checkpoint}")
    return notes


def _saved(
    run: "Run", prepared: PreparedRun, keep_checkpoint: bool = False
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Files that hold the run, and a line where it continues from a checkpoint or could not be saved at its path.

    Where a disk is full, another place is found: the file there is `rescued`, not `result`.
    """
    result, checkpoint = prepared.files.output, prepared.checkpoint
    if result is None or checkpoint is None:
        return {}, ()
    path = Path(result)
    try:
        place, reason = saved_somewhere(run.write, path)
    except OSError as failure:
        return {}, (f"{failure}{_older(path)}",)
    if reason is not None:
        problem = f"{reason}; the run is in {place}{_older(path)}"
        return {"rescued": str(place)}, (problem,)
    if not keep_checkpoint:
        checkpoint.unlink(missing_ok=True)
    if not checkpoint.exists():
        return {"result": result}, ()
    files = {"result": result, "checkpoint": str(checkpoint)}
    return files, (f"--resume continues from {checkpoint}",)


def _older(wanted: Path) -> str:
    """Remark on an older file at the path where a result could not be written; an empty one only reserved the path."""
    try:
        is_there = wanted.stat().st_size > 0
    except OSError:
        is_there = False
    return f"; {wanted} still holds an older result" if is_there else ""


def _drawn(run: "Run", wanted: RunFiles) -> tuple[dict[str, str], tuple[str, ...]]:
    """Picture and animation that were requested and written, and why others could not be."""
    drawings = (
        ("plot", wanted.plot, run.plot),
        ("animation", wanted.animate, run.animate),
    )
    files: dict[str, str] = {}
    problems: list[str] = []
    for kind, path, draw in drawings:
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
        OSError: it could not be written anywhere.
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
    """Remedies where the reason itself names none."""
    from ..solve.massless import massless_coordinates, massless_message

    if float(run.t[-1]) == 0.0:
        # A run that fails at once often has massless coordinates.
        massless = massless_coordinates(model, model.at(np.asarray(run.q[0])))
        if massless:
            return f" {massless_message(massless)}"
    bare = (RESULTS[RESULTS.not_finite], RESULTS[RESULTS.step_too_small])
    if run.facts["reason"] not in bare:
        return ""
    return " Try solver.rtol=1e-8, a smaller solver.max_step, damping, smaller loads or gains, or another reference."
