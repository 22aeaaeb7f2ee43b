"""`lissom step-response`."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from ..files.errors import refused
from .option_groups import Modelling, OperatingPoint, Report, grouped
from .options import RobotName
from .output import print_files, print_model, table
from .parsing import names_of, option_names

if TYPE_CHECKING:
    from ..services.step_response import StepResponseResult


@grouped
def step_response(
    robot: RobotName,
    *,
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs", "--input", metavar="NAMES", help="upper.torque,lower/tip.fx,..."
        ),
    ],
    outputs: Annotated[
        str,
        typer.Option("--outputs", "--output", metavar="NAMES", help="lower/tip.py,..."),
    ],
    point: OperatingPoint,
    duration: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Default: until it has faded."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Figure: .png, .pdf, .svg.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Numbers: .csv, .npz.")
    ] = None,
    modelling: Modelling,
    report: Report,
) -> None:
    """Response of every output to a unit step of every input, by name.

    Example: lissom step-response double-pendulum --inputs upper --outputs lower/tip.py --kp 500 --kd 20 --plot step.png
    """
    from ..services.step_response import StepResponseRequest
    from ..services.step_response import step_response as responses

    if duration is not None and not 0 < duration < float("inf"):
        raise refused("--duration", duration, "must be a positive number of seconds")
    code = keep_compiled_code()
    described = modelling.robot(robot)
    request = StepResponseRequest(
        robot=described,
        **point.values(described.robot),
        inputs=names_of(inputs) or (),
        outputs=names_of(outputs) or (),
        duration=duration,
        picture=plot,
        data=data,
    )
    with option_names(
        picture="--plot", data="-o", inputs="--inputs", outputs="--outputs"
    ):
        answer = responses(request)
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "StepResponseResult") -> None:
    span = answer.t[-1] if len(answer.t) else 0.0
    rows = [(one.input, one.output, one.largest, one.last) for one in answer.responses]
    columns = ("input", "output", ">largest", f">after {span:.3g} s")
    screen.print(table(f"{answer.robot}: step response", columns, rows))
    print_model(screen, answer)
    print_files(screen, answer.files)
