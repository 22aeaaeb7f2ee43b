"""All verbs: those of the package, and those that were registered."""

from collections.abc import Mapping

from .table import TABLE
from .verb import Verb

_registered: dict[str, Verb] = {}


def register(verb: Verb) -> None:
    """Add a verb to the command line, Python, the studio and the reference.

    Raises:
        ValueError: there is a verb of this name.
    """
    if verb.name in _registered:
        raise ValueError(f"there is a verb {verb.name!r} already")
    _registered[verb.name] = verb


def withdraw(name: str) -> None:
    """Take away a verb that was registered."""
    _registered.pop(name, None)


def verbs() -> Mapping[str, Verb]:
    """All verbs by name: those of the package, then those that were registered."""
    return {verb.name: verb for verb in TABLE} | _registered


def verb_named(name: str) -> Verb:
    """The verb of a name.

    Raises:
        KeyError: there is none.
    """
    return verbs()[name]
