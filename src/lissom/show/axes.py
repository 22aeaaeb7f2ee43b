"""Parts of all figures: colours, page, titles, legends, and axes in a plane, in space and against time."""

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray

from ..atomic import write_atomically
from .canvas import (
    Axes,
    Axes3D,
    Axis,
    Figure,
    FigureCanvasAgg,
    SubFigure,
    SubplotSpec,
    Text,
    Tick,
)
from .scene import Number, up_direction

# Okabe and Ito's colours: distinguishable with every kind of colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
LINE_STYLES = ("-", "--", "-.", ":")
INK = "#1B2430"  # titles and numbers
SOFT = "#5D6B7A"  # secondary lines and text

FORMULA = "formula"  # mark (gid) of texts in which $ begins a formula
TITLE = {"loc": "left", "fontsize": 11, "fontweight": "bold", "color": INK}
FLATNESS = 0.02  # a motion thinner than this share of its extent is drawn in its plane
LEAST_THICKNESS = 0.34  # of a box in space, as a share of its longest side


# --- page ----------------------------------------------------------------------------------------------------------


class NotebookFigure(Figure):
    """A figure that notebooks show, even if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png", dpi=72)
        return picture.getvalue()


def new_figure(width: Number, height: Number) -> Figure:
    """Empty figure [inch] on a canvas of its own: no window, no global state."""
    figure = NotebookFigure(
        figsize=(width, height), layout="constrained", facecolor="white"
    )
    FigureCanvasAgg(figure)
    return figure


def finish(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, also written to `path` if there is one; the file appears whole or not at all."""
    _write_words_as_they_are(figure)
    if path is None:
        return figure
    suffix = Path(path).suffix.lower()
    kind = suffix.removeprefix(".") or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        raise ValueError(
            f"Cannot write a picture as {str(path)!r}: use .png, .pdf or .svg."
        )
    write_atomically(path, lambda file: figure.savefig(file, format=kind, dpi=150))
    return figure


def _write_words_as_they_are(figure: Figure) -> None:
    """Lets only texts marked as formulas be read as formulas: a `$` in a name is a `$`.

    Numbers on the axes are left alone: powers of ten are formulas.
    """
    numbers = {axis.get_offset_text() for axis in figure.findobj(Axis)}
    for tick in figure.findobj(Tick):
        numbers |= {tick.label1, tick.label2}
    for text in figure.findobj(Text):
        if text not in numbers:
            text.set_parse_math(text.get_gid() == FORMULA)


def page_title(figure: Figure, text: str, size: Number = 14) -> None:
    """Title over the whole page, at its left edge."""
    figure.suptitle(
        text, x=0.01, ha="left", fontweight="bold", fontsize=size, color=INK
    )


def line_colour(k: int) -> str:
    """Colour of line k: the palette, again from its start when it is used up."""
    return PALETTE[k % len(PALETTE)]


def side_legend(axes: Axes) -> None:
    """Legend right of the axes, where it never covers data."""
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        frameon=False,
        fontsize=8.5,
        handlelength=1.5,
    )


def legend_below(axes: Axes, columns: int) -> None:
    """Legend below the axes in `columns`, where it never covers data."""
    axes.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.1),
        ncols=columns,
        frameon=False,
        fontsize=8.5,
    )


# --- axes in a plane -----------------------------------------------------------------------------------------------


def tidy_axes(axes: Axes) -> Axes:
    """The axes with a light grid and no box."""
    axes.grid(True, color="#E3E8EE", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, colors=SOFT, labelcolor=INK)
    return axes


def draw_unit_circle(axes: Axes) -> None:
    """The unit circle of the z plane, around the poles of sampled systems."""
    turn = np.exp(1j * np.linspace(0.0, 2 * np.pi, 181))
    axes.plot(np.real(turn), np.imag(turn), color=SOFT, lw=0.8)
    axes.set_aspect("equal")
    axes.set_xlabel("Re z")
    axes.set_ylabel("Im z")


def time_axes(axes: Axes) -> Axes:
    """Tidy axes against time, without margins left and right."""
    tidy_axes(axes)
    axes.margins(x=0)
    return axes


def stacked_time_axes(figure: SubFigure, heights: Sequence[Number]) -> list[Axes]:
    """Panels one above the other with one time axis, no numbers along it yet."""
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    panels: list[Axes] = []
    for k in range(len(heights)):
        first = panels[0] if panels else None
        axes = figure.add_subplot(grid[k], sharex=first)
        time_axes(axes)
        axes.tick_params(labelbottom=False)
        panels.append(axes)
    return panels


# --- axes of paths, in their plane or in space ---------------------------------------------------------------------


def path_axes(
    figure: Figure | SubFigure,
    place: SubplotSpec,
    points: ndarray,
    gravity: Sequence[Number],
) -> tuple[Axes, Callable]:
    """Axes fit for paths through `points`, and the function that draws one: in their plane if flat, else in space."""
    plane = plane_of(points, gravity)
    if plane is None:
        return _space_path_axes(figure, place, points, gravity)
    return _plane_path_axes(figure, place, plane)


def plane_of(points: ndarray, gravity: Sequence[Number]) -> tuple[int, int] | None:
    """The two axes (across, up) of the coordinate plane that holds the motion, None if it fills space."""
    extent = np.ptp(points, axis=0)
    thin = int(extent.argmin())
    if extent[thin] > FLATNESS * extent.max():
        return None
    first, second = sorted({0, 1, 2} - {thin})
    if abs(gravity[first]) > abs(gravity[second]):
        return second, first
    return first, second


def _space_path_axes(
    figure: Figure | SubFigure,
    place: SubplotSpec,
    points: ndarray,
    gravity: Sequence[Number],
) -> tuple[Axes, Callable]:
    axes = figure.add_subplot(place, projection="3d")
    style_space_axes(axes, gravity)
    equal_box(axes, points)

    def draw(path, **style):
        return axes.plot(*np.asarray(path).T, **style)

    return axes, draw


def _plane_path_axes(
    figure: Figure | SubFigure, place: SubplotSpec, plane: tuple[int, int]
) -> tuple[Axes, Callable]:
    across, up = plane
    axes = tidy_axes(figure.add_subplot(place))
    axes.set_xlabel(f"{'xyz'[across]} [m]")
    axes.set_ylabel(f"{'xyz'[up]} [m]")
    axes.set_aspect("equal", adjustable="datalim")

    def draw(path, **style):
        return axes.plot(path[:, across], path[:, up], **style)

    return axes, draw


def style_space_axes(axes: Axes3D, gravity: Sequence[Number]) -> None:
    """Give axes in space their units, a light grid, and a view with gravity pointing down."""
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    up = np.abs(up_direction(gravity))
    vertical = "xyz"[up.argmax()]
    # Which axis the azimuth is counted from depends on which one is vertical: both values look at the robot from the
    # front and from its side.
    azimuth = -58 if vertical == "z" else 32
    axes.view_init(elev=20, azim=azimuth, vertical_axis=vertical)
    axes.tick_params(labelsize=8, colors=SOFT)
    # Matplotlib turns the name of a vertical axis upside down where that is not z.
    upright = three_axes(axes)["xyz".index(vertical)]
    upright.set_rotate_label(False)
    upright.label.set_rotation(90)
    for axis in three_axes(axes):
        axis.set_pane_color((0.965, 0.973, 0.98, 1.0))
        # Matplotlib has no public setting for the grid of axes in space.
        axis._axinfo["grid"].update(color="#DDE3EA", linewidth=0.6)


def equal_box(axes: Axes3D, points: ndarray) -> None:
    """Limits around `points` with one metre equally long on all axes; no axis thinner than a third of the longest."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    middle = 0.5 * (low + high)
    size = high - low
    longest = max(size.max(), 1e-3)
    thinnest = LEAST_THICKNESS * longest
    span = 1.06 * np.maximum(size, thinnest)
    start = middle - span / 2
    end = middle + span / 2
    axes.set_xlim(start[0], end[0])
    axes.set_ylim(start[1], end[1])
    axes.set_zlim(start[2], end[2])
    axes.set_box_aspect(tuple(span), zoom=1.04)  # pyright: ignore[reportArgumentType]
    for axis, width in zip(three_axes(axes), span, strict=True):
        # A short side has no room for many numbers.
        numbers = 6 if width > 0.6 * span.max() else 3
        axis.get_major_locator().set_params(nbins=numbers)


def three_axes(axes: Axes3D) -> tuple[Any, Any, Any]:
    """The x, y and z axis: in space they have more settings than the type stubs know."""
    return axes.xaxis, axes.yaxis, axes.zaxis
