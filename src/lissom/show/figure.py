"""The robot as a still picture: links, frames, nodes, like figure 2 of [Boscariol2012]."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy import ndarray
from numpy.linalg import norm

from .attachments import RIGID_COLOUR, Attachment, attachments
from .axes import (
    FORMULA,
    INK,
    PALETTE,
    SOFT,
    equal_box,
    finish,
    new_figure,
    style_space_axes,
)
from .canvas import Axes3D, Figure, Line2D, Poly3DCollection, Text, to_rgb, withStroke
from .scene import LinkShape, Number, Scene, deformed_outline, link_rows, up_direction

AXIS_COLOURS = ("#D62F2F", "#22913A", "#2F62D6")  # x, y, z
GRAVITY_COLOUR = "#8250C4"
LIGHT_FROM = np.array([0.4, -0.7, 0.6])  # beside the light from above

# Matplotlib draws in the order of these numbers.
LINK_LAYER = 5
ERLS_LAYER = 8
ARROW_LAYER = 15
NODE_LAYER = 20
NAME_LAYER = 22

NO_ROOM = 1.5  # distance of a node from the ends of its link below which it is not numbered, in offsets of its name


def draw_robot(
    scene: Scene,
    position: ndarray,
    frame: ndarray,
    path: str | Path | None = None,
    *,
    rotation: ndarray | None = None,
    erls_position: ndarray | None = None,
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
    # Left alone, matplotlib orders things by their distance from the eye and hides nodes inside links.
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    style_space_axes(axes, scene.gravity)
    outlines = deformed_outline(scene, position, rotation, frame)
    length = _frame_length(scene, position)
    attached = attachments(scene, position, frame, length)
    _draw_links(axes, scene, outlines, attached)
    if erls_position is not None:
        _draw_erls(axes, erls_position)
    _draw_nodes(axes, scene, position, 0.3 * length)
    world = _draw_world_frame(axes, 1.6 * length)
    for i, rows in enumerate(link_rows(scene)):
        joint = position[rows.start]
        _draw_frame(axes, joint, frame[i], length, f"{i + 1}")
    shapes = [part.triangles.reshape(-1, 3) for part in attached]
    points = np.concatenate([position, world, *shapes])
    gravity = _draw_gravity(axes, scene, points, length)
    equal_box(axes, np.concatenate([points, gravity]))
    axes.set_title(scene.name, loc="left", fontweight="bold", color=INK)
    _draw_legend(axes, scene, attached)
    return finish(figure, path)


def link_colours(scene: Scene) -> list[str]:
    """One colour per link: the palette in turn for flexible links, grey for rigid ones."""
    next_colour = iter(PALETTE * len(scene.links))
    colours = []
    for link in scene.links:
        colour = next(next_colour) if link.flexible else RIGID_COLOUR
        colours.append(colour)
    return colours


def _draw_legend(axes: Axes3D, scene: Scene, attached: Sequence[Attachment]) -> None:
    """Legend right of the picture: the links, what sits on them, then what was drawn with a label."""
    keys = []
    names = []
    for link, colour in zip(scene.links, link_colours(scene), strict=True):
        key = Line2D([], [], color=colour, lw=6, solid_capstyle="butt")
        keys.append(key)
        names.append(_caption(link))
    for kind, colour in {part.kind: part.colour for part in attached}.items():
        if kind:
            keys.append(Line2D([], [], color=colour, ls="", marker="o", ms=7))
            names.append(kind)
    labelled, labels = axes.get_legend_handles_labels()
    axes.legend(
        keys + labelled,
        names + labels,
        loc="upper left",
        bbox_to_anchor=(1.0, 0.95),
        frameon=False,
        fontsize=9,
    )


def _caption(link: LinkShape) -> str:
    """Legend entry of a link."""
    kind = "flexible" if link.flexible else "rigid"
    return f"{link.name}: {link.joint}, {kind}"


# --- solid links ---------------------------------------------------------------------------------------------------


def _draw_links(
    axes: Axes3D,
    scene: Scene,
    outlines: Sequence[ndarray],
    attached: Sequence[Attachment],
) -> None:
    """All links as shaded prisms and what sits on them, in one collection so that near faces hide far ones."""
    light = up_direction(scene.gravity) + 0.6 * LIGHT_FROM
    light = light / norm(light)
    faces = []
    colours = []
    for colour, outline in zip(link_colours(scene), outlines, strict=True):
        for face in _prism_faces(outline):
            faces.append(face)
            colours.append(_shade(colour, face, outline, light))
    for part in attached:
        centre = part.triangles.reshape(1, -1, 3)
        for face in part.triangles:
            faces.append(face)
            shaded = _shade(part.colour, face, centre, light)
            colours.append(np.append(shaded, part.opacity))
    colours = [np.append(colour, 1.0)[:4] for colour in colours]
    if not faces:
        return
    # Edges in the colour of their face close the hair lines between neighbouring faces.
    solid = Poly3DCollection(
        faces,
        facecolors=colours,
        edgecolors=colours,
        linewidths=0.3,
        zorder=LINK_LAYER,
    )
    axes.add_collection3d(solid, autolim=False)


def _prism_faces(outline: ndarray) -> list[ndarray]:
    """Quadrilaterals around the prism and its two ends; none for a link of one node."""
    sections, corners, _ = outline.shape
    if sections < 2:
        return []
    faces = []
    for k in range(sections - 1):
        near = outline[k]
        far = outline[k + 1]
        for c in range(corners):
            after = (c + 1) % corners
            face = [near[c], near[after], far[after], far[c]]
            faces.append(np.array(face))
    return [*faces, outline[0], outline[-1]]


def _shade(colour: str, face: ndarray, outline: ndarray, light: ndarray) -> ndarray:
    """Colour of a face: brighter where its outward normal looks towards the light."""
    diagonal = face[2] - face[0]
    # A face of three corners has its first one again as the fourth.
    other_diagonal = face[3 % len(face)] - face[1]
    normal = np.cross(diagonal, other_diagonal)
    normal = normal / max(norm(normal), 1e-15)
    # Which way round the corners go differs from face to face: away from the nearest section's centre is outward.
    middle = face.mean(axis=0)
    centres = outline.mean(axis=1)
    distances = norm(centres - middle, axis=1)
    centre = centres[distances.argmin()]
    outward = np.sign(normal @ (middle - centre)) or 1.0
    brightness = 0.92 + 0.3 * outward * (normal @ light)
    shaded = np.array(to_rgb(colour)) * brightness
    return np.clip(shaded, 0, 1)


# --- lines, nodes, frames, gravity ---------------------------------------------------------------------------------


def _draw_erls(axes: Axes3D, position: ndarray) -> None:
    """Dashed line through the nodes of the ERLS."""
    axes.plot(
        *position.T,
        color=SOFT,
        lw=1.2,
        ls=(0, (4, 3)),
        zorder=ERLS_LAYER,
        label="ERLS",
    )


def _draw_nodes(axes: Axes3D, scene: Scene, position: ndarray, offset: float) -> None:
    """Nodes as dots with their numbers along each link; the tip by its full name."""
    axes.plot(
        *position.T,
        ls="",
        marker="o",
        ms=4.5,
        mfc="white",
        mec=INK,
        mew=1.1,
        zorder=NODE_LAYER,
        label="nodes",
    )
    below = offset * up_direction(scene.gravity)
    for link, rows in zip(scene.links, link_rows(scene), strict=True):
        points = position[rows]
        # Node 0 is the joint, where the link's frame already has its names.
        for k in range(1, len(link.nodes)):
            name = link.nodes[k]
            if k < len(link.nodes) - 1:
                name = name.rsplit("/", 1)[-1]
                ends = np.linalg.norm(points[k] - points[[0, -1]], axis=1)
                # There the names of frames and tips are.
                if ends.min() < NO_ROOM * offset:
                    continue
            _write_name(axes, points[k] - below, name, SOFT, 8, "top")


def _write_name(
    axes: Axes3D,
    point: ndarray,
    text: str,
    colour: str,
    size: Number,
    vertical: str = "center",
) -> Text:
    """Text in space with a white halo, above everything else."""
    x, y, z = point.tolist()
    name = axes.text(
        x,
        y,
        z,
        text,
        color=colour,
        fontsize=size,
        ha="center",
        va=vertical,
        zorder=NAME_LAYER,
    )
    halo = withStroke(linewidth=2.5, foreground="white")
    name.set_path_effects([halo])
    return name


def _draw_world_frame(axes: Axes3D, length: float) -> ndarray:
    """Three bold arrows at the origin; returns their tips and the origin (4, 3)."""
    origin = np.zeros(3)
    _draw_frame(axes, origin, np.eye(3), length, "0", width=2.4)
    return np.concatenate([length * np.eye(3), origin[None]])


def _draw_frame(
    axes: Axes3D,
    origin: ndarray,
    rotation: ndarray,
    length: float,
    suffix: str,
    width: float = 1.6,
) -> None:
    """Three arrows x, y, z with their names."""
    for k, colour in enumerate(AXIS_COLOURS):
        arrow = length * rotation[:, k]
        _draw_arrow(axes, origin, arrow, colour, width, 0.18)
        name = f"${'xyz'[k]}_{{{suffix}}}$"
        _write_name(axes, origin + 1.15 * arrow, name, colour, 10).set_gid(FORMULA)


def _draw_gravity(
    axes: Axes3D, scene: Scene, points: ndarray, length: float
) -> ndarray:
    """Arrow of gravity beside the robot; returns its ends (2, 3), none without gravity."""
    gravity = np.array(scene.gravity, float)
    if not np.any(gravity):
        return np.zeros((0, 3))
    down = gravity / norm(gravity)
    # The axis after the one that gravity is nearest to is not vertical: the arrow stands beyond the robot along it.
    vertical = np.abs(gravity).argmax()
    sideways = np.eye(3)[(vertical + 1) % 3]
    places = points @ sideways
    centre = points.mean(axis=0)
    half_width = places.max() - centre @ sideways
    gap = 0.1 * np.ptp(places) + 0.3 * length
    start = centre + (half_width + gap) * sideways
    arrow = 1.3 * length * down
    _draw_arrow(axes, start, arrow, GRAVITY_COLOUR, 2, 0.2)
    name_place = start - 0.25 * length * down
    _write_name(axes, name_place, "$g$", GRAVITY_COLOUR, 12).set_gid(FORMULA)
    # The upper end leaves room for the name.
    upper = start - 0.4 * length * down
    return np.array([upper, start + arrow])


def _draw_arrow(
    axes: Axes3D,
    start: ndarray,
    arrow: ndarray,
    colour: str,
    width: Number,
    head: float,
) -> None:
    """Arrow in space, its head a share of its length."""
    axes.quiver(
        *start,
        *arrow,
        color=colour,
        lw=width,
        arrow_length_ratio=head,
        zorder=ARROW_LAYER,
    )


def _frame_length(scene: Scene, position: ndarray) -> float:
    """Length of the frames' arrows [m]: a share of the links' length, so that neighbours do not touch."""
    lengths = []
    for rows in link_rows(scene):
        pieces = np.diff(position[rows], axis=0)
        length = norm(pieces, axis=1).sum()
        if length > 0:
            lengths.append(length)
    typical = float(np.median(lengths or [0.3]))
    box = np.ptp(position, axis=0)
    extent = float(norm(box)) or typical
    return min(0.35 * typical, 0.22 * extent)
