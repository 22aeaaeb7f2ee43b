"""A scenario: a robot, where it starts, what acts on it, and how it is simulated."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from .document import Document, read_document
from .errors import DescriptionError, Problem, nearest, refused
from .fe import with_folder
from .files import build, concrete, find_file, kind_of_file, library_scenarios, write
from .outline import outline_of_data
from .part import Finding, Part, plain
from .paths import assigned
from .quantity import Numbers, Quantity, Whole, error, kind_of
from .robot import Robot, Version
from .scenario_checks import scenario_findings
from .supported import SUPPORT
from .tables import JOINT, Inputs, ReferenceTable

Gains = Annotated[tuple[float, ...], Numbers((None,), Quantity("", least=0))]
Positive = Annotated[float, Quantity("", above=0)]


class Initial(Part):
    """The state at t = 0; `elastic: static` is the elastic equilibrium under gravity with the joints held at q."""

    q: Annotated[tuple[float, ...], Numbers((None,), JOINT)] | None = (
        None  # default zero
    )
    qd: (
        Annotated[tuple[float, ...], Numbers((None,), Quantity("rad/s or m/s"))] | None
    ) = None  # default zero
    elastic: Literal["zero", "static"] = "zero"


class Controller(Part):
    """Joint PD control: torque = kp (reference - q) - kd qd, on encoder angles, one gain for each moving joint."""

    type: Literal["pd"]
    kp: Gains
    kd: Gains
    reference: ReferenceTable
    gravity_compensation: bool = (
        False  # adds the torque that holds the rigid robot at the reference
    )


class Solver(Part):
    """How time is stepped through."""

    method: Literal[
        "auto", "radau", "generalised-alpha", "dopri5", "dopri8", "tsit5"
    ] = "auto"
    rtol: Annotated[float, Quantity("", above=0, below=1)] = 1e-6
    atol: Positive = 1e-8
    spectral_radius: Annotated[float, Quantity("", least=0, below=1 + 1e-12)] = (
        0.9  # generalised-alpha, at high frequency
    )
    resolve: Literal["motion", "everything"] = "motion"
    max_step: Annotated[float, Quantity("s", above=0)] | None = None
    first_step: Annotated[float, Quantity("s", above=0)] | None = None
    max_steps: Annotated[int, Whole(1, 1_000_000_000)] = 1_000_000


def _check_formulation(value: Any) -> Any:
    if value in SUPPORT:
        return value
    raise error(f"must be one of {', '.join(SUPPORT)}{nearest(value, SUPPORT)}")


def _check_reference(value: Any) -> Any:
    if value is None or value in ("tangent", "minimum-norm"):
        return value
    if not isinstance(value, Mapping) or set(value) != {"zeroed"}:
        raise error(
            "must be tangent, minimum-norm or {zeroed: [link/node.component, ...]}"
        )
    if not isinstance(value["zeroed"], list | tuple):
        raise error(
            f"zeroed must be a list such as [upper/tip.rz], not {kind_of(value['zeroed'])}"
        )
    return {"zeroed": list(value["zeroed"])}


def _check_modes(value: Any) -> Any:
    if value is None or isinstance(value, int):
        return value if value is None else Whole(0, 10_000).check(value)
    if isinstance(value, list | tuple):
        return tuple(Whole(0, 10_000).check(entry) for entry in value)
    raise error(
        "must be a whole number of modes per link, or a list with one for each link"
    )


def _named_robot(value: Any) -> Any:
    return Robot.load(value) if isinstance(value, str | Path) else value


class Scenario(Part):
    """A robot and a simulation of it."""

    lissom: Version = 1
    robot: Annotated[
        Robot, BeforeValidator(_named_robot)
    ]  # library name, path, or inline
    formulation: Annotated[str, BeforeValidator(_check_formulation)] = "erls-fem"
    reference: Annotated[Any, BeforeValidator(_check_reference)] = (
        None  # default per formulation
    )
    modes: Annotated[Any, BeforeValidator(_check_modes)] = None
    terms: Literal["consistent", "published"] = "consistent"
    basis: Literal["assumed", "craig-bampton", "nodal"] | None = (
        None  # default per formulation
    )
    stiffening: Literal["none", "geometric"] = "none"
    initial: Initial = Initial()
    inputs: Inputs = Inputs()
    controller: Controller | None = None
    solver: Solver = Solver()
    t_end: Annotated[float, Quantity("s", above=0)] = 1.0
    output_dt: Annotated[float, Quantity("s", above=0)] = 0.001

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
        return build(cls, Document(None, data, {}))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, the robot inline, that `from_dict` makes an equal scenario of."""
        return {"lissom": 1, **concrete(plain(self))}

    def save(self, path: str | Path) -> None:
        """Writes the scenario file, with its robot inline, that loads as an equal scenario."""
        write(self, path)

    def replace(self, changes: Mapping[str, Any]) -> "Scenario":
        """A scenario with other values at dotted paths, looked up in the scenario and then in its robot.

        `{"t_end": 0.5, "gravity": [0, 0, -9.81], "robot.links.upper.beam.material.E": 9e9}`; see `Robot.replace`.
        """
        whole = {_full_path(path): value for path, value in changes.items()}
        return build(type(self), Document(None, assigned(plain(self), whole), {}))

    def findings(self) -> list[Finding]:
        """What does not fit the robot or the other parts of the scenario."""
        return scenario_findings(
            {k: getattr(self, k) for k in type(self).model_fields}, self.robot.outline
        )

    @classmethod
    def partial_findings(cls, data: Any) -> list[Finding]:
        """The same on half-valid data."""
        if not isinstance(data, Mapping):
            return []
        robot = data.get("robot")
        known = robot.outline if isinstance(robot, Robot) else outline_of_data(robot)
        return scenario_findings(data, known)


def _full_path(path: str) -> str:
    """The path from the scenario on: `robot.` stands before keys that only the robot has."""
    first = path.partition(".")[0]
    if first in Scenario.model_fields:
        return path
    if first in Robot.model_fields:
        return f"robot.{path}"
    known = [*Scenario.model_fields, *Robot.model_fields]
    raise refused(
        path, None, f"no such key in the scenario or its robot{nearest(first, known)}"
    )


def _read(cls: Any, path: Path) -> Any:
    document = read_document(path)
    name = document.data.get("robot") if isinstance(document.data, Mapping) else None
    if not isinstance(name, str):
        inline = (
            {**document.data, "robot": with_folder(name, path.parent)}
            if isinstance(name, Mapping)
            else document.data
        )
        return build(cls, document._replace(data=inline))
    robot, problems = _robot_of(name, document)
    try:
        return build(
            cls, document._replace(data={**document.data, "robot": robot}), problems
        )
    except DescriptionError as failure:
        kept = [
            p
            for p in failure.problems
            if not (problems and p.field == "robot" and p not in problems)
        ]
        raise DescriptionError(kept) from None


def _robot_of(
    name: str, document: Document
) -> tuple[Robot | None, tuple[Problem, ...]]:
    """The robot that a scenario file names, or the problems of its file."""
    assert document.file is not None
    try:
        path = find_file(name, folder=Path(document.file).parent)
    except DescriptionError as failure:
        message = failure.problems[0].message
        return None, (
            Problem(document.file, document.line(("robot",)), "robot", name, message),
        )
    try:
        return Robot.load(path), ()
    except DescriptionError as failure:
        return None, failure.problems
