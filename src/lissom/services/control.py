"""Controllers designed for a robot."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe.scenario import Scenario
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..runs.law_files import problems_in_files, scenario_with_law
from ..runs.output_files import PICTURE, check_outputs, written_files
from .frozen_model import ComplexNumber, FrozenModel, complex_numbers
from .modelled_result import ModelledResult, model_of
from .robot_request import Source

if TYPE_CHECKING:
    from ..control.margins import Margins
    from ..solve.law import AbstractLaw
    from ..solve.model import Model

MATRICES = (".npz",)


class DesignRequest(FrozenModel):
    """A controller for the robot of a scenario, and the file for its matrices."""

    scenario: Source  # whose controller is to be designed
    changes: dict[str, Any] = {}  # by dotted path
    law: str | None = (
        None  # file of a controller that takes the place of the scenario's
    )
    matrices: str | None = None
    picture: str | None = None  # Bode plot, sensitivity and poles


class MarginResult(FrozenModel):
    """How far a sampled loop is from instability."""

    stable: bool
    largest_pole: float
    sensitivity: float
    gain: float | None  # None: no limit
    phase_deg: float
    delay_s: float


class DesignResult(ModelledResult):
    """A law, its poles and its margins."""

    type: str
    sample: float | None
    sensors: tuple[str, ...]
    pose: dict[str, float]
    poles: tuple[ComplexNumber, ...]  # of the sampled closed loop, largest first
    margins: MarginResult
    notes: tuple[str, ...]
    files: dict[str, str]


def design(request: DesignRequest) -> DesignResult:
    """The law of a scenario on its robot at the end of its motion: poles and margins.

    Raises:
        DescriptionError: the controller cannot be designed, with the reason.
    """
    from jaxnative.compiled import using

    outputs = {
        "matrices": (request.matrices, MATRICES),
        "picture": (request.picture, PICTURE),
    }
    check_outputs(outputs)
    scenario = scenario_with_law(request.scenario, request.law, request.changes)
    with (
        using(scenario.solver.backend),
        problems_in_files(request.scenario, request.law),
    ):
        return _design(scenario, request)


def _design(scenario: Scenario, request: DesignRequest) -> DesignResult:
    from ..control.described_references import design_pose
    from ..control.margins import closed_loop_poles, margins_of, open_loop

    model, law = _designed(scenario)
    if law.sample is None:
        raise refused(
            "controller.sample", None, "a law is designed and checked as sampled"
        )
    q = design_pose(model, scenario.controller)
    loop = open_loop(model, q, law)
    poles = closed_loop_poles(loop)
    poles = poles[np.argsort(-np.abs(poles))]
    if request.matrices is not None:
        _save_law(request.matrices, law, loop, poles)
    if request.picture is not None:
        from ..show.plot_loop import plot_loop

        title = f"{scenario.robot.name}: {scenario.controller.type}"
        plot_loop(loop, title, request.picture)
    return DesignResult(
        **model_of(scenario),
        type=scenario.controller.type,
        sample=float(np.asarray(law.sample)),
        sensors=law.sensors(model),
        pose=dict(zip(model.joint_names, map(float, q), strict=True)),
        poles=complex_numbers(poles),
        margins=_margin_result(margins_of(loop)),
        notes=law.remarks(),
        files=written_files(law=request.matrices, picture=request.picture),
    )


def _designed(scenario: Scenario) -> "tuple[Model, AbstractLaw]":
    from ..runs.controller_law import controller_law, problems_at
    from ..solve.feedback import wire_law

    if scenario.controller is None:
        raise refused("controller", None, "the scenario has no controller")
    model = affordable_model(scenario)
    law = controller_law(model, scenario.controller)
    with problems_at("controller", scenario.controller):
        wire_law(model, law)
    return model, law


def _margin_result(found: "Margins") -> MarginResult:
    return MarginResult(
        stable=found.stable,
        largest_pole=found.largest_pole,
        sensitivity=found.sensitivity,
        gain=found.gain if np.isfinite(found.gain) else None,
        phase_deg=found.phase_deg,
        delay_s=found.delay,
    )


def _save_law(path: str, law: "AbstractLaw", loop: Any, poles: np.ndarray) -> None:
    """Matrices of the linear law about the point: u = L y + N m, m' = P y + Q m, for use elsewhere."""
    from ..atomic import write_atomically

    data = {
        **loop.law._asdict(),
        "sample": np.asarray(law.sample),
        "sensors": np.array(loop.robot.output_names, dtype=str),
        "torques": np.array(loop.robot.input_names, dtype=str),
        "nominal_measured": np.asarray(loop.robot.operating.outputs),
        "nominal_torque": np.asarray(loop.robot.operating.torque),
        "poles": poles,
    }
    write_atomically(path, lambda file: np.savez_compressed(file, **data))
