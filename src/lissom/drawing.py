"""Pictures and animations of robots, modes and results, whose modules do not import graphics.

A robot or its modes say `picture_of(self)`. What draws them registers itself with `draws` or `animates`, further down
the line of imports; the package's front door says where that is.
"""

from collections.abc import Callable
from typing import Any

_drawers: dict[type, Callable[..., Any]] = {}
_animators: dict[type, Callable[..., Any]] = {}
_savers: dict[type, Callable[..., Any]] = {}
_loaders: list[Callable[[], Any]] = []


def draws(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the function that draws objects of a type."""
    return _registering(_drawers, kind)


def animates(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the function that animates objects of a type."""
    return _registering(_animators, kind)


def saves(kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of the function that writes objects of a type as a dataset, `.nc`."""
    return _registering(_savers, kind)


def _registering(table: dict[type, Callable[..., Any]], kind: type) -> Any:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        table[kind] = function
        return function

    return register


def drawers_from(load: Callable[[], Any]) -> None:
    """Name the import that brings the drawing functions; it runs when the first picture is drawn."""
    _loaders.append(load)


def picture_of(thing: Any, **options: Any) -> Any:
    """A matplotlib figure of an object, which notebooks show."""
    _load()
    return _drawers[type(thing)](thing, **options)


def animation_of(thing: Any, **options: Any) -> Any:
    """An HTML page with the animated object."""
    _load()
    return _animators[type(thing)](thing, **options)


def dataset_file_of(thing: Any, path: Any) -> Any:
    """The NetCDF file of an object, which xarray reads."""
    _load()
    return _savers[type(thing)](thing, path)


def _load() -> None:
    while _loaders:
        _loaders.pop()()
