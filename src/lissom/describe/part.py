"""The frozen base of everything that is described, and how its errors are worded."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from .errors import nearest
from .quantity import error, is_traced, kind_of


class Finding(NamedTuple):
    """Something wrong inside a part: where from there, the value, and what is accepted."""

    loc: tuple[str | int, ...]
    value: Any
    message: str


class Part(BaseModel):
    """A frozen piece of a description. Unknown keys are refused with the nearest known one.

    A subclass adds checks across fields in `findings`, and those that make sense on half-valid data in
    `partial_findings`; all are reported together with the errors of single fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="wrap")
    @classmethod
    def _validated(cls, data: Any, handler: Callable[[Any], Any]) -> Any:
        if isinstance(data, cls):
            return data
        try:
            part = handler(data)
        except ValidationError as failure:
            found = [*worded(cls, failure), *cls.partial_findings(data)]
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


def entry_of(part: Any, *keys: str) -> Any:
    """An entry of nested parts or mappings, `None` where there is none."""
    for key in keys:
        part = part.get(key) if isinstance(part, Mapping) else getattr(part, key, None)
    return part


def validation_error(title: str, found: Iterable[Finding]) -> ValidationError:
    """The findings as pydantic's own error, so that an enclosing part can place them."""
    details = [
        InitErrorDetails(type=error(f.message), loc=f.loc, input=f.value) for f in found
    ]
    return ValidationError.from_exception_data(title, details)


def worded(cls: type[BaseModel], failure: ValidationError) -> list[Finding]:
    """Pydantic's errors of one part in the words of this package."""
    return [_worded(cls, detail) for detail in failure.errors(include_url=False)]


def _worded(cls: type[BaseModel], detail: Any) -> Finding:
    loc, value, kind = tuple(detail["loc"]), detail["input"], detail["type"]
    keys = list(cls.model_fields)
    if kind == "description":
        return Finding(loc, value, detail["msg"])
    if kind == "missing":
        return Finding(loc, None, "missing")
    if kind == "extra_forbidden":
        return Finding(
            loc,
            None,
            f"unknown key{nearest(loc[-1], keys) or '.'} Accepted: {', '.join(keys)}",
        )
    if kind in ("model_type", "dict_type", "model_attributes_type"):
        accepted = f" with {', '.join(keys)}" if not loc else ""
        return Finding(loc, value, f"must be a mapping{accepted}, not {kind_of(value)}")
    return Finding(loc, value, _plain_words(detail, value))


def _plain_words(detail: Any, value: Any) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "literal_error":
        expected = context["expected"]
        words = [word.strip("'") for word in expected.replace(" or ", ", ").split(", ")]
        return f"must be one of {', '.join(words)}{nearest(value, words)}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _shape_words(value)
    if kind == "value_error":
        return "; ".join(str(context["error"]).splitlines())
    if kind in ("list_type", "tuple_type"):
        return f"must be a list, not {kind_of(value)}"
    if kind == "string_type":
        return f"must be text, not {kind_of(value)}"
    if kind.startswith("bool"):
        return f"must be true or false, not {kind_of(value)}"
    if kind == "too_short":
        return f"must have at least {context.get('min_length', 1)} items"
    return detail["msg"]


def _shape_words(value: Any) -> str:
    shapes = ("rectangle", "circle", "tube", "box", "general")
    shape = value.get("shape") if isinstance(value, Mapping) else None
    missing = (
        "must have a shape"
        if shape is None
        else f"the shape {shape!r} is not known{nearest(shape, shapes) or '.'}"
    )
    return (
        f"{missing} Accepted: {', '.join(shapes)}; or start and end for a tapered beam"
    )


def plain(value: Any) -> Any:
    """A part as plain mappings, lists and numbers; keys that hold their default are left out."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        entries = {name: getattr(value, name) for name in fields}
        return {
            k: plain(v) for k, v in entries.items() if not _is_default(v, fields[k])
        }
    if isinstance(value, Mapping):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    return value


def _is_default(value: Any, field: Any) -> bool:
    if value is None:
        return True
    if field.is_required() or is_traced(value):
        return False
    default = field.get_default(call_default_factory=True)
    return (
        type(value) is type(default) and not _holds_traced(value) and value == default
    )


def _holds_traced(value: Any) -> bool:
    return is_traced(plain(value)) if isinstance(value, BaseModel) else False
