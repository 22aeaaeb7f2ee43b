"""Chosen quantities of one run over time, one panel each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from numpy import ndarray

from .axes import finish, line_colour, new_figure, side_legend, stacked_time_axes
from .canvas import Figure

PANEL = 2.2  # height [inch]


class Curves(NamedTuple):
    """One panel of a plot: its curves by their names."""

    what: str
    unit: str
    lines: Mapping[str, ndarray]


def plot_curves(
    t: ndarray, curves: Sequence[Curves], path: str | Path | None = None
) -> Figure:
    """Figure with one panel for each entry.

    Args:
        t: times [s].
        curves: what is drawn.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, PANEL * len(curves) + 0.6)
    whole = figure.add_subfigure(figure.add_gridspec(1, 1)[0])
    panels = stacked_time_axes(whole, [1.0] * len(curves))
    for axes, one in zip(panels, curves, strict=True):
        for k, (name, values) in enumerate(one.lines.items()):
            axes.plot(t, values, color=line_colour(k), lw=1.4, label=name)
        axes.set_ylabel(f"{one.what} [{one.unit}]" if one.unit else one.what)
        side_legend(axes)
    panels[-1].set_xlabel("time [s]")
    panels[-1].tick_params(labelbottom=True)
    return finish(figure, path)
