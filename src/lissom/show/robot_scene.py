"""What there is to draw of a described robot: sections along the links, joints, gravity."""

from typing import Any

import numpy as np

from ..algebra.so3 import from_rpy
from ..bodies.fe.described_link import described_link
from ..bodies.link_body import body_of
from ..describe.geometry import joint_axis, tip
from ..describe.robot import Robot
from ..describe.section import Taper, section_at
from .scene import LinkShape, Scene, circle_contour, rectangle_contour, swept_outline

RIGID_THICKNESS = (
    0.02  # side of the bar drawn for a rigid link, as a part of the robot's reach
)


def scene_of(robot: Robot) -> Scene:
    """Geometry of the undeformed robot."""
    lengths = [
        np.linalg.norm(np.asarray(tip(robot, i), dtype=float))
        for i in range(len(robot.links))
    ]
    side = RIGID_THICKNESS * max(float(sum(lengths)), 1e-3)
    links = tuple(_link(robot, i, side) for i in range(len(robot.links)))
    return Scene(robot.name, links, tuple(float(g) for g in robot.gravity))


def _link(robot: Robot, i: int, side: float) -> LinkShape:
    link = robot.links[i]
    body = body_of(robot, i)
    points = np.asarray(body.points, dtype=float)
    names = tuple(f"{link.name}/{k}" for k in range(len(points)))
    axis = tuple(float(a) for a in joint_axis(robot, i))
    if link.beam is None:
        contour, up = rectangle_contour(side, side), np.array([0.0, 0.0, 1.0])
    else:
        contour, up = (
            _contours(link.beam.section, points),
            np.asarray(body.axes, dtype=float)[:, :, 2],
        )
    outline = (
        swept_outline(points, contour, up) if len(points) > 1 else np.zeros((1, 4, 3))
    )
    if link.fe is not None:
        outline = _sliced(link.fe, outline)
    return LinkShape(link.name, link.joint.type, names, outline, link.flexible, axis)


def _sliced(fe: Any, bar: np.ndarray) -> np.ndarray:
    """Outlines of the slices of a meshed link; those of a bar where its file has none."""
    known = described_link(fe).outline
    return known @ np.asarray(from_rpy(fe.rpy)).T if np.any(known) else bar


def _contours(section: Any, points: np.ndarray) -> np.ndarray:
    """Outline of the section at every node."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    shares = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    if not isinstance(section, Taper):
        return _contour(section)
    return np.stack([_contour(section_at(section, float(s))) for s in shares])


def _contour(section: Any) -> np.ndarray:
    if section.shape in ("rectangle", "box"):
        return rectangle_contour(float(section.y), float(section.z))
    if section.shape in ("circle", "tube"):
        return circle_contour(
            float(section.diameter if section.shape == "circle" else section.outer)
        )
    height, width = (
        float(np.sqrt(12.0 * I / section.A)) for I in (section.Iz, section.Iy)
    )
    return rectangle_contour(height, width)
