"""Arguments of functions that run a scenario: scenarios, names, files and data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..describe.robot import Robot
from ..describe.scenario import Scenario
from ..solve.arguments import ArgumentError

# A `Scenario`, or what it is made of: a library name, a file, data, a `Robot`.
ScenarioLike = Any


def scenario_from(scenario: Any) -> Scenario:
    """The scenario itself, or that of a name, a file or data; of a robot, 1 s under gravity from rest."""
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Robot):
        return Scenario(robot=scenario)
    if isinstance(scenario, str | Path):
        return Scenario.load(scenario)
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(scenario)
    message = "must be a Scenario, a name of the library, the path of a file, or data"
    raise ArgumentError("scenario", scenario, message)
