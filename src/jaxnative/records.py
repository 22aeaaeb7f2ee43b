"""Structures of results as JSON: modules, tuples and shapes as plain data. Reading one executes nothing that it holds.

A class or function stands there by its name, and is looked up in packages whose sources or versions are part of the
digest; an instance is filled in field by field.
"""

import base64
import json
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import equinox as eqx
import jax
import numpy as np


class NotPlainError(ValueError):
    """Something has no form as plain data."""


def to_text(value: Any, packages: Iterable[str]) -> str:
    """A structure as JSON.

    Args:
        value: modules, named and plain tuples, lists, dictionaries, shapes, arrays, numbers, texts, classes, functions.
        packages: those whose classes and functions may be named.

    Raises:
        NotPlainError: there is something else in it.
    """
    known = frozenset(packages)
    text = json.dumps(_encoded(value, known))
    # Written only if it reads back the same.
    if json.dumps(_encoded(from_text(text, known), known)) != text:
        raise NotPlainError("is not read as it was written")
    return text


def from_text(text: str | bytes, packages: Iterable[str]) -> Any:
    """The structure of a JSON text.

    Raises:
        ValueError: the text was not made by `to_text` for these packages.
    """
    try:
        return _decoded(json.loads(text), frozenset(packages))
    except (LookupError, TypeError) as failure:
        raise NotPlainError(str(failure)) from None


# --- writing -------------------------------------------------------------------------------------------------------


def _encoded(value: Any, packages: frozenset[str]) -> Any:
    """Numbers, texts and None as they are, all else as a list that begins with a word for its kind."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, jax.ShapeDtypeStruct):
        return ["shape", list(value.shape), np.dtype(value.dtype).name]
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        return _encoded_array(value)
    if isinstance(value, type) or callable(value) and hasattr(value, "__qualname__"):
        return ["name", *_name_of(value, packages)]

    def each(values: Any) -> list[Any]:
        return [_encoded(one, packages) for one in values]

    kind = type(value)
    if kind in (tuple, list):
        return [kind.__name__, *each(value)]
    if kind is dict:
        return ["dict", each(value.keys()), each(value.values())]
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return ["named", *_name_of(kind, packages), each(value)]
    if isinstance(value, eqx.Module):
        fields = vars(value)
        named = _name_of(kind, packages)
        return ["module", *named, list(fields), each(fields.values())]
    raise NotPlainError(f"{kind.__name__} has no form as plain data")


def _encoded_array(value: Any) -> list[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise NotPlainError(f"an array of {array.dtype}")
    kind = "scalar" if isinstance(value, np.generic) else "array"
    if isinstance(value, jax.Array):
        kind = "device array"
    numbers = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return [kind, list(array.shape), array.dtype.name, numbers]


def _name_of(thing: Any, packages: frozenset[str]) -> tuple[str, str]:
    name = thing.__module__, thing.__qualname__
    if _named(*name, packages) is not thing:
        raise NotPlainError(f"{'.'.join(name)} is not found by its name")
    return name


# --- reading -------------------------------------------------------------------------------------------------------


def _decoded(data: Any, packages: frozenset[str]) -> Any:
    if not isinstance(data, list):
        return data
    kind, *rest = data
    return _READERS[kind](packages, *rest)


def _named(module: str, path: str, packages: frozenset[str]) -> Any:
    if module.partition(".")[0] not in packages:
        raise NotPlainError(f"{module} is in no known package")
    try:
        thing: Any = sys.modules.get(module) or import_module(module)
        for word in path.split("."):
            thing = getattr(thing, word)
    except (AttributeError, ImportError) as failure:
        raise NotPlainError(str(failure)) from None
    return thing


def _all(packages: frozenset[str], values: Iterable[Any]) -> list[Any]:
    return [_decoded(value, packages) for value in values]


def _dict(packages: frozenset[str], keys: list[Any], values: list[Any]) -> Any:
    pairs = zip(_all(packages, keys), _all(packages, values), strict=True)
    return dict(pairs)


def _tuple_of(
    packages: frozenset[str], module: str, path: str, values: list[Any]
) -> Any:
    kind = _named(module, path, packages)
    if not issubclass(kind, tuple):
        raise NotPlainError(f"{path} is no tuple")
    return tuple.__new__(kind, _all(packages, values))


def _module(
    packages: frozenset[str],
    module: str,
    path: str,
    fields: list[str],
    values: list[Any],
) -> Any:
    kind = _named(module, path, packages)
    if not issubclass(kind, eqx.Module):
        raise NotPlainError(f"{path} is no module")
    made = object.__new__(kind)
    for field, value in zip(fields, _all(packages, values), strict=True):
        object.__setattr__(made, field, value)
    return made


def _array(_: frozenset[str], shape: list[int], dtype: str, numbers: str) -> np.ndarray:
    memory = bytearray(base64.b64decode(numbers))
    return np.frombuffer(memory, dtype=dtype).reshape(shape)


_READERS: dict[str, Callable[..., Any]] = {
    "tuple": lambda packages, *values: tuple(_all(packages, values)),
    "list": lambda packages, *values: _all(packages, values),
    "dict": _dict,
    "named": _tuple_of,
    "module": _module,
    "name": lambda packages, module, path: _named(module, path, packages),
    "shape": lambda _, shape, dtype: jax.ShapeDtypeStruct(
        tuple(shape), np.dtype(dtype)
    ),
    "array": _array,
    "scalar": lambda *parts: _array(*parts)[()],
    "device array": lambda *parts: jax.device_put(_array(*parts)),
}
