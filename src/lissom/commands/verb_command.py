"""The command of a verb: its options, how their texts are read, and how its answer is printed.

All of it follows from the signature of the verb's function and from its row; see `lissom.verbs`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from inspect import Parameter as Argument
from inspect import Signature
from typing import Annotated, Any

import typer

from ..compiled_code import keep_compiled_code
from ..describe import DescriptionError, Scenario
from ..files.errors import refused
from ..runs.output_files import output_problems
from ..verbs.declared import BY_JOINT, Declared, declared
from ..verbs.perform import Answer, perform
from ..verbs.verb import NOTHING, SOURCE, Output, Verb
from .option_groups import Modelling, Report
from .options import Degrees
from .output import print_summary
from .parsing import (
    ACCELERATION,
    FORCE,
    POSITION,
    SPEED,
    assignments,
    axis_of,
    band,
    frequency,
    gains,
    joint_values,
    length,
    names_of,
    numbers_by_name,
    option_names,
    places,
    study_axis,
    study_metric,
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
    "length": length,
    "places": places,
    "axes": lambda option, texts: dict(study_axis(option, text) for text in texts),
    "map axes": lambda option, texts: tuple(axis_of(option, text) for text in texts),
    "metrics": lambda option, texts: [study_metric(option, text) for text in texts],
    "frequency": frequency,
    "numbers by name": numbers_by_name,
    "list": lambda option, texts: tuple(texts),
    "changes": lambda option, texts: assignments(texts),
}
REPEATED = (
    "map axes",
    "axes",
    "metrics",
    "numbers by name",
    "list",
    "changes",
)  # options that may stand several times
# Verbs whose answers are told in a way of their own, by the function `run` of a module here.
OWN = {"validate": ".validate"}
SECONDS = "a positive number of seconds"
# Types that typer reads by itself; every other parameter is a text, which is read here.
PLAIN = (bool, int, float, str)


def command_of(verb: Verb) -> Callable[..., None]:
    """The function that typer makes a command of; its signature is that of the verb, as options."""
    arguments = list(_arguments(verb))

    def command(**given: Any) -> None:
        own = OWN.get(verb.name)
        told = run if own is None else import_module(own, __package__).run
        told(verb, given)

    command.__name__ = verb.python_name
    command.__doc__ = f"{verb.help}\n\nExample: lissom {verb.example}"
    command.__dict__["__signature__"] = Signature(arguments)
    command.__annotations__ = {one.name: one.annotation for one in arguments}
    return command


def run(verb: Verb, given: dict[str, Any]) -> None:
    """One call of a command: texts are read, the verb is performed, its answer is printed."""
    code = keep_compiled_code() if verb.compiles else None
    report = report_of(given)
    source, robot, changes = given.pop("robot", None), None, {}
    origin = source
    if reads_robot(verb):
        modelling = group_of(Modelling, given)
        if verb.reads != SOURCE:
            source = robot = modelling.robot(source)
        else:
            robot = modelling.robot(source) if by_joint(verb) else None
            with unwritable_files_too(verb, given):
                changes = modelling.changes()
    values = values_of(verb, given, robot)
    with option_names(**spellings(verb)), watching(verb, report.json) as watch:
        answer = perform(verb, source, values, changes, watch, origin)
    report.print(answer, code, print_answer)
    if not answer.result.passed:
        raise typer.Exit(1)


@contextmanager
def unwritable_files_too(verb: Verb, given: dict[str, Any]) -> Iterator[None]:
    """Text that cannot be read is reported together with files that could not be written."""
    try:
        yield
    except DescriptionError as failure:
        files = {one.name: (given[one.name], one.endings) for one in verb.writes}
        with option_names(**spellings(verb)):
            problems = [*output_problems(files), *failure.problems]
            raise DescriptionError(problems) from None


def report_of(given: dict[str, Any]) -> Report:
    """How the answer is told, taken out of the options that were given."""
    return Report(strict=given.pop("strict", False), json=given.pop("json"))


def values_of(
    verb: Verb, given: dict[str, Any], robot: Scenario | None
) -> dict[str, Any]:
    """Values of the parameters and paths of the files of a verb, from the texts of its options."""
    degrees = given.pop("deg", False)
    if degrees and not any(given[name] for name in angles(verb)):
        raise refused("--deg", None, "no angle is given: leave this out")
    values = {}
    for one in declared(verb):
        text = degrees if one.facts.kind == "degrees" else given[one.name]
        values[one.name] = _read(verb, one, text, robot, degrees)
    return values | {output.name: given[output.name] for output in verb.writes}


def print_answer(screen: Any, answer: Answer) -> None:
    """The summary of an answer, and the files that were written."""
    print_summary(screen, answer.summary())
    for output in answer.verb.writes:
        if output.name in answer.files:
            label = output.label or output.key.rpartition(".")[2]
            screen.print(f"{label}: {answer.files[output.name]}")


def reads_robot(verb: Verb) -> bool:
    """Whether a verb is about a robot, with all options of how it is modelled."""
    return verb.reads != NOTHING


def by_joint(verb: Verb) -> bool:
    """Whether a parameter of a verb has one number for each joint of a robot."""
    return any(one.facts.kind in BY_JOINT for one in declared(verb))


def angles(verb: Verb) -> list[str]:
    """Names of the parameters that `--deg` is about."""
    kinds = ("positions", "speeds", "accelerations", "map axes")
    return [one.name for one in declared(verb) if one.facts.kind in kinds]


def spellings(verb: Verb) -> dict[str, str]:
    """How each parameter and each file of a verb is written on the command line."""
    found = {}
    for one in declared(verb):
        found[one.name] = found[one.argument] = _option_name(verb, one)
    for output in verb.writes:
        found[output.name] = _file_spelling(output)[0]
    return found


# --- options -------------------------------------------------------------------------------------------------------


def _arguments(verb: Verb) -> Iterator[Argument]:
    if reads_robot(verb):
        metavar, text = verb.subject
        subject = typer.Argument(metavar=metavar, help=text)
        yield _argument("robot", Annotated[str, subject])
    for one in declared(verb):
        if one.facts.kind == "degrees":
            # Said by --deg.
            continue
        if one.facts.by_position:
            place = typer.Argument(metavar=one.facts.metavar, help=one.facts.help)
            yield _argument(one.name, Annotated[_plain_type(one), place])
        else:
            yield _option_of(verb, one)
    if by_joint(verb):
        yield _argument("deg", Degrees, False)
    for output in verb.writes:
        spelling = _file_spelling(output)
        option = typer.Option(*spelling, metavar=output.metavar, help=output.help)
        if output.name in verb.required:
            yield _argument(output.name, Annotated[str, option])
        else:
            yield _argument(output.name, Annotated[str | None, option], None)
    if reads_robot(verb):
        yield from _members(Modelling)
    if reads_robot(verb) and verb.warns:
        yield from _members(Report)
    else:
        yield from _members(Report, "json")


def _members(group: type, *wanted: str) -> Iterator[Argument]:
    hints = group.__annotations__
    for name in wanted or hints:
        yield _argument(name, hints[name], getattr(group, name))


def group_of(group: type, given: dict[str, Any]) -> Any:
    """A group of options, taken out of those that were given."""
    return group(**{name: given.pop(name) for name in group.__annotations__})


def _option_of(verb: Verb, one: Declared) -> Argument:
    """The option of a parameter, as typer wants it."""
    facts = one.facts
    options: dict[str, Any] = {"help": _help(verb, one)}
    if facts.metavar:
        options["metavar"] = facts.metavar
    kind = _plain_type(one)
    if kind in (int, float) and facts.at_least is not None:
        options["min"] = kind(facts.at_least)
    spelling = _spelling(verb, one)
    if one.name in verb.required:
        return _argument(one.name, Annotated[kind, typer.Option(*spelling, **options)])
    if isinstance(one.default, PLAIN):
        annotation = Annotated[kind, typer.Option(*spelling, **options)]
        return _argument(one.name, annotation, one.default)
    annotation = Annotated[kind | None, typer.Option(*spelling, **options)]
    return _argument(one.name, annotation, None)


def _help(verb: Verb, one: Declared) -> str:
    # What has to be given has no default.
    text = one.facts.help
    return text.partition(" Default:")[0] if one.name in verb.required else text


def _plain_type(one: Declared) -> Any:
    """What typer reads; `int | None` is an int."""
    if one.facts.kind:
        return list[str] if one.facts.kind in REPEATED else str
    members = getattr(one.type, "__args__", (one.type,))
    return next((member for member in members if member in PLAIN), str)


def _spelling(verb: Verb, one: Declared) -> tuple[str, ...]:
    return verb.options.get(one.name, (f"--{one.name.replace('_', '-')}",))


def _option_name(verb: Verb, one: Declared) -> str:
    """What messages call a parameter: `--q`, or `FILE` of one without an option."""
    if one.facts.by_position:
        return one.facts.metavar
    return _spelling(verb, one)[0].partition("/")[0]


def _file_spelling(output: Output) -> tuple[str, ...]:
    return output.options or (f"--{output.name.replace('_', '-')}",)


def _argument(name: str, annotation: Any, *default: Any) -> Argument:
    """An argument of a command; without a default it has to be given."""
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
    if facts.kind == "degrees":
        return degrees
    robot: Any = None if scenario is None else scenario.robot
    if facts.kind == "result":
        return text
    if facts.kind in UNITS:
        return joint_values(robot, option, text, UNITS[facts.kind], degrees)
    if facts.kind == "gains":
        return gains(robot, option, text)
    if facts.kind == "names":
        return names_of(text) or ()
    if facts.kind == "band":
        return band(text)
    if facts.kind in TEXTS:
        return TEXTS[facts.kind](option, text)
    if facts.above is not None and not facts.above < text < float("inf"):
        what = SECONDS if facts.unit == "s" else f"above {facts.above:g}"
        raise refused(option, text, f"must be {what}")
    if facts.choices and text not in facts.choices:
        raise refused(option, text, f"must be one of {', '.join(facts.choices)}")
    return text
