"""Controllers designed for the robot of a scenario."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..atomic import write_atomically
from ..describe.modelled import scenario_model_facts
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..files.summary import Result, Summary, number, plain
from ..parameters import Changes, LawFile, ScenarioWithController
from ..solve.feedback import wire_law
from ..solve.law import AbstractLaw
from .controller_law import controller_law, problems_at
from .forecast import affordable_model
from .law_files import problems_in_files, scenario_with_law

SHOWN_POLES = 8


@dataclass(frozen=True, repr=False)
class ControllerDesign(Result):
    """A law on its robot at the end of its motion: poles and margins of the sampled loop."""

    scenario: Scenario
    law: AbstractLaw
    loop: Any  # `OpenLoop`
    margins: Any  # `Margins`
    pose: dict[str, float]  # [rad or m]
    poles: np.ndarray  # of the sampled closed loop, largest first
    sensors: tuple[str, ...]

    @property
    def type(self) -> str:
        """The type of the controller, as files name it."""
        return self.scenario.controller.type

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sensors that the margins do not count."""
        return self.margins.warnings

    @property
    def sample(self) -> float:
        """Time between two samples [s]."""
        return float(np.asarray(self.law.sample))

    def to_dict(self) -> dict[str, Any]:
        """Poles and margins as plain data; a gain margin without limit is None."""
        margins = self.margins._asdict()
        margins["delay_s"] = margins.pop("delay")
        warnings = margins.pop("warnings")
        data = scenario_model_facts(self.scenario) | {
            "type": self.type,
            "sample": self.sample,
            "sensors": self.sensors,
            "pose": self.pose,
            "poles": self.poles.tolist(),
            "margins": margins,
            "notes": self.law.remarks(),
            "warnings": warnings,
        }
        return plain(data)

    def summary(self) -> Summary:
        """The largest poles, the margins, and remarks of the law."""
        known, margins = scenario_model_facts(self.scenario), self.margins
        title = f"{known['robot']}: {self.type} every {number(self.sample)} s on {', '.join(self.sensors)}"
        rows = tuple(
            (number(pole.real), number(pole.imag), number(abs(pole)))
            for pole in self.poles[:SHOWN_POLES]
        )
        word = "stable" if margins.stable else "UNSTABLE"
        gain = f"{margins.gain:.3g}" if np.isfinite(margins.gain) else "any"
        verdict = (
            f"{word}; all drives at once: sensitivity {margins.sensitivity:.3g}, gain margin {gain}, "
            f"phase margin {margins.phase_deg:.3g} deg, delay margin {1e3 * margins.delay:.3g} ms"
        )
        columns = ("real", "imaginary", "|z|")
        poles = Summary("Largest poles of the sampled loop", (), columns, rows)
        remarks = map(Summary, (verdict, *self.law.remarks()))
        return Summary(title, (("model", known["model"]),), parts=(poles, *remarks))

    def plot(self, path: Any = None) -> Any:
        """Figure with Bode plot, sensitivity and poles; `path` writes it too."""
        from ..show.plot_loop import plot_loop  # slow to import

        return plot_loop(self.loop, f"{self.scenario.robot.name}: {self.type}", path)

    def save(self, path: Any) -> None:
        """Matrices of the linear law about the point as `.npz`: u = L y + N m, m' = P y + Q m."""
        robot = self.loop.robot
        data = {
            **self.loop.law._asdict(),
            "sample": np.asarray(self.law.sample),
            "sensors": np.array(robot.output_names, dtype=str),
            "torques": np.array(robot.input_names, dtype=str),
            "nominal_measured": np.asarray(robot.operating.outputs),
            "nominal_torque": np.asarray(robot.operating.torque),
            "poles": self.poles,
        }
        write_atomically(path, lambda file: np.savez_compressed(file, **data))


def design_controller(
    scenario: ScenarioWithController, *, law: LawFile = None, changes: Changes = None
) -> ControllerDesign:
    """The law of a scenario on its robot at the end of its motion: poles and margins of the sampled loop.

    Args:
        scenario: with a controller: a library name, a file, or a `Scenario`.
        law: file of a controller that replaces the scenario's.
        changes: of the scenario, by dotted path.

    Returns:
        `ControllerDesign`: `poles`, `margins`, `pose`; `plot()` and `save(path)`.

    Raises:
        DescriptionError: the controller cannot be designed, with the reason.

    Example:
        >>> import lissom as ls
        >>> motion = {"t": [0, 0.2], "value": [[-1.4], [-1.1]], "interpolation": "quintic"}
        >>> law = {"type": "pid", "sample": 2e-3, "reference": motion, "gains": {"kp": [20], "kd": [1]}}
        >>> ls.design_controller("simple-pendulum", changes={"controller": law}).margins.stable
        True
    """
    described = scenario_with_law(scenario, law, changes)
    with using(described.solver.backend), problems_in_files(scenario, law):
        return _designed(described)


def _designed(scenario: Scenario) -> ControllerDesign:
    # Laws and how they are designed take a while to import.
    from ..control.described_references import design_pose
    from ..control.margins import closed_loop_poles, margins_of, open_loop

    controller = scenario.controller
    if controller is None:
        raise refused("controller", None, "the scenario has no controller")
    model = affordable_model(scenario)
    law = controller_law(model, controller)
    with problems_at("controller", controller):
        wire_law(model, law)
    if law.sample is None:
        message = "a law is designed and checked as sampled"
        raise refused("controller.sample", None, message)
    q = design_pose(model, controller)
    loop = open_loop(model, q, law)
    poles = closed_loop_poles(loop)
    return ControllerDesign(
        scenario=scenario,
        law=law,
        loop=loop,
        margins=margins_of(loop),
        pose=dict(zip(model.joint_names, map(float, q), strict=True)),
        poles=poles[np.argsort(-np.abs(poles))],
        sensors=law.sensors(model),
    )
