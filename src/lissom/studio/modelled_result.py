"""What every answer about a robot names: the robot, its formulation, the shapes of its links and the modes kept."""

from typing import Any

from pydantic import computed_field

from ..describe.modelled import Modelled, modelled_scenario
from ..describe.scenario import Scenario
from .frozen_model import FrozenModel


class ModelledResult(FrozenModel):
    """An answer about a robot in a formulation."""

    robot: str
    formulation: str
    basis: str  # shapes of the links
    # Elastic modes kept of each link: a number, `all`, a mapping, or a list with one of these for each link.
    kept_modes: Any

    @computed_field
    @property
    def model(self) -> str:
        """The same in words: `nonlinear, craig-bampton, 12 modes`."""
        return str(Modelled(self.formulation, self.basis, self.kept_modes))


def model_of(scenario: Scenario) -> dict[str, Any]:
    """The fields of an answer that say how the robot of a scenario is modelled."""
    return {"robot": scenario.robot.name, **modelled_scenario(scenario)._asdict()}
