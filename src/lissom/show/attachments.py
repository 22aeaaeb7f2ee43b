"""Shapes on the links of a robot in a picture: lumped masses, the payload, motors, and given surfaces."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy import ndarray
from numpy.linalg import norm

from ..files.triangles import cylinder_triangles, sphere_triangles
from .scene import LinkShape, Scene, link_rows

RIGID_COLOUR = "#9FABB8"
MASS_COLOUR = "#4A4E57"
PAYLOAD_COLOUR = "#E0A030"
MOTOR_COLOUR = "#6C7A89"
STEEL = 7850.0  # [kg/m^3] density of the balls that stand for masses
SMALLEST, LARGEST = (
    0.06,
    0.5,
)  # radii of such balls, against the length of a frame's arrow
MOTOR_RADIUS, MOTOR_LENGTH = 0.28, 0.7  # against the same
SEE_THROUGH = (
    0.3  # opacity of a surface around a link that bends: its beam shows inside
)


class Attachment(NamedTuple):
    """A shape in the world."""

    triangles: ndarray  # (F, 3, 3) [m]
    colour: str
    kind: str  # for the legend; empty for none
    opacity: float = 1.0


def attachments(
    scene: Scene, position: ndarray, frame: ndarray, length: float
) -> list[Attachment]:
    """Masses, motors and surfaces on the links in one pose.

    Args:
        scene: the robot's shapes.
        position: nodes (N, 3) [m], ordered as `scene_nodes`.
        frame: rotation matrices (L, 3, 3) of the link frames, world from link.
        length: of the arrows of frames [m]; small masses and motors are drawn in its size.
    """
    shapes: list[Attachment] = []
    for link, rows, R in zip(scene.links, link_rows(scene), frame, strict=True):
        points = position[rows]
        shapes += _on_link(link, points, R, length)
    return shapes


def _on_link(
    link: LinkShape, points: ndarray, R: ndarray, length: float
) -> Iterator[Attachment]:
    if link.surface is not None:
        triangles = points[0] + link.surface @ R.T
        opacity = SEE_THROUGH if link.flexible else 1.0
        yield Attachment(triangles, RIGID_COLOUR, "", opacity)
    if link.motor:
        turn = R @ _turn_to(np.asarray(link.axis))
        drum = cylinder_triangles(MOTOR_RADIUS * length, MOTOR_LENGTH * length)
        yield Attachment(points[0] + drum @ turn.T, MOTOR_COLOUR, "motor")
    for load in link.loads:
        if load.mass <= 0.0:
            continue
        centre = points[load.node] + R @ np.asarray(load.offset)
        ball = centre + sphere_triangles(_radius(load.mass, length))
        if load.payload:
            yield Attachment(ball, PAYLOAD_COLOUR, "payload (ball of steel)")
        else:
            yield Attachment(ball, MASS_COLOUR, "mass (ball of steel)")


def _radius(mass: float, length: float) -> float:
    """Radius [m] of a ball of steel with this mass, neither too small to be seen nor larger than the robot."""
    radius = np.cbrt(3 * mass / (4 * np.pi * STEEL))
    return float(np.clip(radius, SMALLEST * length, LARGEST * length))


def _turn_to(axis: ndarray) -> ndarray:
    """A rotation that takes the z axis to an axis."""
    z = axis / (norm(axis) or 1.0)
    # The coordinate axis that is farthest from it makes the other two.
    x = np.cross(np.eye(3)[np.abs(z).argmin()], z)
    x = x / norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
