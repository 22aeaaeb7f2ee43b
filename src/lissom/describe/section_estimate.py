"""A first guess of the section of a link of which only mass, inertia and perhaps a picture are known.

The guess is a round tube from joint to tip. Its outer radius is that of the surface half-way between the two, or
without a surface that of the thin tube with the link's moment of inertia about its axis, r = sqrt(I / m). Its wall is
such that the tube has a quarter of the link's mass: the rest are motors, gears, housings.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..files.errors import refused
from ..types import Vector3
from .link import inertia_matrix
from .material import library_material

STRUCTURE = 0.25  # of a link's mass, that carries loads
CUTS = (0.4, 0.5, 0.6)  # of the way from joint to tip, where a surface is cut
FEWEST = 8  # edges that a cut meets, at least
THICKEST = 0.9  # of the radius: a wall that is thicker makes a rod


def estimated_section(
    link: Mapping[str, Any], material: str, surface: Any = None
) -> tuple[dict[str, Any], str]:
    """Section of a link, and a sentence that says that it is a guess and where it comes from.

    Args:
        link: plain data, with a rigid body.
        material: name of the library.
        surface: triangles (f, 3, 3) in link axes; None where there are none.

    Raises:
        DescriptionError: the link has no length, no mass, or no extent across it.
    """
    rigid = link["rigid"]
    tip = np.asarray(rigid.get("tip", np.zeros(3)), dtype=float)
    length = float(np.linalg.norm(tip))
    mass = float(rigid["mass"])
    if length == 0.0 or mass <= 0.0:
        what = "length" if length == 0.0 else "mass"
        message = f"has no {what}: nothing to estimate a section from"
        raise refused("flexible", link["name"], message)
    try:
        density = float(library_material(material).density)
    except ValueError as failure:
        raise refused("flexible", f"{link['name']}: {material}", str(failure)) from None
    radius, source = _radius(rigid, tip / length, mass, length, surface)
    if radius <= 0.0:
        message = "has no inertia about its axis: write down a section"
        raise refused("flexible", link["name"], message)
    area = STRUCTURE * mass / (density * length)
    inner = np.sqrt(max(radius**2 - area / np.pi, 0.0))
    if radius - inner > THICKEST * radius:
        inner = 0.0
    words = (
        f"the section is an estimate from {source} and {100 * STRUCTURE:.0f} % of the mass, "
        "only a starting point: replace it by known values"
    )
    if inner == 0.0:
        diameter = 2 * float(radius)
        shown = f"circle {1e3 * diameter:.3g} mm"
        return {"shape": "circle", "diameter": diameter}, f"{shown}: {words}"
    outer, bore = 2 * float(radius), 2 * float(inner)
    shown = f"tube {1e3 * outer:.3g} mm outer, {1e3 * bore:.3g} mm inner"
    return {"shape": "tube", "outer": outer, "inner": bore}, f"{shown}: {words}"


def _radius(
    rigid: Mapping[str, Any],
    axis: Vector3,
    mass: float,
    length: float,
    surface: Any,
) -> tuple[float, str]:
    """Outer radius of the tube [m], and where it comes from."""
    if surface is not None:
        found = _radius_of_surface(np.asarray(surface), axis, length)
        if found is not None:
            return found, "its shape"
    inertia = np.asarray(inertia_matrix(rigid.get("inertia", np.zeros(3))))
    about_axis = max(float(axis @ inertia @ axis), 0.0)
    return float(np.sqrt(about_axis / mass)), "its inertia"


def _radius_of_surface(
    surface: np.ndarray, axis: Vector3, length: float
) -> float | None:
    """Distance of a surface from its own middle line, half-way from joint to tip; None where nothing is there."""
    radii = []
    for share in CUTS:
        cut = _cut(surface, axis, share * length)
        if len(cut) < FEWEST:
            continue
        across = cut - np.outer(cut @ axis, axis)
        # The middle of the box around the cut, not its mean: corners lie denser where a surface is curved.
        centre = 0.5 * (across.min(axis=0) + across.max(axis=0))
        radii.append(np.median(np.linalg.norm(across - centre, axis=1)))
    return float(np.median(radii)) if radii else None


def _cut(surface: np.ndarray, axis: Vector3, height: float) -> np.ndarray:
    """Points (n, 3) in which the edges of triangles meet a plane across an axis."""
    starts = surface.reshape(-1, 3)
    ends = np.roll(surface, -1, axis=1).reshape(-1, 3)
    below, above = starts @ axis - height, ends @ axis - height
    meets = below * above < 0.0
    share = (below[meets] / (below[meets] - above[meets]))[:, None]
    return starts[meets] + share * (ends[meets] - starts[meets])
