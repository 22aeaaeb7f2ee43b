"""What a scenario lets one choose among."""

from typing import Any, get_args

from ..describe.scenario import Initial, Method, Scenario
from ..describe.supported import SUPPORT
from .controller_forms import ControllerForms, controller_forms
from .frozen_model import FrozenModel


class Choices(FrozenModel):
    """Accepted words, by the key of a scenario."""

    formulations: tuple[str, ...]
    methods: tuple[str, ...]  # solver.method
    starts: tuple[str, ...]  # initial.elastic
    bases: tuple[str, ...]
    stiffenings: tuple[str, ...]
    terms: tuple[str, ...]
    forms: ControllerForms


def choices() -> Choices:
    """The words that a scenario file accepts."""
    return Choices(
        formulations=tuple(SUPPORT),
        methods=_words(Method),
        starts=_words(Initial.model_fields["elastic"].annotation),
        bases=_words_of("basis"),
        stiffenings=_words_of("stiffening"),
        terms=_words_of("terms"),
        forms=controller_forms(),
    )


def _words_of(key: str) -> tuple[str, ...]:
    return _words(Scenario.model_fields[key].annotation)


def _words(annotation: Any) -> tuple[str, ...]:
    """The words that a type accepts, beside numbers and other things."""
    words: list[str] = []
    for inner in get_args(annotation):
        words += [inner] if isinstance(inner, str) else _words(inner)
    return tuple(words)
