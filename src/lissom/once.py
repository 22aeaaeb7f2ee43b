"""Values that follow from one immutable object: computed once, and cached as long as the object lives."""

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Value = TypeVar("Value")


def once_for_each(function: Callable[[Thing], Value]) -> Callable[[Thing], Value]:
    """A function of one immutable object, such as a robot; its value is cached for that very object."""
    cache: dict[int, tuple[Any, Value]] = {}

    @functools.wraps(function)
    def call(thing: Thing) -> Value:
        name = id(thing)
        found = cache.get(name)
        if found is not None and found[0]() is thing:
            return found[1]
        value = function(thing)
        reference = weakref.ref(thing, lambda _: cache.pop(name, None))
        cache[name] = (reference, value)
        return value

    return call


class LastValueCache:
    """The value for the object that was used last, as long as that lives."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref, Any] | None = None

    def get(self, thing: Any) -> Any:
        """The cached value, if this is the very object; else None."""
        last = self._last
        return last[1] if last is not None and last[0]() is thing else None

    def set(self, thing: Any, value: Any) -> None:
        """Cache a value in place of the last one."""
        self._last = (weakref.ref(thing), value)

    def __reduce__(self) -> Any:
        # A copy, or another process, starts with an empty cache.
        return LastValueCache, ()
