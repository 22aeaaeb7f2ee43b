"""A robot in a pose, as something to draw and to turn: shapes, nodes, frames, sag and holding torques.

A slider asks for many poses of one robot: `PosedRobot` builds its model once.
"""

from dataclasses import dataclass

import numpy as np

from ..algebra.so3 import elementary
from ..analyse.validity.watch import doubts, doubts_of_scenario
from ..describe import Scenario
from ..describe.doubt import lines_of
from ..describe.geometry import tip
from ..native.compiled import using
from ..scenarios.forecast import affordable_model
from ..show.robot_scene import scene_of
from ..show.viewer import Content, still_content
from ..solve.model import Model
from ..solve.state import State
from .frozen_model import FrozenModel, JointValues, NumberArray
from .robot_facts import values_by_name
from .sources import RobotRequest


class PoseRequest(RobotRequest):
    """Joints held at q, with links that bend under gravity or stay as they were made."""

    sag: bool = True


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


class PoseResult(FrozenModel):
    """What there is to draw of a robot in a pose, and what holds it there."""

    robot: str
    formulation: str
    joints: tuple[MovingJoint, ...]
    q: dict[str, float]  # what the encoders read
    torque: dict[str, float] | None  # that hold it, where links bend
    sag: float  # of the tip from where a rigid robot has it [m]
    picture: Content  # see `show.viewer.still_content`
    dh_frames: tuple[Frame, ...]  # of links that are written by DH parameters
    warnings: tuple[str, ...]


def pose(request: PoseRequest) -> PoseResult:
    """The robot in one pose."""
    return posed_robot(request).pose(request.q, request.sag)


def posed_robot(request: PoseRequest) -> "PosedRobot":
    """The robot of a request, ready to be asked for poses."""
    scenario = request.scenario()
    with using(scenario.solver.backend):
        return PosedRobot(scenario, affordable_model(scenario))


@dataclass(frozen=True)
class PosedRobot:
    """A robot and its model."""

    scenario: Scenario
    model: Model

    def pose(self, q: JointValues | None, sag: bool) -> PoseResult:
        """Nodes and frames with the joints held at q; default: where the scenario starts, or zero."""
        at = q or self.scenario.initial.q
        with using(self.scenario.solver.backend):
            state = self.model.static(at) if sag else self.model.at(at)
            return self._drawn(state)

    def _drawn(self, state: State) -> PoseResult:
        model = self.model
        poses = model.poses(state)
        position = model.node_rows(poses.position)
        rigid = model.node_rows(poses.erls_position)
        frame = np.asarray(poses.frame)[list(model.first_bodies)]
        torque = None
        if state.torque is not None:
            torque = values_by_name(model.joint_names, state.torque)
        picture = still_content(
            scene_of(model.robot),
            position,
            erls_position=rigid,
            rotation=model.node_rows(poses.rotation),
            frame=frame,
        )
        found = [*doubts_of_scenario(self.scenario), *doubts(model, state)]
        return PoseResult(
            robot=model.robot.name,
            formulation=self.scenario.formulation,
            joints=_moving_joints(model),
            q=values_by_name(model.joint_names, state.encoder),
            torque=torque,
            sag=self._sag(state, position),
            picture=picture,
            dh_frames=_dh_frames(model, frame, rigid),
            warnings=lines_of(found),
        )

    def _sag(self, state: State, position: np.ndarray) -> float:
        """How far the last node is from where unbent links with the same encoders would put it [m]."""
        unbent = self.model.poses(self.model.at(state.encoder))
        rigid = self.model.node_rows(unbent.position)
        return float(np.linalg.norm(position[-1] - rigid[-1]))


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
