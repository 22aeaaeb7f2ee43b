"""Scene of a robot: geometry as plain arrays, no graphics library."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.linalg import norm

Number = float | int  # whole numbers are welcome wherever a length or a scale is

SURFACE_DIGITS = 5  # of metres, in files
STANDSTILL = 1e-9  # [m] a node that moves less is held in its place


@dataclass(frozen=True)
class Load:
    """A mass that a node carries, its centre off the node in link axes [m]."""

    node: int  # counted along the link
    mass: float  # [kg]
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    payload: bool = False  # of the robot, not of the link


@dataclass(frozen=True, eq=False)
class LinkShape:
    """One link: where its section is, all along its path, and what sits on it."""

    name: str
    joint: str  # revolute | prismatic | fixed
    nodes: tuple[str, ...]  # "link/k", in order along the path
    # Section outline (K, C, 3) at each node [m], link axes, relative to the node.
    outline: ndarray
    flexible: bool
    axis: tuple[Number, ...] = (0.0, 0.0, 1.0)  # joint axis in the link frame
    loads: tuple[Load, ...] = ()
    motor: bool = False  # a rotor with inertia turns at its joint
    # Triangles (F, 3, 3) of its surface [m], link axes; empty if none was given.
    surface: ndarray | None = None

    def __post_init__(self):
        """Plain numbers inside; an outline that does not fit the nodes is refused."""
        # A frozen dataclass can only set its own fields this way.
        outline = np.asarray(self.outline, float)
        object.__setattr__(self, "outline", outline)
        object.__setattr__(self, "axis", _three_floats(self.axis))
        nodes = len(self.nodes)
        shape = outline.shape
        if len(shape) != 3 or shape[0] != nodes or shape[2] != 3:
            raise ValueError(
                f"Link {self.name!r}: outline must have shape ({nodes}, C, 3), "
                f"one section per node, got {shape}."
            )


@dataclass(frozen=True)
class Scene:
    """Shapes of a robot in one pose, and gravity."""

    name: str
    links: tuple[LinkShape, ...]
    gravity: tuple[Number, ...] = (0.0, 0.0, -9.81)  # [m/s^2], world axes

    def __post_init__(self):
        """Turn gravity into plain numbers."""
        object.__setattr__(self, "gravity", _three_floats(self.gravity))


def _three_floats(vector: Iterable[Number]) -> tuple[float, float, float]:
    """A vector as a plain tuple."""
    x, y, z = (float(value) for value in vector)
    return x, y, z


def scene_nodes(scene: Scene) -> tuple[str, ...]:
    """Names of all nodes, link after link: the order of the rows in every array of this module."""
    names = []
    for link in scene.links:
        names += link.nodes
    return tuple(names)


def link_rows(scene: Scene) -> tuple[slice, ...]:
    """Rows of each link's nodes in an array ordered as `scene_nodes`."""
    rows = []
    start = 0
    for link in scene.links:
        end = start + len(link.nodes)
        rows.append(slice(start, end))
        start = end
    return tuple(rows)


def tip_nodes(scene: Scene) -> tuple[str, ...]:
    """Last node of every link: the elbows, then the tip of the robot."""
    return tuple(link.nodes[-1] for link in scene.links)


def moving_tip(scene: Scene, position: ndarray) -> int:
    """Row of the robot's tip; where a loop holds it in its place, of the link's tip that moves farthest.

    Args:
        scene: the robot.
        position: of all nodes over time, (time, node, axis) in the order of `scene_nodes`.
    """
    tips = [rows.stop - 1 for rows in link_rows(scene)]
    paths = np.nan_to_num(position[:, tips])
    reach = np.ptp(paths, axis=0).max(axis=1)
    tip_moves = reach[-1] > STANDSTILL
    nothing_moves = reach.max() < STANDSTILL
    if tip_moves or nothing_moves:
        return tips[-1]
    return tips[int(reach.argmax())]


def up_direction(gravity: Sequence[Number]) -> ndarray:
    """Unit vector against gravity, z without gravity."""
    g = np.array(gravity, float)
    if not np.any(g):
        return np.array([0.0, 0.0, 1.0])
    return -g / norm(g)


# --- files ---------------------------------------------------------------------------------------------------------


def scene_to_json(scene: Scene) -> str:
    """The scene as one JSON text; `scene_from_json` gives it back number for number, surfaces to 0.01 mm."""
    content = {
        "name": scene.name,
        "gravity": list(scene.gravity),
        "links": [_link_content(link) for link in scene.links],
    }
    return json.dumps(content)


def scene_from_json(text: str) -> Scene:
    """The scene that `scene_to_json` wrote."""
    content = json.loads(text)
    links = [_link_shape(link) for link in content["links"]]
    gravity = tuple(content["gravity"])
    return Scene(content["name"], tuple(links), gravity)


def _link_content(link: LinkShape) -> dict[str, Any]:
    """JSON object of one link."""
    content = {
        "name": link.name,
        "joint": link.joint,
        "nodes": list(link.nodes),
        "outline": link.outline.tolist(),
        "flexible": bool(link.flexible),
        "axis": list(link.axis),
        "loads": [vars(load) for load in link.loads],
        "motor": link.motor,
    }
    if link.surface is not None:
        content["surface"] = np.round(link.surface, SURFACE_DIGITS).tolist()
    return content


def _link_shape(content: dict[str, Any]) -> LinkShape:
    """One link from its JSON object."""
    surface = content.get("surface")
    return LinkShape(
        name=content["name"],
        joint=content["joint"],
        nodes=tuple(content["nodes"]),
        outline=np.array(content["outline"], float),
        flexible=content["flexible"],
        axis=tuple(content["axis"]),
        # Files of older versions do not have these.
        loads=tuple(_load(load) for load in content.get("loads", ())),
        motor=content.get("motor", False),
        surface=None if surface is None else np.array(surface, float),
    )


def _load(content: dict[str, Any]) -> Load:
    return Load(**{**content, "offset": tuple(content["offset"])})


# --- outlines of undeformed links ----------------------------------------------------------------------------------


def rectangle_contour(y: Number, z: Number) -> ndarray:
    """Corners (4, 2) of a rectangle with sides `y` and `z` [m] along the section's axes."""
    return 0.5 * np.array([[y, z], [-y, z], [-y, -z], [y, -z]])


def circle_contour(diameter: Number, points: int = 16) -> ndarray:
    """Points (C, 2) on a circle [m]."""
    angle = 2 * np.pi * np.arange(points) / points
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return 0.5 * diameter * circle


def swept_outline(points: ndarray, contour: ndarray, up: ndarray) -> ndarray:
    """Outline (K, C, 3) of a section carried along a polyline, mitred where the path turns.

    Args:
        points: nodes (K, 3) along the path [m], link axes; repeated points are fine.
        contour: (y, z) of the section's outline [m]: (C, 2), or (K, C, 2) for a taper.
        up: direction of the section's z axis, (3,), or (K-1, 3) one per piece.
    """
    points = np.asarray(points, float)
    # A link of one node has no piece: its section stands across the x axis.
    pieces = max(len(points) - 1, 1)
    corners = np.shape(contour)[-2:]
    contours = np.broadcast_to(contour, (len(points), *corners))
    directions = _piece_directions(points)
    ups = np.broadcast_to(up, (pieces, 3))
    sections = []
    for k in range(len(points)):
        # The first node has no piece before it, the last none after it.
        before = max(k - 1, 0)
        after = min(k, pieces - 1)
        section = _mitred_section(
            contours[k], directions[before], directions[after], ups[before]
        )
        sections.append(section)
    return np.array(sections)


def _piece_directions(points: ndarray) -> ndarray:
    """Unit directions of the pieces of a polyline; a piece of no length takes its predecessor's, or x."""
    direction = np.array([1.0, 0.0, 0.0])
    if len(points) < 2:
        return direction[None]
    directions = []
    for step in np.diff(points, axis=0):
        length = norm(step)
        if length > 1e-12:
            direction = step / length
        directions.append(direction)
    return np.array(directions)


def _mitred_section(
    contour: ndarray, before: ndarray, after: ndarray, up: ndarray
) -> ndarray:
    """Section (C, 3) across `before`, slid along it onto the plane that halves the turn towards `after`."""
    z = _across(up, before)
    if norm(z) < 1e-9:
        # The path runs along `up`: the coordinate axis that is farthest from it takes its place.
        farthest = np.abs(before).argmin()
        z = _across(np.eye(3)[farthest], before)
    z = z / norm(z)
    y = np.cross(z, before)
    section = contour @ np.array([y, z])
    normal = before + after
    slope = normal @ before
    # A path that turns back on itself would be mitred into a spike: its section stays square.
    if slope < 0.1:
        return section
    slide = section @ normal / slope
    return section - np.outer(slide, before)


def _across(vector: ndarray, direction: ndarray) -> ndarray:
    """The part of a vector at right angles to a unit direction."""
    return vector - direction * (vector @ direction)


# --- deformed links ------------------------------------------------------------------------------------------------


def deformed_outline(
    scene: Scene,
    position: ndarray,
    rotation: ndarray | None,
    frame: ndarray,
) -> tuple[ndarray, ...]:
    """Section outlines (K, C, 3) of every link in world axes: x = p + exp(theta) R c.

    Args:
        scene: the robot's shapes.
        position: nodes (N, 3) [m], ordered as `scene_nodes`.
        rotation: elastic rotation vectors theta (N, 3) [rad], world axes; None is none.
        frame: rotation matrices R (L, 3, 3) of the link frames, world from link.
    """
    from scipy.spatial.transform import Rotation  # slow to import

    if rotation is None:
        rotation = np.zeros_like(position)
    turn = Rotation.from_rotvec(rotation).as_matrix()
    outlines = []
    for i, rows in enumerate(link_rows(scene)):
        section = np.einsum(
            "kij,jl,kcl->kci", turn[rows], frame[i], scene.links[i].outline
        )
        outlines.append(position[rows, None, :] + section)
    return tuple(outlines)


def bent_line(
    erls_position: ndarray,
    displacement: ndarray,
    rotation: ndarray,
    pieces: int = 8,
) -> ndarray:
    """Centre line (M, 3) through the nodes of one link, bent as its beam elements are.

    Between two nodes the transverse displacement is the cubic with the nodes' displacements and slopes theta x e,
    the axial one is linear: the shape functions of the Euler-Bernoulli element.
    """
    first = erls_position[:1] + displacement[:1]
    lines = [first]
    for a in range(len(erls_position) - 1):
        ends = slice(a, a + 2)
        line = _bent_element(
            erls_position[ends], displacement[ends], rotation[ends], pieces
        )
        # Its first point is the last one of the element before.
        lines.append(line[1:])
    return np.concatenate(lines)


def _bent_element(
    ends: ndarray, displacement: ndarray, rotation: ndarray, pieces: int
) -> ndarray:
    """Centre line (pieces + 1, 3) of one element between its two nodes."""
    s = np.linspace(0, 1, pieces + 1)[:, None]
    u_a, u_b = displacement
    chord = ends[1] - ends[0]
    slope_a = np.cross(rotation[0], chord)
    slope_b = np.cross(rotation[1], chord)
    cubic = _hermite(s, u_a, slope_a, u_b, slope_b)
    linear = u_a + s * (u_b - u_a)
    # Across the element the cubic holds, along it the linear displacement.
    axis = chord / max(norm(chord), 1e-12)
    along = (linear - cubic) @ axis
    straight = ends[0] + s * chord
    return straight + cubic + np.outer(along, axis)


def _hermite(
    s: ndarray,
    u_a: ndarray,
    slope_a: ndarray,
    u_b: ndarray,
    slope_b: ndarray,
) -> ndarray:
    """Hermite's cubic on [0, 1]."""
    blend = s**2 * (3 - 2 * s)
    bump = s * (1 - s)
    bend_a = bump * (1 - s) * slope_a
    bend_b = bump * s * slope_b
    return u_a + blend * (u_b - u_a) + bend_a - bend_b
