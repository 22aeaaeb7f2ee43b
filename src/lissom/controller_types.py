"""Types of controllers that files can name.

A scenario checks its controller when it is read, long before there is a model to build a law for. Descriptions stand
beside their laws, further down the line of imports: these register here, and the package's front door says where.
"""

from collections.abc import Callable, Mapping
from typing import Any

_types: dict[str, Callable[[], Any]] = {}
_loaders: list[Callable[[], Any]] = []


def register_type(name: str, load: Callable[[], Any]) -> None:
    """Make a type known; `load` gives its description and what builds its law, once a file names it."""
    _types[name] = load


def types_from(load: Callable[[], Any]) -> None:
    """Name the import that registers types; it runs when they are first needed."""
    _loaders.append(load)


def controller_types() -> Mapping[str, Callable[[], Any]]:
    """All types by name, in the order in which they are listed to users."""
    # Modules run once, and other threads wait for them: to import them again costs nothing.
    for load in _loaders:
        load()
    return _types
