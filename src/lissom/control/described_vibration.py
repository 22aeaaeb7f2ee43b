"""Laws on strains and accelerations beside a position loop, from their descriptions."""

from typing import Any

import numpy as np

from ..analyse.linear.linearize import linearize
from ..describe.controllers import Common, DelayedReferenceController, HybridController
from ..solve.model import Model
from .delayed_reference import DelayedReference
from .described_joint_control import position_loop
from .described_motions import end_rows
from .described_numbers import actuated_columns
from .described_references import design_pose, nominal_of, shaped_reference
from .design_error import DesignError
from .hybrid import Hybrid
from .nominal import NominalMotion, nominal_motion
from .tuning import (
    delay_gain,
    driven_shapes,
    first_driven_mode,
    joint_inertia,
    modal_filter,
    vibration_gain,
)

# Periods of the first mode: time constant of a vibration loop's high-pass filter.
SETTLING = 3.0
ROUNDING = 1e-9  # of what a gauge could read of a mode: nothing


def delayed_reference_law(
    model: Model, controller: DelayedReferenceController
) -> DelayedReference:
    """A position loop whose reference waits where links are strained."""
    inner = position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    slow = _at_rest(model, controller, sensors)
    q = design_pose(model, controller)
    W = strain_filter(model, q, sensors)
    first, last = end_rows(model, controller)
    direction = actuated_columns(model, last - first)
    found = delay_gain(model, q, inner, sensors, W, direction)
    gain, catch_up = controller.gain, controller.catch_up
    return DelayedReference(
        inner=inner,
        sample=controller.sample,
        static=slow,
        strain_names=sensors,
        filter=W,
        gain=found.chosen if gain is None else gain,
        slowest=controller.slowest,
        limit=controller.limit,
        catch_up=controller.limit if catch_up is None else catch_up,
        stable=(found.least, found.largest),
    )


def _at_rest(
    model: Model, controller: Common, sensors: tuple[str, ...]
) -> NominalMotion:
    """What sensors read along the motion if it were infinitely slow."""
    reference = shaped_reference(model, controller)
    return nominal_motion(
        model, reference, sensors, "gravity", step=controller.sample, slow=True
    )


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
    found = driven_shapes(second.M, second.K, joints)
    readings = _seen(np.asarray(point.C)[:, elastic], found.shapes)
    W = modal_filter(readings, found.omega, found.carried)
    if not np.any(W):
        raise DesignError("these gauges see no mode that the motors move", "sensors")
    independent = list(model.formulation.independent)
    if not set(model.actuated) <= set(independent):
        raise DesignError(
            "a loop on strains needs the joints with motors as the independent ones: write `independent` in the robot"
        )
    return W[[independent.index(k) for k in model.actuated]]


def _seen(gauges: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """What gauges read of mode shapes; a gauge across the plane of a mode reads rounding, which is left out."""
    readings = gauges @ shapes
    largest = np.linalg.norm(gauges, axis=1)[:, None] * np.linalg.norm(shapes, axis=0)
    return np.where(np.abs(readings) > ROUNDING * largest, readings, 0.0)


def hybrid_law(model: Model, controller: HybridController) -> Hybrid:
    """A position loop, and a loop on strains or accelerations beside it."""
    inner = position_loop(model, controller, controller.gains)
    sensors = controller.sensors
    nominal = nominal_of(model, controller, sensors)
    q = design_pose(model, controller)
    first = first_driven_mode(model, q)
    settling = controller.settling or SETTLING * 2 * np.pi / first.omega

    def law_with(gain: np.ndarray) -> Hybrid:
        return Hybrid(
            inner=inner,
            sample=controller.sample,
            nominal=nominal,
            signal_names=sensors,
            gain=gain,
            settling=settling,
            of_rate=controller.signal == "rate",
        )

    if controller.gain is not None:
        return law_with(_written_gain(model, controller))
    # Torques per joint acceleration, from what the gauges read per joint acceleration.
    W = strain_filter(model, q, sensors)
    direction = joint_inertia(model, q)[:, None] * W
    found = vibration_gain(model, q, lambda g: law_with(g * direction), 100.0)
    return law_with(found.chosen * direction)


def _written_gain(model: Model, controller: HybridController) -> np.ndarray:
    """A gain as it is written.

    Raises:
        DesignError: another size than a row for each drive, a number for each sensor.
    """
    gain = np.asarray(controller.gain, dtype=float)
    wanted = (len(model.actuated), len(controller.sensors))
    if gain.shape != wanted:
        raise DesignError(
            f"{wanted[0]} rows (drives) of {wanted[1]} numbers (sensors), got {gain.shape[0]} of {gain.shape[1]}",
            "gain",
        )
    return gain
