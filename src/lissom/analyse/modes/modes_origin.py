"""The model and the point of modes, with warnings and a note on carried weight."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ...dynamics.formulation import AbstractFormulation
from ...kinematics.references import AbstractReference, MinimumNorm
from ...parameters import Locked
from ...solve.model import EquilibriumError, Model, UndefinedReferenceError
from ...solve.state import State
from ...types import Float, with_fields
from ..linear.carried_weight import weight_note
from ..validity.checks import check
from ..validity.validity_warning import warning_lines

STATIC = "static equilibrium under gravity"
UNDEFORMED = "undeformed"
MOVING = "motion given"


# Frequencies [Hz] of another model of the robot at the same point, with the same choices.
FrequenciesOf = Callable[[Model], Float[np.ndarray, " m"]]
MINIMUM_NORM = "minimum-norm"
# Relative difference between references that is worth a word.
NOTABLE = 5e-3


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
        frequencies_of: FrequenciesOf | None = None,
    ):
        self.model = model
        self.formulation = formulation
        self.x = x
        self._pose = pose
        self.about = about
        self.locked = locked
        self._weight_stiffness = weight_stiffness
        self._frequencies_of = frequencies_of

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

    def reference_facts(
        self, frequency_hz: Float[np.ndarray, " m"]
    ) -> dict[str, str | None]:
        """The choice of the ERLS, and how far the frequencies depend on it; nothing where there is no choice."""
        support = self.model.formulation.support
        if len(support.references) == 1:
            return {}
        chosen = self.model.reference or support.default_reference
        name = chosen if isinstance(chosen, str) else "zeroed"
        note = None if name == MINIMUM_NORM else self._difference(frequency_hz)
        return {"reference": name, "reference_note": note}

    def _difference(self, frequency_hz: Float[np.ndarray, " m"]) -> str | None:
        """The mode whose frequency another reference changes most; None if none changes notably."""
        other = self._minimum_norm_hz
        if other is None:
            return None
        count = min(len(other), len(frequency_hz))
        other, own = other[:count], frequency_hz[:count]
        vibrates = (own > 0.0) & (other > 0.0)
        change = np.where(vibrates, other / np.where(vibrates, own, 1.0) - 1.0, 0.0)
        k = int(np.argmax(np.abs(change))) if count else 0
        if not count or abs(change[k]) <= NOTABLE:
            return None
        return (
            f"with {MINIMUM_NORM} mode {k + 1} would have {other[k]:.4g} Hz ({100 * change[k]:+.1f} %): to first order "
            "in the bending frequencies depend on the reference; nonlinear has no such choice"
        )

    @cached_property
    def _minimum_norm_hz(self) -> Float[np.ndarray, " m"] | None:
        """Frequencies with the least displacements, None where these are not defined."""
        f = self.model.formulation
        reference = getattr(f, "reference", None)
        if self._frequencies_of is None or not isinstance(reference, AbstractReference):
            return None
        least = MinimumNorm(f.links.mass[:, :6, 6:])
        other = self.model.with_formulation(with_fields(f, reference=least))
        try:
            return self._frequencies_of(other)
        except (UndefinedReferenceError, EquilibriumError):
            return None
