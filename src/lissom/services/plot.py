"""Pictures of a run that is in a file."""

from ..describe import DescriptionError, Problem
from .frozen_model import FrozenModel
from .output_files import PICTURE, check_outputs
from .result_files import loaded_run


class PlotRequest(FrozenModel):
    """A result file, and what of it is drawn."""

    run: str
    what: tuple[
        str, ...
    ] = ()  # quantities such as `q`, `position.lower/tip`; none: all
    picture: str


class PlotResult(FrozenModel):
    """A picture."""

    run: str
    what: tuple[str, ...]
    picture: str


def plot(request: PlotRequest) -> PlotResult:
    """The picture of a run: the usual page, or chosen quantities one above the other.

    Raises:
        DescriptionError: no such file, no such quantity, or a picture that cannot be written.
    """
    check_outputs({"picture": (request.picture, PICTURE)})
    run = loaded_run(request.run)
    if not request.what:
        run.plot(request.picture)
    else:
        from ..show.plot_quantities import plot_quantities
        from ..solve.channels import UnknownNameError

        try:
            plot_quantities(run, request.what, request.picture)
        except UnknownNameError as failure:
            problem = Problem(None, None, "what", failure.name, failure.message)
            raise DescriptionError([problem]) from None
    return PlotResult(run=request.run, what=request.what, picture=request.picture)
