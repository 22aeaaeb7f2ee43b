"""Dotted paths into a description: `links.upper.beam.material.E`, list items by name or number, `*` for all."""

from collections.abc import Mapping
from typing import Any

from .document import parse_document
from .errors import nearest, refused
from .part import entry_of
from .quantity import is_jax_value


def with_values(data: Any, changes: Mapping[str, Any]) -> Any:
    """Plain `data` with the values of `changes` at their dotted paths; `None` takes an entry out.

    Raises:
        DescriptionError: a path leads through something that is not there and cannot be made.
    """
    for path, value in changes.items():
        data = _with_value(data, path.split("."), value, path)
    return data


def _with_value(here: Any, steps: list[str], value: Any, path: str) -> Any:
    """What stands `here`, with `value` at the end of the remaining `steps` of the whole `path`."""
    if not steps:
        return value
    if here is None:
        # A part that is not written yet, such as `payload`, is made on the way.
        here = {}
    if isinstance(here, list):
        return _in_list(here, steps, value, path)
    if isinstance(here, Mapping):
        return _in_mapping(here, steps, value, path)
    if is_jax_value(here):
        raise refused(path, None, "points into a JAX array: give the whole array")
    above = path.removesuffix("." + ".".join(steps))
    raise refused(path, None, f"there is nothing below {above}")


def _in_mapping(here: Mapping, steps: list[str], value: Any, path: str) -> dict:
    key, *rest = steps
    entries = dict(here)
    inside = _with_value(entries.get(key), rest, value, path)
    if inside is None:
        entries.pop(key, None)
    else:
        entries[key] = inside
    return entries


def _in_list(here: list, steps: list[str], value: Any, path: str) -> list:
    step, *rest = steps
    items = list(here)
    for k in _positions(here, step, path):
        items[k] = _with_value(here[k], rest, value, path)
    return [item for item in items if item is not None]


def _positions(items: list, step: str, path: str) -> list[int]:
    if step == "*":
        return list(range(len(items)))
    names = [entry_of(item, "name") for item in items]
    if step in names:
        return [names.index(step)]
    numbers = [str(k) for k in range(len(items))]
    if step in numbers:
        return [numbers.index(step)]
    known = [name for name in names if name] or numbers
    guess = nearest(step, known) or "."
    message = f"no item {step!r} in the list{guess} Items: {', '.join(known)}"
    raise refused(path, None, message)


def parse_assignment(text: str) -> tuple[str, Any]:
    """`key=value` of a command line as a dotted path and the YAML value.

    Raises:
        DescriptionError: no `=`, no key, or a value that is not YAML.
    """
    path, equals, value = text.partition("=")
    path = path.strip()
    if not equals or not path:
        message = (
            "must be key=value, such as t_end=0.5 or links.upper.beam.material.E=9e9"
        )
        raise refused(text, None, message)
    return path, parse_document(value, file=f"--set {path}").data
