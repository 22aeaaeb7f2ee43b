"""Figures of linear models: frequency responses, mode maps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .figure import INK, PALETTE, SOFT, finish, new_figure
from .plot import TITLE, side_legend

LINES = ("-", "--", "-.", ":")
LOST = "#9AA5B1"  # a mode that was not recognised here


def plot_frequency_response(
    responses: Sequence[Any], path: str | Path | None = None
) -> Figure:
    """Bode plot of one or several `FrequencyResponse`: magnitude and phase.

    Args:
        responses: results of `frequency_response`.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, 6.2)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
    for k, one in enumerate(responses):
        style = {"color": PALETTE[k % 7], "lw": 1.5, "ls": LINES[(k // 7) % 4]}
        upper.loglog(
            one.frequency_hz,
            one.magnitude,
            label=f"{one.input} → {one.output}",
            **style,
        )
        lower.semilogx(one.frequency_hz, one.phase_deg, **style)
    upper.set_ylabel("|output / input|, SI units")
    lower.set(xlabel="frequency [Hz]", ylabel="phase [deg]")
    upper.set_title("Frequency response", **TITLE)
    for axes in (upper, lower):
        _grid(axes)
    lower.yaxis.get_major_locator().set_params(steps=[1.8, 3, 4.5, 9, 10])
    upper.legend(loc="best", frameon=False, fontsize=8.5)
    return finish(figure, path)


def plot_mode_map(found: Any, path: str | Path | None = None) -> Figure:
    """Figure of a `ModeMap`: curves over one quantity, heat maps over two.

    Args:
        found: result of `mode_map` over one or two axes.
        path: file to write (png, pdf, svg), None for none.
    """
    if len(found.shape) == 1:
        return finish(_curves(found), path)
    if len(found.shape) == 2:
        return finish(_heat_maps(found), path)
    raise ValueError(
        f"a map over {len(found.shape)} quantities cannot be drawn: choose one or two"
    )


def axis_of(found: Any, k: int) -> tuple[str, np.ndarray]:
    """Name and values along an axis of the grid."""
    if k < len(found.axes):
        name = list(found.axes)[k]
        return name, np.asarray(found.axes[name], dtype=float)
    return "point", np.arange(found.shape[k], dtype=float)


def _curves(found: Any) -> Figure:
    """Campbell-type plot: frequencies, and damping where the modes are damped, over one quantity."""
    name, along = axis_of(found, 0)
    figure = new_figure(10, 6.6 if found.damped else 5.0)
    panels = figure.subplots(2 if found.damped else 1, 1, sharex=True, squeeze=False)[
        :, 0
    ]
    for m in range(found.frequency_hz.shape[-1]):
        colour, line = PALETTE[m % 7], LINES[(m // 7) % 4]
        panels[0].plot(
            along,
            found.frequency_hz[:, m],
            color=colour,
            ls=line,
            lw=1.6,
            label=f"mode {m + 1}",
        )
        gone = found.lost[:, m]
        panels[0].plot(
            along[gone],
            found.frequency_hz[gone, m],
            ls="",
            marker="x",
            ms=5,
            color=LOST,
        )
        growing = found.growth[:, m] > 1e-9 * np.abs(found.frequency_hz[:, m])
        if found.damped:
            panels[1].plot(
                along, 100 * found.damping_ratio[:, m], color=colour, ls=line, lw=1.4
            )
        panels[0].plot(
            along[growing],
            found.frequency_hz[growing, m],
            ls="",
            marker="o",
            ms=3.5,
            color="#C0392B",
        )
    if np.any(found.growth > 1e-9 * np.abs(found.frequency_hz)):
        panels[0].plot(
            [], [], ls="", marker="o", ms=3.5, color="#C0392B", label="unstable"
        )
    if np.any(found.lost):
        panels[0].plot(
            [], [], ls="", marker="x", ms=5, color=LOST, label="not recognised"
        )
    panels[0].set_ylabel("frequency [Hz]")
    panels[0].set_ylim(bottom=0)
    panels[0].set_title(
        f"{found.robot}: modes, joints {'locked' if found.locked else 'free'}", **TITLE
    )
    if found.damped:
        panels[1].set_ylabel("damping [%]")
    panels[-1].set_xlabel(name)
    for axes in panels:
        _grid(axes)
        axes.margins(x=0)
    side_legend(panels[0])
    return figure


def _heat_maps(found: Any) -> Figure:
    """Frequency of each mode over two quantities, and over the workspace of the tip where both are poses."""
    (name_a, a), (name_b, b) = axis_of(found, 0), axis_of(found, 1)
    modes = min(found.frequency_hz.shape[-1], 4)
    plane = _workspace_plane(found)
    rows = 1 if plane is None else 2
    figure = new_figure(3.6 * modes + 0.6, 3.4 * rows)
    panels = figure.subplots(rows, modes, squeeze=False)
    for m in range(modes):
        values = found.frequency_hz[..., m]
        axes = panels[0, m]
        drawn = axes.pcolormesh(
            b,
            a,
            values,
            shading="gouraud" if min(values.shape) > 1 else "nearest",
            cmap="viridis",
        )
        axes.set_title(
            f"mode {m + 1}: {values.min():.4g} to {values.max():.4g} Hz",
            fontsize=10,
            color=INK,
        )
        axes.set_xlabel(name_b)
        figure.colorbar(
            drawn, ax=panels[:, m], label="Hz", location="bottom", shrink=0.85, pad=0.02
        )
        if plane is not None:
            below, (i, k) = panels[1, m], plane
            below.pcolormesh(
                found.tip[..., i], found.tip[..., k], values, shading="gouraud", cmap="viridis", vmin=values.min(),
                vmax=values.max(),
            )  # fmt: skip
            below.set_aspect("equal", adjustable="datalim")
            below.set_xlabel(f"{'xyz'[i]} of the tip [m]")
        for panel in panels[:, m]:
            panel.tick_params(labelsize=8, colors=SOFT, labelcolor=INK)
            panel.spines[["top", "right"]].set_visible(False)
    panels[0, 0].set_ylabel(name_a)
    if plane is not None:
        panels[1, 0].set_ylabel(f"{'xyz'[plane[1]]} of the tip [m]")
    figure.suptitle(
        f"{found.robot}: natural frequencies, joints {'locked' if found.locked else 'free'}",
        x=0.01, ha="left", fontweight="bold", fontsize=12, color=INK,
    )  # fmt: skip
    return figure


def _workspace_plane(found: Any) -> tuple[int, int] | None:
    """The two world axes along which the tip moves most; None where the tip does not cover an area."""
    extent = np.ptp(found.tip.reshape(-1, 3), axis=0)
    order = np.argsort(-extent)
    if extent[order[1]] < 0.02 * extent[order[0]] or extent[order[0]] < 1e-9:
        return None
    i, k = sorted(int(axis) for axis in order[:2])
    return i, k


def _grid(axes: Axes) -> None:
    axes.grid(True, which="major", color="#E3E8EE", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=SOFT, labelcolor=INK)
