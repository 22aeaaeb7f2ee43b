"""Figure of a sampled control loop: Bode plot at the drives, sensitivity, poles."""

from pathlib import Path

import numpy as np

from ..control.margins import OpenLoop, closed_loop_poles, sensitivity
from .axes import (
    INK,
    SOFT,
    draw_unit_circle,
    finish,
    line_colour,
    new_figure,
    page_title,
    tidy_axes,
)
from .canvas import Axes, Figure

# Undamped modes have no end: beyond these the gain is not drawn.
LEAST_GAIN, LARGEST_GAIN = 1e-4, 1e4


def plot_loop(loop: OpenLoop, title: str, path: str | Path | None = None) -> Figure:
    """Gain and phase of every drive's own loop, sensitivity of all at once, and the poles of the closed loop.

    Args:
        loop: from `open_loop`.
        title: of the page.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(11, 7)
    page_title(figure, title)
    places = figure.subplot_mosaic(
        [["gain", "poles"], ["phase", "poles"], ["sensitivity", "poles"]],
        width_ratios=(1.6, 1),
    )
    omega, S = sensitivity(loop)
    hertz = omega / (2 * np.pi)
    L = np.array([loop.gain(np.exp(1j * w * loop.robot.dt)) for w in omega])
    for k, name in enumerate(loop.robot.input_names):
        own = L[:, k, k]
        places["gain"].loglog(hertz, np.abs(own), color=line_colour(k), label=name)
        places["phase"].semilogx(hertz, _phase_deg(own), color=line_colour(k))
    low, high = places["gain"].get_ylim()
    places["gain"].set_ylim(max(low, LEAST_GAIN), min(high, LARGEST_GAIN))
    places["gain"].axhline(1.0, color=SOFT, lw=0.8, ls=":")
    places["gain"].set_ylabel("|loop gain|")
    places["gain"].legend(frameon=False, fontsize=8.5)
    places["phase"].set_ylabel("phase [deg]")
    places["sensitivity"].loglog(hertz, S, color=INK)
    places["sensitivity"].axhline(1.0, color=SOFT, lw=0.8, ls=":")
    places["sensitivity"].set_ylabel("sensitivity, all drives")
    places["sensitivity"].set_xlabel("frequency [Hz], up to half the sampling rate")
    for name in ("gain", "phase", "sensitivity"):
        tidy_axes(places[name])
    _draw_poles(places["poles"], loop)
    return finish(figure, path)


def _phase_deg(gain: np.ndarray) -> np.ndarray:
    """Phase from -360 to 0 degrees, with a gap where it passes from one end to the other."""
    phase = np.rad2deg(np.angle(gain)) % 360.0 - 360.0
    jumps = np.abs(np.diff(phase, prepend=phase[0])) > 180.0
    return np.where(jumps, np.nan, phase)


def _draw_poles(axes: Axes, loop: OpenLoop) -> None:
    """Poles with the loop open and closed, and the unit circle."""
    draw_unit_circle(axes)
    robot, closed = loop.robot.poles, closed_loop_poles(loop)
    axes.plot(
        np.real(robot), np.imag(robot), "x", color=SOFT, ms=4, label="robot alone"
    )
    axes.plot(
        np.real(closed), np.imag(closed), ".", color=INK, ms=5, label="closed loop"
    )
    tidy_axes(axes)
    beside = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
    axes.legend(frameon=False, fontsize=8.5, **beside)
