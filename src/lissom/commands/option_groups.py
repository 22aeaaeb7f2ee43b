"""Options that belong together, as one argument of a verb."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, get_type_hints

from ..compiled_code import CompiledCode
from ..describe import DescriptionError, Problem, Robot, Scenario
from .options import (
    Basis,
    Degrees,
    Formulation,
    Json,
    ModeCount,
    Q,
    Reference,
    Settings,
    Stiffening,
    Strict,
    Terms,
)
from .output import conclude, console, note, print_json
from .parsing import (
    changes_of,
    joint_values,
    modes_of,
    reference_of,
)

if TYPE_CHECKING:
    from rich.console import Console


def grouped(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb with groups among its arguments, as typer wants it: every option of a group an argument of its own."""
    hints = get_type_hints(verb, include_extras=True)
    groups: dict[str, type] = {}
    options: list[Parameter] = []
    for argument in signature(verb).parameters.values():
        kind = hints[argument.name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[argument.name] = kind
            options += _options_of(kind)
        else:
            options.append(_option(argument.name, kind, argument.default))

    @wraps(verb)
    def flat(**given: Any) -> None:
        for name, kind in groups.items():
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            given[name] = kind(**own)
        verb(**given)

    # typer reads the one and the other.
    flat.__dict__["__signature__"] = Signature(options)
    flat.__annotations__ = {option.name: option.annotation for option in options}
    return flat


def _options_of(group: type) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        yield _option(field.name, hints[field.name], field.default)


def _option(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)


@dataclass(frozen=True)
class Modelling:
    """How the robot is modelled."""

    settings: Settings = None
    formulation: Formulation = None
    modes: ModeCount = None
    reference: Reference = None
    terms: Terms = None
    basis: Basis = None
    stiffening: Stiffening = None

    def changes(self, **others: Any) -> dict[str, Any]:
        """The options as changes of a scenario by their keys there; they win over `--set` of the same key."""
        options = {
            "formulation": self.formulation,
            "modes": modes_of(self.modes),
            "reference": reference_of(self.reference),
            "terms": self.terms,
            "basis": self.basis,
            "stiffening": self.stiffening,
        }
        return changes_of(self.settings, others | options)

    def robot(self, source: str) -> Scenario:
        """The robot that the options describe: read once, to understand `--q` and to compute with."""
        from ..describe.run_keys import run_only
        from ..runs.sources import robot_of

        wanted = self.changes()
        # Said here and not by the service alone, so that the message names the option.
        unused = run_only(wanted)
        if unused:
            message = "only `lissom simulate` uses this"
            problems = [Problem("--set", None, path, None, message) for path in unused]
            raise DescriptionError(problems)
        return robot_of(source, wanted)


@dataclass(frozen=True)
class Pose:
    """Where the joints stand."""

    q: Q = None
    deg: Degrees = False

    def values(self, robot: Robot) -> dict[str, Any]:
        """The fields of a request that this sets."""
        return {"q": joint_values(robot, "--q", self.q, degrees=self.deg)}


@dataclass(frozen=True)
class Report:
    """How the answer is told."""

    strict: Strict = False
    json: Json = False

    def print(
        self,
        answer: Any,
        code: CompiledCode | None,
        show: "Callable[[Console, Any], None]",
    ) -> None:
        """The answer as JSON, or on the screen by `show`; then its warnings."""
        data = answer.to_dict() if self.json else {}
        if self.json:
            print_json(data, code)
        else:
            show(console(), answer)
            if code is not None:
                note(str(code))
        conclude(answer.warnings, self.strict, "warnings" in data)
