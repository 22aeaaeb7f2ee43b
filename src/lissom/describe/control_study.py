"""A comparison of controllers: one robot, one motion, many laws."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from .controllers import CONTROLLERS, Controller, FeedForwardName
from .errors import DescriptionError, Problem
from .files import build, build_from, find_study
from .named_files import Packages, known_packages, read_with_named_files
from .part import Finding, Part, finding
from .planned_motions import TIMED, Reference
from .quantity import Quantity, Whole
from .scenario import Scenario

Seconds = Annotated[float, Quantity("s", above=0)]
SHARED = ("sample", "feedforward")  # keys that a study gives to all its controllers


def _named_scenario(value: Any) -> Any:
    if isinstance(value, str | Path):
        return Scenario.load(value)
    return value


class ControlStudy(Part):
    """Many controllers on one motion.

    Every controller gets the study's motion, feed-forward and sample time, unless it has its own. The motion of a
    controller with a shaper is made shorter by the shaper's length, so that all of them finish at the same time.
    """

    lissom: Annotated[int, Whole(1, 1)] = 1
    # Robot, formulation, basis, modes and initial state: by name, file or inline.
    scenario: Annotated[Scenario, BeforeValidator(_named_scenario)]
    # Keys of scenario and robot with other values, by dotted path: {links.left.joint.motor: {inertia: 2e-3}}.
    changes: dict[str, Any] = {}
    motion: Reference  # a table, or a line of the tip
    sample: Seconds = 1e-3
    feedforward: FeedForwardName = "quasi-static"
    # The run goes on after the motion, in periods of the first mode.
    periods: Annotated[float, Quantity("", above=0)] = 6.0
    node: str | None = None  # whose vibration is watched; default the last link's tip
    # Curvatures (`upper/element0.kz`) whose largest strain is in the table; default: at the root of every beam.
    gauges: tuple[str, ...] | None = None
    controllers: dict[str, Controller]

    @classmethod
    def load(
        cls, name_or_path: str | Path, packages: Packages | None = None
    ) -> "ControlStudy":
        """The study of a library name or of a file; `packages` as for `Robot.load`.

        Raises:
            DescriptionError: with every problem of the file.
        """
        with known_packages(packages):
            document = read_with_named_files(find_study(name_or_path))
            whole = document._replace(data=with_shared_keys(document.data))
            try:
                return build(cls, whole)
            except DescriptionError as failure:
                problems = without_repeats(failure.problems)
                raise DescriptionError(problems) from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ControlStudy":
        """The study of plain data."""
        return build_from(cls, with_shared_keys(data))

    @property
    def changed_scenario(self) -> Scenario:
        """The scenario with the changes of the study.

        Raises:
            DescriptionError: a key that is not there, or a value that it does not take.
        """
        return self.scenario.replace(self.changes) if self.changes else self.scenario

    def findings(self) -> list[Finding]:
        """There is something to compare, in a time that is known."""
        found = []
        if not self.controllers:
            found.append(finding("names no controller", "controllers", value={}))
        if not isinstance(self.motion, TIMED):
            message = "all controllers share one time: a table, or a tip-line"
            found.append(finding(message, "motion", "type", value=self.motion.type))
        return found


def without_repeats(problems: Sequence[Problem]) -> list[Problem]:
    """Problems of a study, those of its shared keys once and not again for every controller."""
    inside = [p for p in problems if p.field.startswith("controllers.")]
    shared = [p for p in problems if p not in inside]
    said = {p.message for p in shared}
    return [*shared, *(p for p in inside if p.message not in said)]


def with_shared_keys(data: Any) -> Any:
    """The data of a study, each controller with the keys that all share and it does not have itself."""
    if not isinstance(data, Mapping) or not isinstance(
        data.get("controllers"), Mapping
    ):
        return data
    shared = {key: data[key] for key in SHARED if key in data}
    if "motion" in data:
        shared["reference"] = data["motion"]
    whole = {}
    for name, own in data["controllers"].items():
        whole[name] = _with_shared(own, shared)
    return {**data, "controllers": whole}


def _with_shared(own: Any, shared: Mapping[str, Any]) -> Any:
    name = own.get("type") if isinstance(own, Mapping) else None
    kind = CONTROLLERS.get(str(name))
    if kind is None:
        return own
    known = {key: value for key, value in shared.items() if key in kind.model_fields}
    return {**known, **own}
