"""The words that a scenario lets one choose among, by its keys."""

from typing import Any, get_args

from .scenario import Initial, Method, Scenario
from .supported import SUPPORT


def choices() -> dict[str, tuple[str, ...]]:
    """Words that a scenario accepts: formulations, methods of the solver, starts of the links, and others."""
    return {
        "formulations": tuple(SUPPORT),
        "methods": _words(Method),
        "starts": _words(Initial.model_fields["elastic"].annotation),
        "bases": _words_of("basis"),
        "stiffenings": _words_of("stiffening"),
        "terms": _words_of("terms"),
    }


def _words_of(key: str) -> tuple[str, ...]:
    return _words(Scenario.model_fields[key].annotation)


def _words(annotation: Any) -> tuple[str, ...]:
    """The words that a type accepts, beside numbers and other things."""
    words: list[str] = []
    for inner in get_args(annotation):
        words += [inner] if isinstance(inner, str) else _words(inner)
    return tuple(words)
