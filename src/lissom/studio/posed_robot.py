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
from ..describe.modelled import model_facts, modelled_scenario
from ..describe.robot_facts import length_to_tip, values_by_name
from ..runs.forecast import affordable_model
from ..runs.sources import Source, robot_of
from ..show.mode_animation import mode_content
from ..show.robot_scene import scene_of
from ..show.scene import Scene
from ..show.viewer import still_content
from ..solve.inverse_kinematics import UnreachableError, inverse_kinematics
from ..solve.model import Model
from ..solve.state import State
from .questions import JointValues

# [m] How near a node that is pulled comes to where it is pulled to: finer than a screen shows.
PULLED = 1e-5


def posed_robot(
    source: Source, changes: Mapping[str, Any] | None = None
) -> "PosedRobot":
    """A robot, ready to be asked for poses; of a scenario, its robot, choices and initial q."""
    scenario = robot_of(source, changes or {})
    with using(scenario.solver.backend):
        model = affordable_model(scenario)
        return PosedRobot(scenario, model, scene_of(model.robot))


@dataclass(frozen=True)
class PosedRobot:
    """A robot, its model, and its shapes, which are the same in every pose."""

    scenario: Scenario
    model: Model
    scene: Scene

    def pose(
        self,
        q: JointValues | None = None,
        sag: bool = True,
        pull: Mapping[str, Any] | None = None,
        masses: bool = False,
    ) -> dict[str, Any]:
        """Nodes and frames with the joints held, and what holds them.

        Args:
            q: what the encoders read [rad or m]; default: where the scenario starts, or zero.
            sag: links bend under gravity; else they stay as they were made.
            pull: from q on, the joints that bring its `node` to the place `to` [m]; as near as it can be.
            masses: masses, centres and principal axes too.
        """
        at = q or self.scenario.initial.q
        with using(self.scenario.solver.backend):
            reached = True
            if pull is None:
                state = self._state(at, sag)
            else:
                state, reached = self._pulled(at, pull, sag)
            facts = _mass_facts(self.model, state) if masses else []
            return {**self._drawn(state), "masses": facts, "reached": reached}

    def modes(
        self, q: JointValues | None = None, mode: int = 1, **options: Any
    ) -> dict[str, Any]:
        """Modes with these arguments of `ls.modes`; that of a number, or the last one there is, moves."""
        with using(self.scenario.solver.backend):
            found = modes(self.model, q or self.scenario.initial.q, **options)
            number = min(mode, len(found.frequency_hz))
            picture = mode_content(found, number)
        return {"modes": found.to_dict(), "number": number, "picture": picture}

    @cached_property
    def rigid(self) -> Model:
        """The robot without any bending: small Jacobians."""
        return Model(self.model.robot, modes=0)

    def _state(self, q: JointValues | None, sag: bool) -> State:
        return self.model.static(q) if sag else self.model.at(q)

    def _pulled(
        self, q: JointValues | None, pull: Mapping[str, Any], sag: bool
    ) -> tuple[State, bool]:
        """The state with a node where it was pulled to, and whether it came there."""
        node, aim = pull["node"], np.asarray(pull["to"])
        joints, reached = self._nearest(q, node, aim)
        state = self._state(joints, sag)
        if not sag:
            return state, reached
        # Inverse kinematics is that of rigid links: what they sag is aimed higher.
        miss = aim - np.asarray(self.model.position(state, node))
        joints, reached = self._nearest(joints, node, aim + miss)
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

    def _drawn(self, state: State) -> dict[str, Any]:
        """What there is to draw of the robot in a state: picture, sag of the tip, torques of the joints, warnings."""
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
        robot = model.robot
        return {
            **model_facts(robot.name, modelled_scenario(self.scenario)),
            "joints": _moving_joints(model),
            "q": values_by_name(model.joint_names, state.encoder),
            "torque": torque,
            "sag": self._sag(state, position),
            "tip": position[picture["tip"]].tolist(),
            "picture": picture,
            "dh_frames": _dh_frames(model, frame, rigid),
            # Along the beam, or from joint to tip [m].
            "lengths": {
                link.name: length_to_tip(robot, i) for i, link in enumerate(robot.links)
            },
            "warnings": warning_lines(found),
        }

    def _sag(self, state: State, position: np.ndarray) -> float:
        """How far the last node is from where unbent links with the same encoders would put it [m]."""
        unbent = self.model.poses(self.model.at(state.encoder))
        rigid = self.model.node_rows(unbent.position)
        return float(np.linalg.norm(position[-1] - rigid[-1]))


def _mass_facts(model: Model, state: State) -> list[dict[str, Any]]:
    """Mass [kg], its centre [m] and principal inertia [kg m^2] of every link that has mass, and last of the robot."""
    links = mass_properties(model, state)
    named = [*zip(model.link_names, links, strict=True)]
    named.append((model.robot.name, combined(links)))
    return [_facts_of(name, part) for name, part in named if part.mass > 0]


def _facts_of(name: str, part: MassProperties) -> dict[str, Any]:
    # Axes as columns, in the world, those of the smallest moment first.
    moments, axes = part.principal
    facts = {"name": name, "mass": part.mass, "centre": part.centre.tolist()}
    return facts | {"moments": moments, "axes": axes}


def _moving_joints(model: Model) -> list[dict[str, Any]]:
    """Joints that can be turned or pushed, with their limits [rad or m]; in a loop some follow others."""
    joints = []
    for link in model.robot.links:
        if not link.joint.moves:
            continue
        limits = link.joint.limits
        lower, upper = (limits and limits.position) or (None, None)
        joint = {"name": link.name, "type": link.joint.type, "lower": lower}
        joint |= {"upper": upper, "independent": link.name in model.independent_names}
        joints.append(joint)
    return joints


def _dh_frames(model: Model, axes: np.ndarray, rigid: np.ndarray) -> list[Any]:
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
        frames.append({"name": link.name, "axes": axes[i] @ turn, "origin": end})
    return frames
