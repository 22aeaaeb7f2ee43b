"""A scenario: a robot, where it starts, what acts on it, and how it is simulated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PrivateAttr
from typing_extensions import override

from ..files.description_files import (
    as_numbers,
    build,
    build_from,
    check_kind,
    find_file,
    kind_of_file,
    library_scenarios,
    write_description,
)
from ..files.document import Document
from ..files.errors import DescriptionError, Problem, nearest, refused
from ..files.named_files import (
    Packages,
    known_packages,
    read_with_named_files,
    relative_to,
    with_relative_files,
)
from ..files.part import Finding, Part, entry_of, is_list, plain
from ..files.paths import with_values
from ..files.quantity import ANY_LENGTH, Numbers, Quantity, Whole, error, kind_of
from .controllers import Controller as Controller
from .modes import ModeChoice, check_modes, default_modes
from .old_files import NAMED, is_saved_by_0_1, of_version_0_1
from .outline import outline_of_data
from .robot import Robot, Version
from .scenario_checks import scenario_findings
from .supported import DEFAULT_FORMULATION, SUPPORT
from .time_tables import Coordinates, InputTables, Row

Rates = Annotated[Row, Numbers(ANY_LENGTH, Quantity("rad/s or m/s"))]
Seconds = Annotated[float, Quantity("s", above=0)]
Positive = Annotated[float, Quantity("", above=0)]
Tolerance = Annotated[float, Quantity("", above=0, below=1)]
# The bound is excluded, so that 1, no numerical damping at all, is accepted.
SpectralRadius = Annotated[float, Quantity("", least=0, below=1 + 1e-12)]


def _check_elastic(value: Any) -> Any:
    if is_list(value) or value in ("zero", "static"):
        return value
    words = ("zero", "static")
    raise error(
        f"must be one of {', '.join(words)}{nearest(value, words)}; or one number for each elastic coordinate"
    )


class Initial(Part):
    """The state at the start; `elastic: static` is the elastic equilibrium under gravity with the joints held at q."""

    time: Annotated[float, Quantity("s", least=0)] = 0.0  # at which the run begins
    q: Coordinates | None = None  # default zero
    qd: Rates | None = None  # default zero
    # zero, static, or the elastic coordinates themselves.
    elastic: Annotated[
        Literal["zero", "static"] | Coordinates, BeforeValidator(_check_elastic)
    ] = "zero"
    elastic_rate: Rates | None = None  # default zero


Method = Literal["auto", "radau", "generalised-alpha", "dopri5", "dopri8", "tsit5"]


class Solver(Part):
    """Options of the integrator: method, tolerances, step sizes."""

    method: Method = "auto"
    rtol: Tolerance = 1e-6
    atol: Positive = 1e-8
    spectral_radius: SpectralRadius = 0.9  # generalised-alpha, at high frequency
    resolve: Literal["motion", "everything"] = "motion"
    # Error of a step in each recorded motion, of its largest value so far.
    recorded: Tolerance = 0.01
    max_step: Seconds | None = None
    first_step: Seconds | None = None
    max_steps: Annotated[int, Whole(1, 1_000_000_000)] = 1_000_000
    backend: Literal["auto", "native", "xla"] = "auto"  # what runs the equations


def _check_formulation(value: Any) -> Any:
    if isinstance(value, str) and value in SUPPORT:
        return value
    raise error(f"must be one of {', '.join(SUPPORT)}{nearest(value, SUPPORT)}")


def _check_reference(value: Any) -> Any:
    if value is None or value in ("tangent", "minimum-norm"):
        return value
    if not isinstance(value, Mapping) or set(value) != {"zeroed"}:
        raise error(
            "must be tangent, minimum-norm or {zeroed: [link/node.component, ...]}"
        )
    zeroed = value["zeroed"]
    if not is_list(zeroed):
        raise error(
            f"zeroed must be a list such as [upper/tip.rz], not {kind_of(zeroed)}"
        )
    return {"zeroed": list(zeroed)}


def _named_robot(value: Any) -> Any:
    if isinstance(value, str | Path):
        return Robot.load(value)
    return value


class Scenario(Part):
    """A robot and a simulation of it."""

    lissom: Version = 1
    # Library name, path, or inline.
    robot: Annotated[Robot, BeforeValidator(_named_robot)]
    formulation: Annotated[str, BeforeValidator(_check_formulation)] = (
        DEFAULT_FORMULATION
    )
    # Default per formulation.
    reference: Annotated[Any, BeforeValidator(_check_reference)] = None
    # Kept elastic modes of each link; default 12, or all where the basis is nodal.
    modes: Annotated[Any, BeforeValidator(check_modes)] = None
    terms: Literal["consistent", "published", "published-planar"] = "consistent"
    # Shapes of the links; default per formulation.
    basis: Literal["assumed", "craig-bampton", "nodal"] | None = None
    stiffening: Literal["none", "geometric"] = "none"
    initial: Initial = Initial()
    inputs: InputTables = InputTables()
    controller: Controller = None
    solver: Solver = Solver()
    t_end: Seconds = 1.0
    output_dt: Seconds = 0.001
    # Nodes whose velocities and accelerations the result holds too.
    record: tuple[str, ...] = ()
    _is_old: bool = PrivateAttr(default=False)

    @classmethod
    def load(
        cls, name_or_path: str | Path, packages: Packages | None = None
    ) -> "Scenario":
        """The scenario of a library name or file; of a bare robot file, 1 s under gravity from rest.

        Args:
            name_or_path: of the scenario, or of a robot.
            packages: folders by name that its files may name files in, see `Robot.load`.

        Raises:
            DescriptionError: with every problem of the file, and of the robot file it names.
        """
        with known_packages(packages):
            if str(name_or_path) in library_scenarios():
                return _read(cls, find_file(name_or_path, scenario=True))
            if kind_of_file(name_or_path) == "robot":
                return cls(robot=Robot.load(name_or_path))
            return _read(cls, find_file(name_or_path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scenario":
        """The scenario of plain data, as a scenario file would hold it."""
        return build_from(cls, data)

    def model_post_init(self, context: Any) -> None:
        """Basis and modes as they are meant, so that files that outlive these defaults say it too."""
        basis = self.basis or SUPPORT[self.formulation].default_basis
        modes = default_modes(basis) if self.modes is None else self.modes
        object.__setattr__(self, "basis", basis)
        object.__setattr__(self, "modes", modes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the robot inline, that `from_dict` makes an equal scenario of."""
        choices = {name: plain(getattr(self, name)) for name in NAMED}
        return {"lissom": 1, **choices, **as_numbers(plain(self))}

    def save(self, path: str | Path) -> None:
        """Writes the scenario file, with its robot inline, that loads as an equal scenario."""
        write_description(with_relative_files(self.to_dict(), Path(path).parent), path)

    def replace(self, changes: Mapping[str, Any]) -> "Scenario":
        """A scenario with other values at dotted paths, looked up in the scenario and then in its robot.

        `{"t_end": 0.5, "gravity": [0, 0, -9.81], "robot.links.upper.beam.material.E": 9e9}`; see `Robot.replace`.
        Another formulation takes its own basis, and another basis its own number of modes, unless they are named too.
        """
        whole = {_full_path(path): value for path, value in changes.items()}
        data = with_values(self._without_defaults(whole), whole)
        changed = build_from(type(self), data)
        changed._is_old = self._is_old and "formulation" not in whole
        return changed

    def _without_defaults(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Plain data without the choices that follow from those that change."""
        data = plain(self)
        formulation = changes.get("formulation", self.formulation)
        if formulation != self.formulation:
            data.pop("basis")
        elif "basis" not in changes:
            return data
        fits = "craig-bampton" in _bases(formulation, changes)
        if self.modes == default_modes(self.basis) or not (fits or self._has_counts):
            data.pop("modes")
        return data

    @property
    def _has_counts(self) -> bool:
        """True if modes are numbers alone, which every basis takes."""
        listed = self.modes if is_list(self.modes) else (self.modes,)
        return not any(isinstance(entry, ModeChoice) for entry in listed)

    @property
    def is_old(self) -> bool:
        """True if its file is of version 0.1 and left choices to the defaults of then."""
        return self._is_old

    @classmethod
    def of_version_0_1(cls, data: Mapping[str, Any]) -> "Scenario":
        """The scenario of plain data that version 0.1 wrote, with the defaults of then."""
        scenario = build_from(cls, of_version_0_1(data))
        scenario._is_old = not set(NAMED) <= set(data)
        return scenario

    def findings(self) -> list[Finding]:
        """Entries that do not fit the robot or other entries of the scenario."""
        entries = {name: getattr(self, name) for name in type(self).model_fields}
        return scenario_findings(entries, self.robot.outline)

    @classmethod
    @override
    def partial_findings(cls, data: Any) -> list[Finding]:
        if not isinstance(data, Mapping):
            return []
        robot = data.get("robot")
        if isinstance(robot, Robot):
            return scenario_findings(data, robot.outline)
        return scenario_findings(data, outline_of_data(robot))


def _bases(formulation: Any, changes: Mapping[str, Any]) -> tuple[str, ...]:
    """Shapes that the links may have after a change."""
    if "basis" in changes:
        return (str(changes["basis"]),)
    support = SUPPORT.get(formulation) if isinstance(formulation, str) else None
    return () if support is None else (support.default_basis,)


def _full_path(path: str) -> str:
    """The path from the scenario on: `robot.` stands before keys that only the robot has."""
    first = path.partition(".")[0]
    if first in Scenario.model_fields:
        return path
    if first in Robot.model_fields:
        return f"robot.{path}"
    known = [*Scenario.model_fields, *Robot.model_fields]
    guess = nearest(first, known)
    raise refused(path, None, f"no such key in the scenario or its robot{guess}")


def _read(cls: Any, path: Path) -> Any:
    document = read_with_named_files(path)
    check_kind(document, "scenario")
    robot = entry_of(document.data, "robot")
    if isinstance(robot, str):
        return _read_with_robot(cls, document, robot)
    if not is_saved_by_0_1(document.data):
        return build(cls, document)
    scenario = build(cls, document._replace(data=of_version_0_1(document.data)))
    scenario._is_old = True
    return scenario


def _with_robot(document: Document, robot: Any) -> Document:
    return document._replace(data={**document.data, "robot": robot})


def _read_with_robot(cls: Any, document: Document, name: str) -> Any:
    """A scenario whose robot stands in another file or in the library."""
    robot, problems = _robot_of(name, document)
    try:
        return build(cls, _with_robot(document, robot), problems)
    except DescriptionError as failure:
        found = failure.problems
    if problems:
        # A robot that could not be read is missing in the scenario too: said once, with its own reasons.
        found = [p for p in found if p.field != "robot" or p in problems]
    raise DescriptionError(found)


def _robot_of(
    name: str, document: Document
) -> tuple[Robot | None, tuple[Problem, ...]]:
    """The robot that a scenario file names, or the problems of its file."""
    assert document.file is not None
    try:
        path = find_file(name)
    except DescriptionError as failure:
        message = failure.problems[0].message
        line = document.line(("robot",))
        written = relative_to(Path(document.file).parent, name)
        problem = Problem(document.file, line, "robot", written, message)
        return None, (problem,)
    try:
        return Robot.load(path), ()
    except DescriptionError as failure:
        return None, failure.problems
