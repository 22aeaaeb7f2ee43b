"""What the signature of a verb declares: its parameters, and the request that carries them."""

import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
)

from ..analyse.modes.map_axis import MapAxis
from ..files.errors import was_given
from ..parameters import Parameter, RecordedTime
from .registry import verb_named
from .verb import LINEAR_MODEL, STATE, Verb


def _as_tuple(value: Any) -> Any:
    """Arrays as tuples; everything else is left to pydantic."""
    return tuple(value.tolist()) if hasattr(value, "tolist") else value


JointValues = Annotated[tuple[float, ...], BeforeValidator(_as_tuple)]
# What a request holds for each kind of parameter.
KINDS: dict[str, Any] = {
    "positions": JointValues,
    "speeds": JointValues,
    "accelerations": JointValues,
    "forces": JointValues,
    "gains": float | JointValues,
    "names": tuple[str, ...],
    "band": JointValues,
    "length": float,
    "places": dict[str, Any],
    "axes": dict[str, Any],
    "metrics": tuple[Any, ...],
    "frequency": float,
    "numbers by name": dict[str, float],
    "wrenches": dict[str, JointValues],
    "list": tuple[str, ...],
    "map axes": tuple[MapAxis, ...],
    "degrees": bool,
    "result": str,
    "changes": dict[str, Any],
}
# Kinds whose options may stand several times, once for each entry.
REPEATED = (
    "map axes",
    "axes",
    "metrics",
    "numbers by name",
    "wrenches",
    "list",
    "changes",
)
LONG = 60.0  # [s] what takes longer joins a queue


class Declared(NamedTuple):
    """A parameter of a verb, for the command line, requests and Python."""

    name: str  # of the option and of the field of a request
    argument: str  # of the function
    # Whose argument it is: `function`, `linearize`, or the name of an output.
    owner: str
    type: Any  # of the value in a request
    default: Any  # None also where there is none
    facts: Parameter


@cache
def declared(verb: Verb) -> tuple[Declared, ...]:
    """Parameters of a verb in their order: those of its reading, its own, those of its outputs."""
    found: list[Declared] = []
    if verb.reads == LINEAR_MODEL:
        found += _of_function(verb_named("linearize"), "linearize")
    found += _of_function(verb, "function")
    if verb.reads == STATE:
        found += _of_annotation("time", RecordedTime, None, "state")
    for output in verb.writes:
        for name, (annotation, default) in output.parameters.items():
            found += _of_annotation(name, annotation, default, output.name)
    return tuple(found)


def _of_function(verb: Verb, owner: str) -> Iterator[Declared]:
    function = verb.load()
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        is_required = parameter.default is inspect.Parameter.empty
        default = None if is_required else parameter.default
        yield from _of_annotation(name, hints.get(name), default, owner)


def _of_annotation(
    name: str, annotation: Any, default: Any, owner: str
) -> Iterator[Declared]:
    """A parameter that is declared as one; all others are for Python alone."""
    if get_origin(annotation) is not Annotated:
        return
    kind, *notes = get_args(annotation)
    for facts in notes:
        if isinstance(facts, Parameter):
            own = KINDS.get(facts.kind, kind)
            yield Declared(facts.name or name, name, owner, own, default, facts)


def names_of_kind(verb: Verb, *kinds: str) -> list[str]:
    """Names of the parameters of these kinds."""
    return [one.name for one in declared(verb) if one.facts.kind in kinds]


def given_parameters(verb: Verb, values: Mapping[str, Any]) -> dict[str, Declared]:
    """Parameters by name whose values are neither empty nor their default."""
    return {
        one.name: one
        for one in declared(verb)
        if was_given(values.get(one.name), one.default)
    }


# --- requests ------------------------------------------------------------------------------------------------------


# Unknown fields are refused.
REQUEST = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


def of_browser(verb: Verb) -> tuple[Declared, ...]:
    """Parameters that a browser may set."""
    return tuple(one for one in declared(verb) if not one.facts.is_closed)


def subject_of(verb: Verb) -> Declared | None:
    """The parameter by position: what a verb without a robot is about."""
    return next((one for one in declared(verb) if one.facts.by_position), None)


@cache
def request_type(verb: Verb, from_browser: bool = False) -> type[BaseModel]:
    """The request of a verb: one field for each parameter and each file; from a browser, within its bounds.

    A browser names the subject of a verb as `source` and requests files by their endings; what belongs to this machine
    it cannot set.
    """
    fields: dict[str, Any] = {}
    for one in of_browser(verb) if from_browser else declared(verb):
        facts, kind = one.facts, one.type
        most = verb.most.get(one.name) if from_browser else None
        if from_browser and facts.kind == "map axes":
            kind = _axes_within(verb.most.get(f"{one.name}.points"))
        bounds: Any = {"max_length" if facts.kind else "le": most}
        bounds |= {"ge": facts.at_least, "gt": facts.above}
        field = Field(one.default, description=facts.help, **bounds)
        # None stands for the default.
        fields[one.name] = (kind | None, field)
    if not from_browser:
        for output in verb.writes:
            fields[output.name] = (str | None, Field(None, description=output.help))
    name = "".join(word.title() for word in re.split(r"\W", verb.name))
    return create_model(f"{name}Request", __config__=REQUEST, **fields)


def _axes_within(most: int | float | None) -> Any:
    """Axes of at most so many points each."""

    def checked(axis: MapAxis) -> MapAxis:
        if most is not None and (axis.points or 0) > most:
            raise ValueError(f"points: {axis.points}: at most {most}")
        return axis

    return tuple[Annotated[MapAxis, AfterValidator(checked)], ...]


def schema_of(verb: Verb) -> dict[str, Any]:
    """What a form needs to know of a verb: help, files, and of each parameter its help, unit, range and default."""
    properties = request_type(verb, from_browser=True).model_json_schema()["properties"]
    parameters = []
    for one in of_browser(verb):
        facts = one.facts
        parameters.append(
            properties[one.name]
            | {
                "name": one.name,
                "kind": facts.kind or _kind_of(one.type),
                "help": facts.help,
                "unit": facts.unit,
                "group": facts.group,
                "owner": one.owner,
                "choices": list(facts.choices),
                "required": one.name in verb.required,
            }
        )
    files = [
        {"name": output.name, "endings": list(output.every_ending), "help": output.help}
        for output in verb.writes
    ]
    return {
        "name": verb.name,
        "help": verb.help,
        "reads": verb.reads,
        "parameters": parameters,
        "files": files,
        "long": verb.limit_s > LONG,
    }


def _kind_of(kind: Any) -> str:
    """The type without None, in words."""
    members = [member for member in get_args(kind) if member is not type(None)]
    return getattr(members[0] if len(members) == 1 else kind, "__name__", "text")
