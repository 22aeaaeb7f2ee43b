"""The fields of controllers and of the motions that they follow, so that a form can be made of them.

They are read from the classes that check a file: what is accepted there is what is offered here.
"""

from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from ..files.part import Part
from ..files.quantity import Numbers, Quantity, Whole
from ..files.summary import plain
from .controllers import CONTROLLERS
from .planned_motions import MOTIONS, Reference
from .time_tables import ReferenceTable

TABLE = "table"  # a reference that has no type in files


@dataclass(frozen=True)
class FormField:
    """One key of a part."""

    key: str
    # number, whole, numbers, rows, word, words, flag, part, reference, mapping
    kind: str
    unit: str = ""
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()  # of a word
    fields: tuple["FormField", ...] = ()  # of a part


@dataclass(frozen=True)
class Form:
    """A part by its type."""

    type: str
    about: str  # in one sentence
    fields: tuple[FormField, ...]


@dataclass(frozen=True)
class ControllerForms:
    """All controllers, and all ways to write the motion that they follow."""

    controllers: tuple[Form, ...]
    references: tuple[Form, ...]


def controller_forms() -> ControllerForms:
    """The fields of everything that a controller can be."""
    tables = {TABLE: ReferenceTable, **MOTIONS}
    return ControllerForms(
        controllers=tuple(_form(*one) for one in CONTROLLERS.items()),
        references=tuple(_form(*one) for one in tables.items()),
    )


def _form(name: str, part: type[Part]) -> Form:
    about = (part.__doc__ or "").partition("\n")[0]
    fields = tuple(field for field in _fields(part) if field.key != "type")
    return Form(type=name, about=about, fields=fields)


def _fields(part: type[Part]) -> tuple[FormField, ...]:
    found = []
    for name, info in part.model_fields.items():
        found.append(_field(info.alias or name, info))
    return tuple(found)


def _field(key: str, info: FieldInfo) -> FormField:
    required = info.is_required()
    default = None if required else plain_default(info.get_default())
    annotation, checks = _inside(info.annotation, list(info.metadata))
    parts: dict[str, Any] = {"key": key, "required": required, "default": default}
    if info.annotation is Any and info.metadata == _metadata(Reference):
        return FormField(kind="reference", **parts)
    for check in checks:
        if isinstance(check, Numbers):
            kind = "numbers" if len(check.shape) == 1 else "rows"
            return FormField(kind=kind, unit=check.each.unit, **parts)
        if isinstance(check, Quantity):
            return FormField(kind="number", unit=check.unit, **parts)
        if isinstance(check, Whole):
            return FormField(kind="whole", **parts)
    return FormField(**_kind_of(annotation), **parts)


def _kind_of(annotation: Any) -> dict[str, Any]:
    """What a type without a quantity is in a form."""
    if get_origin(annotation) is Literal:
        return {"kind": "word", "choices": tuple(map(str, get_args(annotation)))}
    if annotation is bool:
        return {"kind": "flag"}
    if get_origin(annotation) is tuple:
        return {"kind": "words"}
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return {"kind": "part", "fields": _fields(annotation)}
    return {"kind": "word" if annotation is str else "mapping"}


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


def _metadata(annotated: Any) -> list[Any]:
    return list(get_args(annotated)[1:])


def plain_default(value: Any) -> Any:
    """A default as a file would write it; that of a part is left to its fields."""
    return None if isinstance(value, Part) else plain(value)
