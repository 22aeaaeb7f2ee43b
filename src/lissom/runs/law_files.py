"""Controllers in files of their own, and problems of controllers placed in the files where they stand."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..describe import DescriptionError, Problem, Scenario
from ..describe.controllers import in_law_file, read_controller
from ..files.description_files import line_of
from .sources import Source, scenario_of

CONTROLLER = "controller"


def scenario_with_law(
    source: Source, law: str | Path | None, changes: Mapping[str, Any] | None = None
) -> Scenario:
    """A scenario with the controller of a file of its own, or with the one that it has.

    Raises:
        DescriptionError: what is wrong with either file.
    """
    scenario = scenario_of(source, changes)
    if law is None:
        return scenario
    controller = read_controller(str(law))
    try:
        return scenario.replace({CONTROLLER: controller})
    except DescriptionError as failure:
        raise in_law_file(failure, str(law)) from None


@contextmanager
def problems_in_files(source: Source | None, law: str | Path | None) -> Iterator[None]:
    """Context in which problems get the file and the line of their field.

    Args:
        source: of the scenario; None where it stands in no file.
        law: file of its controller, None where the scenario has it.
    """
    try:
        yield
    except DescriptionError as failure:
        placed = [_placed(problem, source, law) for problem in failure.problems]
        raise DescriptionError(placed) from None


def _placed(problem: Problem, source: Source | None, law: str | Path | None) -> Problem:
    if law is not None and problem.field.startswith(CONTROLLER):
        return in_law_file(DescriptionError([problem]), str(law)).problems[0]
    return located(problem, source if isinstance(source, str) else None)


def located(problem: Problem, file: str | None) -> Problem:
    """A problem placed in the file of a scenario, unless it has a place already."""
    # A scenario contains its robot, or names it.
    fields = (problem.field, f"robot.{problem.field}")
    lines = (line_of(file, field) for field in fields)
    line = problem.line or next((line for line in lines if line), None)
    return replace(problem, file=problem.file or file, line=line)
