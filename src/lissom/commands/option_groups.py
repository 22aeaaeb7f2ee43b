"""Options that belong together, as one argument of a verb."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..compiled_code import CompiledCode
from ..describe import DescriptionError, Problem, Scenario
from .options import (
    Basis,
    Formulation,
    Json,
    ModeCount,
    Reference,
    Settings,
    Stiffening,
    Strict,
    Terms,
)
from .output import conclude, console, note, print_json
from .parsing import changes_of, modes_of, reference_of

if TYPE_CHECKING:
    from rich.console import Console


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
