"""The model and the point of modes, with warnings and a note on carried weight."""

from functools import cached_property
from typing import Any

from ...dynamics.formulation import AbstractFormulation
from ...parameters import Locked
from ...solve.model import Model
from ...solve.state import State
from ..linear.carried_weight import weight_note
from ..validity.checks import check
from ..validity.validity_warning import warning_lines

STATIC = "static equilibrium under gravity"
UNDEFORMED = "undeformed"
MOVING = "motion given"


class ModesOrigin:
    """The robot and the point about which modes are; two of them are never equal."""

    def __init__(
        self,
        model: Model,
        formulation: AbstractFormulation,
        x: Any,
        *,
        pose: Any = None,
        about: str = STATIC,
        locked: Locked = False,
        weight_stiffness: bool = False,
    ):
        self.model = model
        self.formulation = formulation
        self.x = x
        self._pose = pose
        self.about = about
        self.locked = locked
        self._weight_stiffness = weight_stiffness

    @cached_property
    def state(self) -> State:
        """The state about which modes are; of a motion, the equilibrium at its pose."""
        if isinstance(self._pose, State):
            return self._pose
        return self.model.static(self._pose)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the robot at this point, one line each."""
        return warning_lines(check(self.model, self.state))

    @property
    def weight_note(self) -> str | None:
        """Note on the neglected stiffness of carried weight; None if nothing is neglected."""
        return None if self._weight_stiffness else weight_note(self.model)
