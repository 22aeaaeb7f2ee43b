"""A robot in a pose, as data to draw and to turn: shapes, nodes, frames, sag and holding torques.

A slider requests many poses of one robot: `PosedRobot` builds its model once, and the last few robots are cached.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from jaxnative.compiled import using

from ..algebra.so3 import elementary
from ..analyse.mass_properties import combined, mass_properties
from ..analyse.modes.modal import modes
from ..analyse.validity.checks import check, run_start_warnings
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
from ..verbs.declared import JointValues
from .verb_calls import checked_values

# [m] Between a node that is pulled and the place it is pulled to: finer than a screen shows.
PULLED = 1e-5
CACHED_ROBOTS = 4  # models that sliders move


def pose(source: str, changes: dict[str, Any], **pose: Any) -> dict[str, Any]:
    """A robot in a pose, see `PosedRobot.pose`."""
    return _cached_robot(source, changes).pose(**pose)


def modes_at_pose(
    name: str, source: str, changes: dict[str, Any], values: dict[str, Any]
) -> dict[str, Any]:
    """The answer of the verb `modes` with one mode in motion, see `PosedRobot.modes`."""
    return _cached_robot(source, changes).modes(**checked_values(name, values))


def _cached_robot(source: str, changes: dict[str, Any]) -> "PosedRobot":
    state = None
    if os.path.isfile(source):
        facts = os.stat(source)
        state = (facts.st_mtime_ns, facts.st_size)
    return _robot_in_state(source, state, json.dumps(changes))


@lru_cache(CACHED_ROBOTS)
def _robot_in_state(
    source: str, state: tuple[int, int] | None, changes: str
) -> "PosedRobot":
    """A robot; `state` changes with its file."""
    return posed_robot(source, json.loads(changes))


def posed_robot(
    source: Source, changes: Mapping[str, Any] | None = None
) -> "PosedRobot":
    """A robot that can be posed; of a scenario, its robot, choices and initial q."""
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
        """Nodes and frames with the joints held, and the holding torques.

        Args:
            q: encoder readings [rad or m]; default: where the scenario starts, or zero.
            sag: links bend under gravity; else they are undeformed.
            pull: from q on, the joints bring its `node` to the place `to` [m], or as close as they can.
            masses: masses, centres and principal axes too.
        """
        at, reached = q or self.scenario.initial.q, True
        with using(self.scenario.solver.backend):
            if pull is not None:
                at, reached = self._pulled(at, pull, sag)
            state = self._state(at, sag)
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
    ) -> tuple[JointValues, bool]:
        """Joints that bring a node to the place it is pulled to, or as close as they can, and whether they do."""
        node, aim = pull["node"], np.asarray(pull["to"])
        joints, reached = self._nearest(q, node, aim)
        if not sag:
            return joints, reached
        # Inverse kinematics is that of rigid links: the aim is higher by their sag.
        miss = aim - np.asarray(self.model.position(self._state(joints, sag), node))
        return self._nearest(joints, node, aim + miss)

    def _nearest(
        self, q: JointValues | None, node: str, to: np.ndarray
    ) -> tuple[JointValues, bool]:
        """The same for a node of the undeformed robot."""
        try:
            found = inverse_kinematics(
                self.rigid, to, node=node, start=q, tolerance=PULLED
            )
            return tuple(found.tolist()), True
        except UnreachableError as failure:
            return tuple(failure.q.tolist()), False

    def _drawn(self, state: State) -> dict[str, Any]:
        """Picture of the robot in a state, sag of the tip, torques of the joints, warnings."""
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
            "start_warnings": warning_lines(
                run_start_warnings(self.scenario, model, state)
            ),
        }

    def _sag(self, state: State, position: np.ndarray) -> float:
        """How far the last node is from where unbent links with the same encoders would put it [m]."""
        unbent = self.model.poses(self.model.at(state.encoder))
        rigid = self.model.node_rows(unbent.position)
        return float(np.linalg.norm(position[-1] - rigid[-1]))


def _mass_facts(model: Model, state: State) -> list[dict[str, Any]]:
    """Mass [kg], its centre [m] and principal inertia [kg m^2] of every link that has mass, and last of the robot."""
    links = mass_properties(model, state)
    names, parts = (*model.link_names, model.robot.name), (*links, combined(links))
    found = []
    for name, part in zip(names, parts, strict=True):
        if part.mass > 0:
            # Axes as columns, in the world, those of the smallest moment first.
            moments, axes = part.principal
            facts = {"name": name, "mass": part.mass, "centre": part.centre.tolist()}
            found.append(facts | {"moments": moments, "axes": axes})
    return found


def _moving_joints(model: Model) -> list[dict[str, Any]]:
    """Joints that can be turned or pushed, with their limits [rad or m]; in a loop some follow others."""
    joints = []
    for link in model.robot.links:
        if link.joint.moves:
            limits = link.joint.limits
            lower, upper = (limits and limits.position) or (None, None)
            facts = {"name": link.name, "type": link.joint.type}
            facts |= {"independent": link.name in model.independent_names}
            joints.append(facts | {"lower": lower, "upper": upper})
    return joints


def _dh_frames(model: Model, axes: np.ndarray, rigid: np.ndarray) -> list[Any]:
    """Frame i of the Denavit-Hartenberg convention is at the end of link i, turned by alpha about x."""
    names = list(model.node_names)
    frames = []
    for i, link in enumerate(model.robot.links):
        if link.joint.dh is None:
            continue
        turn = np.asarray(elementary(0, float(link.joint.dh.alpha)))
        # Node 0 of a link is the origin of its frame, before the links bend.
        start = rigid[names.index(f"{link.name}/0")]
        end = start + axes[i] @ np.asarray(tip(model.robot, i), dtype=float)
        frames.append({"name": link.name, "axes": axes[i] @ turn, "origin": end})
    return frames
