"""Warnings about joints: where they start, what their drives can do, and where their range ends."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...describe.joint import Joint
from ...files.quantity import is_jax_value
from ...solve.inputs import Inputs
from ...solve.model import Model
from ...types import Float
from .bending import when
from .ordinary import TORQUE, outside
from .validity_warning import ValidityWarning, worst_warning

TURN = 2 * np.pi  # [rad]
TURNS = (
    10.0  # away from zero, that hardly any joint makes and every angle in degrees does
)
# Output times are compared with limits that a run may touch: rounding, as a share of the limit.
ROUNDING = 1e-6

UNITS = {"revolute": ("rad", "N m"), "prismatic": ("m", "N")}


def joint_start_warnings(model: Model, encoder: Any) -> Iterator[ValidityWarning]:
    """Joints that start many turns away from where they can be."""
    yield from worst_warning(_starts(model, np.asarray(encoder)))


def _starts(
    model: Model, encoder: Float[np.ndarray, " j"]
) -> Iterator[ValidityWarning]:
    for name, joint, reading in zip(
        model.joint_names, joints_by_encoder(model), encoder, strict=True
    ):
        if joint.type != "revolute":
            continue
        low, high = position_limits(joint) or (-TURNS * TURN, TURNS * TURN)
        away = max(low - reading, reading - high)
        allowed = TURN if position_limits(joint) else 0.0
        if away <= allowed:
            continue
        message = f"it starts at {reading:.4g} rad, {away / TURN:.3g} turns outside of {low:.4g} to {high:.4g} rad"
        remedy = "Write angles in rad, or with their unit: '90 deg'"
        limit = high if reading > high else low
        yield ValidityWarning(
            "start", f"joint {name}", message, float(reading), limit, remedy
        )


def joints_by_encoder(model: Model) -> list[Joint]:
    """The joints that move, in the order of their encoders."""
    return [link.joint for link in model.robot.links if link.joint.moves]


def position_limits(joint: Joint) -> tuple[float, float] | None:
    """The range of a joint; `None` where it has none or where it is traced."""
    limits = joint.limits
    if limits is None or limits.position is None or is_jax_value(limits.position):
        return None
    return limits.position


def has_stop(joint: Joint) -> bool:
    """Whether end stops hold a joint in its range: it presses them in, and that is their work."""
    return joint.limits is not None and joint.limits.stop is not None


# --- range ---------------------------------------------------------------------------------------------------------


def range_warnings(
    model: Model, encoder: Float[np.ndarray, "t j"], t: np.ndarray | None = None
) -> Iterator[ValidityWarning]:
    """Joints that leave their range where no end stop holds them."""
    yield from worst_warning(_beyond_range(model, encoder, t))


def _beyond_range(
    model: Model, encoder: Float[np.ndarray, "t j"], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    joints = zip(model.joint_names, joints_by_encoder(model), encoder.T, strict=True)
    for name, joint, reading in joints:
        limits = position_limits(joint)
        if limits is None or has_stop(joint):
            continue
        low, high = limits
        excess = np.maximum(low - reading, reading - high)
        largest = float(excess.max())
        if largest <= ROUNDING * max(abs(low), abs(high)):
            continue
        row = int(excess.argmax())
        limit = high if reading[row] > high else low
        unit = UNITS[joint.type][0]
        since = "" if t is None else f" from {t[int(np.argmax(excess > 0))]:.4g} s on"
        message = f"it leaves its range{since}: {largest:.3g} {unit} beyond {limit:.4g} {unit}{when(excess, t)}"
        remedy = "No end stop acts there: change the motion or the limits, or add a stop (limits: {stop: true})"
        about = f"joint {name}"
        yield ValidityWarning(
            "range", about, message, float(reading[row]), limit, remedy
        )


# --- drives --------------------------------------------------------------------------------------------------------


def drive_warnings(
    model: Model, torque: Float[np.ndarray, "t j"], t: np.ndarray | None = None
) -> Iterator[ValidityWarning]:
    """Torques that the drives cannot give, or that hardly any drive gives."""
    yield from worst_warning(_beyond_drive(model, torque, t))
    yield from worst_warning(_huge_torques(model, np.abs(torque)))


def _beyond_drive(
    model: Model, torque: Float[np.ndarray, "t j"], t: np.ndarray | None
) -> Iterator[ValidityWarning]:
    joints = zip(
        model.joint_names, joints_by_encoder(model), np.abs(torque).T, strict=True
    )
    for name, joint, needed in joints:
        limit = None if joint.limits is None else joint.limits.torque
        if limit is None or is_jax_value(limit):
            continue
        largest = float(needed.max())
        if largest <= (1 + ROUNDING) * limit:
            continue
        unit = UNITS[joint.type][1]
        message = f"its drive would need {largest:.4g} {unit}{when(needed, t)}, beyond its limit of {limit:.4g} {unit}"
        remedy = "Use a stronger drive, a lighter load or a slower motion"
        yield ValidityWarning("drive", f"joint {name}", message, largest, limit, remedy)


def table_warnings(model: Model, inputs: Inputs) -> Iterator[ValidityWarning]:
    """Torques of tables that hardly any drive gives, whether the run got that far or not."""
    yield from worst_warning(_tables(model, inputs))


def _tables(model: Model, inputs: Inputs) -> Iterator[ValidityWarning]:
    for joint, table in inputs.torque:
        largest = float(np.abs(table.values).max())
        about = f"joint {model.joint_names[joint]}"
        yield from outside(about, "the torque of its table", largest, TORQUE)
        yield from _cut(about, joints_by_encoder(model)[joint], largest)


def _cut(about: str, joint: Joint, largest: float) -> Iterator[ValidityWarning]:
    """A table beyond the limit of the drive: it is cut there."""
    limit = None if joint.limits is None else joint.limits.torque
    if limit is None or is_jax_value(limit) or largest <= limit:
        return
    unit = UNITS[joint.type][1]
    message = f"its table reaches {largest:.4g} {unit} and is cut at its limit of {limit:.4g} {unit}"
    remedy = "Use a stronger drive, or a table that stays within the limit"
    yield ValidityWarning("drive", about, message, largest, limit, remedy)


def _huge_torques(
    model: Model, torque: Float[np.ndarray, "t j"]
) -> Iterator[ValidityWarning]:
    for name, values in zip(model.joint_names, torque.T, strict=True):
        largest = float(values.max())
        yield from outside(f"joint {name}", "its torque", largest, TORQUE)
