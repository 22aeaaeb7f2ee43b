"""`lissom frequency-response`."""

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
from .output import conclude, console, note, print_files, print_json, table
from .parsing import (
    ACCELERATION,
    SPEED,
    gains,
    joint_values,
    names_of,
    option_names,
)
from .parsing import (
    band as frequencies,
)

if TYPE_CHECKING:
    from ..services.frequency_response import FrequencyResponseResult

SHOWN_PEAKS = 5


def frequency_response(
    robot: RobotName,
    inputs: Annotated[
        str,
        typer.Option(
            "--inputs", "--input", metavar="NAMES", help="upper.torque,lower/tip.fx,..."
        ),
    ],
    outputs: Annotated[
        str,
        typer.Option("--outputs", "--output", metavar="NAMES", help="lower/tip.ax,..."),
    ],
    q: Q = None,
    qd: Qd = None,
    qdd: Qdd = None,
    deg: Degrees = False,
    kp: Kp = None,
    kd: Kd = None,
    locked: Locked = False,
    band: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH[:POINTS]", help="Frequencies in Hz.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Bode plot: .png, .pdf, .svg.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Numbers: .csv, .npz.")
    ] = None,
    settings: Settings = None,
    formulation: Formulation = None,
    modes: ModeCount = None,
    reference: Reference = None,
    terms: Terms = None,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Frequency response of every output to every input, by name.

    Example: lissom frequency-response double-pendulum --inputs upper --outputs lower/tip.ay --plot bode.png
    """
    from ..services.frequency_response import FrequencyResponseRequest
    from ..services.frequency_response import frequency_response as responses

    code = keep_compiled_code()
    described = described_robot(robot, settings, formulation, modes, reference, terms)
    arm = described.robot
    request = FrequencyResponseRequest(
        robot=described,
        q=joint_values(arm, "--q", q, degrees=deg),
        qd=joint_values(arm, "--qd", qd, SPEED, deg),
        qdd=joint_values(arm, "--qdd", qdd, ACCELERATION, deg),
        kp=gains(arm, "--kp", kp),
        kd=gains(arm, "--kd", kd),
        inputs=names_of(inputs) or (),
        outputs=names_of(outputs) or (),
        locked=locked,
        frequency_hz=frequencies(band),
        picture=plot,
        data=data,
    )
    with option_names(
        picture="--plot", data="-o", inputs="--inputs", outputs="--outputs"
    ):
        answer = responses(request)
    if json:
        print_json(answer, code)
        return conclude(answer.warnings, strict, json)
    _print(console(), answer)
    note(str(code))
    conclude(answer.warnings, strict, json)


def _print(screen: Console, answer: "FrequencyResponseResult") -> None:
    rows = []
    for response in answer.responses:
        peaks = [f"{peak.frequency_hz:.4g}" for peak in response.peaks[:SHOWN_PEAKS]]
        rows.append((response.input, response.output, ", ".join(peaks)))
    columns = ("input", "output", "peaks [Hz], highest first")
    screen.print(table(f"{answer.robot}: frequency response", columns, rows))
    print_files(screen, answer.files)
