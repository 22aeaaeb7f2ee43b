"""Which robot or scenario a request is about."""

from typing import Annotated, Any

from pydantic import WithJsonSchema

from ..describe import Robot, Scenario
from ..runs.sources import robot_of
from .frozen_model import FrozenModel, JointValues, Made

# A description comes as data only within Python; from JSON, a source is a name or a file.
Source = Annotated[
    str | Annotated[Robot, Made()] | Annotated[Scenario, Made()],
    WithJsonSchema({"type": "string"}),
]


class RobotRequest(FrozenModel):
    """What every request about a robot in a pose says."""

    # Library name, file, or the robot itself; of a scenario, its robot, choices and initial q.
    robot: Source
    # Keys of robot and scenario by dotted path: {"formulation": "nonlinear", "payload.mass": 0.3}.
    changes: dict[str, Any] = {}
    # Joint coordinates; default: those of the scenario, or zero.
    q: JointValues | None = None

    def scenario(self) -> Scenario:
        """The robot with its changes, as a scenario at rest."""
        return robot_of(self.robot, self.changes)
