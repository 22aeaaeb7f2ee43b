"""Numbers of a description, one for each joint or sensor."""

from typing import Any

import numpy as np

from ..solve.model import Model
from .design_error import wrong_count


def actuated_columns(model: Model, values) -> np.ndarray:
    """The columns of the actuated joints, where there is one for every moving joint."""
    values = np.asarray(values, dtype=float)
    if values.shape[-1] == model.n_joints:
        return values[..., list(model.actuated)]
    return values


def for_drives(model: Model, name: str, values: Any) -> np.ndarray | None:
    """One number for each actuated joint, from one, these, or one for every moving joint."""
    if values is None:
        return None
    return each_or_none(name, actuated_columns(model, values), len(model.actuated))


def gains_or_zero(model: Model, name: str, values: Any) -> np.ndarray:
    """Gains, one for each actuated joint as `for_drives` gives them; zero where nothing is written."""
    numbers = for_drives(model, name, values)
    return np.zeros(len(model.actuated)) if numbers is None else numbers


def each_or_none(name: str, values: Any, count: int) -> np.ndarray | None:
    """Numbers, one for each of `count`; None where nothing is written."""
    return None if values is None else each(name, values, count)


def each(name: str, values: Any, count: int) -> np.ndarray:
    """One number for each of so many, from one or from all of them.

    Raises:
        DesignError: another count.
    """
    array = np.asarray(values, dtype=float)
    if array.shape not in ((1,), (count,)):
        raise wrong_count(array.size, count, name)
    return np.broadcast_to(array, (count,)).copy()
