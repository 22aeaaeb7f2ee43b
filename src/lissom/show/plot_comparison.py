"""One figure of many controllers on one motion."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .axes import INK, PALETTE, TITLE, finish, line_colour, new_figure, tidy_axes
from .canvas import Figure

SAME = 0.02  # distance of two curves, against the largest value, below which one hides the other


def plot_comparison(
    runs: Mapping[str, Any],
    node: str,
    final: np.ndarray,
    stop: float,
    path: str | Path | None = None,
) -> Figure:
    """Elastic displacement of a node, and the torques, of runs on one motion.

    A curve that runs on an earlier one is dashed, so that both are seen, one whose colour is used already dotted.

    Args:
        runs: datasets of the runs by the names of their controllers.
        node: whose vibration is shown.
        final: elastic displacement of the node at rest where the motion ends [m].
        stop: time at which the motion ends [s].
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, 7)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.4, 1))
    drawn: list[np.ndarray] = []
    for k, (name, data) in enumerate(runs.items()):
        t = data["time"].values
        away = data["position"].sel(node=node) - data["erls_position"].sel(node=node)
        size = 1e3 * np.linalg.norm(away.values - final, axis=1)
        style = line_style(k, hidden=_is_hidden(size, drawn))
        drawn.append(size)
        upper.plot(t, size, color=line_colour(k), lw=1.3, ls=style, label=name)
        torque = np.abs(data["torque"].values).max(axis=1)
        lower.plot(t, torque, color=line_colour(k), lw=1.0, ls=style)
    for axes in (upper, lower):
        axes.axvline(stop, color=INK, lw=0.8, ls=":")
        tidy_axes(axes)
    upper.set_title("Controllers on one motion", **TITLE)
    upper.set_ylabel(f"displacement of {node} from its elastic rest [mm]")
    lower.set_ylabel("largest |torque| [N m or N]")
    lower.set_xlabel("time [s]; dotted: the motion ends")
    upper.legend(
        loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5
    )
    return finish(figure, path)


def line_style(k: int, hidden: bool) -> Any:
    """Style of curve k: dashed on top of another, dotted where its colour has been used."""
    if hidden:
        return (0, (4, 4))
    return "-" if k < len(PALETTE) else (0, (1, 1))


def _is_hidden(curve: np.ndarray, others: list[np.ndarray]) -> bool:
    """True if a curve runs on one that is drawn already."""
    whole = [other for other in others if len(other) == len(curve)]
    allowed = SAME * np.abs(curve).max()
    return any(np.sqrt(np.mean((curve - other) ** 2)) < allowed for other in whole)
