"""The recipe "How to add a control law" of CONTRIBUTING.md: a description, a law, and what builds it."""

from typing import Any, Literal

import jax.numpy as jnp
from jaxtyping import Array

from lissom.control.described_law import DescribedLaw
from lissom.describe.controllers import RateGains, Seconds
from lissom.files.part import Finding, Part, finding
from lissom.solve.law import AbstractLaw
from lissom.solve.model import Model
from lissom.types import Float, Real, Scalar


class OwnController(Part):
    """A brake on every joint."""

    type: Literal["brake"]
    damping: RateGains
    sample: Seconds | None = None

    def findings(self) -> list[Finding]:
        """A brake brakes."""
        if any(self.damping):
            return []
        return [finding("brakes no joint", "damping", value=self.damping)]


class OwnLaw(AbstractLaw):
    """tau = -d times the speeds of the joints."""

    damping: Float[Real, " a"]
    sample: Scalar | None

    def sensors(self, model: Any) -> tuple[str, ...]:
        """Speeds of the actuated joints."""
        return tuple(f"{name}.speed" for name in model.actuated_names)

    def __call__(
        self, t: Float[Array, ""], measured: Float[Array, " a"], memory: Any
    ) -> tuple[Float[Array, " a"], Any]:
        """Joint torques [N m or N]."""
        return -jnp.asarray(self.damping) * measured, memory


def own_law(model: Model, controller: OwnController) -> OwnLaw:
    """The brake of a description."""
    return OwnLaw(jnp.asarray(controller.damping, dtype=float), controller.sample)


LAW = DescribedLaw(OwnController, own_law)
