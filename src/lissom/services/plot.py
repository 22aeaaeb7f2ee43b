"""A run that is in a file as a picture, as a page that moves, or as a table."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..files.errors import refused
from ..runs.output_files import PAGE, PICTURE, TABLE, check_outputs
from ..runs.result_files import loaded_run
from .curves import curves_of
from .frozen_model import FrozenModel

if TYPE_CHECKING:
    from ..runs.run import Run


class PlotRequest(FrozenModel):
    """A result file, and what of it is drawn or written."""

    run: str
    # Quantities such as `q`, `position.lower/tip`, `lower/element0.mz`; none: the usual ones.
    what: tuple[str, ...] = ()
    picture: str  # a picture, a page that moves (.html), or a table (.csv)


class PlotResult(FrozenModel):
    """A file."""

    run: str
    what: tuple[str, ...]
    picture: str


def plot(request: PlotRequest) -> PlotResult:
    """The picture of a run: the usual page, or chosen quantities one above the other; or its table, or its motion.

    Raises:
        DescriptionError: no such file, no such quantity, or a file that cannot be written.
    """
    check_outputs({"picture": (request.picture, (*PICTURE, *PAGE, *TABLE))})
    ending = Path(request.picture).suffix.lower()
    if ending in PAGE and request.what:
        message = "a page that moves shows all: leave --what out"
        raise refused("what", ", ".join(request.what), message)
    run = loaded_run(request.run)
    if ending in PAGE:
        run.animate(request.picture)
    elif request.what:
        _chosen(request, run, is_table=ending in TABLE)
    elif ending in TABLE:
        run.to_csv(request.picture)
    else:
        run.plot(request.picture)
    return PlotResult(run=request.run, what=request.what, picture=request.picture)


def _chosen(request: PlotRequest, run: "Run", is_table: bool) -> None:
    from ..atomic import write_atomically
    from ..runs.run_curves import curves_as_csv
    from ..show.plot_quantities import plot_curves

    curves = curves_of(request.run, run, request.what)
    if not is_table:
        plot_curves(run.t, curves, request.picture)
        return
    text = curves_as_csv(run.t, curves)
    write_atomically(request.picture, lambda file: file.write(text.encode()))
