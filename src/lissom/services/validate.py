"""Is a file right: every error of a robot or scenario file at once."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..describe import DescriptionError, Problem, Robot, Scenario
from ..describe.files import kind_of_file
from .frozen_model import FrozenModel, plain

if TYPE_CHECKING:
    from ..solve.model import Model


class ErrorReport(FrozenModel):
    """One thing wrong in a description: where it stands, what stands there, and what is accepted."""

    file: str | None
    line: int | None
    field: str
    value: Any
    message: str


class ValidateResult(FrozenModel):
    """Whether a file is right."""

    valid: bool
    kind: str | None  # `robot` or `scenario`; None if the file cannot be read
    errors: tuple[ErrorReport, ...]


def validate(file: str) -> ValidateResult:
    """What is wrong with a robot or scenario file: every error at once."""
    kind = None
    try:
        kind = kind_of_file(file)
        if kind == "robot":
            robot = Robot.load(file)
            check_loops(robot, None, file)
        else:
            scenario = Scenario.load(file)
            check_loops(scenario.robot, scenario.initial.q, file)
            checked_model(scenario, file)
    except DescriptionError as failure:
        return ValidateResult(valid=False, kind=kind, errors=errors_of(failure))
    return ValidateResult(valid=True, kind=kind, errors=())


def errors_of(failure: DescriptionError) -> tuple[ErrorReport, ...]:
    """The problems of a description as data."""
    return tuple(
        ErrorReport(
            file=problem.file,
            line=problem.line,
            field=problem.field,
            value=plain(problem.value),
            message=problem.message,
        )
        for problem in failure.problems
    )


def check_loops(robot: Robot, q: tuple[float, ...] | None, file: str) -> None:
    """Loops that are well written may still not close, or hold too much: only the geometry tells."""
    if not robot.loops:
        return
    # Few files have loops: those without are checked without the solvers, which take their time to import.
    from ..kinematics.loops.assembly import AssemblyError
    from ..solve.model import Model

    try:
        Model(robot).assemble(None if q is None else list(q))
    except AssemblyError as reason:
        field, _, text = str(reason).partition(": ")
        raise DescriptionError([Problem(file, None, field, None, text)]) from None


def checked_model(scenario: Scenario, file: str) -> "Model | None":
    """The model on which zeroed displacements were checked; `None` where there are none and nothing was built.

    Zeroed displacements that are well written may still define no ERLS: only the geometry tells.
    """
    if not isinstance(scenario.reference, Mapping):
        return None
    from ..solve.model import Model, UndefinedReferenceError

    model = Model.of_scenario(scenario)
    theta = scenario.initial.q or np.zeros(model.n_joints)
    try:
        model.check_reference(np.array(theta, dtype=float))
    except UndefinedReferenceError as reason:
        text = str(reason).removeprefix("reference.zeroed: ")
        raise DescriptionError(
            [Problem(file, None, "reference.zeroed", None, text)]
        ) from None
    return model
