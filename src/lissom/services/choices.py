"""What a scenario lets one choose among."""

from typing import get_args

from ..describe.scenario import Initial, Method
from ..describe.supported import SUPPORT
from .frozen_model import FrozenModel


class Choices(FrozenModel):
    """Accepted words, by the key of a scenario."""

    formulations: tuple[str, ...]
    methods: tuple[str, ...]  # solver.method
    starts: tuple[str, ...]  # initial.elastic


def choices() -> Choices:
    """The words that a scenario file accepts."""
    return Choices(
        formulations=tuple(SUPPORT),
        methods=get_args(Method),
        starts=get_args(Initial.model_fields["elastic"].annotation),
    )
