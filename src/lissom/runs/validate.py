"""Validation: every error of a robot or scenario file at once, and whether a simulation of it would start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..analyse.validity.validity_warning import warning_lines
from ..describe import DescriptionError, Problem
from ..files.description_files import kind_of_file
from ..files.summary import Result, Summary, count, plain
from .sources import robot_of, scenario_of


@dataclass(frozen=True, repr=False)
class Verdict(Result):
    """Result of a validation: valid or not, errors and warnings."""

    file: str
    valid: bool
    kind: str | None  # see `kind_of_keys`; None if the file cannot be read
    errors: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()  # one line each

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data, each error with its file, line and field."""
        verdict = {"valid": self.valid, "kind": self.kind}
        return plain(verdict | {"errors": self.errors, "warnings": self.warnings})

    def summary(self) -> Summary:
        """`valid robot`, or the errors, one line each."""
        if self.valid:
            return Summary(f"{self.file}: valid {self.kind}")
        errors = [("error", str(problem)) for problem in self.errors]
        return Summary(f"{self.file}: {count(len(errors), 'error')}", tuple(errors))


def validate(
    file: str, *, changes: Mapping[str, Any] | None = None, start: bool = True
) -> Verdict:
    """All errors of a robot or scenario file at once, and whether a simulation of it starts.

    Args:
        file: robot or scenario file, or library name.
        changes: values by dotted path, such as the formulation.
        start: build the model too, and make all checks that a run makes before its first step.

    Returns:
        The `Verdict`: `valid`, `errors` and `warnings`.

    Raises:
        TypeError: the file is none.

    Example:
        >>> import lissom as ls
        >>> ls.validate("double-pendulum").valid
        True
    """
    kind = None
    warnings: tuple[str, ...] = ()
    try:
        kind = kind_of_file(file)
        read = scenario_of if kind == "scenario" else robot_of
        scenario = read(file, changes)
        if start:
            # The solvers are slow to import, and errors of the file itself do not need them.
            from ..analyse.validity.checks import run_start_warnings
            from .dry_run import check_start

            warnings = warning_lines(
                run_start_warnings(scenario, *check_start(scenario, file))
            )
    except DescriptionError as failure:
        return Verdict(file, False, kind, failure.problems)
    return Verdict(file, True, kind, warnings=warnings)
