"""Numbers and names of a described controller, checked against its robot before anything is designed."""

from typing import Any

from ..describe.controllers import Common
from ..files.part import entry_of
from ..solve.channels import output_named
from ..solve.model import Model
from .described_numbers import each_or_none, for_drives
from .design_error import DesignError

# Keys of the parts that controllers share, with one number for each actuated joint.
OF_DRIVES = (
    "gains.kp",
    "gains.ki",
    "gains.kd",
    "torque_limit",
    "tolerances.position",
    "tolerances.torque",
    "noise.torque",
    "noise.drift",
)
OF_DRIVES_OF_THE_LOOP = ("loop.torque_limit", "loop.rate_limit")


def check_described(model: Model, controller: Any) -> None:
    """Refuse numbers for other joints and sensors than the robot has.

    Raises:
        DesignError: another count of numbers than of drives or sensors, or a sensor that is named twice.
        UnknownNameError: a sensor that does not exist.
    """
    if not isinstance(controller, Common):
        return
    for field in (*OF_DRIVES, *controller.of_drives, *OF_DRIVES_OF_THE_LOOP):
        for_drives(model, field, entry_of(controller, *field.split(".")))
    sensors = entry_of(controller, "sensors") or ()
    for k, name in enumerate(sensors):
        output_named(model, name)
        if name in sensors[:k]:
            raise _named_twice(name)
    count = len(sensors) or len(model.actuated)
    each_or_none("noise.sensors", entry_of(controller, "noise", "sensors"), count)


def _named_twice(sensor: str) -> ValueError:
    return DesignError(f"{sensor} is named twice", "sensors")
