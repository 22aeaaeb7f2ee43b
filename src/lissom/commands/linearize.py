"""`lissom linearize`: a state-space model."""

from math import pi
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from .option_groups import Modelling, OperatingPoint, Report, grouped
from .options import RobotName, WeightStiffness
from .output import print_model, table
from .parsing import names_of, option_names

if TYPE_CHECKING:
    from ..services.frozen_model import ComplexNumber
    from ..services.linearize import LinearizeResult

SHOWN_POLES = 8

Inputs = Annotated[
    str | None,
    typer.Option(
        "--inputs",
        metavar="NAMES",
        help="upper.torque,lower/tip.fx,... Default: every joint torque.",
    ),
]
Outputs = Annotated[
    str | None,
    typer.Option(
        "--outputs",
        metavar="NAMES",
        help="upper.encoder,lower/tip.ax,upper.reaction.mz,... Default: encoders, speeds, tip position, acceleration.",
    ),
]


@grouped
def linearize(
    robot: RobotName,
    *,
    inputs: Inputs = None,
    outputs: Outputs = None,
    point: OperatingPoint,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Matrices: .npz, .mat."),
    ] = None,
    weight_stiffness: WeightStiffness = False,
    modelling: Modelling,
    report: Report,
) -> None:
    """State-space model A, B, C, D with names about a point, at rest or moving.

    Example: lissom linearize anthropomorphic --q 0,0.5,-1 -o m.npz
    """
    from ..services.linearize import LinearizeRequest
    from ..services.linearize import linearize as linear_model

    code = keep_compiled_code()
    described = modelling.robot(robot)
    request = LinearizeRequest(
        robot=described,
        **point.values(described.robot),
        inputs=names_of(inputs),
        outputs=names_of(outputs),
        weight_stiffness=weight_stiffness,
        matrices=output,
    )
    with option_names(
        matrices="-o",
        inputs="--inputs",
        outputs="--outputs",
        weight_stiffness="--weight-stiffness",
    ):
        answer = linear_model(request)
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "LinearizeResult") -> None:
    point = answer.point
    rows = []
    for joint, torque in point.torque.items():
        # Joints of a closed chain that follow from others have a reading and a torque, and no rate of their own here.
        rates = (_or_blank(point.qd.get(joint)), _or_blank(point.qdd.get(joint)))
        rows.append((joint, point.encoder[joint], *rates, torque))
    columns = ("joint", ">encoder", ">speed", ">acceleration", ">torque")
    screen.print(table(f"{answer.robot}: linear model about", columns, rows))
    print_model(screen, answer)
    shapes = answer.shapes.model_dump().items()
    sizes = ", ".join(f"{key} {rows} x {columns}" for key, (rows, columns) in shapes)
    screen.print(f"{sizes}; {len(answer.states)} states")
    screen.print(f"inputs:  {', '.join(answer.inputs) or 'none'}")
    screen.print(f"outputs: {', '.join(answer.outputs) or 'none'}")
    # Of a complex pair one stands for both.
    poles = [pole for pole in answer.eigenvalues if pole.imag >= 0.0]
    rows = [_pole_row(pole) for pole in poles[:SHOWN_POLES]]
    columns = (">real [1/s]", ">imaginary [rad/s]", ">|pole| / 2 pi [Hz]")
    screen.print(table("Slowest poles", columns, rows))
    if answer.unstable:
        screen.print(f"unstable: {answer.unstable} poles in the right half plane")
    if answer.weight_note is not None:
        screen.print(f"{answer.weight_note}.")
    if answer.file is not None:
        screen.print(f"matrices: {answer.file}")


def _or_blank(value: float | None) -> float | str:
    return "" if value is None else value


def _pole_row(pole: "ComplexNumber") -> tuple[str, str, str]:
    hz = abs(complex(pole.real, pole.imag)) / (2 * pi)
    return f"{pole.real:.5g}", f"{pole.imag:.5g}", f"{hz:.5g}"
