"""What there is to draw of a robot: geometry as plain arrays, no graphics library."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

STILL = 1e-9  # [m] a node that moves less is held in its place


@dataclass(frozen=True, eq=False)
class LinkShape:
    """One link: where its section is, all along its path."""

    name: str
    joint: str  # revolute | prismatic | fixed
    nodes: tuple[str, ...]  # "link/k", in order along the path
    outline: (
        np.ndarray
    )  # (K, C, 3) section outline at each node [m], link axes, relative to the node
    flexible: bool
    axis: tuple[float | int, ...] = (0.0, 0.0, 1.0)  # joint axis in the link frame

    def __post_init__(self):
        """Plain numbers inside; an outline that does not fit the nodes is refused."""
        object.__setattr__(self, "outline", np.asarray(self.outline, float))
        object.__setattr__(self, "axis", _three_floats(self.axis))
        shape = np.shape(self.outline)
        if len(shape) != 3 or shape[0] != len(self.nodes) or shape[2] != 3:
            raise ValueError(
                f"Link {self.name!r}: outline must have shape ({len(self.nodes)}, C, 3), "
                f"one section per node, got {shape}."
            )


@dataclass(frozen=True)
class Scene:
    """What there is to draw of a robot."""

    name: str
    links: tuple[LinkShape, ...]
    gravity: tuple[float | int, ...] = (0.0, 0.0, -9.81)  # [m/s^2], world axes

    def __post_init__(self):
        """Plain numbers inside."""
        object.__setattr__(self, "gravity", _three_floats(self.gravity))


def _three_floats(vector: Iterable[float | int]) -> tuple[float, float, float]:
    """A vector as a plain tuple."""
    x, y, z = (float(value) for value in vector)
    return x, y, z


def scene_nodes(scene: Scene) -> tuple[str, ...]:
    """Names of all nodes, link after link: the order of the rows in every array of this module."""
    return tuple(node for link in scene.links for node in link.nodes)


def link_rows(scene: Scene) -> tuple[slice, ...]:
    """Rows of each link's nodes in an array ordered as `scene_nodes`."""
    ends = np.cumsum([len(link.nodes) for link in scene.links]).tolist()
    return tuple(
        slice(end - len(link.nodes), end)
        for end, link in zip(ends, scene.links, strict=True)
    )


def tip_nodes(scene: Scene) -> tuple[str, ...]:
    """Last node of every link: the elbows, then the tip of the robot."""
    return tuple(link.nodes[-1] for link in scene.links)


def moving_tip(scene: Scene, position: np.ndarray) -> int:
    """Row of the robot's tip; where a loop holds it in its place, of the link's tip that moves farthest.

    Args:
        scene: the robot.
        position: of all nodes over time, (time, node, axis) in the order of `scene_nodes`.
    """
    tips = [rows.stop - 1 for rows in link_rows(scene)]
    reach = np.ptp(np.nan_to_num(position[:, tips]), axis=0).max(axis=1)
    return (
        tips[-1]
        if reach[-1] > STILL or reach.max() < STILL
        else tips[int(reach.argmax())]
    )


# --- files ---------------------------------------------------------------------------------------------------------


def scene_to_json(scene: Scene) -> str:
    """The scene as one JSON text; `scene_from_json` gives it back number for number."""
    links = [
        {
            "name": link.name,
            "joint": link.joint,
            "nodes": list(link.nodes),
            "outline": link.outline.tolist(),
            "flexible": bool(link.flexible),
            "axis": list(link.axis),
        }
        for link in scene.links
    ]
    return json.dumps(
        {"name": scene.name, "gravity": list(scene.gravity), "links": links}
    )


def scene_from_json(text: str) -> Scene:
    """The scene that `scene_to_json` wrote."""
    content = json.loads(text)
    return Scene(
        content["name"],
        tuple(_link_shape(link) for link in content["links"]),
        tuple(content["gravity"]),
    )


def _link_shape(content: dict) -> LinkShape:
    """One link from its JSON object."""
    return LinkShape(
        content["name"],
        content["joint"],
        tuple(content["nodes"]),
        np.array(content["outline"], float),
        content["flexible"],
        tuple(content["axis"]),
    )


# --- outlines of undeformed links ----------------------------------------------------------------------------------


def rectangle_contour(y: float | int, z: float | int) -> np.ndarray:
    """Corners (4, 2) of a rectangle with sides `y` and `z` [m] along the section's axes."""
    return 0.5 * np.array([[y, z], [-y, z], [-y, -z], [y, -z]])


def circle_contour(diameter: float | int, points: int = 16) -> np.ndarray:
    """Points (C, 2) on a circle [m]."""
    angle = 2 * np.pi * np.arange(points) / points
    return 0.5 * diameter * np.column_stack([np.cos(angle), np.sin(angle)])


def swept_outline(
    points: np.ndarray, contour: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """Outline (K, C, 3) of a section carried along a polyline, mitred where the path turns.

    Args:
        points: nodes (K, 3) along the path [m], link axes; repeated points are fine.
        contour: (y, z) of the section's outline [m]: (C, 2), or (K, C, 2) for a taper.
        up: direction of the section's z axis, (3,), or (K-1, 3) one per piece.
    """
    points = np.asarray(points, float)
    pieces = len(points) - 1
    contours = np.broadcast_to(contour, (len(points), *np.shape(contour)[-2:]))
    tangents = _piece_directions(points)
    ups = np.broadcast_to(up, (max(pieces, 1), 3))
    sections = []
    for k in range(len(points)):
        before, after = max(k - 1, 0), min(k, max(pieces - 1, 0))
        sections.append(
            _mitred(contours[k], tangents[before], tangents[after], ups[before])
        )
    return np.array(sections)


def _piece_directions(points: np.ndarray) -> np.ndarray:
    """Unit directions of the pieces of a polyline; a piece of no length takes its predecessor's, or x."""
    directions, last = [], np.array([1.0, 0.0, 0.0])
    for step in np.diff(points, axis=0) if len(points) > 1 else np.zeros((1, 3)):
        length = np.linalg.norm(step)
        last = step / length if length > 1e-12 else last
        directions.append(last)
    return np.array(directions)


def _mitred(
    contour: np.ndarray, before: np.ndarray, after: np.ndarray, up: np.ndarray
) -> np.ndarray:
    """Section (C, 3) across `before`, slid along it onto the plane that halves the turn towards `after`."""
    z = up - before * (up @ before)
    if np.linalg.norm(z) < 1e-9:
        other = np.eye(3)[np.argmin(np.abs(before))]
        z = other - before * (other @ before)
    z = z / np.linalg.norm(z)
    section = contour @ np.array([np.cross(z, before), z])
    normal = before + after
    slope = normal @ before
    return (
        section if slope < 0.1 else section - np.outer(section @ normal / slope, before)
    )


# --- deformed links ------------------------------------------------------------------------------------------------


def rotation_matrix(vector: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3), by Rodrigues' formula; exact at zero."""
    vector = np.asarray(vector, float)
    angle = np.linalg.norm(vector, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vector, -1, 0)
    zero = np.zeros_like(x)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(
        *vector.shape[:-1], 3, 3
    )
    half = np.sinc(angle / (2 * np.pi))
    return np.eye(3) + np.sinc(angle / np.pi) * skew + 0.5 * half**2 * (skew @ skew)


def exaggerated(
    position: np.ndarray,
    erls_position: np.ndarray,
    rotation: np.ndarray,
    scale: float | int,
) -> tuple[np.ndarray, np.ndarray]:
    """Node positions and rotation vectors (N, 3) with the deformation drawn `scale` times as large.

    Displacements grow linearly. A rotation of angle a becomes arctan(scale tan a), the angle by which a line turns
    when its transverse displacement grows so: sections stay square to the exaggerated centre line.
    """
    angle = np.linalg.norm(rotation, axis=-1, keepdims=True)
    safe = np.where(angle > 0, angle, 1.0)
    drawn = np.where(
        angle > 0, np.arctan(scale * np.tan(np.minimum(safe, 1.5))) / safe, scale
    )
    return erls_position + scale * (position - erls_position), (
        rotation if scale == 1 else rotation * drawn
    )


def deformed_outline(
    scene: Scene,
    position: np.ndarray,
    rotation: np.ndarray | None,
    frame: np.ndarray,
    *,
    erls_position: np.ndarray | None = None,
    scale: float | int = 1.0,
) -> tuple[np.ndarray, ...]:
    """Section outlines (K, C, 3) of every link in world axes: x = p + exp(theta) R c.

    Args:
        scene: the robot's shapes.
        position: nodes (N, 3) [m], ordered as `scene_nodes`.
        rotation: elastic rotation vectors theta (N, 3) [rad], world axes; None is none.
        frame: rotation matrices R (L, 3, 3) of the link frames, world from link.
        erls_position: nodes of the ERLS (N, 3) [m], needed to draw the deformation exaggerated.
        scale: how many times as large the deformation is drawn.
    """
    rotation = np.zeros_like(position) if rotation is None else rotation
    if erls_position is not None:
        position, rotation = exaggerated(position, erls_position, rotation, scale)
    elif scale != 1:
        raise ValueError(
            f"A deformation scale of {scale:g} needs erls_position: the scale is measured from the ERLS."
        )
    turn = rotation_matrix(rotation)
    return tuple(
        position[rows, None, :]
        + np.einsum("kij,jl,kcl->kci", turn[rows], frame[i], link.outline)
        for i, (rows, link) in enumerate(
            zip(link_rows(scene), scene.links, strict=True)
        )
    )


def bent_line(
    erls_position: np.ndarray,
    displacement: np.ndarray,
    rotation: np.ndarray,
    pieces: int = 8,
) -> np.ndarray:
    """Centre line (M, 3) through the nodes of one link, bent as its beam elements are.

    Between two nodes the transverse displacement is the cubic with the nodes' displacements and slopes theta x e,
    the axial one is linear: the shape functions of the Euler-Bernoulli element.
    """
    s = np.linspace(0, 1, pieces + 1)[:, None]
    lines = [erls_position[:1] + displacement[:1]]
    for a, b in zip(
        range(len(erls_position) - 1), range(1, len(erls_position)), strict=True
    ):
        chord = erls_position[b] - erls_position[a]
        slope_a, slope_b = np.cross(rotation[a], chord), np.cross(rotation[b], chord)
        bend = _cubic(s, displacement[a], slope_a, displacement[b], slope_b)
        stretch = displacement[a] + s * (displacement[b] - displacement[a])
        axis = chord / max(float(np.linalg.norm(chord)), 1e-12)
        lines.append(
            (
                erls_position[a]
                + s * chord
                + bend
                + np.outer((stretch - bend) @ axis, axis)
            )[1:]
        )
    return np.concatenate(lines)


def _cubic(
    s: np.ndarray,
    u_a: np.ndarray,
    slope_a: np.ndarray,
    u_b: np.ndarray,
    slope_b: np.ndarray,
) -> np.ndarray:
    """Hermite's cubic on [0, 1]."""
    bump = s * (1 - s)
    return (
        u_a
        + s**2 * (3 - 2 * s) * (u_b - u_a)
        + bump * (1 - s) * slope_a
        - bump * s * slope_b
    )
