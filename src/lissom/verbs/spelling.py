"""The command line and the lines of Python of a call of a verb."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from ..analyse.modes.map_axis import MapAxis
from .declared import REPEATED, Declared, declared, given_parameters, names_of_kind
from .perform import with_subject
from .registry import verb_named
from .verb import LINEAR_MODEL, NOTHING, SOURCE, Verb

Values = Mapping[str, Any]


def spelled(verb: Verb, source: str, changes: Values, values: Values) -> dict[str, Any]:
    """The command line of a call, and its lines of Python.

    Args:
        verb: what is called.
        source: the robot: a name of the library, a file.
        changes: of the robot and of how it is modelled, by dotted path.
        values: of parameters and files by their names in requests; defaults may be left out.
    """
    kind, _, rest = source.rpartition(":")
    if verb.reads == NOTHING:
        values, changes = with_subject(verb, rest or None, values, changes), {}
    return {
        "command": command_line(verb, rest, changes, values),
        "lines": python_lines(verb, rest, changes, values, kind == "library"),
    }


def command_line(verb: Verb, source: str, changes: Values, values: Values) -> str:
    """The line for a shell."""
    words = ["lissom", *verb.name.split()]
    if verb.reads != NOTHING:
        words.append(shlex.quote(source))
    for path, value in changes.items():
        words += ["--set", shlex.quote(f"{path}={_yaml(value)}")]
    for name, one in given_parameters(verb, values).items():
        words += _option(verb, one, values[name])
    for output in verb.writes:
        if values.get(output.name) is not None:
            words += [output.spelling[0], shlex.quote(str(values[output.name]))]
    return " ".join(words)


def python_lines(
    verb: Verb,
    source: str,
    changes: Values,
    values: Values,
    from_library: bool = False,
) -> list[str]:
    """The lines of Python; a robot `from_library` has the package's default formulation."""
    lines = ["import lissom as ls"]
    subject = None
    if verb.reads == SOURCE:
        subject = repr(source)
        values = {**values, "changes": dict(changes)} if changes else values
    elif verb.reads != NOTHING:
        subject = "model"
        if from_library and not changes:
            lines.append(f"model = ls.Model({source!r})")
        else:
            others = f", {dict(changes)!r}" if changes else ""
            lines.append("from lissom.runs.sources import robot_of")
            lines.append(f"scenario = robot_of({source!r}{others})")
            lines.append("model = ls.Model.of_scenario(scenario)")
            pose = "scenario.initial.q"
            if values.get("time") is not None:
                lines.append(f"run = ls.Run.load({source!r})")
                pose = f"run.state(int(abs(run.t - {values['time']!r}).argmin()))"
            values = _with_pose(verb, pose, values)
    if verb.reads == LINEAR_MODEL:
        inner = _call(verb_named("linearize"), subject, values, verb, "linearize")
        lines.append(f"linear = {inner}")
        subject = "linear"
    lines.append(f"found = {_call(verb, subject, values, verb, 'function')}")
    lines.append("print(found)")
    for output in verb.writes:
        if output.method and values.get(output.name) is not None:
            own = [repr(str(values[output.name]))]
            for one in declared(verb):
                if one.owner == output.name and values.get(one.name) is not None:
                    own.append(f"{one.argument}={values[one.name]!r}")
            lines.append(f"found.{output.method}({', '.join(own)})")
    return lines


def _call(called: Verb, subject: str | None, values: Values, verb: Verb, owner: str):
    """`ls.modes(model, [0, 1], locked=True)`."""
    arguments = [] if subject is None else [subject]
    for name, one in given_parameters(verb, values).items():
        if one.owner == owner:
            arguments.append(f"{one.argument}={_plain(one, values[name])!r}")
    for output in called.writes:
        if output.method is None and values.get(output.name) is not None:
            arguments.append(f"{output.name}={values[output.name]!r}")
    if called.reads == SOURCE and "changes" in values:
        arguments.append(f"changes={values['changes']!r}")
    return f"ls.{called.load().__name__}({', '.join(arguments)})"


class _Code(str):
    """Code among values: its `repr` is without quotes."""

    def __repr__(self) -> str:
        return str(self)


def _with_pose(verb: Verb, pose: str, values: Values) -> Values:
    """Values with the initial joint coordinates of the scenario, or those of the run, where none are given."""
    initial = {name: _Code(pose) for name in names_of_kind(verb, "positions")}
    return initial | {k: value for k, value in values.items() if value is not None}


def _option(verb: Verb, one: Declared, value: Any) -> list[str]:
    option, _, opposite = verb.spelling(one.name)[0].partition("/")
    if one.facts.by_position:
        several = value if isinstance(value, list | tuple) else [value]
        return [shlex.quote(str(entry)) for entry in several]
    if isinstance(value, bool):
        return [option if value else opposite]
    if isinstance(value, Mapping):
        texts = [f"{path}={_yaml(entry)}" for path, entry in value.items()]
    elif one.facts.kind in REPEATED:
        texts = [str(entry) for entry in _plain(one, value)]
    elif isinstance(value, list | tuple):
        text = ",".join(str(entry) for entry in value)
        # A negative number would be taken for an option.
        return [f"{option}={shlex.quote(text)}"]
    else:
        texts = [str(value)]
    return [word for text in texts for word in (option, shlex.quote(text))]


def _yaml(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class _Axis(MapAxis):
    """An axis: `str` is its text on the command line, `repr` its call in Python."""

    def __repr__(self) -> str:
        return f"ls.{MapAxis(**vars(self))!r}"


def _plain(one: Declared, value: Any) -> Any:
    if one.facts.kind == "map axes":
        return [_Axis(**axis) for axis in value]
    return list(value) if isinstance(value, tuple) else value
