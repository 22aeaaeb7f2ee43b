"""`lissom linearize`: a state-space model."""

from math import pi
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from .options import (
    Degrees,
    Formulation,
    Json,
    Kd,
    Kp,
    Locked,
    ModeCount,
    Q,
    Qd,
    Qdd,
    Reference,
    RobotName,
    Settings,
    Strict,
    Terms,
    described_robot,
)
from .output import conclude, console, note, print_json, table
from .parsing import ACCELERATION, SPEED, gains, joint_values, names_of, option_names

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


def linearize(
    robot: RobotName,
    q: Q = None,
    qd: Qd = None,
    qdd: Qdd = None,
    deg: Degrees = False,
    inputs: Inputs = None,
    outputs: Outputs = None,
    kp: Kp = None,
    kd: Kd = None,
    locked: Locked = False,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Matrices: .npz, .mat."),
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """State-space model A, B, C, D with names about a point, at rest or moving.

    Example: lissom linearize anthropomorphic --q 0,0.5,-1 -o m.npz
    """
    from ..services.linearize import LinearizeRequest
    from ..services.linearize import linearize as linear_model

    code = keep_compiled_code()
    described = described_robot(robot, settings, formulation, modes, reference, terms)
    arm = described.robot
    request = LinearizeRequest(
        robot=described,
        q=joint_values(arm, "--q", q, degrees=deg),
        qd=joint_values(arm, "--qd", qd, SPEED, deg),
        qdd=joint_values(arm, "--qdd", qdd, ACCELERATION, deg),
        kp=gains(arm, "--kp", kp),
        kd=gains(arm, "--kd", kd),
        inputs=names_of(inputs),
        outputs=names_of(outputs),
        locked=locked,
        matrices=output,
    )
    with option_names(matrices="-o", inputs="--inputs", outputs="--outputs"):
        answer = linear_model(request)
    if json:
        print_json(answer, code)
        return conclude(answer.warnings, strict, json)
    _print(console(), answer)
    note(str(code))
    conclude(answer.warnings, strict, json)


def _print(screen: Console, answer: "LinearizeResult") -> None:
    point = answer.point
    rows = []
    for joint, q in point.q.items():
        # A locked model has no joints among its states, and may have fewer of the other values.
        rates = (point.qd.get(joint), point.qdd.get(joint))
        rows.append((joint, q, *rates, point.torque.get(joint)))
    columns = ("joint", ">q", ">speed", ">acceleration", ">torque")
    screen.print(table(f"{answer.robot}: linear model about", columns, rows))
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
    if answer.file is not None:
        screen.print(f"matrices: {answer.file}")


def _pole_row(pole: "ComplexNumber") -> tuple[str, str, str]:
    hz = abs(complex(pole.real, pole.imag)) / (2 * pi)
    return f"{pole.real:.5g}", f"{pole.imag:.5g}", f"{hz:.5g}"
