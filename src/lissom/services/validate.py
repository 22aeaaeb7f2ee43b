"""Is a file right: every error of a robot or scenario file at once, and would a simulation of it start."""

from collections.abc import Mapping
from typing import Any

from ..analyse.validity.validity_warning import warning_lines
from ..describe import DescriptionError
from ..files.description_files import kind_of_file
from ..runs.sources import robot_of, scenario_of
from .frozen_model import FrozenModel, plain


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
    warnings: tuple[str, ...] = ()  # one line each


def validate(
    file: str, changes: Mapping[str, Any] | None = None, start: bool = True
) -> ValidateResult:
    """What is wrong with a robot or scenario file: every error at once, and whether a simulation of it starts.

    Args:
        file: robot or scenario file, or library name.
        changes: values by dotted path, as of a request: the formulation that is asked for, for example.
        start: build the model too, and ask of it all that a run asks before its first step.
    """
    kind = None
    warnings: tuple[str, ...] = ()
    try:
        kind = kind_of_file(file)
        scenario = scenario_of(file, changes) if kind == "scenario" else None
        if scenario is None:
            scenario = robot_of(file, changes)
        if start:
            # The solvers take their time to import: errors of the file itself are told without them.
            from ..analyse.validity.checks import run_start_warnings
            from ..runs.dry_run import check_start

            warnings = warning_lines(
                run_start_warnings(scenario, *check_start(scenario, file))
            )
    except DescriptionError as failure:
        return ValidateResult(valid=False, kind=kind, errors=errors_of(failure))
    return ValidateResult(valid=True, kind=kind, errors=(), warnings=warnings)


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
