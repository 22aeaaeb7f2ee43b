"""Scene of a described robot: sections along the links, joints, gravity."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.linalg import norm

from ..algebra.so3 import from_rpy
from ..bodies.fe.described_link import described_link
from ..bodies.mesh import polyline_mesh
from ..describe.geometry import beam_path, beam_up, joint_axis, node_count, tip
from ..describe.robot import Robot
from ..describe.section import Taper, section_at
from ..files.array_file import ArrayFileError
from ..files.description_files import library_folder
from ..files.errors import refused
from ..files.triangles import read_stl, simplified
from ..once import once_for_each
from .scene import (
    LinkShape,
    Load,
    Scene,
    circle_contour,
    rectangle_contour,
    scene_to_json,
    swept_outline,
)

BAR_SIDE = 0.02  # of the bar drawn for a rigid link, as a part of the robot's reach


@once_for_each
def scene_text(robot: Robot) -> str:
    """The geometry of a robot as result files hold it."""
    return scene_to_json(scene_of(robot))


def scene_of(robot: Robot) -> Scene:
    """Geometry of the undeformed robot, from its description alone: no link's mass or stiffness is needed."""
    side = BAR_SIDE * max(_reach(robot), 1e-3)
    links = []
    for i in range(len(robot.links)):
        links.append(_link_shape(robot, i, side))
    gravity = tuple(float(g) for g in robot.gravity)
    return Scene(robot.name, tuple(links), gravity)


def _reach(robot: Robot) -> float:
    """Distances from joint to tip [m] of all links, added up."""
    reach = 0.0
    for i in range(len(robot.links)):
        reach += float(norm(_tip_point(robot, i)))
    return reach


def _link_shape(robot: Robot, i: int, side: float) -> LinkShape:
    """Nodes and section outlines of link i."""
    link = robot.links[i]
    if link.beam is not None:
        outline = _beam_outline(robot, i)
    elif link.fe is not None:
        outline = _meshed_outline(link.fe, side)
    else:
        outline = _rigid_outline(robot, i, side)
    nodes = [f"{link.name}/{k}" for k in range(len(outline))]
    axis = [float(a) for a in joint_axis(robot, i)]
    motor = link.joint.motor
    return LinkShape(
        name=link.name,
        joint=link.joint.type,
        nodes=tuple(nodes),
        outline=outline,
        flexible=link.flexible,
        axis=tuple(axis),
        loads=tuple(_loads(robot, i, len(nodes))),
        motor=motor is not None and bool(motor.inertia),
        surface=None if link.visual is None else surface_of(link.visual.file),
    )


def _loads(robot: Robot, i: int, nodes: int) -> Iterator[Load]:
    """Lumped masses of link i, and the payload on the last link."""
    for entry in robot.links[i].masses:
        node = nodes - 1 if entry.node == "tip" else int(entry.node)
        yield Load(node, float(entry.mass), _floats(entry.offset))
    payload = robot.payload
    if payload is not None and i == len(robot.links) - 1:
        yield Load(nodes - 1, float(payload.mass), _floats(payload.offset), True)


def _floats(vector: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in vector)


def surface_of(file: str) -> ndarray:
    """Few triangles of a surface in a file, as described or of the library.

    Raises:
        DescriptionError: there is no such file, or it holds no triangles.
    """
    path = Path(file)
    if not path.is_absolute():
        path = library_folder() / path
    try:
        return simplified(read_stl(path))
    except (OSError, ArrayFileError) as failure:
        reason = str(failure).removeprefix(f"{path}: ")
        raise refused("visual", file, reason) from None


def _beam_outline(robot: Robot, i: int) -> ndarray:
    """Section of a beam at its nodes, swept along its path."""
    beam: Any = robot.links[i].beam
    path = np.asarray(beam_path(robot, i), dtype=float)
    up = np.asarray(beam_up(robot, i), dtype=float)
    mesh = polyline_mesh(path, up, beam.elements)
    points = np.asarray(mesh.points)
    axes = np.asarray(mesh.axes)
    contours = _contours(beam.section, points)
    # The third column of an element's axes is the z axis of its section.
    return swept_outline(points, contours, axes[:, :, 2])


def _meshed_outline(fe: Any, side: float) -> ndarray:
    """Slices of a meshed link; a bar through its nodes where its file has no slices."""
    link = described_link(fe)
    # From the axes of the file to those of the link.
    R = np.asarray(from_rpy(fe.rpy))
    if np.any(link.outline):
        return link.outline @ R.T
    return _bar_outline(link.points @ R.T, side)


def _rigid_outline(robot: Robot, i: int, side: float) -> ndarray:
    """A bar from the joint to the tip; nothing visible where the tip is at the joint."""
    if node_count(robot, i) == 1:
        return np.zeros((1, 4, 3))
    ends = np.stack([np.zeros(3), _tip_point(robot, i)])
    return _bar_outline(ends, side)


def _bar_outline(points: ndarray, side: float) -> ndarray:
    """A square bar through the points."""
    contour = rectangle_contour(side, side)
    z_axis = np.array([0.0, 0.0, 1.0])
    return swept_outline(points, contour, z_axis)


def _tip_point(robot: Robot, i: int) -> ndarray:
    return np.asarray(tip(robot, i), dtype=float)


def _contours(section: Any, points: ndarray) -> ndarray:
    """Outline of the section: one for all nodes, or one for each node of a taper."""
    if not isinstance(section, Taper):
        return _contour(section)
    pieces = np.diff(points, axis=0)
    lengths = norm(pieces, axis=1)
    # A taper counts from 0 at the joint to 1 at the tip, along the path.
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    contours = []
    for share in along / lengths.sum():
        here = section_at(section, float(share))
        contours.append(_contour(here))
    return np.stack(contours)


def _contour(section: Any) -> ndarray:
    """Outline of one section."""
    if section.shape in ("rectangle", "box"):
        return rectangle_contour(float(section.y), float(section.z))
    if section.shape == "circle":
        return circle_contour(float(section.diameter))
    if section.shape == "tube":
        return circle_contour(float(section.outer))
    # A general section is drawn as the rectangle with its area and second moments: I_z = A y^2 / 12, I_y = A z^2 / 12.
    y = float(np.sqrt(12.0 * section.Iz / section.A))
    z = float(np.sqrt(12.0 * section.Iy / section.A))
    return rectangle_contour(y, z)
