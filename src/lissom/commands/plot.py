"""`lissom plot`: pictures of a run that is in a file."""

from typing import Annotated

import typer

from .options import Json
from .output import console, print_json
from .parsing import option_names


def plot(
    run: Annotated[
        str, typer.Argument(metavar="RUN.nc", help="Result of lissom simulate.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=".png, .pdf or .svg; .html: the moving robot; .csv: the numbers.",
        ),
    ],
    what: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Quantities with commas between: q,torque.upper,position.fore/tip,displacement.fore/tip,energy, and "
            "forces in sections: fore/element0.mz, fore/element*.mz. Default: the usual ones.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Draw a run, or chosen quantities of it over time; as a picture, a table, or a page that moves.

    Example: lissom plot run.nc --what q,position.lower/tip -o run.png
    """
    from ..services.plot import PlotRequest
    from ..services.plot import plot as drawn

    chosen = tuple(part.strip() for part in (what or "").split(",") if part.strip())
    with option_names(picture="-o", what="--what"):
        answer = drawn(PlotRequest(run=run, what=chosen, picture=output))
    if json:
        return print_json(answer)
    console().print(f"plot: {answer.picture}")
