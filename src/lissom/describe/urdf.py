"""URDF files as robots of rigid links: kinematics, inertias, limits, friction, and shapes for pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import yourdfpy

from ..algebra.so3 import axis_rotation
from .body_tree import (
    AT_HOME,
    Frame,
    TreeBody,
    after,
    check_masses,
    fixed_joint_at,
    link_entries,
    ordered_bodies,
)
from .document import MAX_BYTES, TOO_LARGE, scalar
from .errors import nearest, refused
from .names import name_of
from .rigid_part import NOTHING, RigidPart, moved
from .urdf_tree import UrdfTree, below, chosen_tips, links_to, tree_of
from .urdf_visuals import Visual, visuals_of

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}

X_AXIS = [1.0, 0.0, 0.0]  # of a joint where a URDF file says nothing


MOST_NAMES = 6  # in a line about links


class UrdfChoices(NamedTuple):
    """What is taken from a URDF file, and how."""

    tips: tuple[str, ...] = ()  # last links; one where the file has only one end
    # Links beside the chain: ride along with it, welded at their joints, or are left out.
    branches: str = "weld"
    hold: Mapping[str, float] = {}  # joints that do not move, and where they stand
    merge_fixed: bool = False  # links on fixed joints become part of what carries them


EVERYTHING = UrdfChoices()


class UrdfRobot(NamedTuple):
    """What a URDF file gives."""

    data: dict[str, Any]  # plain data of a robot file
    notes: list[str]  # what became of links and joints that are not in it as they were
    visuals: dict[str, list[Visual]]  # shapes for pictures, by link of the robot


def robot_from_urdf(path: Path, choices: UrdfChoices = EVERYTHING) -> UrdfRobot:
    """The links of a URDF file from its base to the chosen tips, as plain data of a robot file.

    The base link stands on the ground, so its inertia does not matter. A link's tip is the origin of the next joint.

    Raises:
        DescriptionError: the file is not a URDF, is no tree, has several tips and none is chosen, uses a joint that has
            no counterpart here, or gives no mass to any link.
    """
    file = str(path)
    urdf = _robot_in(path)
    tree = tree_of(urdf, file)
    tips = chosen_tips(tree, choices.tips, file)
    work = _Growth(tree, links_to(tree, tips), set(tips), choices, file)
    ground = TreeBody("ground", {}, None)
    work.grow(tree.base, ground, AT_HOME)
    bodies = ordered_bodies(ground)
    check_masses(bodies, file)
    links = [entry for body in bodies for entry in link_entries(body, bodies)]
    visuals = {body.name: body.visuals for body in bodies if body.visuals}
    data = {"lissom": 1, "name": urdf.name or path.stem, "links": links}
    return UrdfRobot(data, work.notes(), visuals)


# --- growing the robot ---------------------------------------------------------------------------------------------


class _Growth:
    """The robot grows from the base outwards: links move on their own, or as part of what carries them."""

    def __init__(
        self,
        tree: UrdfTree,
        kept: set[str],
        tips: set[str],
        choices: UrdfChoices,
        file: str,
    ):
        self.tree = tree
        self.kept = kept
        self.tips = tips
        self.choices = choices
        self.file = file
        self.welded: dict[str, list[str]] = {}
        self.dropped: list[str] = []
        self.merged: dict[str, list[str]] = {}
        self.held = self._held_joints()

    def _held_joints(self) -> dict[str, float]:
        joints = {joint.name: joint for joint in self.tree.joint_to.values()}
        for name in self.choices.hold:
            if name not in joints or joints[name].type == "fixed":
                moving = [key for key, joint in joints.items() if joint.type != "fixed"]
                guess = nearest(name, moving) or "."
                message = f"no such moving joint{guess} Joints: {', '.join(moving)}"
                raise refused("hold", name, message, self.file)
        return dict(self.choices.hold)

    def grow(self, link: str, body: TreeBody, place: Frame) -> None:
        """A link of the file, at a place in a body, and all that it carries."""
        is_ground = body.parent is None
        if not is_ground:
            body.parts.append(moved(_inertia(self.tree.links[link].inertial), *place))
            body.visuals += visuals_of(self.tree.links[link], place)
        if link in self.tips:
            body.tip = place[1]
        for joint in self.tree.children[link]:
            at = after(place, _frame(joint.origin))
            if joint.child in self.kept:
                self._grow_on(joint, body, at)
            elif not is_ground:
                self._grow_beside(joint, body, at)

    def _grow_on(self, joint: Any, body: TreeBody, at: Frame) -> None:
        """A link of the chain."""
        is_held = joint.name in self.held
        if not is_held:
            _check_joint(joint, self.file)
        is_fixed = is_held or joint.type == "fixed"
        if is_fixed and self.choices.merge_fixed:
            self.merged.setdefault(body.name, []).append(name_of(joint.child))
            return self.grow(joint.child, body, after(at, self._turned(joint)))
        described = _joint(joint, at)
        if is_held:
            described = fixed_joint_at(after(at, self._turned(joint)))
        child = TreeBody(name_of(joint.child), described, body)
        body.children.append(child)
        self.grow(joint.child, child, AT_HOME)

    def _grow_beside(self, joint: Any, body: TreeBody, at: Frame) -> None:
        """A link beside the chain."""
        if self.choices.branches == "drop":
            self.dropped += below(self.tree, joint.child)
            return
        self.welded.setdefault(body.name, []).append(joint.child)
        self.grow(joint.child, body, after(at, self._turned(joint)))

    def _turned(self, joint: Any) -> Frame:
        """The motion of a joint that stands still."""
        value = self._value(joint)
        axis = np.asarray(X_AXIS if joint.axis is None else joint.axis, dtype=float)
        # A fixed joint may have an axis of zeros.
        axis = axis / (np.linalg.norm(axis) or 1.0)
        if joint.type in ("revolute", "continuous"):
            return np.asarray(axis_rotation(axis, value)), np.zeros(3)
        if joint.type == "prismatic":
            return np.eye(3), value * axis
        return AT_HOME

    def _value(self, joint: Any) -> float:
        """Where a joint that stands still does so: as told, as the joint that it follows tells, or at zero."""
        if joint.name in self.held:
            return float(self.held[joint.name])
        followed = joint.mimic
        if followed is None:
            return 0.0
        master = float(self.held.get(followed.joint, 0.0))
        multiplier = 1.0 if followed.multiplier is None else float(followed.multiplier)
        return multiplier * master + float(followed.offset or 0.0)

    def notes(self) -> list[str]:
        """What became of links that are not in the robot as they were."""
        lines = []
        for carrier, names in self.welded.items():
            lines.append(f"beside the chain, welded to {carrier}: {_listed(names)}")
        for carrier, names in self.merged.items():
            if carrier != "ground":
                lines.append(f"merged into {carrier}: {_listed(names)}")
        if self.dropped:
            lines.append(f"left out: {_listed(self.dropped)}")
        for name, value in self.held.items():
            lines.append(f"joint {name} is held at {value:g}")
        return lines


def _listed(names: list[str]) -> str:
    """The names, or the first few of many."""
    more = len(names) - MOST_NAMES
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _check_joint(joint: Any, file: str) -> None:
    if joint.type not in TYPES:
        message = (
            f"only {', '.join(TYPES)} joints can be read: hold it (hold, --hold {joint.name}=0), "
            "or choose another tip"
        )
        raise refused(joint.name, joint.type, message, file)
    if joint.mimic is not None:
        message = (
            f"follows joint {joint.mimic.joint!r}, which has no counterpart here: hold it where it is to stand "
            f"(hold, --hold {joint.name}=0), or choose a tip before it"
        )
        raise refused(joint.name, "mimic", message, file)


class _PlainTree(ElementTree.TreeBuilder):
    """A tree without a document type, whose entities could read other files or fill the memory."""

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Called where a document type begins, before its entities are read."""
        raise ValueError("a document type (<!DOCTYPE) is not accepted")


def _robot_in(path: Path) -> Any:
    if path.stat().st_size > MAX_BYTES:
        raise refused("", None, TOO_LARGE, str(path))
    try:
        # yourdfpy repairs broken XML as it can: half a robot is worse than none. It also follows entities.
        parser = ElementTree.XMLParser(target=_PlainTree())
        ElementTree.parse(path, parser)
        model = yourdfpy.URDF.load(
            str(path), build_scene_graph=False, load_meshes=False
        )
    except Exception as reason:
        # The parser raises whatever its XML and number readers raise.
        message = f"is not a URDF file that can be read: {reason}"
        raise refused("", None, message, str(path)) from None
    if not model.robot.links:
        raise refused("", None, "is a URDF file without links", str(path))
    return model.robot


def _joint(joint: Any, at: Frame) -> dict[str, Any]:
    """A joint of the file, whose frame stands at a place in the link that carries it."""
    kind = TYPES[joint.type]
    fixed = fixed_joint_at(at)
    if kind == "fixed":
        return fixed
    origin = fixed["origin"]
    axis = X_AXIS
    if joint.axis is not None:
        axis = np.asarray(joint.axis, float).tolist()
    entry = {"type": kind, "origin": origin, "axis": axis}
    return entry | _limits(joint) | _friction(joint)


def _limits(joint: Any) -> dict[str, Any]:
    given = joint.limit
    if given is None:
        return {}
    limits: dict[str, Any] = {}
    is_bounded = given.lower is not None or given.upper is not None
    if is_bounded and joint.type != "continuous":
        limits["position"] = [given.lower or 0.0, given.upper or 0.0]
    if given.effort:
        limits["torque"] = given.effort
    return {"limits": limits} if limits else {}


def _friction(joint: Any) -> dict[str, Any]:
    if joint.dynamics is None:
        return {}
    # yourdfpy hands these on as text.
    viscous = scalar(str(joint.dynamics.damping or 0))
    coulomb = scalar(str(joint.dynamics.friction or 0))
    return {"friction": {"viscous": viscous, "coulomb": coulomb}}


def _inertia(inertial: Any) -> RigidPart:
    """Mass, centre and inertia in link axes: R I R^T turns the inertia from the inertial frame of the file."""
    if inertial is None:
        return NOTHING
    inertia = np.zeros((3, 3))
    if inertial.inertia is not None:
        inertia = np.asarray(inertial.inertia, float)
    own = RigidPart(float(inertial.mass or 0.0), np.zeros(3), inertia)
    return moved(own, *_frame(inertial.origin))


def _frame(origin: Any) -> Frame:
    """Rotation and position of an `origin`, a 4x4 matrix; none is written where the frames coincide."""
    if origin is None:
        return AT_HOME
    T = np.asarray(origin, float)
    return T[:3, :3], T[:3, 3]
