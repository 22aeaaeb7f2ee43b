"""A result file as a picture, an animation or a table."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic import write_atomically
from ..files.errors import refused
from ..files.summary import Result, Summary, plain
from ..parameters import Quantities, ResultFile
from .curves_of_files import curves_of
from .output_files import PAGE, TABLE
from .result_files import run_or_table
from .run import Run
from .run_columns import quantities
from .run_curves import curves_as_csv


@dataclass(frozen=True, repr=False, eq=False)
class PlottedRun(Result):
    """A run, and the quantities of it to draw or write."""

    file: str
    run: Run
    what: tuple[str, ...] = ()  # none: the usual quantities

    def to_dict(self) -> dict[str, Any]:
        """File and quantities as plain data."""
        return plain({"run": self.file, "what": self.what})

    def summary(self) -> Summary:
        """File and quantities, in one line."""
        return Summary(f"{self.file}: {', '.join(self.what) or 'the usual quantities'}")

    def save(self, path: str | Path) -> None:
        """Write a picture, an animation (.html) or a table (.csv).

        Raises:
            DescriptionError: the run holds no such quantity.
        """
        ending = Path(path).suffix.lower()
        if not self.what and "scene" not in self.run.facts:
            held = ",".join(quantities(self.run.data))
            message = f"a table holds no robot to draw: choose quantities of it, such as {held}"
            raise refused("what", None, message, file=self.file)
        if ending in PAGE and self.what:
            message = "an animation shows all quantities: leave --what out"
            raise refused("what", ", ".join(self.what), message)
        if ending in PAGE:
            self.run.animate(path)
        elif self.what:
            self._save_chosen(path, is_table=ending in TABLE)
        elif ending in TABLE:
            self.run.to_csv(path)
        else:
            self.run.plot(path)

    def _save_chosen(self, path: str | Path, is_table: bool) -> None:
        from ..show.plot_quantities import plot_curves

        curves = curves_of(self.file, self.run, self.what)
        if not is_table:
            plot_curves(self.run.t, curves, path)
            return
        text = curves_as_csv(self.run.t, curves)
        write_atomically(path, lambda file: file.write(text.encode()))


def plotted_run(run: ResultFile, *, what: Quantities = ()) -> PlottedRun:
    """A run of a result file, or chosen quantities of it: `save` draws them or writes them into a table.

    Args:
        run: the result file, or the table of a run (.csv), of which quantities are chosen.
        what: `q`, `torque.upper`, `position.lower/tip`, `energy`, `lower/element0.mz`; default: the usual ones.

    Returns:
        The `PlottedRun`.

    Raises:
        DescriptionError: there is no such file, or it holds no run.

    Example:
        >>> import lissom as ls
        >>> path = ls.simulate("simple-pendulum", [0.3], t_end=0.01).save("run.nc")
        >>> ls.plotted_run("run.nc", what=["q", "energy"]).save("run.csv")
    """
    return PlottedRun(str(run), run_or_table(str(run)), tuple(what))
