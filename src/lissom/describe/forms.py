"""The keys that a file may have, for forms: every key with its kind, unit, help, default and choices.

They are read from the classes that check a file: what is accepted there is what is offered here.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag
from pydantic.fields import FieldInfo

from ..files.part import SWITCH, OneOf, Part
from ..files.quantity import Numbers, Quantity, Whole
from ..files.summary import plain
from .robot import Robot
from .scenario import Scenario


@dataclass(frozen=True)
class FormField:
    """One key of a part."""

    key: str
    # number, whole, numbers, rows, word, words, flag, part, parts, union, mapping
    kind: str
    unit: str = ""
    help: str = ""
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()  # of a word
    # Of a part: `true` stands for it with its defaults.
    switch: bool = False
    fields: tuple["FormField", ...] = ()  # of a part, or of each of several
    forms: tuple["Form", ...] = ()  # of a union

    def to_dict(self) -> dict[str, Any]:
        """The key as plain data, with all keys inside."""
        return asdict(self)


@dataclass(frozen=True)
class Form:
    """One of the parts that an entry may be."""

    type: str
    about: str  # in one sentence
    # The entries that identify it: {"type": "pd"}; a table of motion has none.
    named: dict[str, str] = field(default_factory=dict)
    fields: tuple[FormField, ...] = ()


def file_forms() -> dict[str, FormField]:
    """The robot of a robot file, and the controller of a scenario."""
    controller = Scenario.model_fields["controller"]
    return {
        "robot": FormField("robot", **_part(Robot)),
        "controller": _field("controller", controller),
    }


def _part(part: type[BaseModel]) -> dict[str, Any]:
    found = part.model_fields.items()
    fields = tuple(_field(info.alias or name, info) for name, info in found)
    return {"kind": "part", "fields": fields}


def _form(name: str, part: type[BaseModel]) -> Form:
    about = (part.__doc__ or "").partition("\n")[0]
    fields = _part(part)["fields"]
    named = {one.key: name for one in fields if one.choices == (name,)}
    others = tuple(one for one in fields if one.key not in named)
    return Form(name, about, named, others)


def _field(key: str, info: FieldInfo) -> FormField:
    required = info.is_required()
    annotation, checks = _inside(info.annotation, list(info.metadata))
    parts = _kind_of(annotation, checks)
    if info.description:
        parts["help"] = info.description
    # The default of a part is left to its fields.
    default = None if required else info.get_default()
    if not isinstance(default, Part):
        parts["default"] = plain(default)
    return FormField(key=key, required=required, **parts)


def _kind_of(annotation: Any, checks: list[Any]) -> dict[str, Any]:
    """Kind of a type in a form, with its unit, choices or fields."""
    for check in checks:
        if isinstance(check, Numbers):
            kind = "numbers" if len(check.shape) == 1 else "rows"
            return {"kind": kind, "unit": check.each.unit, "help": check.words}
        if isinstance(check, Quantity):
            return {"kind": "number", "unit": check.unit}
        if isinstance(check, Whole):
            return {"kind": "whole"}
        if isinstance(check, OneOf):
            return _union(check.parts())
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"kind": "word", "choices": tuple(map(str, inner))}
    if annotation is bool:
        return {"kind": "flag"}
    if origin is tuple:
        each = _kind_of(inner[0], [])
        return {**each, "kind": "parts"} if _is_part(inner[0]) else {"kind": "words"}
    if _is_part(annotation):
        return {**_part(annotation), "switch": SWITCH in checks}
    if origin in (Union, UnionType):
        tagged = [_inside(one, []) for one in inner]
        parts = {_tag(marks): part for part, marks in tagged if _is_part(part)}
        return _union(parts.items()) if parts else {"kind": "word"}
    return {"kind": "word" if annotation is str else "mapping"}


def _union(parts: Iterable[tuple[str, type[BaseModel]]]) -> dict[str, Any]:
    return {"kind": "union", "forms": tuple(_form(*one) for one in parts)}


def _is_part(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Part)


def _tag(marks: list[Any]) -> str:
    return next(mark.tag for mark in marks if isinstance(mark, Tag))


def _inside(annotation: Any, checks: list[Any]) -> tuple[Any, list[Any]]:
    """A type without `None` and without what is annotated, and the checks that were annotated."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _inside(inner, [*checks, *more])
    if get_origin(annotation) in (Union, UnionType):
        others = [one for one in get_args(annotation) if one is not type(None)]
        if len(others) == 1:
            return _inside(others[0], checks)
    return annotation, checks
