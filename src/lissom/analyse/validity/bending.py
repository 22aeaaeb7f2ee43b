"""Warnings about bent links: deflection and rotation beyond the range of the formulation."""

from collections.abc import Iterator

import numpy as np

from ...solve.model import Model
from .deformation import BentBody
from .validity_warning import ValidityWarning, worst_warning

# A body that bends by this part of its length shortens by 0.6 times its square, 0.6 %: what first order leaves out.
DEFLECTION = 0.1
# [rad] cos(0.2) is 2 % off 1; a formulation of first order also loses the products of rotations and loads.
FINITE_ROTATION = 0.2
SMALL_ROTATION = 0.1


def bending_warnings(
    model: Model, bodies: list[BentBody], t: np.ndarray | None = None
) -> Iterator[ValidityWarning]:
    """Bodies that bend or turn too far: the worst of each, once."""
    yield from worst_warning(_deflections(model, bodies, t))
    yield from worst_warning(_rotations(model, bodies, t))


def _deflections(
    model: Model, bodies: list[BentBody], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    for bent in bodies:
        # Most links bend far less, as the bound shows without a look at every time.
        most, _ = bent.most_displacement_and_turn
        if most <= DEFLECTION * bent.length:
            continue
        x, y, z = bent.displacement[:3]
        # What is too long for a double is infinitely long.
        with np.errstate(over="ignore"):
            square = x * x + y * y + z * z
        largest = float(np.sqrt(square.max()))
        share = largest / bent.length
        # Written so that a number that is not finite raises a warning too.
        if share <= DEFLECTION:
            continue
        message = (
            f"it bends by {largest:.3g} m{when(square, t)}, {100 * share:.0f} % of the {bent.length:.3g} m of one body;"
            f" {model.formulation_name} is valid up to {100 * DEFLECTION:g} %"
        )
        about = f"link {bent.link}"
        yield ValidityWarning(
            "deflection", about, message, share, DEFLECTION, _remedy(model)
        )


def _rotations(
    model: Model, bodies: list[BentBody], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    finite = model.formulation.support.finite_rotations
    limit = FINITE_ROTATION if finite else SMALL_ROTATION
    place = "within one body" if finite else "from the rigid robot"
    for bent in bodies:
        _, most = bent.most_displacement_and_turn
        if most <= limit:
            continue
        largest = float(bent.turn.max())
        if largest <= limit:
            continue
        message = (
            f"its nodes rotate by {largest:.3g} rad {place}{when(bent.turn, t)};"
            f" {model.formulation_name} is valid up to {limit:g} rad"
        )
        about = f"link {bent.link}"
        yield ValidityWarning(
            "rotation", about, message, largest, limit, _remedy(model)
        )


def when(values: np.ndarray, t: np.ndarray | None) -> str:
    """` at 0.31 s`, where the largest of values (..., t) is; nothing for a single state."""
    if t is None:
        return ""
    row = np.unravel_index(np.argmax(values), values.shape)[-1]
    return f" at {t[row]:.4g} s"


def _remedy(model: Model) -> str:
    stiffening = model.choices.stiffening == "none"
    if model.formulation_name != "nonlinear":
        return "Use formulation: nonlinear with beam.segments and stiffening: geometric, or a stiffer link"
    if stiffening:
        return "Use more beam.segments and stiffening: geometric, or a stiffer link"
    return "Use more beam.segments, or a stiffer link"
