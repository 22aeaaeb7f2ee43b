"""Coordinates that move no inertia: found, named, and refused."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..files.errors import refused
from ..types import Float
from .model import Model
from .smallest_inertia import require_positive_inertia
from .state import State

T = TypeVar("T")
# A direction whose share of inertia is below this has none: rounding of numbers scaled to one is about 1e-16.
MASSLESS = 1e-13
NAMED = 4  # coordinates that a message names


def modes_with_inertia(
    model: Model, M: Any, find_modes: Callable[[], T], where: str = "here"
) -> T:
    """Modes of a model with inertia matrix M; if there are none, an error names the coordinates that move no inertia.

    Raises:
        DescriptionError: which coordinates these are.
        IndefiniteInertiaError: M is negative along some motion.
    """
    require_positive_inertia(model, np.asarray(M), where)
    try:
        return find_modes()
    except np.linalg.LinAlgError:
        names = massless_names(model, np.asarray(M))
        if names:
            raise refused("links", None, massless_message(names)) from None
        raise


def massless_coordinates(model: Model, state: State) -> list[str]:
    """Names of coordinates that move no inertia at a state: alone, or together."""
    return massless_names(model, np.asarray(model.mass_matrix(state)))


def massless_names(model: Model, M: Float[np.ndarray, "n n"]) -> list[str]:
    """Names of coordinates that move no inertia, from an inertia matrix of the model."""
    names = [*model.independent_names, *model.coordinate_names]
    if not np.isfinite(M).all():
        rows = np.asarray(~np.isfinite(M).all(axis=1))
        return [name for name, is_bad in zip(names, rows, strict=True) if is_bad]
    scale = np.sqrt(np.abs(np.diag(M)))
    empty = scale**2 <= MASSLESS * np.abs(M).max(initial=0.0)
    if empty.any():
        return [name for name, is_empty in zip(names, empty, strict=True) if is_empty]
    if not len(M):
        return []
    # Scaled to a unit diagonal, units and sizes of the coordinates do not matter.
    scaled = M / np.outer(scale, scale)
    _, shares, directions = np.linalg.svd(scaled)
    if shares[-1] > MASSLESS:
        return []
    part = np.abs(directions[-1])
    return [name for name, size in zip(names, part, strict=True) if size > 0.1]


def massless_message(names: list[str]) -> str:
    """What is wrong with coordinates that move no inertia, and what to do."""
    listed = ", ".join(names[:NAMED])
    if len(names) > NAMED:
        listed += f" and {len(names) - NAMED} more"
    return (
        f"no mass or inertia moves with {listed}: any torque would give an infinite "
        "acceleration. Give its link mass or inertia about the joint axis, or its "
        "joint a motor inertia, or fix the joint"
    )
