"""The outermost fibres of sections: how thick they are, and how far their strain exceeds that of the axis."""

from typing import Any, NamedTuple

import numpy as np

from ...describe.section import (
    Box,
    Circle,
    Rectangle,
    SectionValues,
    Tube,
    section_values,
)
from ...types import Float


class Fibres(NamedTuple):
    """Distances from the axis of a section to its outermost fibres [m].

    A fibre is strained by `axial + y curvature_z + z curvature_y`, or, in a round section, by `axial` and the
    hypotenuse of the other two; a twist rate shears it by `shear` times the rate.
    """

    y: float
    z: float
    shear: float
    is_round: bool


class FibresAlong(NamedTuple):
    """`Fibres` at many places along a beam [m]."""

    y: Float[np.ndarray, "*n"]
    z: Float[np.ndarray, "*n"]
    shear: Float[np.ndarray, "*n"]
    is_round: bool


def fibres(section: Any, nu: float) -> Fibres:
    """Outermost fibres of a section that is not tapered.

    Of a general section only values are known. Its outermost fibre lies at least its radius of gyration sqrt(I / A)
    away from the axis, so that the strain there is at least what is found here; its shear is left out.
    """
    values = section_values(section, nu)
    if isinstance(section, Circle | Tube):
        radius = thickness(section) / 2
        return Fibres(radius, radius, radius, True)
    if isinstance(section, Rectangle):
        shear = rectangle_shear(section.y, section.z)
        return Fibres(section.y / 2, section.z / 2, shear, False)
    if isinstance(section, Box):
        shear = _box_shear(section, values)
        return Fibres(section.y / 2, section.z / 2, shear, False)
    gyration_y = float(np.sqrt(values.second_moment_z / values.area))
    gyration_z = float(np.sqrt(values.second_moment_y / values.area))
    return Fibres(gyration_y, gyration_z, 0.0, False)


def thickness(section: Any) -> float:
    """Largest dimension of a section that is not tapered [m]; of a general one, that of a rectangle with its values."""
    if isinstance(section, Circle):
        return section.diameter
    if isinstance(section, Tube):
        return section.outer
    if isinstance(section, Rectangle | Box):
        return max(section.y, section.z)
    # I = A h^2 / 12.
    return float(np.sqrt(12 * max(section.Iy, section.Iz) / section.A))


def rectangle_shear(y: float, z: float) -> float:
    r"""Largest shear strain of a twisted solid rectangle, per unit twist rate [m].

    $$ \gamma = b \left[ 1 - \frac{8}{\pi^2} \sum_{n\,\mathrm{odd}} \frac{1}{n^2 \cosh(n \pi a / 2 b)} \right] $$

    with the sides a >= b. Reference: [TimoshenkoGoodier1970], section 109.
    """
    a, b = max(y, z), min(y, z)
    # Beyond eleven the terms are below 1e-9 of the first, even of a square; cosh of long rectangles is cut off.
    n = np.arange(1, 12, 2)
    angle = np.minimum(n * np.pi * a / (2 * b), 700.0)
    series = float(np.sum(1 / (n**2 * np.cosh(angle))))
    return b * (1 - 8 / np.pi**2 * series)


def _box_shear(section: Box, values: SectionValues) -> float:
    """Bredt: the shear flow T / (2 A) of a closed thin wall, with T = G J times the twist rate."""
    t = section.wall
    enclosed = (section.y - t) * (section.z - t)
    return float(values.torsion_constant) / (2 * enclosed * t)
