"""Dotted paths into a description: `links.upper.beam.material.E`, list items by name or number, `*` for all."""

from collections.abc import Mapping
from copy import copy
from typing import Any

from .document import parse_document
from .errors import nearest, refused
from .quantity import is_traced


def assigned(data: Any, changes: Mapping[str, Any]) -> Any:
    """Plain `data` with the values of `changes` at their dotted paths; `None` takes an entry out.

    Raises:
        DescriptionError: a path leads through something that is not there and cannot be made.
    """
    for path, value in changes.items():
        data = _assigned(data, path.split("."), value, path)
    return data


def _assigned(here: Any, steps: list[str], value: Any, path: str) -> Any:
    if not steps:
        return value
    if is_traced(here) and not isinstance(here, list | dict):
        raise refused(path, None, "leads into a JAX array: give the whole array")
    if here is None:
        here = {}
    if isinstance(here, list):
        return _in_list(here, steps, value, path)
    if not isinstance(here, Mapping):
        raise refused(
            path,
            None,
            f"there is nothing below {path.removesuffix('.' + '.'.join(steps))}",
        )
    entries = dict(here)
    inside = _assigned(entries.get(steps[0]), steps[1:], value, path)
    if inside is None:
        entries.pop(steps[0], None)
        return entries
    return entries | {steps[0]: inside}


def _in_list(here: list, steps: list[str], value: Any, path: str) -> list:
    items = copy(here)
    for k in _positions(here, steps[0], path):
        items[k] = _assigned(here[k], steps[1:], value, path)
    return [item for item in items if item is not None]


def _positions(items: list, step: str, path: str) -> list[int]:
    if step == "*":
        return list(range(len(items)))
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    if step in names:
        return [names.index(step)]
    if step.isdecimal() and int(step) < len(items):
        return [int(step)]
    known = [name for name in names if name] or [str(k) for k in range(len(items))]
    raise refused(
        path,
        None,
        f"no item {step!r} in the list{nearest(step, known) or '.'} Items: {', '.join(known)}",
    )


def parse_assignment(text: str) -> tuple[str, Any]:
    """`key=value` of a command line as a dotted path and the YAML value.

    Raises:
        DescriptionError: no `=`, no key, or a value that is not YAML.
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise refused(
            text,
            None,
            "must be key=value, such as t_end=0.5 or links.upper.beam.material.E=9e9",
        )
    return path.strip(), parse_document(value, file=f"--set {path.strip()}").data
