"""Where the figures of the documentation go, and the numbers in them: `docs/figures/NAME.png` and `NAME.json`."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lissom.compiled_code import keep_compiled_code
from lissom.show.axes import INK, SOFT, new_figure

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "figures"
keep_compiled_code()


def chart(width: float = 7.2, height: float = 4.4) -> tuple[Figure, Axes]:
    """A figure with one pair of axes."""
    figure = new_figure(width, height)
    axes = figure.add_subplot()
    tidy(axes)
    return figure, axes


def tidy(axes: Axes) -> None:
    """Give axes a light grid and no box."""
    axes.grid(True, which="both", color="#E3E8EE", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=SOFT, labelcolor=INK)


def heading(axes: Axes, text: str) -> None:
    """Set a title as all figures have it."""
    axes.set_title(text, loc="left", fontsize=11, fontweight="bold", color=INK)


@contextmanager
def written_to(folder: Path) -> Iterator[None]:
    """Context in which figures and their numbers go to another folder."""
    global FOLDER
    before, FOLDER = FOLDER, folder
    try:
        yield
    finally:
        FOLDER = before


def keep(name: str, numbers: Any, figure: Figure | None = None) -> None:
    """Writes the figure and its numbers, and prints the numbers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    if figure is not None:
        figure.savefig(FOLDER / f"{name}.png", dpi=130)
    text = json.dumps(numbers, indent=2, default=plain)
    (FOLDER / f"{name}.json").write_text(text + "\n")
    print(f"{name}\n{text}")


def plain(value: Any) -> Any:
    """An array as nested lists, for JSON."""
    return np.asarray(value).tolist()


def earlier_numbers() -> Any:
    """The numbers of an earlier measurement, from the file named on the command line; None if none is named."""
    if len(sys.argv) < 2:
        return None
    return json.loads(Path(sys.argv[1]).read_text())


def slope(x: Any, y: Any) -> list[float]:
    """Slopes between neighbours on double logarithmic paper."""
    rise = np.diff(np.log10(y))
    run = np.diff(np.log10(x))
    return (rise / run).tolist()
