"""A robot in a table, and its picture."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..analyse.robot_facts import has_damping, link_length, values_by_name
from ..bodies.link_body import body_of
from ..describe import Link, Robot
from ..describe.geometry import node_count
from ..describe.section import section_text
from ..runs.forecast import affordable_model
from ..runs.output_files import PICTURE, check_outputs
from ..runs.sources import source_line
from .frozen_model import FrozenModel, Position
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

if TYPE_CHECKING:
    pass


class ShowRequest(RobotRequest):
    """Which robot is shown, in which pose."""

    picture: str | None = None  # file to draw it into
    # Where the robot was read from, if it is given as data.
    source_file: str | None = None


class ShownMaterial(FrozenModel):
    """Of a beam: Young's modulus [Pa], Poisson's ratio, density [kg/m^3]."""

    E: float
    nu: float
    density: float


class ShownLink(FrozenModel):
    """A link in one row."""

    name: str
    joint: str
    body: str  # beam, fe or rigid
    length: float  # along the beam, or from the joint to the tip [m]
    section: str | None
    material: ShownMaterial | None
    mass: float  # without payload [kg]
    elements: int
    theory: str | None


class ShownLoop(FrozenModel):
    """A joint that closes a chain."""

    link: str
    to: str
    at: Position
    type: str


class ShowResult(ModelledResult):
    """A robot in words and numbers."""

    name: str
    source: str
    gravity: Position  # [m/s^2]
    joints: tuple[str, ...]
    loops: tuple[ShownLoop, ...]
    independent: tuple[str, ...]
    q: dict[str, float]
    links: tuple[ShownLink, ...]
    payload: float | None  # [kg]
    mass: float  # of links and payload [kg]
    damping: bool
    picture: str | None


def show(request: ShowRequest) -> ShowResult:
    """The links of a robot in a table, and its picture in the pose q."""
    check_outputs({"picture": (request.picture, PICTURE)})
    scenario = request.scenario()
    robot = scenario.robot
    pose = request.q or scenario.initial.q
    independent = robot.joint_names
    # Only a closed chain, whose pose has to be assembled, and a picture need a model; the solvers take their time to
    # import, and a table alone does without.
    model = None
    if robot.loops or request.picture is not None:
        model = affordable_model(scenario)
    if model is not None and robot.loops:
        assembled = model.assemble(None if pose is None else list(pose))
        pose = tuple(np.asarray(assembled).tolist())
        independent = model.independent_names
    pose = pose or (0.0,) * len(robot.joint_names)
    if model is not None and request.picture is not None:
        from ..show.drawings import draw_pose  # slow to import

        draw_pose(model, list(pose), request.picture)
    links = tuple(_shown_link(robot, i) for i in range(len(robot.links)))
    payload = None if robot.payload is None else robot.payload.mass
    return ShowResult(
        **model_of(scenario),
        name=robot.name,
        source=_source_line(request),
        gravity=robot.gravity,
        joints=robot.joint_names,
        loops=_shown_loops(robot),
        independent=independent,
        q=values_by_name(robot.joint_names, pose),
        links=links,
        payload=payload,
        mass=sum(link.mass for link in links) + (payload or 0.0),
        damping=has_damping(robot),
        picture=request.picture,
    )


def _source_line(request: ShowRequest) -> str:
    if request.source_file is not None:
        return source_line(request.source_file)
    return source_line(request.robot) if isinstance(request.robot, str) else ""


def _shown_loops(robot: Robot) -> tuple[ShownLoop, ...]:
    return tuple(
        ShownLoop(link=loop.link, to=loop.to, at=loop.at, type=loop.type)
        for loop in robot.loops
    )


def _shown_link(robot: Robot, i: int) -> ShownLink:
    link = robot.links[i]
    # The payload is a row of its own: the last link is weighed without it.
    bare = robot.replace({"payload": None}) if robot.payload else robot
    body = body_of(bare, i)
    return ShownLink(
        name=link.name,
        joint=link.joint.type,
        body=_kind_of_body(link),
        length=link_length(robot, i),
        section=_body_text(link, len(body.names)),
        material=_shown_material(link),
        mass=float(body.total_mass),
        elements=node_count(robot, i) - 1 if link.flexible else 0,
        theory=None if link.beam is None else link.beam.theory,
    )


def _kind_of_body(link: Link) -> str:
    if link.beam is not None:
        return "beam"
    return "fe" if link.fe is not None else "rigid"


def _shown_material(link: Link) -> ShownMaterial | None:
    if link.beam is None:
        return None
    material = link.beam.material
    return ShownMaterial(E=material.E, nu=material.nu, density=material.density)


def _body_text(link: Link, modes: int) -> str | None:
    """What a link bends like, in a few words; `None` for a rigid one."""
    if link.fe is not None:
        return f"{Path(link.fe.file).name}, {modes} modes"
    return None if link.beam is None else section_text(link.beam.section)
