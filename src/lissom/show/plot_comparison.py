"""One figure of many controllers on one motion."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from .axes import INK, TITLE, finish, line_colour, new_figure, tidy_axes
from .run import Run


def plot_comparison(
    runs: Mapping[str, Run], node: str, stop: float, path: str | Path | None = None
) -> Figure:
    """Elastic displacement of a node, and the torques, of runs on one motion.

    Args:
        runs: by the names of their controllers.
        node: whose vibration is shown.
        stop: time at which the motion ends [s].
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, 7)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.4, 1))
    for k, (name, run) in enumerate(runs.items()):
        data = run.data
        t = data["time"].values
        away = data["position"].sel(node=node) - data["erls_position"].sel(node=node)
        size = 1e3 * np.linalg.norm(away.values, axis=1)
        upper.plot(t, size, color=line_colour(k), lw=1.3, label=name)
        torque = np.abs(data["torque"].values).max(axis=1)
        lower.plot(t, torque, color=line_colour(k), lw=1.0)
    for axes in (upper, lower):
        axes.axvline(stop, color=INK, lw=0.8, ls=":")
        tidy_axes(axes)
    upper.set_title("Controllers on one motion", **TITLE)
    upper.set_ylabel(f"elastic displacement of {node} [mm]")
    lower.set_ylabel("largest |torque| [N m or N]")
    lower.set_xlabel("time [s]; dotted: the motion ends")
    upper.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5
    )
    return finish(figure, path)
