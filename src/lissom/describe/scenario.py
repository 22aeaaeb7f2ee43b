"""A scenario: a robot, where it starts, what acts on it, and how it is simulated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from .document import Document, read_document
from .errors import DescriptionError, Problem, nearest, refused
from .fe import with_folder
from .files import (
    as_numbers,
    build,
    build_from,
    find_file,
    kind_of_file,
    library_scenarios,
    write,
)
from .outline import outline_of_data
from .part import Finding, Part, entry_of, is_list, plain
from .paths import with_values
from .quantity import ANY_LENGTH, Numbers, Quantity, Whole, error, kind_of
from .robot import Robot, Version
from .scenario_checks import scenario_findings
from .supported import DEFAULT_FORMULATION, SUPPORT
from .table_file import with_table_folder
from .time_tables import Coordinates, InputTables, ReferenceTable, Row

Gains = Annotated[Row, Numbers(ANY_LENGTH, Quantity("", least=0))]
Rates = Annotated[Row, Numbers(ANY_LENGTH, Quantity("rad/s or m/s"))]
Seconds = Annotated[float, Quantity("s", above=0)]
Positive = Annotated[float, Quantity("", above=0)]
Tolerance = Annotated[float, Quantity("", above=0, below=1)]
# The bound is excluded, so that 1, no numerical damping at all, is accepted.
SpectralRadius = Annotated[float, Quantity("", least=0, below=1 + 1e-12)]


class Initial(Part):
    """The state at t = 0; `elastic: static` is the elastic equilibrium under gravity with the joints held at q."""

    q: Coordinates | None = None  # default zero
    qd: Rates | None = None  # default zero
    elastic: Literal["zero", "static"] = "zero"


class Controller(Part):
    """Joint PD control: torque = kp (reference - q) - kd qd, on encoder angles.

    One gain for each moving joint, or one for each actuated joint where some are passive.
    """

    type: Literal["pd"]
    kp: Gains
    kd: Gains
    reference: ReferenceTable
    # Adds the torque that holds the rigid robot at the reference.
    gravity_compensation: bool = False
    # Seconds between two samples of the law, its torque held in between; None: a continuous law.
    sample: Seconds | None = None


Method = Literal["auto", "radau", "generalised-alpha", "dopri5", "dopri8", "tsit5"]


class Solver(Part):
    """How time is stepped through."""

    method: Method = "auto"
    rtol: Tolerance = 1e-6
    atol: Positive = 1e-8
    spectral_radius: SpectralRadius = 0.9  # generalised-alpha, at high frequency
    resolve: Literal["motion", "everything"] = "motion"
    max_step: Seconds | None = None
    first_step: Seconds | None = None
    max_steps: Annotated[int, Whole(1, 1_000_000_000)] = 1_000_000


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


def _check_modes(value: Any) -> Any:
    count = Whole(0, 10_000)
    if value is None:
        return None
    if isinstance(value, int):
        return count.check(value)
    if is_list(value):
        return tuple(count.check(entry) for entry in value)
    raise error(
        "must be a whole number of modes per link, or a list with one for each link"
    )


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
    # Reference and basis: default per formulation.
    reference: Annotated[Any, BeforeValidator(_check_reference)] = None
    modes: Annotated[Any, BeforeValidator(_check_modes)] = None
    terms: Literal["consistent", "published"] = "consistent"
    basis: Literal["assumed", "craig-bampton", "nodal"] | None = None
    stiffening: Literal["none", "geometric"] = "none"
    initial: Initial = Initial()
    inputs: InputTables = InputTables()
    controller: Controller | None = None
    solver: Solver = Solver()
    t_end: Seconds = 1.0
    output_dt: Seconds = 0.001

    @classmethod
    def load(cls, name_or_path: str | Path) -> "Scenario":
        """The scenario of a library name or file; of a bare robot file, 1 s under gravity from rest.

        Raises:
            DescriptionError: with every problem of the file, and of the robot file it names.
        """
        if str(name_or_path) in library_scenarios():
            return _read(cls, find_file(name_or_path, scenario=True))
        if kind_of_file(name_or_path) == "robot":
            return cls(robot=Robot.load(name_or_path))
        return _read(cls, find_file(name_or_path))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scenario":
        """The scenario of plain data, as a scenario file would hold it."""
        return build_from(cls, data)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the robot inline, that `from_dict` makes an equal scenario of."""
        return {"lissom": 1, **as_numbers(plain(self))}

    def save(self, path: str | Path) -> None:
        """Writes the scenario file, with its robot inline, that loads as an equal scenario."""
        write(self, path)

    def replace(self, changes: Mapping[str, Any]) -> "Scenario":
        """A scenario with other values at dotted paths, looked up in the scenario and then in its robot.

        `{"t_end": 0.5, "gravity": [0, 0, -9.81], "robot.links.upper.beam.material.E": 9e9}`; see `Robot.replace`.
        """
        whole = {_full_path(path): value for path, value in changes.items()}
        data = with_values(plain(self), whole)
        return build_from(type(self), data)

    def findings(self) -> list[Finding]:
        """What does not fit the robot or the other parts of the scenario."""
        entries = {name: getattr(self, name) for name in type(self).model_fields}
        return scenario_findings(entries, self.robot.outline)

    @classmethod
    def partial_findings(cls, data: Any) -> list[Finding]:
        """The same on half-valid data."""
        if not isinstance(data, Mapping):
            return []
        robot = data.get("robot")
        if isinstance(robot, Robot):
            return scenario_findings(data, robot.outline)
        return scenario_findings(data, outline_of_data(robot))


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
    document = read_document(path)
    data = with_table_folder(document.data, path.parent)
    document = document._replace(data=data)
    robot = entry_of(document.data, "robot")
    if isinstance(robot, str):
        return _read_with_robot(cls, document, robot)
    if isinstance(robot, Mapping):
        document = _with_robot(document, with_folder(robot, path.parent))
    return build(cls, document)


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
        path = find_file(name, folder=Path(document.file).parent)
    except DescriptionError as failure:
        message = failure.problems[0].message
        line = document.line(("robot",))
        problem = Problem(document.file, line, "robot", name, message)
        return None, (problem,)
    try:
        return Robot.load(path), ()
    except DescriptionError as failure:
        return None, failure.problems
