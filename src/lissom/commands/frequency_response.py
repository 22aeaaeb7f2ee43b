"""`lissom frequency-response`."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..compiled_code import keep_compiled_code
from .option_groups import Modelling, OperatingPoint, Report, grouped
from .options import RobotName
from .output import print_files, print_model, table
from .parsing import (
    band as frequencies,
)
from .parsing import (
    names_of,
    option_names,
)

if TYPE_CHECKING:
    from ..services.frequency_response import FrequencyResponseResult

SHOWN_PEAKS = 5


@grouped
def frequency_response(
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
        typer.Option("--outputs", "--output", metavar="NAMES", help="lower/tip.ax,..."),
    ],
    point: OperatingPoint,
    band: Annotated[
        str | None, typer.Option(metavar="LOW:HIGH[:POINTS]", help="Frequencies in Hz.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="PNG", help="Bode plot: .png, .pdf, .svg.")
    ] = None,
    data: Annotated[
        str | None, typer.Option("-o", metavar="FILE", help="Numbers: .csv, .npz.")
    ] = None,
    modelling: Modelling,
    report: Report,
) -> None:
    """Frequency response of every output to every input, by name.

    Example: lissom frequency-response double-pendulum --inputs upper --outputs lower/tip.ay --plot bode.png
    """
    from ..services.frequency_response import FrequencyResponseRequest
    from ..services.frequency_response import frequency_response as responses

    code = keep_compiled_code()
    described = modelling.robot(robot)
    request = FrequencyResponseRequest(
        robot=described,
        **point.values(described.robot),
        inputs=names_of(inputs) or (),
        outputs=names_of(outputs) or (),
        frequency_hz=frequencies(band),
        picture=plot,
        data=data,
    )
    with option_names(
        picture="--plot", data="-o", inputs="--inputs", outputs="--outputs"
    ):
        answer = responses(request)
    report.tell(answer, code, _print)


def _print(screen: Console, answer: "FrequencyResponseResult") -> None:
    rows = []
    for response in answer.responses:
        peaks = [f"{peak.frequency_hz:.4g}" for peak in response.peaks[:SHOWN_PEAKS]]
        rows.append((response.input, response.output, ", ".join(peaks)))
    columns = ("input", "output", "peaks [Hz], highest first")
    screen.print(table(f"{answer.robot}: frequency response", columns, rows))
    print_model(screen, answer)
    print_files(screen, answer.files)
