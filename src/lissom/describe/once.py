"""Values that follow from one object that does not change: computed once, and kept as long as the object lives."""

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Value = TypeVar("Value")


def once_for_each(function: Callable[[Thing], Value]) -> Callable[[Thing], Value]:
    """A function of one frozen object, such as a robot: asked again about the very same object, it has the answer."""
    kept: dict[int, tuple[Any, Value]] = {}

    @functools.wraps(function)
    def call(thing: Thing) -> Value:
        name = id(thing)
        found = kept.get(name)
        if found is not None and found[0]() is thing:
            return found[1]
        value = function(thing)
        reference = weakref.ref(thing, lambda _: kept.pop(name, None))
        kept[name] = (reference, value)
        return value

    return call
