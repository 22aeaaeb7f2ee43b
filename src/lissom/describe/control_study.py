"""A comparison of controllers: one robot, one motion, many laws."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from ..files.description_files import build, build_from, find_study
from ..files.errors import DescriptionError, Problem, nearest, refused
from ..files.named_files import Packages, known_packages, read_with_named_files
from ..files.part import Finding, Part, finding, plain
from ..files.paths import with_values
from ..files.quantity import Quantity, Whole
from .controllers import CONTROLLERS, Controller, FeedForwardName
from .planned_motions import TIMED, Reference
from .robot import Robot
from .scenario import Initial, Scenario, Solver

Seconds = Annotated[float, Quantity("s", above=0)]
CONTROLLERS_KEY = "controllers"
# Keys of a study itself; all others are those of its scenario and its robot.
OWN = (
    "motion",
    "sample",
    "feedforward",
    "periods",
    "node",
    "gauges",
    CONTROLLERS_KEY,
)
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
    # Robot, formulation, basis, modes, initial state, torques and wrenches: by name, file or inline.
    scenario: Annotated[Scenario, BeforeValidator(_named_scenario)]
    # Keys of scenario and robot with other values, by dotted path: {links.left.joint.motor: {inertia: 2e-3}}.
    changes: dict[str, Any] = {}
    motion: Reference  # a table, or a line of the tip
    sample: Seconds = 1e-3
    feedforward: FeedForwardName = "quasi-static"
    # The run goes on after the motion, in periods of the first mode.
    periods: Annotated[float, Quantity("", above=0)] = 6.0
    node: str | None = None  # whose vibration is watched; default the last link's tip
    # Curvatures (`upper/element0.kz`) whose largest strain is in the table; default: in every first element of a beam.
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
        """The study that plain data describes, as a study file would hold it."""
        return build_from(cls, with_shared_keys(data))

    @property
    def changed_scenario(self) -> Scenario:
        """The scenario with the changes of the study.

        Raises:
            DescriptionError: a key that is not there, or a value that it does not take.
        """
        return self.scenario.replace(self.changes) if self.changes else self.scenario

    @property
    def robot(self) -> Robot:
        """Robot of all runs."""
        return self.changed_scenario.robot

    @property
    def initial(self) -> Initial:
        """Initial state of all runs."""
        return self.changed_scenario.initial

    @property
    def solver(self) -> Solver:
        """Options of the integrator in all runs."""
        return self.changed_scenario.solver

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the robot inline, that `from_dict` makes an equal study of."""
        scenario = self.changed_scenario.to_dict()
        return {**self._complete(), "scenario": scenario, "changes": {}}

    def _complete(self) -> dict[str, Any]:
        """Plain data in which the shared keys are written out, also where they hold a controller's default.

        A controller without the key would get that of the study.
        """
        controllers = {
            name: {**plain(law), **_shared_keys(law)}
            for name, law in self.controllers.items()
        }
        return {**plain(self), **_shared_keys(self), CONTROLLERS_KEY: controllers}

    def replace(self, changes: Mapping[str, Any]) -> "ControlStudy":
        """A study with other values at dotted paths, looked up in the study, then in its scenario and its robot.

        `{"controllers.PID.gains.bandwidth": 40, "payload.mass": 0.2}`; a controller goes by its name or its number,
        `*` is all of them. Those that have the motion, sample or feed-forward of the study get the changed one.

        Raises:
            DescriptionError: a key that is not there, or a value that it does not take.
        """
        own, others = {}, {}
        for path, value in changes.items():
            path = path.removeprefix("scenario.")
            if path.partition(".")[0] in OWN:
                own |= dict.fromkeys(self._controller_paths(path), value)
            else:
                others[_known(path)] = value
        scenario = self.changed_scenario
        if others:
            scenario = scenario.replace(others)
        data = with_values(_without_copies(self._complete(), own), own)
        whole = {**data, "scenario": scenario, "changes": {}}
        try:
            return type(self).from_dict(whole)
        except DescriptionError as failure:
            problems = without_repeats(failure.problems)
            raise DescriptionError(problems) from None

    def _controller_paths(self, path: str) -> list[str]:
        """A path with the names of the controllers that it goes through."""
        first, _, rest = path.partition(".")
        if first != CONTROLLERS_KEY or not rest:
            return [path]
        names = list(self.controllers)
        if rest.startswith("*."):
            return [f"{first}.{name}{rest[1:]}" for name in names]
        if any(rest == name or rest.startswith(f"{name}.") for name in names):
            return [path]
        word, dot, inside = rest.partition(".")
        if word.isdecimal() and int(word) < len(names):
            return [f"{first}.{names[int(word)]}{dot}{inside}"]
        guess = nearest(word, names) or "."
        message = f"no controller {word!r}{guess} Controllers: {', '.join(names)}"
        raise refused(path, None, message)

    def findings(self) -> list[Finding]:
        """There is something to compare, in a time that is known."""
        found = []
        if not self.controllers:
            found.append(finding("names no controller", "controllers", value={}))
        if not isinstance(self.motion, TIMED):
            message = "the motion of a comparison must have given times: a table, or a tip-line"
            found.append(finding(message, "motion", "type", value=self.motion.type))
            return found
        return [*found, *self._scenario_findings()]

    def _scenario_findings(self) -> list[Finding]:
        """Entries of the scenario that a comparison cannot use."""
        try:
            scenario = self.changed_scenario
        except DescriptionError:
            # Told, with the key at fault, where the changes are made.
            return []
        found = []
        start, stop = scenario.initial.time, self.motion.t[-1]
        if start >= stop:
            message = f"must lie before the end of the motion, {stop:g} s"
            loc = ("scenario", "initial", "time")
            found.append(finding(message, *loc, value=start))
        for joint, table in scenario.inputs.motion.items():
            message = (
                "the controllers drive this joint: remove its motion (changes: {inputs.motion: {}}); "
                "a comparison takes inputs.torque and inputs.wrench"
            )
            loc = ("scenario", "inputs", "motion", joint)
            found.append(finding(message, *loc, value=table.value))
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


def _shared_keys(part: Part) -> dict[str, Any]:
    """The keys that a study shares with its controllers, as far as a part has them."""
    return {key: getattr(part, key) for key in SHARED if hasattr(part, key)}


def _known(path: str) -> str:
    """A path of the scenario or its robot; what is neither is refused with the nearest of all names."""
    first = path.partition(".")[0]
    known = [*OWN, *Scenario.model_fields, *Robot.model_fields]
    if first in known:
        return path
    guess = nearest(first, known)
    message = f"no such key in the comparison, its scenario or its robot{guess}"
    raise refused(path, None, message)


def _without_copies(
    data: Mapping[str, Any], changes: Mapping[str, Any]
) -> dict[str, Any]:
    """The data of a study without what its controllers have from those keys of it that change."""
    changing = {path.partition(".")[0] for path in changes}
    copies = {key: key for key in SHARED if key in changing}
    if "motion" in changing:
        copies["motion"] = "reference"
    controllers = {}
    for name, own in data[CONTROLLERS_KEY].items():
        taken = {kept for key, kept in copies.items() if own.get(kept) == data.get(key)}
        controllers[name] = {k: v for k, v in own.items() if k not in taken}
    return {**data, CONTROLLERS_KEY: controllers}
