"""Users' functions inside compiled code: identified by their content, not by the object.

A script that runs many times makes a new `lambda t, state: ...` each time. Its code and the values that it encloses are
the same, and so is the compiled program. Where they are not, the new program takes the place of an old one.
"""

import dataclasses
import dis
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxnative.compilation import STORE, UserCode

# Variants of one piece of code, with other enclosed values, whose programs are cached.
VARIANTS = 4
# Pieces of code in the cache.
CODES = 64
# A function that reaches further than this through what it encloses is taken as an object of its own.
DEPTH = 12


class UserFunction(UserCode):
    """A user's function, one object for all functions of the same content; it calls the newest of them."""

    def __init__(self, function: Callable):
        self.function = function
        # Sizes of robots for which it was found to give torques.
        self.checked: set[Any] = set()

    def __call__(self, *args: Any) -> Any:
        """Value of the newest function of this content."""
        return self.function(*args)


class UnknownContentError(TypeError):
    """An object whose content is unknown and may change."""


# Known functions: for each piece of code the variants by their content, those used last at the end.
_known: OrderedDict[Hashable, OrderedDict[Hashable, UserFunction]] = OrderedDict()


def user_function(function: Callable) -> UserFunction:
    """The one object for all functions with the content of this one."""
    if isinstance(function, UserFunction):
        return function
    code = getattr(function, "__code__", type(function))
    try:
        content = content_of(function)
    except UnknownContentError:
        content = (SameObject(function),)
    variants = _known.setdefault(code, OrderedDict())
    known = variants.setdefault(content, UserFunction(function))
    # A function that is called back may write to what it encloses: the newest one is meant.
    known.function = function
    variants.move_to_end(content)
    _known.move_to_end(code)
    _forget_old(variants)
    return known


def has_known_content(function: Callable) -> bool:
    """True if all that a function encloses is known, so that nothing in it is traced."""
    if isinstance(function, UserFunction):
        return True
    try:
        content_of(function)
    except UnknownContentError:
        return False
    return True


def _forget_old(variants: OrderedDict[Hashable, UserFunction]) -> None:
    while len(variants) > VARIANTS:
        _, old = variants.popitem(last=False)
        STORE.drop_users_of(old)
    while len(_known) > CODES:
        _, others = _known.popitem(last=False)
        for old in others.values():
            STORE.drop_users_of(old)


# --- content of a function -----------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False)
class SameObject:
    """An object that is equal to itself alone; it is held, so that no other one takes its address."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def content_of(value: Any, depth: int = 0) -> Hashable:
    """Content of a value, such that equal contents compute the same.

    Raises:
        UnknownContentError: an object of a class that nothing is known about.
    """
    if depth > DEPTH:
        raise UnknownContentError("too deep")
    deeper = functools.partial(content_of, depth=depth + 1)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        # With its type, as 1 equals 1.0 and True; by its text, as nan equals nothing and 0.0 equals -0.0.
        return type(value), repr(value)
    if isinstance(value, Tracer):
        raise UnknownContentError("traced")
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _array_content(value)
    if isinstance(value, tuple | list):
        return type(value), tuple(deeper(entry) for entry in value)
    if isinstance(value, dict):
        return dict, tuple((deeper(key), deeper(entry)) for key, entry in value.items())
    if isinstance(value, types.FunctionType):
        return value.__code__, tuple(deeper(entry) for entry in _closure_content(value))
    if isinstance(value, functools.partial):
        parts = (value.func, value.args, value.keywords)
        return functools.partial, deeper(parts)
    return _object_content(value, deeper)


def _array_content(value: Any) -> Hashable:
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise UnknownContentError("an array of objects")
    return type(value).__name__, array.shape, array.dtype.str, array.tobytes()


def _object_content(value: Any, deeper: Callable[[Any], Hashable]) -> Hashable:
    fixed = types.ModuleType | type | types.BuiltinFunctionType | np.ufunc
    # Of this package, of JAX and of NumPy nothing changes once it is made; a function with a cache has its own.
    ours = type(value).__module__.partition(".")[0] in ("lissom", "jax", "jaxlib")
    if isinstance(value, fixed) or ours:
        return SameObject(value)
    parameters = getattr(type(value), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        fields = [getattr(value, f.name) for f in dataclasses.fields(value)]
        return type(value), deeper(tuple(fields))
    raise UnknownContentError(type(value).__name__)


def _closure_content(function: types.FunctionType) -> Iterator[Any]:
    """Everything outside of its own code that a function can see: defaults, enclosed variables, globals it names."""
    yield function.__defaults__
    yield function.__kwdefaults__
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            # A variable that has no value yet, such as that of the function itself.
            raise UnknownContentError("empty") from None
    for name in sorted(_global_names(function.__code__)):
        yield name
        yield function.__globals__.get(name)


@functools.lru_cache(maxsize=4 * CODES)
def _global_names(code: types.CodeType) -> frozenset[str]:
    names = set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
    for constant in code.co_consts:
        # Functions inside the function.
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return frozenset(names)
