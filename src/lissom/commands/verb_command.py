"""The command of a verb: its options, how their texts are read, and how its answer is printed.

All of it follows from the signature of the verb's function and from its row; see `lissom.verbs`.
"""

from collections.abc import Callable, Iterator
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

import typer

from ..compiled_code import keep_compiled_code
from ..describe import DescriptionError, Problem, Scenario
from ..describe.run_keys import run_only
from ..files.errors import refused
from ..runs.sources import robot_of
from ..verbs.declared import (
    REPEATED,
    Declared,
    declared,
    given_parameters,
    names_of_kind,
)
from ..verbs.perform import Answer, file_problems, perform
from ..verbs.verb import NOTHING, SOURCE, Verb
from .options import MODELLING, Degrees, Json, Strict, changes_of
from .output import console, note, print_json, print_summary
from .parsing import (
    ACCELERATION,
    FORCE,
    POSITION,
    SPEED,
    assignments,
    axis_of,
    band,
    gains,
    joint_values,
    names_of,
    numbers_by_name,
    option_names,
    places,
    quantity,
    study_axis,
    study_metric,
    wrenches,
)
from .watching import watching

UNITS = {
    "positions": POSITION,
    "speeds": SPEED,
    "accelerations": ACCELERATION,
    "forces": FORCE,
}
# How the texts of options are read that are about no joint, by their kinds.
TEXTS: dict[str, Callable[[str, Any], Any]] = {
    "length": lambda option, text: quantity(option, text, "m", above=0.0),
    "frequency": lambda option, text: quantity(option, text, "Hz", above=0.0),
    "places": places,
    "band": band,
    "names": lambda option, text: names_of(text),
    "axes": lambda option, texts: dict(study_axis(option, text) for text in texts),
    "map axes": lambda option, texts: tuple(axis_of(option, text) for text in texts),
    "metrics": lambda option, texts: [study_metric(option, text) for text in texts],
    "numbers by name": numbers_by_name,
    "wrenches": wrenches,
    "list": lambda option, texts: tuple(texts),
    "changes": lambda option, texts: assignments(texts),
}
SECONDS = "a positive number of seconds"
# Types that typer reads by itself; every other parameter is a text, which is read here.
PLAIN = (bool, int, float, str)


def command_of(verb: Verb) -> Callable[..., None]:
    """The function that typer makes a command of; its signature is that of the verb, as options."""
    arguments = list(_arguments(verb))

    def command(**given: Any) -> None:
        run(verb, given)

    command.__name__ = verb.python_name
    command.__doc__ = f"{verb.help}\n\nExample: lissom {verb.example}"
    command.__dict__["__signature__"] = Signature(arguments)
    command.__annotations__ = {one.name: one.annotation for one in arguments}
    return command


def run(verb: Verb, given: dict[str, Any]) -> None:
    """One call of a command: it reads the texts, performs the verb and prints its answer."""
    code = keep_compiled_code() if verb.compiles else None
    as_json, strict = given.pop("json"), given.pop("strict", False)
    source = origin = given.pop("robot", None)
    robot, changes = None, {}
    with option_names(**_spellings_of(verb, given)):
        if verb.reads != NOTHING:
            changes = _changes(verb, given)
            if verb.reads != SOURCE or by_joint(verb):
                robot = _robot(source, changes)
            if verb.reads != SOURCE:
                source, changes = robot, {}
        values = values_of(verb, given, robot)
        with watching(verb, as_json) as watch:
            answer = perform(verb, source, values, changes, watch, origin)
    data = answer.to_dict() if as_json else {}
    errors = answer.result.errors
    if as_json:
        print_json(data, code)
    elif errors:
        for line in (*errors, answer.result.summary().title):
            note(str(line))
    else:
        print_answer(console(), answer)
        if code is not None:
            note(str(code))
    if errors:
        raise typer.Exit(2)
    # JSON contains them already.
    if "warnings" not in data:
        for line in answer.warnings:
            note(f"warning: {line}")
    if not answer.result.passed or strict and answer.warnings:
        raise typer.Exit(1)


def _spellings_of(verb: Verb, given: dict[str, Any]) -> dict[str, str]:
    """Spellings of a verb's parameters but those that `--set` changes by their keys: these are named by the key."""
    texts = [*(given.get("settings") or ()), *(given.get("changes") or ())]
    by_key = {text.partition("=")[0].strip() for text in texts}
    by_key -= given_parameters(verb, given).keys()
    return {
        name: option for name, option in spellings(verb).items() if name not in by_key
    }


def _changes(verb: Verb, given: dict[str, Any]) -> dict[str, Any]:
    """Changes of a robot by the options of how it is modelled, which are taken out of those that are given."""
    modelling = {name: given.pop(name) for name in MODELLING}
    try:
        return changes_of(modelling)
    except DescriptionError as failure:
        # Reported together with the files that cannot be written.
        problems = [*file_problems(verb, given), *failure.problems]
        raise DescriptionError(problems) from None


def _robot(source: str, changes: dict[str, Any]) -> Scenario:
    """The robot that the options describe: read once, to understand `--q` and to compute with."""
    # Checked here, so that the message names the option.
    message = "only `lissom simulate` uses this"
    unused = [Problem("--set", None, path, None, message) for path in run_only(changes)]
    if unused:
        raise DescriptionError(unused)
    return robot_of(source, changes)


def values_of(
    verb: Verb, given: dict[str, Any], robot: Scenario | None
) -> dict[str, Any]:
    """Values of the parameters and paths of the files of a verb, from the texts of its options."""
    degrees = given.pop("deg", False)
    angles = names_of_kind(verb, "positions", "speeds", "accelerations", "map axes")
    if degrees and not any(given[name] for name in angles):
        raise refused("--deg", None, "no angle is given: leave this out")
    values = {}
    for one in declared(verb):
        text = degrees if one.facts.kind == "degrees" else given[one.name]
        values[one.name] = _read(verb, one, text, robot, degrees)
    return values | {output.name: given[output.name] for output in verb.writes}


def print_answer(screen: Any, answer: Answer) -> None:
    """The summary of an answer, and the files that were written."""
    print_summary(screen, answer.result.summary())
    for output in answer.verb.writes:
        if output.name in answer.files:
            label = output.label or output.key.rpartition(".")[2]
            screen.print(f"{label}: {answer.files[output.name]}")


def by_joint(verb: Verb) -> bool:
    """Whether a parameter of a verb has one number for each joint of a robot."""
    return bool(names_of_kind(verb, *UNITS))


def spellings(verb: Verb) -> dict[str, str]:
    """How each parameter and each file of a verb is written on the command line."""
    found = {}
    for one in declared(verb):
        found[one.name] = found[one.argument] = _option_name(verb, one)
    for output in verb.writes:
        found[output.name] = output.spelling[0]
    return found


# --- options -------------------------------------------------------------------------------------------------------


def _arguments(verb: Verb) -> Iterator[Argument]:
    if verb.reads != NOTHING:
        metavar, text = verb.subject
        subject = typer.Argument(metavar=metavar, help=text)
        yield _argument("robot", Annotated[str, subject])
    for one in declared(verb):
        # --deg sets it.
        if one.facts.kind != "degrees":
            yield _argument_of(verb, one)
    if by_joint(verb):
        yield _argument("deg", Degrees, False)
    for output in verb.writes:
        option = typer.Option(
            *output.spelling, metavar=output.metavar, help=output.help
        )
        if output.name in verb.required:
            yield _argument(output.name, Annotated[str, option])
        else:
            yield _argument(output.name, Annotated[str | None, option], None)
    if verb.reads != NOTHING:
        for name, annotation in MODELLING.items():
            yield _argument(name, annotation, None)
        if verb.warns:
            yield _argument("strict", Strict, False)
    yield _argument("json", Json, False)


def _argument_of(verb: Verb, one: Declared) -> Argument:
    """A parameter by position or as an option, as typer wants it."""
    facts = one.facts
    kind = _plain_type(one)
    if facts.by_position:
        place = typer.Argument(metavar=facts.metavar, help=facts.help)
        return _argument(one.name, Annotated[kind, place])
    is_required = one.name in verb.required
    # A required option has no default.
    text = facts.help.partition(" Default:")[0] if is_required else facts.help
    option = typer.Option(
        *verb.spelling(one.name),
        metavar=facts.metavar or None,
        min=facts.at_least if kind in (int, float) else None,
        help=text,
    )
    if is_required:
        return _argument(one.name, Annotated[kind, option])
    if isinstance(one.default, PLAIN):
        return _argument(one.name, Annotated[kind, option], one.default)
    return _argument(one.name, Annotated[kind | None, option], None)


def _plain_type(one: Declared) -> Any:
    """What typer reads; `int | None` is an int."""
    if one.facts.kind:
        return list[str] if one.facts.kind in REPEATED else str
    members = getattr(one.type, "__args__", (one.type,))
    return next((member for member in members if member in PLAIN), str)


def _option_name(verb: Verb, one: Declared) -> str:
    """What messages call a parameter: `--q`, or `FILE` of one without an option."""
    if one.facts.by_position:
        return one.facts.metavar
    return verb.spelling(one.name)[0].partition("/")[0]


def _argument(name: str, annotation: Any, *default: Any) -> Argument:
    """An argument of a command; without a default it is required."""
    options = {"default": default[0]} if default else {}
    return Argument(name, Argument.KEYWORD_ONLY, annotation=annotation, **options)


# --- texts ---------------------------------------------------------------------------------------------------------


def _read(
    verb: Verb, one: Declared, text: Any, scenario: Scenario | None, degrees: bool
) -> Any:
    """The value of an option, from its text where typer does not read it."""
    option = _option_name(verb, one)
    facts = one.facts
    if text is None:
        return None
    robot: Any = None if scenario is None else scenario.robot
    if facts.kind in UNITS:
        return joint_values(robot, option, text, UNITS[facts.kind], degrees)
    if facts.kind == "gains":
        return gains(robot, option, text, facts.unit)
    if facts.kind in TEXTS:
        return TEXTS[facts.kind](option, text)
    if facts.above is not None and not facts.above < text < float("inf"):
        what = SECONDS if facts.unit == "s" else f"above {facts.above:g}"
        raise refused(option, text, f"must be {what}")
    if facts.choices and text not in facts.choices:
        raise refused(option, text, f"must be one of {', '.join(facts.choices)}")
    return text
