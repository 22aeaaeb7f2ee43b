"""Pictures of things that know nothing of pictures.

A robot or its modes say `picture_of(self)`. What draws them registers itself with `draws`, further down the line of
imports; the package's front door says where that is.
"""

from collections.abc import Callable
from typing import Any

_drawers: dict[type, Callable[..., Any]] = {}
_loaders: list[Callable[[], Any]] = []


def draws(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the function that draws things of a kind."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _drawers[kind] = function
        return function

    return register


def drawers_from(load: Callable[[], Any]) -> None:
    """Name the import that brings the drawing functions; it is made when the first picture is asked for."""
    _loaders.append(load)


def picture_of(thing: Any, **options: Any) -> Any:
    """A matplotlib figure of a thing, which notebooks show."""
    while _loaders:
        _loaders.pop()()
    return _drawers[type(thing)](thing, **options)
