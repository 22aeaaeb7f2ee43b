"""A verb as CONTRIBUTING says to add one: a function with its result, and a row."""

import time
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from lissom.describe.modelled import model_facts
from lissom.files.summary import Result, Summary, number
from lissom.parameters import Parameter, Pose
from lissom.solve.arguments import ModelLike, model_from
from lissom.solve.model import Model
from lissom.verbs.registry import register
from lissom.verbs.verb import Verb

Pause = Annotated[float, Parameter("Seconds to wait first.", unit="s", at_least=0.0)]


@dataclass(frozen=True, repr=False)
class Sag(Result):
    """How far the tip of a robot hangs below that of a rigid one."""

    model: Model
    sag: float  # [m]

    def to_dict(self) -> dict[str, Any]:
        """The sag, and whose it is."""
        known = model_facts(self.model.robot.name, self.model.modelled)
        return known | {"sag": self.sag, "warnings": []}

    def summary(self) -> Summary:
        """The sag in millimetres."""
        title = f"{self.model.robot.name}: the tip sags by {number(1e3 * self.sag)} mm"
        return Summary(title, (("model", str(self.model.modelled)),))


def tip_sag(model: ModelLike, q: Pose = None, *, pause: Pause = 0.0) -> Sag:
    """Distance of the tip in equilibrium at q from that of the rigid robot [m]."""
    time.sleep(pause)
    model = model_from(model)
    state = model.static(q)
    bent = np.asarray(model.poses(state).position)[-1, -1]
    rigid = np.asarray(model.poses(model.at(state.encoder)).position)[-1, -1]
    return Sag(model, float(np.linalg.norm(bent - rigid)))


ROW = Verb(
    "tip-sag",
    tip_sag,
    help="How far the tip hangs below that of a rigid robot.",
    example="tip-sag double-pendulum --q 0,1.57",
    most={"pause": 1.0},
)


def add() -> None:
    """Make the verb known to every door."""
    register(ROW)
