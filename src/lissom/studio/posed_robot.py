"""A robot in a pose, as something to draw and to turn: shapes, nodes, frames, sag and holding torques.

A slider asks for many poses of one robot: `PosedRobot` builds its model once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..algebra.so3 import elementary
from ..analyse.mass_properties import MassProperties, combined, mass_properties
from ..analyse.modes.modal import modes
from ..analyse.validity.checks import check
from ..analyse.validity.description import scenario_warnings
from ..analyse.validity.validity_warning import warning_lines
from ..describe import Scenario
from ..describe.geometry import tip
from ..describe.robot_facts import length_to_tip, values_by_name
from ..runs.forecast import affordable_model
from ..show.mode_animation import mode_content
from ..show.robot_scene import scene_of
from ..show.scene import Scene
from ..show.viewer import Content, still_content
from ..solve.inverse_kinematics import UnreachableError, inverse_kinematics
from ..solve.model import Model
from ..solve.state import State
from .frozen_model import FrozenModel, JointValues, NumberArray, Position
from .modelled_result import ModelledResult, model_of
from .robot_request import RobotRequest

# [m] How near a node that is pulled comes to where it is pulled to: finer than a screen shows.
PULLED = 1e-5


class Pull(FrozenModel):
    """A node that is to be brought to a place, the joints following by inverse kinematics."""

    node: str
    to: Position  # world axes [m]


class PoseRequest(RobotRequest):
    """Joints held at q, with links that bend under gravity or stay as they were made."""

    sag: bool = True
    # From q on, the joints that bring a node to a place; as near as it can be.
    pull: Pull | None = None
    masses: bool = False  # masses, centres and principal axes too


class MovingJoint(FrozenModel):
    """A joint that can be turned or pushed."""

    name: str
    type: str  # revolute or prismatic
    lower: float | None  # limits [rad or m], where the file gives some
    upper: float | None
    independent: bool  # False where a loop makes it follow others


class Frame(FrozenModel):
    """Axes as columns, and where they stand [m], in the world."""

    name: str
    axes: NumberArray
    origin: NumberArray


class MassFacts(FrozenModel):
    """Mass, its centre, and the principal axes of its inertia about the centre, in the world."""

    name: str  # of the link, or of the robot
    mass: float  # [kg]
    centre: Position  # [m]
    moments: NumberArray  # principal, smallest first [kg m^2]
    axes: NumberArray  # as columns


class PoseResult(ModelledResult):
    """What there is to draw of a robot in a pose, and what holds it there."""

    joints: tuple[MovingJoint, ...]
    q: dict[str, float]  # what the encoders read
    torque: dict[str, float] | None  # that hold it, where links bend
    sag: float  # of the tip from where a rigid robot has it [m]
    tip: Position  # where the tip that is drawn stands [m]
    picture: Content  # see `show.viewer.still_content`
    dh_frames: tuple[Frame, ...]  # of links that are written by DH parameters
    lengths: dict[str, float]  # of the links: along the beam, or from joint to tip [m]
    masses: tuple[MassFacts, ...]  # of the links, and at last of all together
    reached: bool  # False: what was pulled stays short of where it was pulled to
    warnings: tuple[str, ...]


def pose(request: PoseRequest) -> PoseResult:
    """The robot in one pose."""
    return posed_robot(request).pose(request)


def posed_robot(request: RobotRequest) -> "PosedRobot":
    """The robot of a request, ready to be asked for poses."""
    scenario = request.scenario()
    with using(scenario.solver.backend):
        model = affordable_model(scenario)
        return PosedRobot(scenario, model, scene_of(model.robot))


@dataclass(frozen=True)
class PosedRobot:
    """A robot, its model, and its shapes, which are the same in every pose."""

    scenario: Scenario
    model: Model
    scene: Scene

    def pose(self, request: PoseRequest) -> PoseResult:
        """Nodes and frames with the joints held at q; default: where the scenario starts, or zero."""
        at = request.q or self.scenario.initial.q
        with using(self.scenario.solver.backend):
            if request.pull is None:
                return self._drawn(self._state(at, request.sag), request)
            state, reached = self._pulled(at, request.pull, request.sag)
            return self._drawn(state, request, reached)

    def modes(self, values: Mapping[str, Any], number: int) -> dict[str, Any]:
        """Modes with these arguments of `ls.modes`; that of a number, or the last one there is, moves."""
        q = values.get("q")
        options = {name: value for name, value in values.items() if name != "q"}
        with using(self.scenario.solver.backend):
            found = modes(self.model, q or self.scenario.initial.q, **options)
            number = min(number, len(found.frequency_hz))
            picture = mode_content(found, number)
        return {"modes": found.to_dict(), "number": number, "picture": picture}

    @cached_property
    def rigid(self) -> Model:
        """The robot without any bending: small Jacobians."""
        return Model(self.model.robot, modes=0)

    def _state(self, q: JointValues | None, sag: bool) -> State:
        return self.model.static(q) if sag else self.model.at(q)

    def _pulled(
        self, q: JointValues | None, pull: Pull, sag: bool
    ) -> tuple[State, bool]:
        """The state with a node where it was pulled to, and whether it came there."""
        aim = np.asarray(pull.to)
        joints, reached = self._nearest(q, pull.node, aim)
        state = self._state(joints, sag)
        if not sag:
            return state, reached
        # Inverse kinematics is that of rigid links: what they sag is aimed higher.
        miss = aim - np.asarray(self.model.position(state, pull.node))
        joints, reached = self._nearest(joints, pull.node, aim + miss)
        return self._state(joints, sag), reached

    def _nearest(
        self, q: JointValues | None, node: str, to: np.ndarray
    ) -> tuple[JointValues, bool]:
        """Joints that put a node of the unbent robot at a place, or as near as they come, and whether they do."""
        try:
            found = inverse_kinematics(
                self.rigid, to, node=node, start=q, tolerance=PULLED
            )
            return tuple(found.tolist()), True
        except UnreachableError as failure:
            return tuple(failure.q.tolist()), False

    def _drawn(
        self, state: State, request: PoseRequest, reached: bool = True
    ) -> PoseResult:
        model = self.model
        poses = model.poses(state)
        position = model.node_rows(poses.position)
        rigid = model.node_rows(poses.erls_position)
        frame = np.asarray(poses.frame)[list(model.first_bodies)]
        torque = None
        if state.torque is not None:
            torque = values_by_name(model.joint_names, state.torque)
        picture = still_content(
            self.scene,
            position,
            erls_position=rigid,
            rotation=model.node_rows(poses.rotation),
            frame=frame,
        )
        found = [*scenario_warnings(self.scenario), *check(model, state)]
        return PoseResult(
            **model_of(self.scenario),
            joints=_moving_joints(model),
            q=values_by_name(model.joint_names, state.encoder),
            torque=torque,
            sag=self._sag(state, position),
            tip=position[picture["tip"]].tolist(),
            picture=picture,
            dh_frames=_dh_frames(model, frame, rigid),
            lengths=_lengths(model),
            masses=_mass_facts(model, state) if request.masses else (),
            reached=reached,
            warnings=warning_lines(found),
        )

    def _sag(self, state: State, position: np.ndarray) -> float:
        """How far the last node is from where unbent links with the same encoders would put it [m]."""
        unbent = self.model.poses(self.model.at(state.encoder))
        rigid = self.model.node_rows(unbent.position)
        return float(np.linalg.norm(position[-1] - rigid[-1]))


def _lengths(model: Model) -> dict[str, float]:
    robot = model.robot
    return {link.name: length_to_tip(robot, i) for i, link in enumerate(robot.links)}


def _mass_facts(model: Model, state: State) -> tuple[MassFacts, ...]:
    """Of every link that has mass, and at last of the whole robot."""
    links = mass_properties(model, state)
    named = [*zip(model.link_names, links, strict=True)]
    named.append((model.robot.name, combined(links)))
    return tuple(_facts_of(name, part) for name, part in named if part.mass > 0)


def _facts_of(name: str, part: MassProperties) -> MassFacts:
    moments, axes = part.principal
    centre = part.centre.tolist()
    return MassFacts(
        name=name, mass=part.mass, centre=centre, moments=moments, axes=axes
    )


def _moving_joints(model: Model) -> tuple[MovingJoint, ...]:
    joints = []
    for link in model.robot.links:
        if not link.joint.moves:
            continue
        limits = link.joint.limits
        lower, upper = (limits and limits.position) or (None, None)
        joint = MovingJoint(
            name=link.name,
            type=link.joint.type,
            lower=lower,
            upper=upper,
            independent=link.name in model.independent_names,
        )
        joints.append(joint)
    return tuple(joints)


def _dh_frames(model: Model, axes: np.ndarray, rigid: np.ndarray) -> tuple[Frame, ...]:
    """Frame i of the Denavit-Hartenberg convention stands at the end of link i, turned by alpha about x."""
    names = list(model.node_names)
    frames = []
    for i, link in enumerate(model.robot.links):
        if link.joint.dh is None:
            continue
        turn = np.asarray(elementary(0, float(link.joint.dh.alpha)))
        # Node 0 of a link is where its frame stands, before the links bend.
        start = rigid[names.index(f"{link.name}/0")]
        end = start + axes[i] @ np.asarray(tip(model.robot, i), dtype=float)
        frames.append(Frame(name=link.name, axes=axes[i] @ turn, origin=end))
    return tuple(frames)
