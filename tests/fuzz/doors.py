"""How a file of each kind is opened, as commands open it; bad files raise `DescriptionError` or `FailedLink`."""

from pathlib import Path
from typing import Any

import lissom as ls
from lissom.describe import DescriptionError, Robot, Scenario
from lissom.describe.control_study import ControlStudy
from lissom.runs.failures import AnalysisError
from lissom.runs.law_files import scenario_with_law
from lissom.runs.sources import scenario_of


class FailedLink(Exception):
    """A finite-element link with failed checks."""


OWN_ERRORS = (DescriptionError, FailedLink, AnalysisError)
PLACES = {".msh": ("x=0", "x=1")}  # of the inner end and the tip; else node numbers


def robot(path: Path) -> Robot:
    """A robot file, YAML or URDF."""
    return Robot.load(path)


def scenario(path: Path) -> Scenario:
    """A scenario file."""
    return Scenario.load(path)


def study(path: Path) -> ControlStudy:
    """A comparison of controllers."""
    return ControlStudy.load(path)


def law(path: Path) -> Scenario:
    """A controller in a file of its own, on a robot with one joint."""
    return scenario_with_law("simple-pendulum", str(path))


def fe(path: Path) -> Any:
    """A file of a finite-element program, read, checked and reduced."""
    inner, tip = PLACES.get(path.suffix, (5, 12))
    nodes = {".mtx": "job.inp", ".op4": "beam.bdf"}.get(path.suffix)
    link = ls.reduce_link(
        path,
        {"inner": inner, "tip": tip},
        modes=2,
        nodes=None if nodes is None else path.parent / nodes,
        material="steel" if path.suffix == ".msh" else None,
    )
    if not link.passed:
        raise FailedLink(str(link))
    return link


def deck(path: Path) -> Any:
    """An input deck that gives the coordinates of the matrices beside it."""
    return fe(path.parent / "job_STIF1.mtx")


def link(path: Path) -> Any:
    """The robot beside a file of a link, and the body of the link."""
    from lissom.bodies.link_body import body_of

    whole = Robot.load(path.parent / "robot.yaml")
    body_of(whole, 0)
    return whole


def table(path: Path) -> Scenario:
    """The scenario beside a table of signals."""
    return Scenario.load(path.parent / "scenario.yaml")


def result(path: Path) -> Scenario:
    """The scenario that a result remembers."""
    return scenario_of(str(path))


DOORS = {"robot": robot, "scenario": scenario, "study": study, "law": law}
