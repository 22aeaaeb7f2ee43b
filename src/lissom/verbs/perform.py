"""How the command line and the studio perform a verb: read its subject, call its function, write its files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jaxnative.compiled import using

from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe.scenario import Scenario
from ..files.errors import DescriptionError, Problem, refused
from ..files.summary import plain
from ..runs.forecast import affordable_model
from ..runs.output_files import output_problems
from ..runs.sources import robot_of
from ..solve.channels import UnknownNameError
from .declared import declared, given_parameters, names_of_kind, subject_of
from .verb import LINEAR_MODEL, NOTHING, SOURCE, STATE, Verb

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """The result of a verb, the files that were written, and warnings about the scenario."""

    verb: Verb
    result: Any
    files: Mapping[str, str] = field(default_factory=dict)  # paths by names of outputs
    warnings_before: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong, one line each."""
        return (*self.warnings_before, *self.result.warnings)

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
                continue
            files = data.setdefault(group, {})
            if path is not None:
                files[key] = path
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
        source: the robot that it is about: a name, a file, a scenario; None where a value names it.
        values: of its parameters and paths of its files, by their names in requests; all others have the defaults of
            the signatures.
        changes: of the robot and of how it is modelled, by dotted path.
        watch: of the kind that the function takes; mostly called with the share that is done.
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
        return _answer(verb, result, values)
    if verb.reads == SOURCE:
        own = _arguments(verb, "function", values, watch)
        result = verb.load()(source, changes=changes or {}, **own)
        return _answer(verb, result, values)
    scenario = robot_of(source, changes or {})
    with using(scenario.solver.backend), _naming_the_field(verb, values):
        model = affordable_model(scenario)
        if values.get("time") is not None and verb.reads == STATE:
            values = _with_recorded_state(verb, scenario, values, origin or source)
        else:
            values = _with_initial_pose(verb, scenario, values)
        result = _result_about(verb, model, values, watch)
        before = warning_lines(scenario_warnings(scenario))
        return _answer(verb, result, values, before)


def with_subject(
    verb: Verb, source: Any, values: Values, changes: Values | None
) -> Values:
    """Values of a verb that reads no robot, including its subject and the changes of that."""
    subject = subject_of(verb)
    if subject is not None and source is not None:
        is_one_of_several = subject.facts.kind == "list" and isinstance(source, str)
        about = [source] if is_one_of_several else source
        values = {**values, subject.name: about}
    return {**values, "changes": changes} if changes else values


def file_problems(verb: Verb, values: Values) -> list[Problem]:
    """Files that could not be written, and those that are not written with the other values."""
    given = given_parameters(verb, values)
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
    defaults = {one.name: one.default for one in declared(verb)}
    given = given_parameters(verb, values)
    for output in verb.writes:
        for name in output.parameters:
            if name in given and values.get(output.name) is None:
                message = f"only changes the file `{output.name}`, which is not written"
                yield Problem(None, None, name, values[name], message)
    for name, one in given.items():
        counted = one.facts.at_most
        most = values.get(counted, defaults[counted]) if counted else None
        if most is not None and values[name] > most:
            message = f"must be at most {most}, the `{counted}`"
            yield Problem(None, None, name, values[name], message)


def _result_about(verb: Verb, model: Any, values: Values, watch: Any) -> Any:
    subject = model
    if verb.reads == LINEAR_MODEL:
        from ..analyse.linear.linearize import linearize

        subject = linearize(model, **_arguments(verb, "linearize", values))
    return verb.load()(subject, **_arguments(verb, "function", values, watch))


def _arguments(
    verb: Verb, owner: str, values: Values, watch: Any = None
) -> dict[str, Any]:
    """Arguments of a function by their names in Python, without those that were not given."""
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
    """Values with the scenario's initial joint coordinates where neither a pose nor a result is given."""
    initial = scenario.initial.q
    results = names_of_kind(verb, "result")
    if initial is None or any(values.get(name) for name in results):
        return values
    poses = names_of_kind(verb, "positions")
    return {**values} | {name: initial for name in poses if not values.get(name)}


def _with_recorded_state(
    verb: Verb, scenario: Scenario, values: Values, source: Any
) -> Values:
    """The state of a result in place of a pose."""
    from ..runs.recorded_state import recorded_state

    own = [one.name for one in declared(verb) if one.owner == "function"]
    given = {name: values.get(name) for name in own}
    state = recorded_state(source, values["time"], scenario, given)
    pose = names_of_kind(verb, "positions")[0]
    return {pose: state} | {o.name: values.get(o.name) for o in verb.writes}


def _answer(
    verb: Verb, result: Any, values: Values, before: tuple[str, ...] = ()
) -> Answer:
    """The answer, once its files are written."""
    files = {}
    for output in verb.writes:
        path, method = values.get(output.name), output.method
        if path is not None and method is not None and method not in result.nothing_to:
            own = _arguments(verb, output.name, values)
            getattr(result, method)(path=path, **own)
            files[output.name] = str(path)
    return Answer(verb, result, files, before)


@contextmanager
def _naming_the_field(verb: Verb, values: Values):
    """Context in which a name that the robot does not have is reported with the parameter that holds it."""
    try:
        yield
    except UnknownNameError as failure:
        lists = names_of_kind(verb, "names")
        holders = (one for one in lists if failure.name in (values.get(one) or ()))
        raise refused(next(holders, ""), failure.name, failure.message) from None
