"""One page on an imported link: mesh and interfaces, first modes, what the checks found, full against reduced."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from lissom.show.figure import INK, PALETTE, SOFT, finish, new_figure

VERDICTS = {
    "pass": ("#1E7B34", "passed"),
    "warn": ("#B26A00", "remark"),
    "fail": ("#B3261E", "FAILED"),
}
LIGHT = np.array([0.35, -0.55, 0.75])
DRAWN = 0.12  # largest displacement of a drawn mode, as a part of the size of the link
SHOWN = 4  # modes on the page
WIDTH = 118  # characters of a line of the report


class LinkPicture(NamedTuple):
    """What there is to draw of a link."""

    points: np.ndarray  # (s, 3) [m]
    triangles: np.ndarray  # (t, 3)
    coupled: Mapping[
        str, np.ndarray
    ]  # nodes (f, 3) of the face of each interface, or of its one node
    interface: Mapping[str, np.ndarray]  # (3,) node of each interface
    modes: np.ndarray  # (m, s, 3) held at the inner node
    frequency_hz: np.ndarray  # (m,)


def plot_link(
    report: Mapping[str, Any], picture: LinkPicture, path: str | Path | None = None
) -> Figure:
    """Figure of an import.

    Args:
        report: as `Report.to_dict` gives it.
        picture: the link; a link that could not be reduced has no modes.
        path: file to write (png, pdf, svg), None for none.
    """
    figure = new_figure(13, 11)
    grid = figure.add_gridspec(3, 1, height_ratios=(3.3, 2.2, 3.1))
    top, middle, bottom = (figure.add_subfigure(grid[k]) for k in range(3))
    title = "all checks passed" if report["passed"] else "checks FAILED"
    figure.suptitle(
        f"{report['source']}: {title}",
        x=0.01,
        ha="left",
        fontweight="bold",
        fontsize=14,
        color=INK,
    )
    left, right = top.add_gridspec(1, 2, width_ratios=(1.5, 1))
    _draw_mesh(_space(top, left), picture)
    _draw_frequencies(top.add_subplot(right), report)
    count = min(SHOWN, len(picture.modes))
    for k in range(count):
        _draw_mode(_space(middle, middle.add_gridspec(1, count)[k]), picture, k)
    _write_lines(bottom.add_subplot(), report)
    return finish(figure, path)


def _space(figure: Any, place: Any) -> Axes3D:
    axes = figure.add_subplot(place, projection="3d", computed_zorder=False)
    axes.set_axis_off()
    axes.view_init(28, -60)
    return axes


def _draw_mesh(axes: Axes3D, picture: LinkPicture) -> None:
    _draw_surface(axes, picture.points, picture.triangles, "#AFC3D6", edges=True)
    for k, (name, point) in enumerate(picture.interface.items()):
        colour = PALETTE[(1, 2, 3, 4)[k % 4]]
        face = picture.coupled[name]
        for node in face[:: max(1, len(face) // 60)]:
            axes.plot(*np.stack([node, point]).T, color=colour, lw=0.5, zorder=8)
        axes.plot(*face.T, ls="", marker="o", ms=2, color=colour, zorder=9)
        axes.plot(
            *point[:, None],
            ls="",
            marker="s",
            ms=8,
            mfc="white",
            mec=colour,
            mew=2,
            zorder=10,
            label=name,
        )
    _fill(axes, picture.points)
    axes.set_title(
        f"Mesh ({len(picture.triangles)} triangles outside) and interfaces",
        loc="left",
        fontsize=11,
        color=INK,
    )
    axes.legend(loc="upper right", frameon=False, fontsize=9)


def _draw_mode(axes: Axes3D, picture: LinkPicture, k: int) -> None:
    size = np.linalg.norm(np.ptp(picture.points, axis=0))
    shape = picture.modes[k]
    bent = picture.points + DRAWN * size / max(np.abs(shape).max(), 1e-300) * shape
    _draw_surface(axes, picture.points, picture.triangles, "#D9DEE3", alpha=0.25)
    _draw_surface(axes, bent, picture.triangles, PALETTE[k % len(PALETTE)])
    _fill(axes, np.concatenate([picture.points, bent]))
    axes.set_title(
        f"{k + 1}: {picture.frequency_hz[k]:.4g} Hz, held at inner",
        fontsize=10,
        color=INK,
    )


def _fill(axes: Axes3D, points: np.ndarray) -> None:
    """Limits and proportions that let the points fill the panel, all axes to one scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (
        (low + high) / 2,
        np.maximum((high - low) / 2, 0.08 * (high - low).max()) + 1e-9,
    )
    half = 1.06 * half
    for axis, m, h in zip(("x", "y", "z"), middle, half, strict=True):
        getattr(axes, f"set_{axis}lim")(m - h, m + h)
    axes.set_box_aspect(tuple(half.tolist()), zoom=1.45)  # type: ignore[arg-type]
    for drawn in (
        *axes.collections,
        *axes.lines,
    ):  # a zoomed picture is wider than its axes
        drawn.set_clip_on(False)
        drawn.set_in_layout(False)


def _draw_surface(
    axes: Axes3D,
    points,
    triangles,
    colour: str,
    *,
    edges: bool = False,
    alpha: float = 1.0,
) -> None:
    if not len(triangles):
        axes.plot(*points.T, color=colour, marker=".", ls="", zorder=5)
        return
    corners = points[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    shade = 0.72 + 0.3 * np.abs(normal @ (LIGHT / np.linalg.norm(LIGHT)))
    colours = np.clip(shade[:, None] * np.array(to_rgb(colour)), 0, 1)
    line: dict[str, Any] = (
        {"edgecolors": SOFT, "linewidths": 0.15}
        if edges
        else {"edgecolors": colours, "linewidths": 0.2}
    )
    drawn = Poly3DCollection(corners, facecolors=colours, alpha=alpha, zorder=5, **line)
    axes.add_collection3d(drawn, autolim=False)


def _draw_frequencies(axes: Axes, report: Mapping[str, Any]) -> None:
    """Error of the reduced frequencies, and the likeness of their shapes."""
    axes.set_title("Reduced against full", loc="left", fontsize=11, color=INK)
    found = [line for line in report["lines"] if line["name"].startswith("frequencies")]
    if not found:
        axes.set_axis_off()
        axes.text(0, 0.9, "not reduced", color=SOFT, transform=axes.transAxes)
        return
    for k, line in enumerate(found):
        values = line["values"]
        error = np.maximum(np.abs(np.array(values["error"])), 1e-9)
        label = line["name"].removeprefix("frequencies ")
        axes.plot(
            values["full_hz"],
            100 * error,
            marker="os"[k % 2],
            color=PALETTE[k],
            label=f"{label}: error of frequency",
        )
        lack = np.maximum(1 - np.array(values["mac"]), 1e-9)
        axes.plot(
            values["full_hz"],
            100 * lack,
            marker="os"[k % 2],
            mfc="none",
            color=PALETTE[k],
            ls=":",
            label=f"{label}: 1 - MAC",
        )
    axes.set_yscale("log")
    axes.set_xlabel("frequency of the full model [Hz]")
    axes.set_ylabel("[%]")
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def _write_lines(axes: Axes, report: Mapping[str, Any]) -> None:
    axes.set_axis_off()
    rows = []
    for line in report["lines"]:
        text = f"{line['text']}" + (f". Fix: {line['fix']}" if line["fix"] else "")
        rows.append((line, textwrap.wrap(text, WIDTH)[:4]))
    step = 1 / max(sum(len(wrapped) for _, wrapped in rows), 14)
    height = 1.0
    for line, wrapped in rows:
        colour, word = VERDICTS[line["verdict"]]
        axes.text(
            0.0, height, word, color=colour, fontweight="bold", va="top", fontsize=9
        )
        axes.text(
            0.065,
            height,
            line["name"],
            color=INK,
            fontweight="bold",
            va="top",
            fontsize=9,
        )
        for row in wrapped:
            axes.text(0.225, height, row, color=INK, va="top", fontsize=9)
            height -= step
