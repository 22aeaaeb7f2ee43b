"""The model of a linear model, its warnings and its note on carried weight."""

from typing import Any, NamedTuple

from ...solve.model import Model
from ..validity.checks import linear_model_warnings
from ..validity.validity_warning import warning_lines
from .carried_weight import weight_note


class LinearOrigin(NamedTuple):
    """Whose linear model it is, and whether the second-order stiffness of carried weight is in it."""

    model: Model
    weight_stiffness: bool

    def warnings(self, linear: Any) -> tuple[str, ...]:
        """Warnings about the robot at the point of its linear model, one line each."""
        return warning_lines(linear_model_warnings(self.model, linear))

    @property
    def weight_note(self) -> str | None:
        """Note on the neglected stiffness of carried weight; None if nothing is neglected."""
        return None if self.weight_stiffness else weight_note(self.model)
