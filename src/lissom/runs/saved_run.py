"""The run of a scenario with its files: checked before it begins, saved however it ends."""

import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled_code import home_folder
from ..describe import DescriptionError, Problem, Scenario
from ..describe.robot_facts import has_damping
from ..files.errors import refused
from ..parameters import EndTime, FirstRun, LawFile, Method, Recorded, Resume
from ..types import RESULTS
from .failures import FailedRun, UnsavedRun
from .law_files import problems_in_files, scenario_with_law
from .output_files import PAGE, PICTURE, RESULT, TABLE, Outputs, output_problems
from .result_files import loaded_run
from .sources import Source, runs_from_rest

if TYPE_CHECKING:
    from ..solve.model import Model
    from .run import Run

Watch = Callable[[float], None]
Observe = Callable[[Any], None]
# A context around a prepared run, which gives its `watch` and `observe`.
Session = Callable[["PreparedRun"], AbstractContextManager[tuple[Watch, Observe]]]


@dataclass(frozen=True)
class PreparedRun:
    """A run that was checked and is ready to start."""

    source: Source
    law: str | None
    scenario: Scenario
    notes: tuple[str, ...]
    model: "Model"  # built for checking: the run goes on with it
    build_s: float  # spent on that
    output: str | None  # NetCDF file, or table
    plot: str | None
    animate: str | None
    resume: bool  # continue from the checkpoint, if there is one

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint file beside the result."""
        return _checkpoint(self.output)

    def run(
        self,
        watch: Watch = lambda t: None,
        observe: Observe = lambda snapshot: None,
    ) -> "Run":
        """The run; its `notes` and `files` say what became of it.

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
            place = str(self.checkpoint)
            raise DescriptionError([Problem(place, None, "", None, message)]) from None
        except SimulationError as failure:
            # What was computed until then is worth keeping: it often shows why.
            interrupted = isinstance(failure, Interrupted)
            run = failure.run
            files, notes, problem = _saved(run, self, keep_checkpoint=interrupted)
            notes = (*notes, *problem)
            run.closing_notes, run.files = notes, files
            run.notes = (*self.notes, *notes)
            first = f"{failure}{_advice(run, self.model)}"
            raise FailedRun("\n".join([first, *notes]), run, interrupted) from failure
        files, notes, problem = _saved(run, self)
        # Pictures are drawn even where the result could not be saved: they may go to another disk.
        drawn, problems = _drawn(run, self)
        problems = (*problem, *problems)
        run.closing_notes = notes
        run.notes = (*self.notes, *notes, *problems)
        run.files = {**files, **drawn}
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
        record: nodes, such as `lower/tip`, whose velocity and acceleration the result holds too.
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
    prepared = prepare_run(
        scenario,
        start=start,
        resume=resume,
        record=record,
        t_end=t_end,
        method=method,
        law=law,
        changes=changes,
        output=output,
        plot=plot,
        animate=animate,
    )
    alone = nullcontext((watch, observe))
    with alone if session is None else session(prepared) as watching:
        return prepared.run(*watching)


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
    prepared = prepare_run(scenario, law=law, changes=changes, output=output, plot=plot)
    if prepared.scenario.controller is None:
        raise refused("controller", None, "the scenario has none: name one (--law)")
    alone = nullcontext((watch, lambda snapshot: None))
    with alone if session is None else session(prepared) as watching:
        return prepared.run(*watching)


def prepare_run(
    scenario: Source,
    *,
    start: str | None = None,
    resume: bool = False,
    record: Any = (),
    t_end: float | None = None,
    method: str | None = None,
    law: str | None = None,
    changes: Mapping[str, Any] | None = None,
    output: str | None = None,
    plot: str | None = None,
    animate: str | None = None,
) -> PreparedRun:
    """Checks everything about a run before it begins: the scenario, its changes, and where the results go.

    See `saved_run`.

    Raises:
        DescriptionError: with everything that is wrong.
    """
    problems = output_problems(run_outputs(output, plot, animate))
    if resume and output is None:
        message = "needs a result file: the checkpoint of a run lies beside it"
        problems.append(Problem(None, None, "resume", "true", message))
    own = {"t_end": t_end, "solver.method": method, "record": record or None}
    wanted = dict(changes or {})
    wanted |= {key: value for key, value in own.items() if value is not None}
    try:
        described = scenario_with_law(scenario, law, wanted | _initial_of(start))
    except DescriptionError as failure:
        raise DescriptionError([*problems, *failure.problems]) from None
    if problems:
        raise DescriptionError(problems)
    began = perf_counter()
    # The solvers are slow to import: what is wrong with the request is said without them.
    from .dry_run import startable_model

    # A scenario that is given as data stands in no file.
    file = scenario if isinstance(scenario, str) else None
    model = startable_model(described, file or None)
    return PreparedRun(
        scenario,
        law,
        described,
        tuple(_notes(scenario, described, _checkpoint(output) if resume else None)),
        model,
        perf_counter() - began,
        output,
        plot,
        animate,
        resume,
    )


def run_outputs(
    output: str | None, plot: str | None, animate: str | None = None
) -> Outputs:
    """The output files by option, with the endings that they may have."""
    return {
        "output": (output, (*RESULT, *TABLE)),
        "plot": (plot, PICTURE),
        "animate": (animate, PAGE),
    }


def _checkpoint(output: str | None) -> Path | None:
    return None if output is None else Path(f"{output}.checkpoint")


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


def _notes(source: Source, scenario: Scenario, checkpoint: Path | None) -> list[str]:
    notes = []
    if runs_from_rest(source):
        span = f"{scenario.t_end:g} s"
        notes.append(f"a robot without a scenario: {span} under gravity from rest")
    if not has_damping(scenario.robot):
        notes.append("no damping in the robot: vibration does not die out")
    if checkpoint is not None:
        found = checkpoint.exists()
        begin = "continuing from" if found else "starting anew: there is no"
        notes.append(f"{begin} {checkpoint}")
    return notes


def _saved(
    run: "Run", wanted: "PreparedRun", keep_checkpoint: bool = False
) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Files that hold the run, notes about them, and the problem if it could not be saved at its path.

    Where a disk is full, another place is found: the file there is `rescued`, not `result`.
    """
    result, checkpoint = wanted.output, wanted.checkpoint
    if result is None or checkpoint is None:
        return {}, (), ()
    try:
        path, reason = saved_somewhere(run.write, Path(result))
    except OSError as failure:
        return {}, (), (f"{failure}{_older(Path(result))}",)
    if reason is not None:
        problem = f"{reason}; the run is in {path}{_older(Path(result))}"
        return {"rescued": str(path)}, (), (problem,)
    if not keep_checkpoint:
        checkpoint.unlink(missing_ok=True)
    if not checkpoint.exists():
        return {"result": result}, (), ()
    files = {"result": result, "checkpoint": str(checkpoint)}
    return files, (f"--resume continues from {checkpoint}",), ()


def _older(wanted: Path) -> str:
    """What to say of the file that stands where a result could not be written; a place kept free is an empty one."""
    try:
        is_there = wanted.stat().st_size > 0
    except OSError:
        is_there = False
    return f"; {wanted} still holds an older result" if is_there else ""


def _drawn(run: "Run", wanted: "PreparedRun") -> tuple[dict[str, str], tuple[str, ...]]:
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
    """What to try where the reason itself does not say."""
    from ..solve.massless import massless_coordinates, massless_message

    if float(run.t[-1]) == 0.0:
        # A run that does not even begin often has nothing to move.
        massless = massless_coordinates(model, model.at(np.asarray(run.q[0])))
        if massless:
            return f" {massless_message(massless)}"
    bare = (RESULTS[RESULTS.not_finite], RESULTS[RESULTS.step_too_small])
    if run.facts["reason"] not in bare:
        return ""
    return " Try solver.rtol=1e-8, a smaller solver.max_step, damping, smaller loads or gains, or another reference."
