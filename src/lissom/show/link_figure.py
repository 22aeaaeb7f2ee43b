"""One page on an imported link: mesh and interfaces, first modes, checks, full against reduced model."""

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy import ndarray
from numpy.linalg import norm

from ..bodies.fe.importing import LinkImport
from ..bodies.fe.reduce_elements import held_modes
from .axes import INK, PALETTE, SOFT, finish, line_colour, new_figure, page_title
from .canvas import Axes, Axes3D, Figure, Poly3DCollection, to_rgb

VERDICTS = {
    "pass": ("#1E7B34", "passed"),
    "warn": ("#B26A00", "remark"),
    "fail": ("#B3261E", "FAILED"),
}
LIGHT_FROM = np.array([0.35, -0.55, 0.75])
MODE_SIZE = 0.12  # largest displacement of a drawn mode, as a part of the link's size
MODES_ON_PAGE = 4
DRAWN_MODES = 6
LINE_WIDTH = 118  # characters of a line of the report
MOST_LINES = 4  # of one remark of the report
MOST_SPOKES = 60  # lines drawn from an interface node to the nodes of its face
SMALLEST_ERROR = 1e-9  # drawn: a logarithmic axis has no zero


class LinkPicture(NamedTuple):
    """Surface, interfaces and modes of an imported link, for its figure."""

    points: ndarray  # (s, 3) [m]
    triangles: ndarray  # (t, 3)
    # Nodes (f, 3) of the face of each interface, or its one node.
    faces: Mapping[str, ndarray]
    interface: Mapping[str, ndarray]  # (3,) node of each interface
    modes: ndarray  # (m, s, 3) held at the inner node
    frequency_hz: ndarray  # (m,)


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
    verdict = "all checks passed" if report["passed"] else "checks FAILED"
    page_title(figure, f"{report['source']}: {verdict}")
    grid = figure.add_gridspec(3, 1, height_ratios=(3.3, 2.2, 3.1))
    top = figure.add_subfigure(grid[0])
    middle = figure.add_subfigure(grid[1])
    bottom = figure.add_subfigure(grid[2])
    halves = top.add_gridspec(1, 2, width_ratios=(1.5, 1))
    _draw_mesh(_bare_space_axes(top, halves[0]), picture)
    _draw_frequencies(top.add_subplot(halves[1]), report)
    count = min(MODES_ON_PAGE, len(picture.modes))
    for k in range(count):
        place = middle.add_gridspec(1, count)[k]
        axes = _bare_space_axes(middle, place)
        _draw_mode(axes, picture, k)
    _write_report(bottom.add_subplot(), report)
    return finish(figure, path)


# --- mesh and modes ------------------------------------------------------------------------------------------------


def _bare_space_axes(figure: Any, place: Any) -> Axes3D:
    """Axes in space without lines or numbers, drawn in the order of zorder."""
    axes = figure.add_subplot(place, projection="3d", computed_zorder=False)
    axes.set_axis_off()
    axes.view_init(28, -60)
    return axes


def _draw_mesh(axes: Axes3D, picture: LinkPicture) -> None:
    """The link's surface, and how each interface node holds its face."""
    points = picture.points
    _draw_surface(axes, points, picture.triangles, "#AFC3D6", edges=True)
    for k, name in enumerate(picture.interface):
        # The palette without blue, which the surface has, and without its last colours.
        colour = PALETTE[1 + k % 4]
        _draw_interface(axes, picture, name, colour)
    _fit_limits(axes, picture.points)
    title = f"Mesh ({len(picture.triangles)} triangles outside) and interfaces"
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.legend(loc="upper right", frameon=False, fontsize=9)


def _draw_interface(axes: Axes3D, picture: LinkPicture, name: str, colour: str) -> None:
    """An interface node as a square, with spokes to the nodes of its face."""
    point = picture.interface[name]
    face = picture.faces[name]
    stride = max(1, len(face) // MOST_SPOKES)
    for node in face[::stride]:
        spoke = np.stack([node, point])
        axes.plot(*spoke.T, color=colour, lw=0.5, zorder=8)
    axes.plot(*face.T, color=colour, zorder=9, ls="", marker="o", ms=2)
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


def _draw_mode(axes: Axes3D, picture: LinkPicture, k: int) -> None:
    """Mode k in colour over the link at rest."""
    rest = picture.points
    triangles = picture.triangles
    size = norm(np.ptp(rest, axis=0))
    shape = picture.modes[k]
    largest = max(np.abs(shape).max(), 1e-300)
    points = rest + MODE_SIZE * size / largest * shape
    _draw_surface(axes, rest, triangles, "#D9DEE3", alpha=0.25)
    _draw_surface(axes, points, triangles, line_colour(k))
    _fit_limits(axes, np.concatenate([rest, points]))
    title = f"{k + 1}: {picture.frequency_hz[k]:.4g} Hz, held at inner"
    axes.set_title(title, fontsize=10, color=INK)


def _fit_limits(axes: Axes3D, points: ndarray) -> None:
    """Limits and proportions that let the points fill the panel, all axes to one scale."""
    low = points.min(axis=0)
    high = points.max(axis=0)
    middle = (low + high) / 2
    size = high - low
    # A flat link still needs a box with a volume.
    thinnest = 0.08 * size.max()
    half = np.maximum(size / 2, thinnest) + 1e-9
    half = 1.06 * half
    start = middle - half
    end = middle + half
    axes.set_xlim(start[0], end[0])
    axes.set_ylim(start[1], end[1])
    axes.set_zlim(start[2], end[2])
    axes.set_box_aspect(tuple(half.tolist()), zoom=1.45)  # type: ignore[arg-type]
    # A zoomed picture is wider than its axes.
    for artist in (*axes.collections, *axes.lines):
        artist.set_clip_on(False)
        artist.set_in_layout(False)


def _draw_surface(
    axes: Axes3D,
    points: ndarray,
    triangles: ndarray,
    colour: str,
    *,
    edges: bool = False,
    alpha: float = 1.0,
) -> None:
    """Shaded triangles, or dots at the points where there are none."""
    if not len(triangles):
        axes.plot(*points.T, color=colour, marker=".", ls="", zorder=5)
        return
    corners = points[triangles]
    colours = _shades(colour, corners)
    line: dict[str, Any] = {"edgecolors": colours, "linewidths": 0.2}
    if edges:
        line = {"edgecolors": SOFT, "linewidths": 0.15}
    surface = Poly3DCollection(
        corners, facecolors=colours, alpha=alpha, zorder=5, **line
    )
    axes.add_collection3d(surface, autolim=False)


def _shades(colour: str, corners: ndarray) -> ndarray:
    """Colours (t, 3) of triangles: brighter where they face the light, from either side."""
    side = corners[:, 1] - corners[:, 0]
    other_side = corners[:, 2] - corners[:, 0]
    normal = np.cross(side, other_side)
    length = norm(normal, axis=1, keepdims=True)
    normal = normal / np.maximum(length, 1e-300)
    light = LIGHT_FROM / norm(LIGHT_FROM)
    brightness = 0.72 + 0.3 * np.abs(normal @ light)
    shaded = brightness[:, None] * np.array(to_rgb(colour))
    return np.clip(shaded, 0, 1)


# --- report --------------------------------------------------------------------------------------------------------


def _draw_frequencies(axes: Axes, report: Mapping[str, Any]) -> None:
    """Error of the reduced frequencies, and MAC of their shapes."""
    axes.set_title("Reduced against full", loc="left", fontsize=11, color=INK)
    comparisons = [
        line for line in report["lines"] if line["name"].startswith("frequencies")
    ]
    if not comparisons:
        axes.set_axis_off()
        axes.text(0, 0.9, "not reduced", color=SOFT, transform=axes.transAxes)
        return
    for k, line in enumerate(comparisons):
        marker = "os"[k % 2]
        _draw_comparison(axes, line, marker, line_colour(k))
    axes.set_yscale("log")
    axes.set_xlabel("frequency of the full model [Hz]")
    axes.set_ylabel("[%]")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8)


def _draw_comparison(
    axes: Axes, line: Mapping[str, Any], marker: str, colour: str
) -> None:
    """Frequency error and 1 - MAC [%] of the modes under one boundary condition."""
    boundary = line["name"].removeprefix("frequencies ")
    values = line["values"]
    frequency = values["full_hz"]
    style: dict[str, Any] = {"marker": marker, "color": colour}
    error = 100 * np.maximum(np.abs(values["error"]), SMALLEST_ERROR)
    axes.plot(frequency, error, label=f"{boundary}: error of frequency", **style)
    style |= {"mfc": "none", "ls": ":"}
    error = 100 * np.maximum(1 - np.array(values["mac"]), SMALLEST_ERROR)
    axes.plot(frequency, error, label=f"{boundary}: 1 - MAC", **style)


def _write_report(axes: Axes, report: Mapping[str, Any]) -> None:
    """The checks as text: verdict, name, remark."""
    axes.set_axis_off()
    remarks = [_remark(line) for line in report["lines"]]
    rows = sum(len(remark) for remark in remarks)
    step = 1 / max(rows, 14)
    height = 1.0
    for line, remark in zip(report["lines"], remarks, strict=True):
        colour, word = VERDICTS[line["verdict"]]
        _write(axes, 0.0, height, word, color=colour, fontweight="bold")
        _write(axes, 0.065, height, line["name"], color=INK, fontweight="bold")
        for row in remark:
            _write(axes, 0.225, height, row, color=INK)
            height -= step


def _remark(line: Mapping[str, Any]) -> list[str]:
    """Remark of a check, broken into rows."""
    text = str(line["text"])
    if line["fix"]:
        text += f". Fix: {line['fix']}"
    return textwrap.wrap(text, LINE_WIDTH)[:MOST_LINES]


def _write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, va="top", fontsize=9, **style)


# --- data of the picture -------------------------------------------------------------------------------------------


def link_picture(imported: LinkImport) -> LinkPicture:
    """Surface, interfaces and modes of an import, for its figure."""
    assert imported.coupled is not None and imported.interface is not None
    base = imported.coupled.base
    nodes = np.arange(len(base.points))
    triangles = np.zeros((0, 3), dtype=int)
    if base.surface is not None:
        # Only nodes of the surface are visible: they are drawn, renumbered.
        nodes = np.unique(base.surface)
        triangles = np.searchsorted(nodes, base.surface)
    faces, interface = {}, {}
    for name, node in zip(
        imported.interface.names, imported.interface.nodes, strict=True
    ):
        interface[name] = imported.coupled.fe.points[node]
        faces[name] = _points_of_face(imported, node)
    modes, hz = _clamped_modes(imported, nodes)
    return LinkPicture(base.points[nodes], triangles, faces, interface, modes, hz)


def _points_of_face(imported: LinkImport, node: int) -> ndarray:
    """Points that move with an interface node: those of its face, or itself."""
    coupled = imported.coupled
    assert coupled is not None
    if node not in coupled.added:
        return coupled.fe.points[[node]]
    # `expand` gives the displacements of the mesh by those of the coupled model: a face has entries in the columns of
    # its interface node.
    columns = coupled.fe.place[node]
    rows = np.unique(coupled.expand[:, columns].nonzero()[0])
    on_face = np.isin(coupled.base.place, rows).any(axis=1)
    return coupled.base.points[on_face]


def _clamped_modes(imported: LinkImport, nodes: ndarray) -> tuple[ndarray, ndarray]:
    """Shapes (mode, node, 3) with the inner end held, and their frequencies [Hz]."""
    if imported.result is None or imported.coupled is None:
        no_shapes = np.zeros((0, len(nodes), 3))
        return no_shapes, np.zeros(0)
    modes = imported.result.modes
    omega2, v = held_modes(modes, imported.coupled.fe.M)
    coordinates = modes.clamped @ v[:, :DRAWN_MODES]
    displacement = np.asarray(imported.coupled.expand @ coordinates)
    shapes = imported.coupled.base.at_nodes(displacement)[nodes, :3]
    hz = np.sqrt(omega2) / (2 * np.pi)
    return np.moveaxis(shapes, -1, 0), hz
