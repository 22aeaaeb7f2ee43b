"""`lissom compare`: runs beside each other."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from .options import Json
from .output import console, print_json, table
from .parsing import option_names

if TYPE_CHECKING:
    from ..services.compare import CompareRunsResult

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN.nc ...", help="Result files; the first is compared with."
    ),
]


def compare(
    runs: Files,
    node: Annotated[
        str | None,
        typer.Option(help="Node whose path is drawn and compared, such as fore/tip."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Picture: .png, .pdf, .svg."),
    ] = None,
    json: Json = False,
) -> None:
    """How far runs are apart: every joint and tip, over the time that they share.

    Example: lissom compare a.nc b.nc --plot difference.png
    """
    from ..services.compare import CompareRunsRequest
    from ..services.compare import compare as compared

    request = CompareRunsRequest(runs=tuple(runs), node=node, picture=plot)
    with option_names(picture="--plot", node="--node", runs="RUN.nc"):
        answer = compared(request)
    if json:
        return print_json(answer)
    _print(console(), answer)


def _print(screen: Console, answer: "CompareRunsResult") -> None:
    start, end = answer.shared_time
    title = f"Differences from {answer.first}, {start:g} to {end:g} s"
    columns = (
        "run",
        "quantity",
        ">largest",
        ">at [s]",
        ">rms",
        "unit",
        ">% of its motion",
    )
    rows = [
        (d.run, d.quantity, d.largest, d.at, d.rms, d.unit, 100 * d.share)
        for d in answer.differences
    ]
    screen.print(table(title, columns, rows))
    for run, model in answer.models.items():
        screen.print(f"{run}: {model.robot}, {model.model}", soft_wrap=True)
    if answer.not_shared:
        screen.print(f"not in all runs: {', '.join(answer.not_shared)}")
    if answer.picture is not None:
        screen.print(f"plot: {answer.picture}")
