"""Linear models as plain data: the operating point, sizes, names and poles."""

from typing import Any

import numpy as np

from ...describe.modelled import model_facts
from ...describe.robot_facts import values_by_name
from ...files.summary import plain

# A pole counts as unstable only this far in the right half plane: rigid motions have double poles at zero, and
# round-off spreads a double pole by the square root of its own size.
UNSTABLE_SHARE = 1e-7
UNSTABLE_RATE = 1e-3  # [1/s]


def linear_facts(linear: Any) -> dict[str, Any]:
    """The robot of a linear model, and how it is modelled; of one that was read from a file, its formulation."""
    if linear.origin is None:
        point = linear.operating
        return {"robot": point.robot, "formulation": point.formulation}
    model = linear.origin.model
    return model_facts(model.robot.name, model.modelled)


def linear_data(linear: Any) -> dict[str, Any]:
    """A linear model without its matrices, which go to a file."""
    point = linear.operating
    poles = slowest_first(linear.poles)
    data = linear_facts(linear) | {
        "point": {
            "q": values_by_name(point.independent, point.q),
            "qd": values_by_name(point.independent, point.qd),
            "qdd": values_by_name(point.independent, point.qdd),
            # What the encoders of all moving joints read, and the torques that hold the motion.
            "encoder": values_by_name(point.joints, point.encoder),
            "torque": values_by_name(point.joints, point.torque),
        },
        "shapes": {key: np.shape(getattr(linear, key)) for key in "ABCD"},
        "states": linear.state_names,
        "inputs": linear.input_names,
        "outputs": linear.output_names,
        "output_values": dict(zip(linear.output_names, point.outputs, strict=True)),
        "eigenvalues": poles,
        "unstable": unstable_poles(poles),
        "warnings": linear.warnings,
        "weight_note": None if linear.origin is None else linear.origin.weight_note,
    }
    return plain(data)


def slowest_first(poles: Any) -> np.ndarray:
    """Poles by their size; of a pair, the one with the positive imaginary part first."""
    order = np.lexsort((-poles.imag, np.abs(poles)))
    return poles[order]


def unstable_poles(poles: np.ndarray) -> int:
    """How many poles lie in the right half plane."""
    right = np.real(poles) > UNSTABLE_SHARE * np.abs(poles) + UNSTABLE_RATE
    return int(np.sum(right))
