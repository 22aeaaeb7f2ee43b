"""What a scenario lets one choose among."""

from typing import Any, get_args

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
        methods=_words(Method),
        starts=_words(Initial.model_fields["elastic"].annotation),
    )


def _words(annotation: Any) -> tuple[str, ...]:
    """The words that a type accepts, beside numbers and other things."""
    words: list[str] = []
    for inner in get_args(annotation):
        words += [inner] if isinstance(inner, str) else _words(inner)
    return tuple(words)
