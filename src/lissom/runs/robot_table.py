"""A robot in a table, and its picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..bodies.link_body import body_of
from ..describe import Link, Robot, Scenario
from ..describe.geometry import node_count
from ..describe.modelled import modelled_scenario, scenario_model_facts
from ..describe.robot_facts import has_damping, length_to_tip, values_by_name
from ..describe.section import section_text
from ..files.description_files import source_line
from ..files.summary import Result, Summary, plain
from ..parameters import Pose
from .forecast import affordable_model
from .sources import Source, robot_of

COLUMNS = (
    "link",
    "joint",
    "length [m]",
    "section",
    "material",
    "mass [kg]",
    "elements",
)


@dataclass(frozen=True)
class LinkRow:
    """A link in one row."""

    name: str
    joint: str
    body: str  # beam, fe or rigid
    length: float  # along the beam, or from the joint to the tip [m]
    section: str | None
    material: dict[str, float] | None  # E [Pa], nu, density [kg/m^3] of a beam
    mass: float  # without payload [kg]
    elements: int
    theory: str | None


@dataclass(frozen=True, repr=False)
class RobotTable(Result):
    """The table of a robot: its links, closing joints, masses and how it is modelled."""

    scenario: Scenario
    source: str  # the line of its file about its source
    pose: Any  # joint coordinates, if given
    links: tuple[LinkRow, ...]

    @property
    def robot(self) -> Robot:
        """The robot with its changes."""
        return self.scenario.robot

    @cached_property
    def model(self) -> Any:
        """The model: built for closed chains, whose pose has to be assembled, and for a picture."""
        return affordable_model(self.scenario)

    @cached_property
    def q(self) -> tuple[float, ...]:
        """Joint coordinates [rad or m]; those of a closed chain after its assembly."""
        pose = self.pose
        if self.robot.loops:
            with using(self.scenario.solver.backend):
                assembled = self.model.assemble(None if pose is None else list(pose))
            return tuple(np.asarray(assembled).tolist())
        return tuple(pose or (0.0,) * len(self.robot.joint_names))

    @property
    def independent(self) -> tuple[str, ...]:
        """Joints that can be chosen: in a closed chain the others follow."""
        return (
            self.model.independent_names if self.robot.loops else self.robot.joint_names
        )

    @property
    def payload(self) -> float | None:
        """Mass at the tip [kg]."""
        return None if self.robot.payload is None else self.robot.payload.mass

    @property
    def mass(self) -> float:
        """Mass of links and payload [kg]."""
        return sum(link.mass for link in self.links) + (self.payload or 0.0)

    def plot(self, path: str | Path | None = None) -> Any:
        """Figure of the robot in its pose, with frames and nodes; `path` writes it too."""
        from ..show.drawings import draw_pose  # slow to import

        with using(self.scenario.solver.backend):
            return draw_pose(self.model, list(self.q), path)

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data."""
        robot = self.robot
        own = {
            "name": robot.name,
            "source": self.source,
            "gravity": robot.gravity,
            "joints": robot.joint_names,
            "loops": [
                {"link": loop.link, "to": loop.to, "at": loop.at, "type": loop.type}
                for loop in robot.loops
            ],
            "independent": self.independent,
            "q": values_by_name(robot.joint_names, self.q),
            "links": [vars(link) for link in self.links],
            "payload": self.payload,
            "mass": self.mass,
            "damping": has_damping(robot),
        }
        return plain(scenario_model_facts(self.scenario) | own)

    def summary(self) -> Summary:
        """The links in a table, and below it what closes chains, masses and how the robot is modelled."""
        robot = self.robot
        facts: list[tuple[str, str]] = []
        for loop in robot.loops:
            at = _vector(loop.at)
            facts.append(
                ("loop", f"{loop.link}/tip, {loop.type}, to {loop.to} at {at} m")
            )
        if robot.loops:
            facts.append(("independent joints", ", ".join(self.independent)))
        if self.payload is not None:
            facts.append(("payload", f"{self.payload:.4g} kg"))
        damped = "" if has_damping(robot) else ", no damping"
        gravity = f"{_vector(robot.gravity)} m/s^2{damped}"
        facts.append(("mass", f"{self.mass:.4g} kg, gravity {gravity}"))
        facts.append(("model", str(modelled_scenario(self.scenario))))
        rows = tuple(_cells(link) for link in self.links)
        return Summary(robot.name, tuple(facts), COLUMNS, rows, self.source)


def robot_table(
    robot: Source, q: Pose = None, *, changes: Mapping[str, Any] | None = None
) -> RobotTable:
    """The links of a robot in a table: lengths, sections, materials, masses; `plot` draws it in the pose q.

    Args:
        robot: a library name, a file, a `Robot` or a `Scenario`.
        q: joint coordinates [rad or m]; default: those of the scenario, or zero.
        changes: of the robot and of how it is modelled, by dotted path.

    Returns:
        The `RobotTable`; it prints as a table.

    Raises:
        DescriptionError: the robot cannot be read, or a change makes no sense.

    Example:
        >>> import lissom as ls
        >>> [link.name for link in ls.robot_table("double-pendulum").links]
        ['upper', 'lower']
    """
    scenario = robot_of(robot, changes)
    described = scenario.robot
    return RobotTable(
        scenario,
        source_line(robot) if isinstance(robot, str) else "",
        q if q is not None and len(q) else scenario.initial.q,
        tuple(_row(described, i) for i in range(len(described.links))),
    )


def _row(robot: Robot, i: int) -> LinkRow:
    link = robot.links[i]
    # The payload is listed by itself: the mass of the last link excludes it.
    bare = robot.replace({"payload": None}) if robot.payload else robot
    body = body_of(bare, i)
    beam = link.beam
    kind = "fe" if link.fe is not None else "rigid"
    material = None
    if beam is not None:
        kind = "beam"
        m = beam.material
        material = {"E": m.E, "nu": m.nu, "density": m.density}
    return LinkRow(
        name=link.name,
        joint=link.joint.type,
        body=kind,
        length=length_to_tip(robot, i),
        section=_body_text(link, len(body.names)),
        material=material,
        mass=float(body.total_mass),
        elements=node_count(robot, i) - 1 if link.flexible else 0,
        theory=None if beam is None else beam.theory,
    )


def _body_text(link: Link, modes: int) -> str | None:
    """Section or modes of a link in a few words; `None` for a rigid one."""
    if link.fe is not None:
        return f"{Path(link.fe.file).name}, {modes} modes"
    return None if link.beam is None else section_text(link.beam.section)


def _cells(link: LinkRow) -> tuple[str, ...]:
    material = link.material
    text = "-"
    if material is not None:
        text = f"E {material['E'] / 1e9:.4g} GPa, {material['density']:.4g} kg/m^3"
    return (
        link.name,
        link.joint,
        f"{link.length:.4g}",
        link.section or "rigid",
        text,
        f"{link.mass:.4g}",
        str(link.elements or "-"),
    )


def _vector(values: Any) -> str:
    return f"({', '.join(f'{value:.5g}' for value in values)})"
