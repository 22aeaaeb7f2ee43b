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


class LastAnswer:
    """What is known about the object that was looked at last, as long as that lives."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref, Any] | None = None

    def about(self, thing: Any) -> Any:
        """The answer, if this is the very object; else None."""
        last = self._last
        return last[1] if last is not None and last[0]() is thing else None

    def keep(self, thing: Any, answer: Any) -> None:
        """Keeps an answer in place of the last one."""
        self._last = (weakref.ref(thing), answer)

    def __reduce__(self) -> Any:
        # Another process, or a copy, has other objects.
        return LastAnswer, ()
