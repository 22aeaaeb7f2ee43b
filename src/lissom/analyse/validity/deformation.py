"""Deformation of each body of a robot, in the same terms for every formulation and basis."""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...algebra.so3 import MOST_TURN, lengths
from ...bodies.body import Body
from ...dynamics.formulation import AbstractFormulation
from ...once import once_for_each
from ...solve.model import Model
from ...types import Float, Real


@dataclass(frozen=True)
class BentBody:
    """One body over time, seen from its inner node."""

    link: str  # name of its link
    number: int  # of the body in the model
    body: Body
    length: float  # along its nodes [m]
    displacement_shape: Float[np.ndarray, "6 k c"]
    turn_shape: Float[np.ndarray, "3 k c"]
    # Magnitudes of both shapes, of rotations that come with displacements apart.
    magnitudes: Float[np.ndarray, "6 k c"]
    all_coordinates: Float[np.ndarray, "c t"]

    @functools.cached_property
    def displacement(self) -> Float[np.ndarray, "6 k t"]:
        """Displacement and rotation of every node from where its inner node, unbent, would carry it.

        In the axes of the body, one component after the other.
        """
        return _over_time(self.displacement_shape, self.all_coordinates)

    @functools.cached_property
    def turn(self) -> Float[np.ndarray, "k t"]:
        """Rotation that the formulation assumes to be small [rad]."""
        return _angles(_over_time(self.turn_shape, self.all_coordinates))

    @property
    def coordinates(self) -> Float[np.ndarray, "c t"]:
        """Coordinates that strain the body, as those of `body`.

        Squares and products of them, by which a bent line that is as long as before comes nearer to its joint, are not
        among them.
        """
        return self.all_coordinates[: self.body.coordinates]

    @functools.cached_property
    def most(self) -> Float[np.ndarray, "c 1"]:
        """The largest magnitude of each coordinate."""
        q = self.all_coordinates
        largest = np.maximum(q.max(axis=1), -q.min(axis=1))
        return largest[:, None]

    @functools.cached_property
    def most_displacement_and_turn(self) -> tuple[float, float]:
        """What no node is displaced by more than [m], nor turned [rad]; not a number where a coordinate is none."""
        x, y, z, turn_x, turn_y, turn_z = _over_time(self.magnitudes, self.most)
        with np.errstate(over="ignore"):
            square = x * x + y * y + z * z
            turn_square = turn_x * turn_x + turn_y * turn_y + turn_z * turn_z
        return float(np.sqrt(square.max())), float(np.sqrt(turn_square.max()))


def bent_bodies(model: Model, coordinates: Float[Real, "t l c"]) -> list[BentBody]:
    """Every flexible body with its displacements, from the coordinates of all bodies at t times."""
    q_of_bodies = np.asarray(coordinates).transpose(1, 2, 0)
    return [
        BentBody(*flexible, np.ascontiguousarray(q_of_bodies[flexible.number]))
        for flexible in _flexible_bodies(model)
    ]


class _FlexibleBody(NamedTuple):
    """The fields of a `BentBody` that do not change with time."""

    link: str
    number: int
    body: Body
    length: float
    displacement_shape: Float[np.ndarray, "6 k c"]
    turn_shape: Float[np.ndarray, "3 k c"]
    magnitudes: Float[np.ndarray, "6 k c"]


@once_for_each
def _flexible_bodies(model: Model) -> list[_FlexibleBody]:
    shapes = _displacement_shapes(model.formulation)
    found = []
    for number, (i, body) in enumerate(
        zip(model.body_links, model.bodies, strict=True)
    ):
        link = model.robot.links[i]
        if not link.flexible or body.coordinates == 6:
            continue
        k = len(body.points)
        u = shapes.from_inner_node[number, :, :k]
        # Small rotations are counted all the way from the rigid robot.
        finite = model.formulation.support.finite_rotations
        turn = u[3:] if finite else shapes.rotation[number, :, :k]
        length = length_of(body)
        most = np.abs(np.concatenate([u[:3], turn]))
        found.append(_FlexibleBody(link.name, number, body, length, u, turn, most))
    return found


def _over_time(
    shape: Float[np.ndarray, "d k c"], q: Float[np.ndarray, "c t"]
) -> Float[np.ndarray, "d k t"]:
    """Displacements of nodes by the coordinates of their body."""
    d, k, c = shape.shape
    with np.errstate(invalid="ignore", over="ignore"):
        return (shape.reshape(d * k, c) @ q).reshape(d, k, -1)


def _angles(rotation: Float[np.ndarray, "3 k t"]) -> Float[np.ndarray, "k t"]:
    """Angles of rotation vectors; those that are no numbers are as large as any angle may be."""
    angle = lengths(np.moveaxis(rotation, 0, -1))
    # Not a number is not below anything.
    is_lost = ~(angle < MOST_TURN)
    return np.where(is_lost, MOST_TURN, angle) if is_lost.any() else angle


# --- shapes --------------------------------------------------------------------------------------------------------


class _Shapes(NamedTuple):
    """Linear maps from the coordinates of bodies to their nodes, in body axes, padded to the longest body."""

    from_inner_node: Float[np.ndarray, "l 6 k c"]  # less what the inner node carries
    rotation: Float[np.ndarray, "l 3 k c"]  # all of it


def _displacement_shapes(formulation: AbstractFormulation) -> _Shapes:
    U = np.asarray(formulation.links.node_shape).transpose(0, 2, 1, 3)
    X = np.asarray(formulation.links.points)
    inner = U[:, :, :1]
    # The rotation of the inner node carries the others with it: w x (X - X_0).
    arms = np.broadcast_to((X - X[:, :1])[..., None], (*X.shape, U.shape[-1]))
    carried = np.cross(inner[:, 3:], arms.transpose(0, 2, 1, 3), axis=1)
    own = U - inner
    own[:, :3] -= carried
    return _Shapes(own, np.ascontiguousarray(U[:, 3:]))


@once_for_each
def length_of(body: Body) -> float:
    """Length of a body along its nodes, from the inner one to the tip [m]."""
    points = np.asarray(body.points, dtype=float)
    if body.element_stiffness is None:
        # Nodes of a finite-element link stand in no order: as far as the farthest of them.
        reach = np.linalg.norm(points - points[0], axis=1)
        return float(reach.max())
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return float(steps.sum())
