"""What every door does with a verb: read its subject, call its function, write its files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jaxnative.compiled import using

from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe.scenario import Scenario
from ..files.errors import DescriptionError, Problem, refused, was_given
from ..files.summary import Summary, plain
from ..runs.forecast import affordable_model
from ..runs.output_files import output_problems
from ..runs.sources import robot_of
from ..solve.channels import UnknownNameError
from .declared import Declared, declared, subject_of
from .verb import LINEAR_MODEL, NOTHING, SOURCE, STATE, Verb

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a verb found, with what its door adds: warnings about the scenario, and the files that were written."""

    verb: Verb
    result: Any
    files: Mapping[str, str] = field(default_factory=dict)  # paths by names of outputs
    warnings_before: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong, one line each."""
        return (*self.warnings_before, *self.result.warnings)

    def summary(self) -> Summary:
        """What the terminal shows."""
        return self.result.summary()

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        data = dict(self.result.to_dict())
        if "warnings" in data:
            data["warnings"] = list(self.warnings)
        for output in self.verb.writes:
            if output.method is None:
                continue
            path = self.files.get(output.name)
            group, dot, key = output.key.rpartition(".")
            if output.method == "save":
                key = getattr(self.result, "saved_as", key)
            if not dot:
                data[key] = path
            elif path is not None:
                data.setdefault(group, {})[key] = path
            else:
                data.setdefault(group, {})
        return plain(data)


def perform(
    verb: Verb,
    source: Any,
    values: Values,
    changes: Values | None = None,
    watch: Any = None,
    origin: Any = None,
) -> Answer:
    """The answer of a verb.

    Args:
        verb: from the table, or registered.
        source: the robot that it is about: a name, a file, a scenario; None where the values say what it is about.
        values: of its parameters and paths of its files, by their names at the doors; what is left out is as the
            signatures have it.
        changes: of the robot and of how it is modelled, by dotted path.
        watch: of the kind that the function asks for; mostly called with the share that is done.
        origin: the file from which `source` was read, for verbs that read more of it.

    Raises:
        DescriptionError: a value, a file or the robot is refused.
    """
    problems = [*file_problems(verb, values), *_idle(verb, values)]
    if problems:
        raise DescriptionError(problems)
    if verb.reads == NOTHING:
        values = with_subject(verb, source, values, changes)
        result = verb.load()(**_arguments(verb, "function", values, watch))
        return _written(Answer(verb, result), values)
    if verb.reads == SOURCE:
        own = _arguments(verb, "function", values, watch)
        result = verb.load()(source, changes=changes or {}, **own)
        return _written(Answer(verb, result), values)
    scenario = robot_of(source, changes or {})
    with using(scenario.solver.backend), _naming_the_field(verb, values):
        model = affordable_model(scenario)
        if values.get("time") is not None and verb.reads == STATE:
            values = _with_recorded_state(verb, scenario, values, origin or source)
        else:
            values = _with_initial_pose(verb, scenario, values)
        result = _result_about(verb, model, values, watch)
        before = warning_lines(scenario_warnings(scenario))
        return _written(Answer(verb, result, warnings_before=before), values)


def with_subject(
    verb: Verb, source: Any, values: Values, changes: Values | None
) -> Values:
    """Values of a verb that reads no robot, what it is about and the changes of that among them."""
    subject = subject_of(verb)
    if subject is not None and source is not None:
        is_one_of_several = subject.facts.kind == "list" and isinstance(source, str)
        about = [source] if is_one_of_several else source
        values = {**values, subject.name: about}
    return {**values, "changes": changes} if changes else values


def file_problems(verb: Verb, values: Values) -> list[Problem]:
    """Files that could not be written, and those that are not written with the other values."""
    given = _given(verb, values)
    problems, endings = [], {}
    for output in verb.writes:
        beside = next((name for name in output.endings_with if name in given), None)
        accepted = output.endings if beside is None else output.endings_with[beside]
        path = values.get(output.name)
        if path is not None and not accepted:
            message = f"is not written with `{beside}`: leave one of them out"
            problems.append(Problem(None, None, output.name, str(path), message))
        elif output.method is not None:
            endings[output.name] = (path, accepted)
    return [*output_problems(endings), *problems]


def _idle(verb: Verb, values: Values) -> Iterator[Problem]:
    """Parameters of files that are not written, and numbers beyond those that they count in."""
    known = {one.name: one for one in declared(verb)}
    given = _given(verb, values)
    for output in verb.writes:
        for name in (*output.parameters, *output.holds):
            if name in given and values.get(output.name) is None:
                message = f"only changes the file `{output.name}`, which is not written"
                yield Problem(None, None, name, given[name], message)
    for name, value in given.items():
        counted = known[name].facts.at_most
        most = values.get(counted, known[counted].default) if counted else None
        if most is not None and value > most:
            message = f"must be at most {most}, the `{counted}`"
            yield Problem(None, None, name, value, message)


def _given(verb: Verb, values: Values) -> dict[str, Any]:
    """Values of parameters that are neither empty nor the default."""
    return {
        one.name: values[one.name]
        for one in declared(verb)
        if was_given(values.get(one.name), one.default)
    }


def _result_about(verb: Verb, model: Any, values: Values, watch: Any) -> Any:
    subject = model
    if verb.reads == LINEAR_MODEL:
        from ..analyse.linear.linearize import linearize

        subject = linearize(model, **_arguments(verb, "linearize", values))
    return verb.load()(subject, **_arguments(verb, "function", values, watch))


def _arguments(
    verb: Verb, owner: str, values: Values, watch: Any = None
) -> dict[str, Any]:
    """Arguments of a function by their names in Python; those that nobody gave keep their defaults."""
    given = {
        one.argument: values[one.name]
        for one in declared(verb)
        if one.owner == owner and values.get(one.name) is not None
    }
    if owner == "function":
        own = [output.name for output in verb.writes if output.method is None]
        given |= {name: values[name] for name in own if values.get(name) is not None}
        if watch is not None:
            given[verb.watch] = watch
    return given


def _with_initial_pose(verb: Verb, scenario: Scenario, values: Values) -> Values:
    """Joints stand where the scenario starts where neither a pose nor a result says otherwise."""
    initial = scenario.initial.q
    results = [one.name for one in declared(verb) if one.facts.kind == "result"]
    if any(values.get(name) for name in results):
        return values
    for one in declared(verb):
        is_free = one.facts.kind == "positions" and not values.get(one.name)
        if is_free and initial is not None:
            values = {**values, one.name: initial}
    return values


def _with_recorded_state(
    verb: Verb, scenario: Scenario, values: Values, source: Any
) -> Values:
    """The state of a result in place of a pose."""
    from ..runs.recorded_state import recorded_state

    own = [one for one in declared(verb) if one.owner == "function"]
    given = {one.name: values.get(one.name) for one in own}
    state = recorded_state(source, values["time"], scenario, given)
    pose = next(one.name for one in own if one.facts.kind == "positions")
    return {pose: state} | {o.name: values.get(o.name) for o in verb.writes}


def _written(answer: Answer, values: Values) -> Answer:
    """The answer after its files have been written."""
    files = {}
    for output in answer.verb.writes:
        path, method = values.get(output.name), output.method
        if path is None or method is None or method in answer.result.nothing_to:
            continue
        own = _arguments(answer.verb, output.name, values)
        getattr(answer.result, method)(path=path, **own)
        files[output.name] = str(path)
    return Answer(answer.verb, answer.result, files, answer.warnings_before)


@contextmanager
def _naming_the_field(verb: Verb, values: Values):
    """A name that the robot does not have is reported with the parameter that holds it."""
    try:
        yield
    except UnknownNameError as failure:
        holders = [
            one.name for one in declared(verb) if _holds(one, values, failure.name)
        ]
        field = holders[0] if holders else ""
        raise refused(field, failure.name, failure.message) from None


def _holds(one: Declared, values: Values, name: str) -> bool:
    return one.facts.kind == "names" and name in (values.get(one.name) or ())
