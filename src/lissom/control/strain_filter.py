"""Modal filters: from strain gauges or accelerometers to the modes that the motors move."""

from typing import Any

import numpy as np

from ..analyse.linear.linearize import linearize
from ..solve.model import Model
from .design_error import DesignError
from .tuning import driven_shapes, modal_filter

ROUNDING = 1e-9  # of what a gauge could read of a mode: nothing


def strain_filter(model: Model, q: Any, sensors: tuple[str, ...]) -> np.ndarray:
    """W of the gauges at a pose, see `modal_filter`.

    Raises:
        DesignError: the gauges see none of the modes that the motors move.
    """
    point = linearize(model, q, inputs=(), outputs=sensors)
    second = point.matrices
    assert second is not None
    joints = len(model.formulation.independent)
    elastic = slice(joints, len(second.M))
    shapes = driven_shapes(second.M, second.K, joints)
    readings = _seen(np.asarray(point.C)[:, elastic], shapes.shapes)
    W = modal_filter(readings, shapes.omega, shapes.carried)
    if not np.any(W):
        raise DesignError(
            "these gauges measure no mode that the motors excite", "sensors"
        )
    independent = list(model.formulation.independent)
    if not set(model.actuated) <= set(independent):
        raise DesignError(
            "strain feedback needs the actuated joints as independent joints: set "
            "`independent` in the robot"
        )
    return W[[independent.index(k) for k in model.actuated]]


def _seen(gauges: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Gauge readings of mode shapes; a gauge across the plane of a mode reads rounding, which is set to zero."""
    readings = gauges @ shapes
    largest = np.linalg.norm(gauges, axis=1)[:, None] * np.linalg.norm(shapes, axis=0)
    return np.where(np.abs(readings) > ROUNDING * largest, readings, 0.0)
