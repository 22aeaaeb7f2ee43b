"""The law of a described controller; what is wrong with it is a problem of its description."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..control.design_error import DesignError
from ..describe import DescriptionError
from ..files.errors import refused
from ..files.part import Part, plain
from ..solve.channels import UnknownNameError
from ..solve.law import AbstractLaw
from ..solve.model import Model


def controller_law(
    model: Model, controller: Part, field: str = "controller"
) -> AbstractLaw:
    """The law of a controller on a robot.

    Args:
        model: of the robot.
        controller: as it is described.
        field: dotted path under which it stands.

    Raises:
        DescriptionError: there is no such law for this robot, with the key at fault.
    """
    # Laws and how they are designed take a while to import.
    from ..control.laws import law_of

    with problems_at(field, controller):
        return law_of(model, controller)


@contextmanager
def problems_at(field: str, controller: Part) -> Iterator[None]:
    """Context in which a failed design is a problem of the controller under a field."""
    try:
        yield
    except ValueError as failure:
        described = _as_problem(failure, field, controller)
        if described is None:
            raise
        raise described from None


def _as_problem(
    failure: ValueError, field: str, controller: Part
) -> DescriptionError | None:
    """A failure of a design as a problem of the description; None if it is none."""
    if isinstance(failure, DesignError):
        place = ".".join(filter(None, (field, failure.field)))
        return refused(place, _written(controller, failure.field), failure.message)
    if isinstance(failure, UnknownNameError):
        return refused(f"{field}.sensors", failure.name, failure.message)
    if not isinstance(failure, DescriptionError):
        return None
    # The design model.
    problems = []
    for problem in failure.problems:
        place = f"{field}.model.{problem.field}"
        problems.append(replace(problem, field=place, file=None, line=None))
    return DescriptionError(problems)


def _written(controller: Part, field: str) -> Any:
    """Value of a controller at a dotted path; None for whole parts, which would hide the message."""
    here: Any = controller
    for word in filter(None, field.split(".")):
        inside = here.get(word) if isinstance(here, Mapping) else None
        here = getattr(here, word, inside)
    return None if isinstance(here, Part | Mapping) else plain(here)
