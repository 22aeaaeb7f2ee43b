"""`lissom simulate`: motion in time."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import CompiledCode, keep_compiled_code
from ..describe import DescriptionError
from .interrupt import stopping_between_steps
from .option_groups import Modelling, Report, grouped
from .options import ResultFile, RunPicture
from .output import (
    console,
    number,
    print_files,
    print_model,
    table,
    vector,
)
from .parsing import option_names
from .progress import progress

if TYPE_CHECKING:
    from ..services.simulate import PreparedRun, SimulateRequest, SimulateResult

Source = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO_OR_ROBOT",
        help="Library name, scenario or robot file, or the .nc file of a run to do again.",
    ),
]


@grouped
def simulate(
    source: Source,
    *,
    output: ResultFile = None,
    plot: RunPicture = None,
    animate: Annotated[
        str | None,
        typer.Option(metavar="HTML", help="Animation, one page that opens anywhere."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with an interrupted run, from its checkpoint."
        ),
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="NC",
            help="Go on where this run ended; --t-end counts from its beginning.",
        ),
    ] = None,
    record: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NODE",
            help="A node, such as lower/tip, whose velocity and acceleration the result holds too. May be repeated.",
        ),
    ] = None,
    t_end: Annotated[float | None, typer.Option(help="Time at the end in s.")] = None,
    method: Annotated[
        str | None,
        typer.Option(help="auto, radau, generalised-alpha, dopri5, dopri8, tsit5."),
    ] = None,
    modelling: Modelling,
    report: Report,
) -> None:
    """Simulate a scenario in time. A bare robot falls from rest for 1 s.

    Examples: lissom simulate double-pendulum --plot run.png --animate run.html -o run.nc,
    lissom simulate arm.yaml --set links.upper.beam.material.E=9e9 --t-end 0.5, lissom simulate run.nc
    """
    from ..services.simulate import SimulateRequest, prepare

    code = keep_compiled_code()
    options = {"result": "-o", "picture": "--plot", "animation": "--animate"}
    with option_names(**options, resume="--resume", start="--start"):
        bare = SimulateRequest(
            scenario=source,
            result=output,
            picture=plot,
            animation=animate,
            resume=resume,
            start=start,
        )
        with all_at_once(bare):
            run_options = {
                "t_end": t_end,
                "solver.method": method,
                "record": record or None,
            }
            wanted = modelling.changes(**run_options)
        prepared = prepare(bare.model_copy(update={"changes": wanted}))
    run_and_report(prepared, code, report)


def run_and_report(prepared: "PreparedRun", code: CompiledCode, report: Report) -> None:
    """A prepared run, watched, and its end on the screen."""
    from jaxnative.compiled import compiling

    from ..runs.failures import UnsavedRun
    from ..services.simulate import run_prepared

    screen = console()
    if not report.json:
        # Said before the model is built: building and compiling take a while.
        for remark in prepared.notes:
            screen.print(remark)
    span = prepared.scenario.t_end
    try:
        with progress(span) as bar, stopping_between_steps(bar) as watch:
            # One run is over sooner than its code would be compiled well; a long one changes over to good code.
            with compiling(quickly=True):
                answer = run_prepared(prepared, watch)
    except UnsavedRun as failure:
        # The run is complete, and its end is worth seeing; why files are missing is told like every failure.
        if not report.json:
            said = (*prepared.notes, *str(failure).splitlines())
            # A reader that has gone, for which rich leaves, does not make a success of it.
            with suppress(OSError, SystemExit):
                print_run(screen, failure.result, said)
        raise
    report.tell(answer, code, partial(print_run, said=prepared.notes))


@contextmanager
def all_at_once(request: "SimulateRequest") -> Iterator[None]:
    """Text that cannot be read is reported together with output files that cannot be written."""
    from ..runs.output_files import output_problems

    try:
        yield
    except DescriptionError as failure:
        problems = output_problems(request.outputs())
        raise DescriptionError([*problems, *failure.problems]) from None


def print_run(
    screen: Console, answer: "SimulateResult", said: tuple[str, ...] = ()
) -> None:
    """The end of a run, its energies, and how it was computed."""
    _print_end(screen, answer)
    _print_energy(screen, answer)
    print_model(screen, answer)
    solver = answer.solver
    screen.print(
        f"{solver.method}: {solver.steps} steps, {solver.rejected} rejected, "
        f"{solver.rhs_evaluations} evaluations"
    )
    wall = answer.wall_s
    speed = answer.t_end / max(wall.run, 1e-9)
    screen.print(
        f"build {wall.build:.2f} s, compile {wall.compile:.2f} s, run {wall.run:.2f} s "
        f"({speed:.2g} times real time)"
    )
    for remark in answer.notes:
        if remark not in said:
            screen.print(remark)
    print_files(screen, answer.files)


def _print_end(screen: Console, answer: "SimulateResult") -> None:
    """Joints and tips at the end of the run."""
    columns = (
        "joint",
        ">q [rad or m]",
        ">qd [rad/s or m/s]",
        ">encoder [rad or m]",
        ">torque [N m or N]",
    )
    rows = []
    for joint, q in answer.q.items():
        rows.append(
            (joint, q, answer.qd[joint], answer.encoder[joint], answer.torque[joint])
        )
    screen.print(table(f"{answer.robot} at {answer.t_end:g} s", columns, rows))
    columns = ("node", ">x [m]", ">y [m]", ">z [m]")
    rows = []
    for node, position in answer.position.items():
        if node.endswith("/tip"):
            rows.append((node, *vector(position)))
    screen.print(table("", columns, rows))


def _print_energy(screen: Console, answer: "SimulateResult") -> None:
    columns = [f">{kind} [J]" for kind in answer.energy]
    values = [number(value) for value in answer.energy.values()]
    screen.print(table("", columns, [values]))
    residual = f"{answer.energy_residual:.1e}"
    screen.print(f"energy balance: residual at most {residual} of the largest energy")
