"""The frozen base of everything that is described, and how its errors are worded."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeGuard

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import InitErrorDetails

from .errors import DescriptionError, Problem, nearest, shortened
from .quantity import error, is_jax_value, kind_of

SHAPES = ("rectangle", "circle", "tube", "box", "general")  # of sections

Location = tuple[str | int, ...]  # keys and list positions that lead to an entry


class Finding(NamedTuple):
    """Something wrong inside a part: where from there, the value, and what is accepted."""

    loc: Location
    value: Any
    message: str


Findings = Iterator[Finding]
Entries = Mapping[str, Any]  # of a part as written, perhaps half-valid


def finding(message: str, *loc: str | int, value: Any = None) -> Finding:
    """Something wrong at a key, such as `"joint", "axis"`; numbers in a row are shown as a list, as in a file."""
    shown = list(value) if isinstance(value, tuple) else value
    return Finding(loc, shown, message)


def is_list(value: Any) -> TypeGuard[list | tuple]:
    """True for a list as a file or a part holds it."""
    return isinstance(value, list | tuple)


class PartType(type(BaseModel)):
    """Parts that are made by their name, `ls.Scenario(robot=...)`, are refused in the words of this package too."""

    if not TYPE_CHECKING:

        def __call__(cls, *args: Any, **entries: Any) -> Any:
            """A part of its entries."""
            if args:
                accepted = ", ".join(f"{key}=" for key in keys_of(cls))
                shown = shortened(args[0])
                message = f"{cls.__name__}: {shown}: takes only named entries: {accepted[:-1]}"
                raise TypeError(
                    f"{message}; `load` reads a file, `from_dict` plain data"
                )
            try:
                return super().__call__(**entries)
            except ValidationError as failure:
                details = failure.errors(include_url=False)
            raise DescriptionError([_problem(detail, entries) for detail in details])


def _problem(detail: Any, entries: Any) -> Problem:
    """Of an error in entries that come from no file; items of lists are called by their names."""
    words = []
    here = entries
    for step in detail["loc"]:
        inside = is_list(here) and isinstance(step, int) and step < len(here)
        here = here[step] if inside else entry_of(here, str(step))
        name = entry_of(here, "name") if inside else None
        words.append(name if isinstance(name, str) else str(step))
    value = detail["input"]
    # A whole mapping as the value would hide the message.
    shown = None if isinstance(value, Mapping | BaseModel) else value
    return Problem(None, None, ".".join(words), shown, detail["msg"])


class Part(BaseModel, metaclass=PartType):
    """A frozen piece of a description. Unknown keys are refused with the nearest known one.

    A subclass adds checks across fields in `findings`, and those that make sense on half-valid data in
    `partial_findings`; all are reported together with the errors of single fields.
    """

    # Parts that a scenario does not have are never built.
    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )
    # Keys that belong elsewhere, and what to do about them.
    foreign_keys: ClassVar[dict[str, str]] = {}

    @model_validator(mode="wrap")
    @classmethod
    def _validated(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(data, cls):
            return data
        try:
            part = handler(data)
        except ValidationError as failure:
            found = findings_of(cls, failure)
            found += cls.partial_findings(data)
        else:
            found = list(part.findings())
            if not found:
                return part
        raise validation_error(cls.__name__, found)

    def findings(self) -> Iterable[Finding]:
        """What is wrong across the fields of a part whose fields are each right."""
        return ()

    @classmethod
    def partial_findings(cls, data: Any) -> Iterable[Finding]:
        """What is wrong across fields where single fields are wrong too; `data` is as written."""
        return ()


def about(text: str) -> Any:
    """What an entry is, as forms show it."""
    return Field(description=text)


def _read_switch(value: Any) -> Any:
    """`true` is a part with its defaults, `false` none."""
    if value is True:
        return {}
    return None if value is False else value


SWITCH = BeforeValidator(_read_switch)


@dataclass(frozen=True)
class OneOf:
    """The parts that an entry may be, where a validator of its own reads it: pairs of the word and the part."""

    # A function: parts are imported when somebody asks.
    parts: Callable[[], Iterable[tuple[str, type[BaseModel]]]]


def keys_of(cls: type[BaseModel]) -> dict[str, str]:
    """Keys of a part as files write them, and the names of its fields."""
    return {field.alias or name: name for name, field in cls.model_fields.items()}


def entry_of(part: Any, *keys: str) -> Any:
    """An entry of nested parts or mappings, `None` where there is none."""
    for key in keys:
        if isinstance(part, Mapping):
            part = part.get(key)
        else:
            part = getattr(part, key, None)
    return part


def findings_at(loc: Location, found: Iterable[Finding]) -> list[Finding]:
    """Findings of a part, placed where that part stands in the whole."""
    placed = []
    for inner, value, message in found:
        placed.append(Finding((*loc, *inner), value, message))
    return placed


def validation_error(title: str, found: Iterable[Finding]) -> ValidationError:
    """The findings as pydantic's own error, so that an enclosing part can place them."""
    details = []
    for loc, value, message in found:
        detail = InitErrorDetails(type=error(message), loc=loc, input=value)
        details.append(detail)
    return ValidationError.from_exception_data(title, details)


def findings_of(cls: type[BaseModel], failure: ValidationError) -> list[Finding]:
    """Pydantic's errors of one part in the words of this package."""
    details = failure.errors(include_url=False)
    return [_finding_of(cls, detail) for detail in details]


def _finding_of(cls: type[BaseModel], detail: Any) -> Finding:
    loc = tuple(detail["loc"])
    value = detail["input"]
    kind = detail["type"]
    keys = list(keys_of(cls))
    if kind == "description":
        # An error of ours, from a part inside this one: it is worded already.
        return Finding(loc, value, detail["msg"])
    if kind == "missing":
        return Finding(loc, None, "missing")
    if kind == "extra_forbidden" and loc[-1] in _foreign_keys(cls):
        return Finding(loc, value, _foreign_keys(cls)[loc[-1]])
    if kind == "extra_forbidden":
        guess = nearest(loc[-1], keys) or "."
        message = f"unknown key{guess} Accepted: {', '.join(keys)}"
        return Finding(loc, None, message)
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        accepted = f" with {', '.join(keys)}" if not loc else ""
        message = f"must be a mapping{accepted}, not {kind_of(value)}"
        return Finding(loc, value, message)
    return Finding(loc, value, _plain_words(detail, value))


def _foreign_keys(cls: type[BaseModel]) -> Mapping[Any, str]:
    return cls.foreign_keys if issubclass(cls, Part) else {}


def _plain_words(detail: Any, value: Any) -> str:
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "literal_error":
        return _choice_words(context["expected"], value)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _shape_words(value)
    if kind == "value_error":
        lines = str(context["error"]).splitlines()
        return "; ".join(lines)
    if kind in ("list_type", "tuple_type"):
        return f"must be a list, not {kind_of(value)}"
    if kind == "string_type":
        return f"must be text, not {kind_of(value)}"
    if kind.startswith("bool"):
        return f"must be true or false, not {kind_of(value)}"
    if kind == "too_short":
        return f"must have at least {context.get('min_length', 1)} items"
    return detail["msg"]


def _choice_words(expected: str, value: Any) -> str:
    """Pydantic writes the accepted words as `'a', 'b' or 'c'`."""
    words = expected.replace(" or ", ", ").split(", ")
    words = [word.strip("'") for word in words]
    return f"must be one of {', '.join(words)}{nearest(value, words)}"


def _shape_words(value: Any) -> str:
    shape = value.get("shape") if isinstance(value, Mapping) else None
    if shape is None:
        problem = "must have a shape"
    else:
        guess = nearest(shape, SHAPES) or "."
        problem = f"the shape {shape!r} is not known{guess}"
    accepted = ", ".join(SHAPES)
    return f"{problem} Accepted: {accepted}; or start and end for a tapered beam"


def plain(value: Any) -> Any:
    """A part as plain mappings, lists and numbers; keys that hold their default are left out."""
    if isinstance(value, BaseModel):
        entries = {}
        for key, name in keys_of(type(value)).items():
            entry = getattr(value, name)
            if not _is_default(entry, type(value).model_fields[name]):
                entries[key] = plain(entry)
        return entries
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if is_list(value):
        return [plain(entry) for entry in value]
    return value


def _is_default(value: Any, field: Any) -> bool:
    if value is None:
        return True
    if field.is_required() or is_jax_value(value):
        return False
    default = field.get_default(call_default_factory=True)
    if type(value) is not type(default):
        return False
    # A traced number cannot be compared: its part is written even where it might be the default.
    return not _holds_traced(value) and value == default


def _holds_traced(value: Any) -> bool:
    return isinstance(value, BaseModel) and is_jax_value(plain(value))
