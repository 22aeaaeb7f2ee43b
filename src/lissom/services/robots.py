"""The library: its robots and its scenarios."""

from ..describe import Robot, Scenario, library_names, library_scenarios
from ..describe.geometry import node_count
from ..files.description_files import library_studies
from ..runs.sources import source_line
from .frozen_model import FrozenModel


class LibraryRobot(FrozenModel):
    """A robot of the library in a few words."""

    name: str
    joints: tuple[str, ...]
    flexible_links: tuple[str, ...]
    elements: tuple[int, ...]  # of each flexible link
    source: str


class LibraryScenario(FrozenModel):
    """A scenario of the library in a few words."""

    name: str
    robot: str
    t_end: float  # [s]
    source: str


class RobotsResult(FrozenModel):
    """What comes with the package."""

    robots: tuple[LibraryRobot, ...]
    scenarios: tuple[LibraryScenario, ...]
    studies: tuple[str, ...]  # comparisons of controllers


def robots() -> RobotsResult:
    """The robots and scenarios that come with the package."""
    return RobotsResult(
        robots=tuple(_library_robot(name) for name in library_names()),
        scenarios=tuple(_library_scenario(name) for name in library_scenarios()),
        studies=library_studies(),
    )


def _library_robot(name: str) -> LibraryRobot:
    robot = Robot.load(name)
    names = []
    elements = []
    for i, link in enumerate(robot.links):
        if link.flexible:
            names.append(link.name)
            elements.append(node_count(robot, i) - 1)
    return LibraryRobot(
        name=name,
        joints=robot.joint_names,
        flexible_links=tuple(names),
        elements=tuple(elements),
        source=source_line(name),
    )


def _library_scenario(name: str) -> LibraryScenario:
    scenario = Scenario.load(name)
    return LibraryScenario(
        name=name,
        robot=scenario.robot.name,
        t_end=scenario.t_end,
        source=source_line(name, scenario=True),
    )
