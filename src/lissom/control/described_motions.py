"""Motions from their descriptions: tables, and motions that are planned within limits."""

from functools import lru_cache
from typing import Any

import numpy as np

from ..describe.controllers import Common
from ..describe.planned_motions import (
    MinimumTimeMotion,
    TimeOptimalMotion,
    TipLineMotion,
    ViaPointMotion,
)
from ..describe.time_tables import Row
from ..solve.channels import UnknownNameError
from ..solve.inverse_kinematics import UnreachableError
from ..solve.model import Model
from ..solve.signals import AbstractSignal
from .design_error import DesignError
from .minimum_time import minimum_time
from .nominal import NominalMotion, actuated_reference
from .references import reference_through
from .time_optimal import time_optimal
from .tip_inversion import tip_inversion
from .tip_motion import tip_line


def described_motion(model: Model, controller: Common) -> AbstractSignal:
    """The motion of a controller's reference, of the actuated joints or of all moving ones.

    Raises:
        DesignError: no motion keeps the limits, or a package is missing.
    """
    described = controller.reference
    if isinstance(described, TimeOptimalMotion):
        limits = (described.speed, described.acceleration, described.jerk)
        return time_optimal(described.value, *limits)
    if isinstance(described, ViaPointMotion):
        from .path_timing import through_points  # slow to import

        return through_points(
            model,
            described.value,
            torque=described.torque,
            speed=described.speed,
            acceleration=described.acceleration,
        ).reference
    if isinstance(described, MinimumTimeMotion):
        return _minimum_time(model, controller, ()).reference
    if isinstance(described, TipLineMotion):
        return _line(model, described)
    return reference_through(described.t, described.value, described.interpolation)


def end_rows(model: Model, controller: Common) -> tuple[np.ndarray, np.ndarray]:
    """Joint coordinates at the start and at the end of a controller's motion, as many as it leads."""
    described = controller.reference
    if isinstance(described, TipLineMotion):
        line = _line(model, described)
        first, last = (np.asarray(line.value(t)) for t in described.t)
    else:
        first, last = (np.asarray(described.value[k], dtype=float) for k in (0, -1))
    return first, last


def _line(model: Model, described: TipLineMotion) -> AbstractSignal:
    """The motion of all moving joints along a line of the tip."""
    line = (described.t, described.start, described.target)
    return _line_of(model, *line, described.interpolation, described.node)


@lru_cache(maxsize=8)
def _line_of(
    model: Model,
    t: Row,
    start: Row,
    target: Row,
    profile: str,
    node: str | None,
) -> AbstractSignal:
    begin, end = t
    kind = {"profile": profile, "node": node, "begin": begin}
    try:
        return tip_line(model, start, target, end - begin, **kind).reference
    except (UnreachableError, UnknownNameError, ValueError) as failure:
        raise DesignError(str(failure), "reference") from None


def planned_nominal(
    model: Model, controller: Common, sensors: tuple[str, ...]
) -> NominalMotion | None:
    """The nominal motion of a controller whose plan has torques of its own; None where it has not."""
    if isinstance(controller.reference, MinimumTimeMotion):
        return _minimum_time(model, controller, sensors)
    if controller.feedforward == "tip":
        motion = actuated_reference(model, described_motion(model, controller))
        return tip_inversion(model, motion, sensors).nominal
    return None


def _minimum_time(model: Model, controller: Common, sensors: Any) -> NominalMotion:
    if controller.shaper is not None:
        raise DesignError(
            "a minimum-time motion comes to rest by its own torques, which a shaper "
            "would change",
            "shaper",
        )
    described = controller.reference
    first, last = np.asarray(described.value, dtype=float)
    return minimum_time(
        model,
        first,
        last,
        described.torque,
        sensors,
        sample=controller.sample,
        fastest=described.fastest,
    ).nominal
