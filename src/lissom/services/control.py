"""Controllers designed for a robot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import DescriptionError
from ..describe.controllers import in_law_file, read_controller
from ..describe.errors import refused
from ..describe.scenario import Scenario
from .forecast import affordable_model
from .frozen_model import ComplexNumber, FrozenModel, complex_numbers
from .output_files import check_outputs
from .sources import scenario_of

if TYPE_CHECKING:
    from ..control.margins import Margins
    from ..solve.law import AbstractLaw
    from ..solve.model import Model

LAW = (".npz",)


class DesignRequest(FrozenModel):
    """A controller for the robot of a scenario, and the file for its matrices."""

    scenario: Any  # a `Scenario` whose controller is to be designed
    law: str | None = None


class MarginResult(FrozenModel):
    """How far a sampled loop is from instability."""

    stable: bool
    largest_pole: float
    sensitivity: float
    gain: float | None  # None: no limit
    phase_deg: float
    delay_s: float


class DesignResult(FrozenModel):
    """A law, its poles and its margins."""

    robot: str
    type: str
    sample: float | None
    sensors: tuple[str, ...]
    pose: dict[str, float]
    poles: tuple[ComplexNumber, ...]  # of the sampled closed loop, largest first
    margins: MarginResult
    notes: tuple[str, ...]
    file: str | None


def scenario_with_law(
    source: Any, law: str | None, changes: Mapping[str, Any] | None = None
) -> Scenario:
    """A scenario with the controller of a file of its own, or with the one that it has.

    Raises:
        DescriptionError: what is wrong with either file.
    """
    scenario = scenario_of(source, changes)
    if law is None:
        return scenario
    controller = read_controller(law)
    try:
        return scenario.replace({"controller": controller})
    except DescriptionError as failure:
        raise in_law_file(failure, law) from None


def design(request: DesignRequest) -> DesignResult:
    """The law of a scenario on its robot at the end of its motion: poles and margins.

    Raises:
        DescriptionError: the controller cannot be designed, with the reason.
    """
    from ..native.compiled import using

    check_outputs({"law": (request.law, LAW)})
    with using(request.scenario.solver.backend):
        return _design(request)


def _design(request: DesignRequest) -> DesignResult:
    from ..control.described_references import design_pose
    from ..control.margins import closed_loop_poles, margins_of, open_loop

    scenario = request.scenario
    model, law = _designed(scenario)
    if law.sample is None:
        raise refused(
            "controller.sample", None, "a law is designed and checked as sampled"
        )
    q = design_pose(model, scenario.controller)
    loop = open_loop(model, q, law)
    poles = closed_loop_poles(loop)
    poles = poles[np.argsort(-np.abs(poles))]
    if request.law is not None:
        _save_law(request.law, law, loop, poles)
    return DesignResult(
        robot=scenario.robot.name,
        type=scenario.controller.type,
        sample=float(np.asarray(law.sample)),
        sensors=law.sensors(model),
        pose=dict(zip(model.joint_names, map(float, q), strict=True)),
        poles=complex_numbers(poles),
        margins=_margin_result(margins_of(loop)),
        notes=law.remarks(),
        file=request.law,
    )


def _designed(scenario: Scenario) -> "tuple[Model, AbstractLaw]":
    from ..control.described import law_of
    from ..control.design_model import DesignError
    from ..solve.channels import UnknownNameError
    from ..solve.feedback import wired

    if scenario.controller is None:
        raise refused("controller", None, "the scenario has no controller")
    model = affordable_model(scenario)
    try:
        law = law_of(model, scenario.controller)
        wired(model, law)
    except DesignError as failure:
        field = ".".join(filter(None, ("controller", failure.field)))
        raise refused(field, None, failure.message) from None
    except UnknownNameError as failure:
        raise refused("controller.sensors", failure.name, failure.message) from None
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
