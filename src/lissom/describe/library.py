"""The library: the robots, scenarios and studies of controllers that come with the package."""

from dataclasses import asdict, dataclass
from typing import Any

from ..files.description_files import (
    library_names,
    library_scenarios,
    library_studies,
    source_line,
)
from ..files.summary import Result, Summary, number
from .geometry import node_count
from .robot import Robot
from .scenario import Scenario

TRY = "Try: lissom show anthropomorphic -o robot.png, lissom simulate double-pendulum --plot run.png"


@dataclass(frozen=True)
class LibraryRobot:
    """A robot of the library in a few words."""

    name: str
    joints: tuple[str, ...]
    flexible_links: tuple[str, ...]
    elements: tuple[int, ...]  # of each flexible link
    source: str


@dataclass(frozen=True)
class LibraryScenario:
    """A scenario of the library in a few words."""

    name: str
    robot: str
    t_end: float  # [s]
    source: str


@dataclass(frozen=True, repr=False)
class Library(Result):
    """Robots, scenarios and comparisons of controllers that come with the package."""

    robots: tuple[LibraryRobot, ...]
    scenarios: tuple[LibraryScenario, ...]
    studies: tuple[str, ...]  # comparisons of controllers

    def to_dict(self) -> dict[str, Any]:
        """Names and facts as plain data."""
        return asdict(self)

    def summary(self) -> Summary:
        """A table of the robots and one of the scenarios."""
        robots = [
            (
                robot.name,
                str(len(robot.joints)),
                ", ".join(robot.flexible_links),
                ", ".join(str(count) for count in robot.elements),
                robot.source,
            )
            for robot in self.robots
        ]
        scenarios = [
            (s.name, s.robot, number(s.t_end), s.source) for s in self.scenarios
        ]
        columns = ("name", "joints", "flexible links", "elements", "source")
        part = Summary(
            "Scenarios",
            (("Studies of controllers", ", ".join(self.studies)),),
            ("name", "robot", "t_end [s]", "source"),
            tuple(scenarios),
            TRY,
        )
        return Summary("Robots", (), columns, tuple(robots), parts=(part,))


def library() -> Library:
    """The robots and scenarios that come with the package.

    Returns:
        The `Library`: names, joints, flexible links, sources; it prints as tables.

    Raises:
        DescriptionError: a file of the library is in error.

    Example:
        >>> import lissom as ls
        >>> "anthropomorphic" in [robot.name for robot in ls.library().robots]
        True
    """
    return Library(
        tuple(_robot(name) for name in library_names()),
        tuple(_scenario(name) for name in library_scenarios()),
        library_studies(),
    )


def _robot(name: str) -> LibraryRobot:
    robot = Robot.load(name)
    flexible = [i for i, link in enumerate(robot.links) if link.flexible]
    return LibraryRobot(
        name,
        robot.joint_names,
        tuple(robot.links[i].name for i in flexible),
        tuple(node_count(robot, i) - 1 for i in flexible),
        source_line(name),
    )


def _scenario(name: str) -> LibraryScenario:
    scenario = Scenario.load(name)
    source = source_line(name, scenario=True)
    return LibraryScenario(name, scenario.robot.name, scenario.t_end, source)
