"""Rigid bodies as mass, centre and inertia: moved, added up, taken apart."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..types import Matrix3, Vector3


class RigidPart(NamedTuple):
    """Mass [kg], centre [m] and inertia about the centre [kg m^2], in link axes."""

    mass: float
    centre: Vector3
    inertia: Matrix3


NOTHING = RigidPart(0.0, np.zeros(3), np.zeros((3, 3)))


def scaled(part: RigidPart, share: float) -> RigidPart:
    """The body with its density multiplied by `share`: mass and inertia scale, the centre stays."""
    return RigidPart(share * part.mass, part.centre, share * part.inertia)


def moved(part: RigidPart, R: Matrix3, p: Vector3) -> RigidPart:
    """The body seen from a frame in which its own one stands at p, turned by R."""
    inertia = R @ part.inertia @ R.T
    return RigidPart(part.mass, p + R @ part.centre, symmetric(inertia))


def combined(parts: Iterable[RigidPart]) -> RigidPart:
    """Several bodies as one: Steiner's theorem, there and back."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        # Inertia without mass is found in files: it stays.
        inertia = sum((part.inertia for part in parts), np.zeros((3, 3)))
        return RigidPart(0.0, np.zeros(3), inertia)
    centre = sum((part.mass * part.centre for part in parts), np.zeros(3)) / mass
    about_origin = sum((about_joint(part) for part in parts), np.zeros((3, 3)))
    inertia = about_origin - point_inertia(mass, centre)
    return RigidPart(mass, centre, symmetric(inertia))


def remainder(whole: RigidPart, part: RigidPart) -> RigidPart:
    """The rest of a body after a part of it is taken away."""
    mass = whole.mass - part.mass
    if mass <= 0.0:
        return NOTHING
    centre = (whole.mass * whole.centre - part.mass * part.centre) / mass
    inertia = about_joint(whole) - about_joint(part) - point_inertia(mass, centre)
    return RigidPart(mass, centre, symmetric(inertia))


def about_joint(part: RigidPart) -> Matrix3:
    """Inertia about the link's origin, by Steiner's theorem."""
    return part.inertia + point_inertia(part.mass, part.centre)


def point_inertia(mass: float, at: Vector3) -> Matrix3:
    """Inertia of a point mass about the origin."""
    at = np.asarray(at, dtype=float)
    return mass * (at @ at * np.eye(3) - np.outer(at, at))


def symmetric(matrix: Matrix3) -> Matrix3:
    """Exactly symmetric again, after the rounding of products."""
    return (matrix + matrix.T) / 2
