"""Figure of a reference motion."""

from pathlib import Path
from typing import Any

from .axes import finish, line_colour, new_figure, page_title, tidy_axes
from .canvas import Figure

PANELS = {
    "place": "joint [rad or m]",
    "speed": "speed [1/s]",
    "acceleration": "acceleration [1/s²]",
    "torque": "feed-forward [N m or N]",
}


def plot_motion(table: Any, robot: str, path: str | Path | None = None) -> Figure:
    """Place, speed, acceleration and feed-forward torque of every actuated joint over time.

    Args:
        table: the motion: joints, t, and arrays (time, joint).
        robot: its name.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(9, 8)
    page_title(figure, f"Reference motion of {robot}")
    panels = figure.subplots(len(PANELS), 1, sharex=True)
    for axes, (what, label) in zip(panels, PANELS.items(), strict=True):
        for k, joint in enumerate(table.joints):
            curve = getattr(table, what)[:, k]
            axes.plot(table.t, curve, color=line_colour(k), lw=1.4, label=joint)
        axes.set_ylabel(label)
        tidy_axes(axes)
    panels[0].legend(frameon=False, fontsize=8.5, ncols=min(len(table.joints), 6))
    panels[-1].set_xlabel("time [s]")
    return finish(figure, path)
