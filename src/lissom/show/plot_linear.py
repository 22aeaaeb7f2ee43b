"""Figures of linear models: frequency and step responses, mode maps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from ..analyse.linear.frequency_response import FrequencyResponse
from ..analyse.linear.state_space import LinearModel
from ..analyse.linear.step_response import StepResponse
from ..analyse.modes.mode_map import ModeMap
from ..analyse.polynomials.mode_polynomials import ModePolynomials
from .axes import (
    INK,
    LINE_STYLES,
    PALETTE,
    SOFT,
    TITLE,
    draw_unit_circle,
    finish,
    line_colour,
    new_figure,
    page_title,
    side_legend,
    tidy_axes,
)
from .canvas import Axes, Figure

# Where a mode was not followed, and where it grows.
LOST_MARK = {"ls": "", "marker": "x", "ms": 5, "color": "#9AA5B1"}
UNSTABLE_MARK = {"ls": "", "marker": "o", "ms": 3.5, "color": "#C0392B"}
MODES_ON_PAGE = 4  # of heat maps
CURVE_POINTS = 201  # of polynomials over one parameter


# --- frequency responses -------------------------------------------------------------------------------------------


def plot_frequency_response(
    responses: Sequence[FrequencyResponse], path: str | Path | None = None
) -> Figure:
    """Bode plot of one or several `FrequencyResponse`: magnitude and phase.

    Args:
        responses: results of `frequency_response`.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, 6.2)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(1.5, 1))
    for k, response in enumerate(responses):
        frequency = response.frequency_hz
        upper.loglog(
            frequency,
            response.magnitude,
            label=f"{response.input} → {response.output}",
            lw=1.5,
            **_line(k),
        )
        lower.semilogx(frequency, response.phase_deg, lw=1.5, **_line(k))
    upper.set_ylabel("|output / input|, SI units")
    upper.set_title("Frequency response", **TITLE)
    lower.set_xlabel("frequency [Hz]")
    lower.set_ylabel("phase [deg]")
    tidy_axes(upper)
    tidy_axes(lower)
    # Parts of a turn: 18, 30, 45 and 90 degrees read better than 20 and 50.
    lower.yaxis.get_major_locator().set_params(steps=[1.8, 3, 4.5, 9, 10])
    upper.legend(loc="best", frameon=False, fontsize=8.5)
    return finish(figure, path)


def plot_step_response(
    responses: Sequence[StepResponse], path: str | Path | None = None
) -> Figure:
    """Figure of one or several `StepResponse` over time.

    Args:
        responses: results of `step_response`.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(10, 4.6)
    axes = figure.subplots()
    for k, one in enumerate(responses):
        label = f"{one.input} → {one.output}"
        axes.plot(one.t, one.response, label=label, lw=1.5, **_line(k))
    axes.set_xlabel("time [s]")
    axes.set_ylabel("output / input, SI units")
    axes.set_title("Step response", **TITLE)
    tidy_axes(axes)
    axes.legend(loc="best", frameon=False, fontsize=8.5)
    return finish(figure, path)


def _line(k: int) -> dict[str, Any]:
    """Colour and style of line k: the palette solid, then dashed, and so on."""
    turn = k // len(PALETTE)
    return {"color": line_colour(k), "ls": LINE_STYLES[turn % 4]}


# --- poles ---------------------------------------------------------------------------------------------------------


def plot_poles(linear: LinearModel, path: str | Path | None = None) -> Figure:
    """Poles of a `LinearModel`: decay rate over frequency, or beside the unit circle of a sampled model.

    Args:
        linear: result of `linearize`.
        path: file to write (png, pdf, svg), None for none.
    """
    poles = linear.poles
    figure = new_figure(7, 6)
    axes = figure.subplots()
    if linear.dt:
        draw_unit_circle(axes)
        axes.plot(np.real(poles), np.imag(poles), "x", color=INK, ms=5)
    else:
        axes.axvline(0.0, color=SOFT, lw=0.8)
        axes.plot(np.real(poles), np.imag(poles) / (2 * np.pi), "x", color=INK, ms=5)
        # Slow and fast motions side by side: linear up to 1, logarithmic beyond.
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_xlabel("Re [rad/s]")
        axes.set_ylabel("Im / 2π [Hz]")
    axes.set_title(f"{linear.operating.robot}: {len(poles)} poles", **TITLE)
    tidy_axes(axes)
    return finish(figure, path)


# --- mode maps -----------------------------------------------------------------------------------------------------


def plot_mode_map(modes: ModeMap, path: str | Path | None = None) -> Figure:
    """Figure of a `ModeMap`: curves over one quantity, heat maps over two.

    Args:
        modes: result of `mode_map` over one or two axes.
        path: file to write (png, pdf, svg), None for none.
    """
    if len(modes.shape) == 1:
        return finish(_curves(modes), path)
    if len(modes.shape) == 2:
        return finish(_heat_maps(modes), path)
    raise ValueError(
        f"a map over {len(modes.shape)} quantities cannot be drawn: choose one or two"
    )


def axis_of(modes: ModeMap, k: int) -> tuple[str, ndarray]:
    """Name and values along an axis of the grid."""
    if k < len(modes.axes):
        name = list(modes.axes)[k]
        return name, np.asarray(modes.axes[name], dtype=float)
    return "point", np.arange(modes.shape[k], dtype=float)


def _joints(modes: ModeMap) -> str:
    return "joints locked" if modes.locked else "joints free"


def _curves(modes: ModeMap) -> Figure:
    """Campbell-type plot: frequencies, and damping where the modes are damped, over one quantity."""
    name, along = axis_of(modes, 0)
    rows = 1
    height = 5.0
    if modes.damped:
        rows = 2
        height = 6.6
    figure = new_figure(10, height)
    panels = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    _draw_frequencies(panels[0], modes, along)
    panels[0].set_title(f"{modes.robot}: modes, {_joints(modes)}", **TITLE)
    if modes.damped:
        _draw_damping(panels[1], modes, along)
    panels[-1].set_xlabel(name)
    for axes in panels:
        tidy_axes(axes)
        axes.margins(x=0)
    side_legend(panels[0])
    return figure


def _draw_frequencies(axes: Axes, modes: ModeMap, along: ndarray) -> None:
    """Frequency of every mode, marked where the mode is lost or unstable."""
    unstable = modes.unstable
    for m in range(modes.frequency_hz.shape[-1]):
        frequency = modes.frequency_hz[:, m]
        axes.plot(along, frequency, lw=1.6, label=f"mode {m + 1}", **_line(m))
        here = modes.lost[:, m]
        axes.plot(along[here], frequency[here], **LOST_MARK)
        here = unstable[:, m]
        axes.plot(along[here], frequency[here], **UNSTABLE_MARK)
    # Lines without points, for the legend.
    if np.any(unstable):
        axes.plot([], [], label="unstable", **UNSTABLE_MARK)
    if np.any(modes.lost):
        axes.plot([], [], label="not followed", **LOST_MARK)
    axes.set_ylabel("frequency [Hz]")
    axes.set_ylim(bottom=0)


def _draw_damping(axes: Axes, modes: ModeMap, along: ndarray) -> None:
    """Damping ratio of every mode."""
    for m in range(modes.damping_ratio.shape[-1]):
        percent = 100 * modes.damping_ratio[:, m]
        axes.plot(along, percent, lw=1.4, **_line(m))
    axes.set_ylabel("damping [%]")


def _heat_maps(modes: ModeMap) -> Figure:
    """Frequency of each mode over two quantities, and over the workspace of the tip where both are poses."""
    count = min(modes.frequency_hz.shape[-1], MODES_ON_PAGE)
    plane = _workspace_plane(modes)
    rows = 1 if plane is None else 2
    figure = new_figure(3.6 * count + 0.6, 3.4 * rows)
    panels = figure.subplots(rows, count, squeeze=False)
    for m in range(count):
        frequency = modes.frequency_hz[..., m]
        axes = panels[0, m]
        colours = _draw_over_grid(axes, modes, frequency)
        lowest = f"{frequency.min():.4g}"
        highest = f"{frequency.max():.4g}"
        title = f"mode {m + 1}: {lowest} to {highest} Hz"
        axes.set_title(title, fontsize=10, color=INK)
        figure.colorbar(
            colours,
            ax=panels[:, m],
            label="Hz",
            location="bottom",
            shrink=0.85,
            pad=0.02,
        )
        if plane is not None:
            _draw_over_workspace(panels[1, m], modes, frequency, plane)
    for axes in panels.flat:
        axes.tick_params(labelsize=8, colors=SOFT, labelcolor=INK)
        axes.locator_params(axis="x", nbins=5)
        axes.spines[["top", "right"]].set_visible(False)
    name, _ = axis_of(modes, 0)
    panels[0, 0].set_ylabel(name)
    if plane is not None:
        panels[1, 0].set_ylabel(f"{'xyz'[plane[1]]} of the tip [m]")
    title = f"{modes.robot}: natural frequencies, {_joints(modes)}"
    page_title(figure, title, size=12)
    return figure


def _draw_over_grid(axes: Axes, modes: ModeMap, frequency: ndarray) -> Any:
    """Colours of one mode over the two quantities; returns them for the colour bar."""
    _, upwards = axis_of(modes, 0)
    name, across = axis_of(modes, 1)
    # Colours that blend need two points along each axis.
    shading = "gouraud" if min(frequency.shape) > 1 else "nearest"
    axes.set_xlabel(name)
    return axes.pcolormesh(across, upwards, frequency, shading=shading, cmap="viridis")


def _draw_over_workspace(
    axes: Axes, modes: ModeMap, frequency: ndarray, plane: tuple[int, int]
) -> None:
    """Colours of one mode where the tip is."""
    i, k = plane
    axes.pcolormesh(
        modes.tip[..., i],
        modes.tip[..., k],
        frequency,
        shading="gouraud",
        cmap="viridis",
        vmin=frequency.min(),
        vmax=frequency.max(),
    )
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(f"{'xyz'[i]} of the tip [m]")


def _workspace_plane(modes: ModeMap) -> tuple[int, int] | None:
    """The two world axes along which the tip moves most; None where the tip does not cover an area."""
    extent = np.ptp(modes.tip.reshape(-1, 3), axis=0)
    longest, second, _ = np.argsort(-extent)
    stands_still = extent[longest] < 1e-9
    moves_on_a_line = extent[second] < 0.02 * extent[longest]
    if stands_still or moves_on_a_line:
        return None
    i, k = sorted((int(longest), int(second)))
    return i, k


# --- mode polynomials ----------------------------------------------------------------------------------------------


def plot_mode_polynomials(
    modes: ModePolynomials, path: str | Path | None = None
) -> Figure:
    """Frequencies over each parameter, the others at the first expansion point.

    Args:
        modes: result of `parametric_modes`.
        path: file to write (png, pdf, svg), None for none.
    """
    names = modes.parameters
    low, high = modes.polynomial.low.min(axis=0), modes.polynomial.high.max(axis=0)
    figure = new_figure(10, 3.2 * len(names) + 1.4)
    panels = figure.subplots(len(names), 1, squeeze=False)[:, 0]
    for k, axes in enumerate(panels):
        points = np.tile(modes.centres[0], (CURVE_POINTS, 1))
        points[:, k] = np.linspace(low[k], high[k], CURVE_POINTS)
        frequency = modes.frequency_hz(points)
        for m in range(modes.modes):
            label = f"mode {m + 1}"
            axes.plot(points[:, k], frequency[:, m], lw=1.6, label=label, **_line(m))
        axes.set_xlabel(names[k])
        axes.set_ylabel("frequency [Hz]")
        axes.set_ylim(bottom=0)
        axes.margins(x=0)
        tidy_axes(axes)
    panels[0].set_title(f"modes, polynomials of order {modes.order}", **TITLE)
    side_legend(panels[0])
    return finish(figure, path)
