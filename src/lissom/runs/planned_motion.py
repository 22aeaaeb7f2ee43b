"""The reference motion of a controller, before anything is simulated."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from jaxnative.compiled import using

from ..atomic import write_atomically
from ..describe.controllers import Common
from ..describe.modelled import scenario_model_facts
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..files.summary import Result, Summary, number, plain
from ..parameters import Changes, LawFile, ScenarioWithController
from .controller_law import problems_at
from .forecast import affordable_model
from .law_files import problems_in_files, scenario_with_law

POINTS = 1001  # of figure and table
COLUMNS = (
    "joint",
    "from",
    "to [rad or m]",
    "largest speed",
    "acceleration",
    "feed-forward [N m or N]",
)


class JointMotion(NamedTuple):
    """Motion of one joint: its ends, and the largest values on the way."""

    joint: str
    start: float  # [rad or m]
    end: float
    speed: float
    acceleration: float
    torque: float  # of the feed-forward [N m or N]


@dataclass(frozen=True, repr=False)
class PlannedMotion(Result):
    """A motion, its shaper included: arrays (time, joint) of the actuated joints."""

    scenario: Scenario
    joints: tuple[str, ...]
    t: np.ndarray  # [s]
    place: np.ndarray  # [rad or m]
    speed: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray  # of the feed-forward [N m or N]

    @property
    def duration(self) -> float:
        """Time that the motion takes [s]."""
        return float(self.t[-1])

    def peaks(self) -> Iterator[JointMotion]:
        """Ends and largest values of every joint."""
        for k, joint in enumerate(self.joints):
            yield JointMotion(
                joint=joint,
                start=float(self.place[0, k]),
                end=float(self.place[-1, k]),
                speed=float(np.abs(self.speed[:, k]).max()),
                acceleration=float(np.abs(self.acceleration[:, k]).max()),
                torque=float(np.abs(self.torque[:, k]).max()),
            )

    def to_dict(self) -> dict[str, Any]:
        """Duration, ends and largest values as plain data."""
        joints = [one._asdict() for one in self.peaks()]
        own = {"duration": self.duration, "joints": joints}
        return plain(scenario_model_facts(self.scenario) | own)

    def summary(self) -> Summary:
        """Ends and largest values of every joint."""
        known = scenario_model_facts(self.scenario)
        title = f"{known['robot']}: motion of {self.duration:.4g} s"
        rows = tuple((one.joint, *map(number, one[1:])) for one in self.peaks())
        return Summary(title, (("model", known["model"]),), COLUMNS, rows)

    def plot(self, path: Any = None) -> Any:
        """Figure of the motion over time; `path` writes it too."""
        from ..show.plot_motion import plot_motion  # slow to import

        return plot_motion(self, self.scenario.robot.name, path)

    def save(self, path: Any) -> None:
        """Writes the motion at every time as a table `.csv`."""
        parts = ("place", "speed", "acceleration", "torque")
        names = ["time [s]", *(f"{joint}.{p}" for p in parts for joint in self.joints)]
        table = np.column_stack([self.t, *(getattr(self, part) for part in parts)])
        rows = [",".join(f"{x:.10g}" for x in row) for row in table]
        text = "\n".join([",".join(names), *rows, ""])
        write_atomically(path, lambda file: file.write(text.encode()))


def plan_motion(
    scenario: ScenarioWithController, *, law: LawFile = None, changes: Changes = None
) -> PlannedMotion:
    """The reference motion of the controller of a scenario, shaper and feed-forward included.

    Args:
        scenario: with a controller: a library name, a file, or a `Scenario`.
        law: file of a controller that replaces the scenario's.
        changes: of the scenario, by dotted path.

    Returns:
        `PlannedMotion`: `t`, and arrays over it; `duration`, `peaks()`, `plot()` and `save(path)`.

    Raises:
        DescriptionError: there is no such motion, with the reason.

    Example:
        >>> import lissom as ls
        >>> motion = {"t": [0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
        >>> law = {"type": "pid", "reference": motion, "gains": {"kp": [20], "kd": [1]}}
        >>> ls.plan_motion("simple-pendulum", changes={"controller": law}).duration
        0.2
    """
    described = scenario_with_law(scenario, law, changes)
    with using(described.solver.backend), problems_in_files(scenario, law):
        return _planned(described)


def _planned(scenario: Scenario) -> PlannedMotion:
    # Laws and how they are designed take a while to import.
    from ..control.described_references import nominal_of
    from ..control.laws import controller_model
    from ..control.nominal import motion_along

    model = affordable_model(scenario)
    controller = scenario.controller
    if not isinstance(controller, Common):
        kind = None if controller is None else controller.type
        message = "a motion is that of a controller of the kit, such as pid"
        raise refused("controller.type", kind, message)
    with problems_at("controller", controller):
        nominal = nominal_of(controller_model(model, controller), controller)
    end = float(nominal.reference.breakpoints[-1])
    t = np.linspace(0.0, end, POINTS)
    times = jnp.asarray(t)
    along = np.asarray(motion_along(times, nominal.reference))
    place, speed, acceleration = (along[:, k] for k in range(3))
    torque = np.asarray(motion_along(times, nominal.torque))[:, 0]
    joints = model.actuated_names
    return PlannedMotion(scenario, joints, t, place, speed, acceleration, torque)
