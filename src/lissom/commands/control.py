"""`lissom control`: controllers designed, run and compared."""

from typing import TYPE_CHECKING, Annotated

import typer

from ..compiled_code import keep_compiled_code
from ..files.errors import refused
from .control_compare import compare
from .option_groups import Report, grouped
from .options import Json, ResultFile, RunPicture, Settings
from .output import (
    console,
    note,
    number,
    print_files,
    print_json,
    print_model,
    table,
)
from .parsing import changes_of, option_names
from .simulate import run_and_report

if TYPE_CHECKING:
    from rich.console import Console

    from ..services.control import DesignResult
    from ..services.control_motion import MotionResult

SHOWN_POLES = 8
MOTION_COLUMNS = (
    "joint",
    ">from",
    ">to [rad or m]",
    ">largest speed",
    ">acceleration",
    ">feed-forward [N m or N]",
)

app = typer.Typer(no_args_is_help=True, add_completion=False)

ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file, or library name, with a controller.",
    ),
]
LawFile = Annotated[
    str | None,
    typer.Option("--law", metavar="YAML", help="Controller in a file of its own."),
]


@app.callback()
def control() -> None:
    """Controllers: designed for a robot, run on it, and compared with each other."""


@app.command()
def design(
    scenario: ScenarioName,
    law: LawFile = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="NPZ", help="Matrices of the law."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="PNG", help="Bode plot, sensitivity and poles."),
    ] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """Design a law for a robot at the end of its motion: poles and margins of the sampled loop.

    Example: lissom control design double-pendulum --law lqg.yaml -o law.npz
    """
    from ..services.control import DesignRequest
    from ..services.control import design as design_law

    code = keep_compiled_code()
    with option_names(matrices="-o", picture="--plot"):
        request = DesignRequest(
            scenario=scenario,
            changes=changes_of(settings, {}),
            law=law,
            matrices=output,
            picture=plot,
        )
        answer = design_law(request)
    if json:
        return print_json(answer, code)
    _print_design(console(), answer)
    note(str(code))


def _print_design(screen: "Console", answer: "DesignResult") -> None:
    margins = answer.margins
    screen.print(
        f"{answer.robot}: {answer.type} every {number(answer.sample)} s on "
        f"{', '.join(answer.sensors)}"
    )
    print_model(screen, answer)
    rows = []
    for pole in answer.poles[:SHOWN_POLES]:
        size = abs(complex(pole.real, pole.imag))
        rows.append((number(pole.real), number(pole.imag), number(size)))
    columns = (">real", ">imaginary", ">|z|")
    screen.print(table("Largest poles of the sampled loop", columns, rows))
    word = "stable" if margins.stable else "UNSTABLE"
    gain = "any" if margins.gain is None else f"{margins.gain:.3g}"
    screen.print(
        f"{word}; all drives at once: sensitivity {margins.sensitivity:.3g}, gain margin {gain}, "
        f"phase margin {margins.phase_deg:.3g} deg, delay margin {1e3 * margins.delay_s:.3g} ms"
    )
    for line in answer.notes:
        screen.print(line)
    print_files(screen, answer.files)


@app.command()
def motion(
    scenario: ScenarioName,
    law: LawFile = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="CSV", help="Table of the motion."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Figure: .png, .pdf, .svg.")
    ] = None,
    settings: Settings = None,
    json: Json = False,
) -> None:
    """The motion that a controller leads the robot along, shaper and feed-forward included; nothing is simulated.

    Example: lissom control motion double-pendulum --law pid.yaml --plot motion.png
    """
    from ..services.control_motion import MotionRequest
    from ..services.control_motion import motion as motion_of

    code = keep_compiled_code()
    with option_names(table="-o", picture="--plot"):
        request = MotionRequest(
            scenario=scenario,
            changes=changes_of(settings, {}),
            law=law,
            table=output,
            picture=plot,
        )
        answer = motion_of(request)
    if json:
        return print_json(answer, code)
    _print_motion(console(), answer)
    note(str(code))


def _print_motion(screen: "Console", answer: "MotionResult") -> None:
    rows = []
    for joint in answer.joints:
        ends = (number(joint.start), number(joint.end))
        peaks = (joint.speed, joint.acceleration, joint.torque)
        rows.append((joint.joint, *ends, *map(number, peaks)))
    title = f"{answer.robot}: motion of {answer.duration:.4g} s"
    screen.print(table(title, MOTION_COLUMNS, rows))
    print_model(screen, answer)
    print_files(screen, answer.files)


@app.command()
@grouped
def run(
    scenario: ScenarioName,
    *,
    law: LawFile = None,
    output: ResultFile = None,
    plot: RunPicture = None,
    settings: Settings = None,
    report: Report,
) -> None:
    """Run a controller in closed loop on the full flexible robot: a normal result file.

    Example: lissom control run double-pendulum --law lqg.yaml -o run.nc --plot run.png
    """
    from ..services.simulate import SimulateRequest, prepare

    code = keep_compiled_code()
    with option_names(result="-o", picture="--plot"):
        request = SimulateRequest(
            scenario=scenario,
            changes=changes_of(settings, {}),
            law=law,
            result=output,
            picture=plot,
        )
        prepared = prepare(request)
    if prepared.scenario.controller is None:
        raise refused("controller", None, "the scenario has none: name one (--law)")
    run_and_report(prepared, code, report)


app.command()(compare)
