"""State-space models."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxnative.compiled import using

from ..analyse.linear.carried_weight import weight_note
from ..analyse.linear.linearize import linearize as linear_model_of
from ..analyse.linear.state_space import LinearModel
from ..analyse.robot_facts import values_by_name
from ..analyse.validity.checks import linear_model_warnings
from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe.scenario import Scenario
from ..files.errors import refused
from ..runs.forecast import affordable_model
from ..runs.output_files import check_outputs
from ..solve.channels import UnknownNameError
from .frozen_model import (
    ComplexNumber,
    FrozenModel,
    Gains,
    JointValues,
    complex_numbers,
)
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

MATRICES = (".npz", ".mat")

# A pole counts as unstable only this far in the right half plane: rigid motions have double poles at zero, and
# round-off spreads a double pole by the square root of its own size.
UNSTABLE_SHARE = 1e-7
UNSTABLE_RATE = 1e-3  # [1/s]


class LinearRequest(RobotRequest):
    """A linear model about a point, at rest or moving, with the names of its channels."""

    qd: JointValues | None = None
    qdd: JointValues | None = None
    kp: Gains | None = None
    kd: Gains | None = None
    # Default: every joint torque; encoders, speeds, tip position and acceleration.
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] | None = None
    locked: bool = False
    # Add the second-order stiffness of carried weight, which formulations of first order leave out.
    weight_stiffness: bool = False

    def linear_model(self) -> "FoundModel":
        """The linear model that is asked for, the warnings about it, and what it leaves out.

        Raises:
            DescriptionError: a channel that the robot does not have, with the field that names it.
        """
        scenario = self.scenario()
        with using(scenario.solver.backend):
            return self._linear_model(scenario)

    def _linear_model(self, scenario: Scenario) -> "FoundModel":
        model = affordable_model(scenario)
        pose = self.q or scenario.initial.q

        def build() -> LinearModel:
            return linear_model_of(
                model,
                pose,
                qd=self.qd,
                qdd=self.qdd,
                kp=self.kp,
                kd=self.kd,
                inputs=self.inputs,
                outputs=self.outputs,
                locked=self.locked,
                weight_stiffness=self.weight_stiffness,
            )

        linear = _naming_the_field(build, inputs=self.inputs, outputs=self.outputs)
        found = linear_model_warnings(model, linear)
        warnings = warning_lines([*scenario_warnings(scenario), *found])
        note = None if self.weight_stiffness else weight_note(model)
        return FoundModel(linear, warnings, note, scenario)


class FoundModel(NamedTuple):
    """A linear model, the warnings about it, and what is left out of the stiffness of carried weight."""

    linear: LinearModel
    warnings: tuple[str, ...]
    weight_note: str | None
    scenario: Scenario  # whose robot it is of


class LinearizeRequest(LinearRequest):
    """A linear model and the file for its matrices."""

    matrices: str | None = None


class PointResult(FrozenModel):
    """Where a model is linear about, by joint."""

    # Coordinates of the independent joints: of all that move, unless a closed chain ties some to the others.
    q: dict[str, float]
    qd: dict[str, float]
    qdd: dict[str, float]
    # What the encoders of all moving joints read, and the torques that hold the motion.
    encoder: dict[str, float]
    torque: dict[str, float]


class MatrixSizes(FrozenModel):
    """Rows and columns of the matrices."""

    A: tuple[int, int]
    B: tuple[int, int]
    C: tuple[int, int]
    D: tuple[int, int]


class LinearizeResult(ModelledResult):
    """A linear model without its matrices, which go to a file."""

    point: PointResult
    shapes: MatrixSizes
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    output_values: dict[str, float]
    eigenvalues: tuple[ComplexNumber, ...]  # slowest first [rad/s]
    unstable: int  # number of poles in the right half plane
    warnings: tuple[str, ...]  # one line each
    weight_note: str | None  # what is left out of the stiffness of carried weight
    file: str | None


def linearize(request: LinearizeRequest) -> LinearizeResult:
    """State-space model about a point: names, sizes and poles; the matrices go to a file."""
    check_outputs({"matrices": (request.matrices, MATRICES)})
    found = request.linear_model()
    linear = found.linear
    if request.matrices is not None:
        linear.save(request.matrices)
    point = linear.operating
    poles = _slowest_first(linear.poles)
    right = np.real(poles) > UNSTABLE_SHARE * np.abs(poles) + UNSTABLE_RATE
    return LinearizeResult(
        **model_of(found.scenario),
        point=_operating_point(linear),
        shapes=MatrixSizes(
            A=linear.A.shape,
            B=linear.B.shape,
            C=linear.C.shape,
            D=linear.D.shape,
        ),
        states=tuple(linear.state_names),
        inputs=tuple(linear.input_names),
        outputs=tuple(linear.output_names),
        output_values=dict(zip(linear.output_names, point.outputs, strict=True)),
        eigenvalues=complex_numbers(poles),
        unstable=int(np.sum(right)),
        warnings=found.warnings,
        weight_note=found.weight_note,
        file=request.matrices,
    )


def _naming_the_field(
    build: Callable[[], LinearModel], **fields: Sequence[str] | None
) -> LinearModel:
    """What `build` gives; a name that the robot does not have is reported with the field that holds it."""
    try:
        return build()
    except UnknownNameError as failure:
        holders = [
            key for key, names in fields.items() if failure.name in (names or ())
        ]
        field = holders[0] if holders else ""
        raise refused(field, failure.name, failure.message) from None


def _slowest_first(poles: Any) -> np.ndarray:
    """Poles by their size; of a pair, the one with the positive imaginary part first."""
    order = np.lexsort((-poles.imag, np.abs(poles)))
    return poles[order]


def _operating_point(linear: LinearModel) -> PointResult:
    point = linear.operating
    return PointResult(
        q=values_by_name(point.independent, point.q),
        qd=values_by_name(point.independent, point.qd),
        qdd=values_by_name(point.independent, point.qdd),
        encoder=values_by_name(point.joints, point.encoder),
        torque=values_by_name(point.joints, point.torque),
    )
