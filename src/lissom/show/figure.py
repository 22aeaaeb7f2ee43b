"""The robot as a still picture: links, frames, nodes, like figure 2 of [Boscariol2012]."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from lissom.atomic import write_atomically
from lissom.show.scene import LinkShape, Scene, deformed_outline, link_rows

# Okabe and Ito's colours: told apart with every kind of colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
AXIS_COLOURS = ("#D62F2F", "#22913A", "#2F62D6")  # x, y, z
INK, SOFT, RIGID, GRAVITY = "#1B2430", "#5D6B7A", "#9FABB8", "#8250C4"


def draw_robot(
    scene: Scene,
    position: np.ndarray,
    frame: np.ndarray,
    path: str | Path | None = None,
    *,
    rotation: np.ndarray | None = None,
    erls_position: np.ndarray | None = None,
) -> Figure:
    """Figure of the robot in one pose: solid links, link frames, numbered nodes, world frame, gravity.

    Args:
        scene: the robot's shapes.
        position: nodes (N, 3) [m], ordered as `scene_nodes`.
        frame: rotation matrices (L, 3, 3) of the link frames, world from link.
        path: file to write (png, pdf, svg), None for none.
        rotation: elastic rotation vectors (N, 3) [rad], world axes.
        erls_position: nodes of the ERLS (N, 3) [m], drawn as a dashed line.
    """
    figure = new_figure(9.2, 6.6)
    axes = space_axes(
        figure.add_subplot(projection="3d", computed_zorder=False), scene.gravity
    )
    length = _frame_length(scene, position)
    _draw_links(axes, scene, deformed_outline(scene, position, rotation, frame))
    if erls_position is not None:
        axes.plot(
            *erls_position.T, color=SOFT, lw=1.2, ls=(0, (4, 3)), zorder=8, label="ERLS"
        )
    _draw_nodes(axes, scene, position, 0.3 * length)
    _draw_frame(axes, np.zeros(3), np.eye(3), 1.6 * length, "0", width=2.4)
    for i, rows in enumerate(link_rows(scene)):
        _draw_frame(axes, position[rows][0], frame[i], length, str(i + 1))
    reach = np.concatenate([position, 1.6 * length * np.eye(3), np.zeros((1, 3))])
    reach = np.concatenate([reach, _draw_gravity(axes, scene, reach, length)])
    equal_box(axes, reach)
    axes.set_title(scene.name, loc="left", fontweight="bold", color=INK)
    keys = [
        Line2D([], [], color=c, lw=6, solid_capstyle="butt")
        for c in link_colours(scene)
    ]
    drawn, names = axes.get_legend_handles_labels()
    axes.legend(
        [*keys, *drawn],
        [*map(_caption, scene.links), *names],
        loc="upper left",
        bbox_to_anchor=(1.0, 0.95),
        frameon=False,
        fontsize=9,
    )
    return finish(figure, path)


def _draw_links(axes: Axes3D, scene: Scene, outlines: Sequence[np.ndarray]) -> None:
    """All links as shaded prisms, in one collection so that near faces hide far ones."""
    light = _up(scene.gravity) + 0.6 * np.array([0.4, -0.7, 0.6])
    faces, colours = [], []
    for colour, outline in zip(link_colours(scene), outlines, strict=True):
        own = _faces(outline)
        faces += own
        colours += _shaded(colour, own, outline, light / np.linalg.norm(light))
    if faces:
        axes.add_collection3d(
            Poly3DCollection(
                faces, facecolors=colours, edgecolors=colours, linewidths=0.3, zorder=5
            ),
            autolim=False,
        )


def _shaded(
    colour: str, faces: Sequence[np.ndarray], outline: np.ndarray, light: np.ndarray
) -> list[np.ndarray]:
    """One colour per face: brighter where its outward normal looks towards the light."""
    centres, shades = outline.mean(axis=1), []
    for face in faces:
        middle = face.mean(axis=0)
        normal = np.cross(face[2] - face[0], face[3 % len(face)] - face[1])
        normal = normal / max(float(np.linalg.norm(normal)), 1e-15)
        nearest = centres[np.linalg.norm(centres - middle, axis=1).argmin()]
        outward = np.sign(normal @ (middle - nearest)) or 1.0
        shades.append(
            np.clip(
                np.array(to_rgb(colour)) * (0.92 + 0.3 * outward * (normal @ light)),
                0,
                1,
            )
        )
    return shades


def _caption(link: LinkShape) -> str:
    """Legend entry of a link."""
    return f"{link.name}: {link.joint}, {'flexible' if link.flexible else 'rigid'}"


def _faces(outline: np.ndarray) -> list[np.ndarray]:
    """Quadrilaterals around the prism and its two ends."""
    K, C, _ = outline.shape
    if K < 2:
        return []
    sides = [
        np.array(
            [
                outline[k, c],
                outline[k, (c + 1) % C],
                outline[k + 1, (c + 1) % C],
                outline[k + 1, c],
            ]
        )
        for k in range(K - 1)
        for c in range(C)
    ]
    return [*sides, outline[0], outline[-1]]


def link_colours(scene: Scene) -> list[str]:
    """One colour per link: the palette in turn for flexible links, grey for rigid ones."""
    turn = iter(PALETTE * len(scene.links))
    return [next(turn) if link.flexible else RIGID for link in scene.links]


def _draw_nodes(
    axes: Axes3D, scene: Scene, position: np.ndarray, offset: float
) -> None:
    """Nodes as dots with their numbers along each link; the tip by its full name."""
    axes.plot(
        *position.T,
        ls="",
        marker="o",
        ms=4.5,
        mfc="white",
        mec=INK,
        mew=1.1,
        zorder=20,
        label="nodes",
    )
    up = offset * _up(scene.gravity)
    for link, rows in zip(scene.links, link_rows(scene), strict=True):
        for k in range(1, len(link.nodes)):
            last = k == len(link.nodes) - 1
            name = link.nodes[k] if last else link.nodes[k].rsplit("/", 1)[-1]
            _label(axes, position[rows][k] - up, name, SOFT, 8, "top")


def _label(
    axes: Axes3D,
    point: np.ndarray,
    text: str,
    colour: str,
    size: float | int,
    vertical: str = "center",
) -> None:
    """Text in space with a white halo, above everything else."""
    x, y, z = (float(value) for value in point)
    label = axes.text(
        x, y, z, text, color=colour, fontsize=size, ha="center", va=vertical, zorder=22
    )
    label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _draw_frame(
    axes: Axes3D,
    origin: np.ndarray,
    rotation: np.ndarray,
    length: float,
    suffix: str,
    width: float = 1.6,
) -> None:
    """Three arrows x, y, z with their names."""
    for k, colour in enumerate(AXIS_COLOURS):
        arrow = length * rotation[:, k]
        axes.quiver(
            *origin, *arrow, color=colour, lw=width, arrow_length_ratio=0.18, zorder=15
        )
        name = f"${'xyz'[k]}_{{{suffix}}}$"
        _label(axes, origin + 1.15 * arrow, name, colour, 10)


def _draw_gravity(
    axes: Axes3D, scene: Scene, points: np.ndarray, length: float
) -> np.ndarray:
    """Arrow of gravity beside the robot; returns its ends (2, 3), none without gravity."""
    g = np.array(scene.gravity, float)
    if not np.any(g):
        return np.zeros((0, 3))
    down = g / np.linalg.norm(g)
    side = np.eye(3)[(np.abs(g).argmax() + 1) % 3]
    spread = np.ptp(points @ side)
    start = points.mean(axis=0) + side * (
        (points @ side).max() - points.mean(axis=0) @ side + 0.1 * spread + 0.3 * length
    )
    axes.quiver(
        *start,
        *(1.3 * length * down),
        color=GRAVITY,
        lw=2,
        arrow_length_ratio=0.2,
        zorder=15,
    )
    _label(axes, start - 0.25 * length * down, "$g$", GRAVITY, 12)
    return np.array([start - 0.4 * length * down, start + 1.3 * length * down])


def _frame_length(scene: Scene, position: np.ndarray) -> float:
    """Length of the frames' arrows [m]: a share of the links' length, so that neighbours do not touch."""
    lengths = [
        np.linalg.norm(np.diff(position[rows], axis=0), axis=1).sum()
        for rows in link_rows(scene)
    ]
    typical = float(np.median([length for length in lengths if length > 0] or [0.3]))
    extent = float(np.linalg.norm(np.ptp(position, axis=0))) or typical
    return min(0.35 * typical, 0.22 * extent)


# --- shared by all figures -----------------------------------------------------------------------------------------


def new_figure(width: float | int, height: float | int) -> Figure:
    """Empty figure [inch] on a canvas of its own: no window, no global state."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def finish(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, also written to `path` if there is one; the file appears whole or not at all."""
    if path is not None:
        kind = Path(path).suffix.lstrip(".").lower() or "png"
        accepted = figure.canvas.get_supported_filetypes()
        if kind not in accepted:
            raise ValueError(
                f"Cannot write a picture as {str(path)!r}: use .png, .pdf or .svg."
            )
        write_atomically(path, lambda file: figure.savefig(file, format=kind, dpi=150))
    return figure


def space_axes(axes: Axes3D, gravity: Sequence[float | int]) -> Axes3D:
    """Three-dimensional axes with units, seen with gravity pointing down."""
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    vertical = "xyz"[int(np.abs(_up(gravity)).argmax())]
    axes.view_init(elev=20, azim=-58 if vertical == "z" else 32, vertical_axis=vertical)
    axes.tick_params(labelsize=8, colors=SOFT)
    for axis in _three(axes):
        axis.set_pane_color((0.965, 0.973, 0.98, 1.0))
        axis._axinfo["grid"].update(color="#DDE3EA", linewidth=0.6)
    return axes


def equal_box(axes: Axes3D, points: np.ndarray) -> None:
    """Limits around `points` with one metre equally long on all axes; no axis thinner than a third of the longest."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 0.34 * max(float((high - low).max()), 1e-3)) * 1.06
    middle = 0.5 * (low + high)
    axes.set(
        xlim=(middle[0] - span[0] / 2, middle[0] + span[0] / 2),
        ylim=(middle[1] - span[1] / 2, middle[1] + span[1] / 2),
        zlim=(middle[2] - span[2] / 2, middle[2] + span[2] / 2),
    )
    axes.set_box_aspect(tuple(span), zoom=1.04)  # pyright: ignore[reportArgumentType]
    for axis, width in zip(_three(axes), span, strict=True):
        axis.get_major_locator().set_params(nbins=6 if width > 0.6 * span.max() else 3)


def _three(axes: Axes3D) -> tuple[Any, Any, Any]:
    """The x, y and z axis: in space they have more settings than the plane's, which the stubs know alone."""
    return axes.xaxis, axes.yaxis, axes.zaxis


def _up(gravity: Sequence[float | int]) -> np.ndarray:
    """Unit vector against gravity, z without gravity."""
    g = np.array(gravity, float)
    return -g / np.linalg.norm(g) if np.any(g) else np.array([0.0, 0.0, 1.0])
