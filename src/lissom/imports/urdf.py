"""URDF files as robots of rigid links: kinematics, inertias, limits, friction, and shapes for pictures."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..algebra.so3 import axis_rotation
from ..files.errors import nearest, refused
from ..files.names import name_of
from .body_tree import (
    AT_HOME,
    Frame,
    TreeBody,
    after,
    fixed_joint_at,
    link_entries,
    massless_links,
    ordered_bodies,
)
from .rigid_part import NOTHING, RigidPart, moved
from .urdf_file import UrdfInertial, UrdfJoint, UrdfMimic, read_urdf
from .urdf_tree import UrdfTree, below, chosen_tips, links_to, tree_of
from .urdf_visuals import Visual, visuals_of

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}

MOST_NAMES = 6  # in a line about links


class UrdfChoices(NamedTuple):
    """Choices for the import of a URDF file."""

    tips: tuple[str, ...] = ()  # last links; one where the file has only one end
    # Links beside the chain: ride along with it, welded at their joints, or are left out.
    branches: str = "weld"
    hold: Mapping[str, float] = {}  # joints that do not move, and where they stand
    merge_fixed: bool = False  # links on fixed joints become part of what carries them


EVERYTHING = UrdfChoices()


class MimicRule(NamedTuple):
    """A joint is at ratio times the coordinate of another one, plus offset."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0

    def after(self, mimic: UrdfMimic) -> "MimicRule":
        """This rule, with the leading joint replaced by the one that it follows itself."""
        offset = self.ratio * mimic.offset + self.offset
        return MimicRule(mimic.joint, self.ratio * mimic.multiplier, offset)

    def entry(self, link: str) -> dict[str, Any]:
        """The entry `follows` of a joint in a robot file; `link` is the link of the leading joint."""
        return {"joint": link, "ratio": self.ratio, "offset": self.offset}


class UrdfRobot(NamedTuple):
    """The robot of a URDF file: data for `Robot.from_dict`, notes on what was changed, and shapes."""

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
    urdf = read_urdf(path)
    tree = tree_of(urdf, file)
    tips = chosen_tips(tree, choices.tips, file)
    work = _Growth(tree, links_to(tree, tips), set(tips), choices, file)
    ground = TreeBody("ground", {}, None)
    work.grow(tree.base, ground, AT_HOME)
    bodies = ordered_bodies(ground)
    _brake_leaders(bodies)
    massless = massless_links(bodies, file)
    links = [entry for body in bodies for entry in link_entries(body, bodies)]
    visuals = {body.name: body.visuals for body in bodies if body.visuals}
    data = {"lissom": 1, "name": urdf.name or path.stem, "links": links}
    notes = work.notes()
    if massless:
        notes.append(
            f"without mass, as the file has no <inertial>: {_listed(massless)}"
        )
    return UrdfRobot(data, notes, visuals)


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
        self.joints = {joint.name: joint for joint in tree.joint_to.values()}
        self.led: dict[str, str] = {}
        self.held = self._held_joints()

    def _held_joints(self) -> dict[str, float]:
        joints = self.joints
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
            at = after(place, joint.place)
            if joint.child in self.kept:
                self._grow_on(joint, body, at)
            elif not is_ground:
                self._grow_beside(joint, body, at)

    def _grow_on(self, joint: UrdfJoint, body: TreeBody, at: Frame) -> None:
        """Adds a link of the chain, with its joint, and all that it carries."""
        rule = self._rule(joint)
        leader = self.joints[rule.joint]
        is_led = leader is not joint and joint.type != "fixed"
        # What is led by a joint that stands still does so too.
        stands = leader.type == "fixed" or leader.child not in self.kept
        is_held = leader.name in self.held or (is_led and stands)
        if not is_held:
            _check_joint(joint, self.file)
        is_fixed = is_held or joint.type == "fixed"
        if is_fixed and self.choices.merge_fixed:
            self.merged.setdefault(body.name, []).append(name_of(joint.child))
            return self.grow(joint.child, body, after(at, self._turned(joint)))
        if is_held:
            described = fixed_joint_at(after(at, self._turned(joint)))
        else:
            described = _joint(joint, at)
        if is_led and not is_held:
            described["follows"] = rule.entry(name_of(leader.child))
            self.led[joint.name] = leader.name
        child = TreeBody(name_of(joint.child), described, body)
        body.children.append(child)
        self.grow(joint.child, child, AT_HOME)

    def _grow_beside(self, joint: UrdfJoint, body: TreeBody, at: Frame) -> None:
        """Adds a link beside the chain to the body that carries it, or leaves it out."""
        if self.choices.branches == "drop":
            self.dropped += below(self.tree, joint.child)
            return
        self.welded.setdefault(body.name, []).append(joint.child)
        self.grow(joint.child, body, after(at, self._turned(joint)))

    def _turned(self, joint: UrdfJoint) -> Frame:
        """Displacement of a joint at its held value."""
        value = self._value(joint)
        # A fixed joint may have an axis of zeros.
        axis = joint.axis / (np.linalg.norm(joint.axis) or 1.0)
        if joint.type in ("revolute", "continuous"):
            return np.asarray(axis_rotation(axis, value)), np.zeros(3)
        if joint.type == "prismatic":
            return np.eye(3), value * axis
        return AT_HOME

    def _value(self, joint: UrdfJoint) -> float:
        """Held value of a joint [rad or m]: as chosen, as it follows from its leading joint, or zero."""
        rule = self._rule(joint)
        return rule.ratio * float(self.held.get(rule.joint, 0.0)) + rule.offset

    def _rule(self, joint: UrdfJoint) -> MimicRule:
        """The joint that leads this one, over others that are led themselves; itself where none does."""
        rule = MimicRule(joint.name)
        seen = {joint.name}
        while joint.mimic is not None and joint.name not in self.held:
            name = joint.mimic.joint
            if name not in self.joints:
                guess = nearest(name, self.joints) or "."
                message = f"follows a joint that does not exist{guess}"
                raise refused(joint.name, name, message, self.file)
            if name in seen:
                message = "joints follow each other in a ring"
                raise refused(joint.name, name, message, self.file)
            seen.add(name)
            rule = rule.after(joint.mimic)
            joint = self.joints[name]
        return rule

    def notes(self) -> list[str]:
        """Notes on links that were merged, welded or dropped."""
        lines = []
        for carrier, names in self.welded.items():
            lines.append(f"off the chain, welded to {carrier}: {_listed(names)}")
        for carrier, names in self.merged.items():
            if carrier != "ground":
                lines.append(f"merged into {carrier}: {_listed(names)}")
        if self.dropped:
            lines.append(f"left out: {_listed(self.dropped)}")
        for name, leader in self.led.items():
            lines.append(f"joint {name} follows {leader}")
        for name, value in self.held.items():
            lines.append(f"joint {name} is locked at {value:g}")
        return lines


def _brake_leaders(bodies: list[TreeBody]) -> None:
    """Friction of joints that follow others is felt at those: their speed is the ratio times as large."""
    joints = {body.name: body.joint for body in bodies}
    for body in bodies:
        rule = body.joint.get("follows")
        if rule is None:
            continue
        # It is driven, and stopped, by the joint that leads it.
        body.joint.pop("limits", None)
        own = body.joint.pop("friction", None)
        if own is None:
            continue
        leader, ratio = joints[rule["joint"]], abs(rule["ratio"])
        felt = leader.get("friction", {"viscous": 0.0, "coulomb": 0.0})
        viscous = felt["viscous"] + ratio**2 * own["viscous"]
        coulomb = felt["coulomb"] + ratio * own["coulomb"]
        leader["friction"] = {"viscous": viscous, "coulomb": coulomb}


def _listed(names: list[str]) -> str:
    """Names separated by commas, at most the first few."""
    more = len(names) - MOST_NAMES
    shown = ", ".join(names[:MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _check_joint(joint: UrdfJoint, file: str) -> None:
    if joint.type not in TYPES:
        message = (
            f"only {', '.join(TYPES)} joints can be read: hold it (hold, --hold {joint.name}=0), "
            "or choose another tip"
        )
        raise refused(joint.name, joint.type, message, file)


def _joint(joint: UrdfJoint, at: Frame) -> dict[str, Any]:
    """A joint of the file, whose frame stands at a place in the link that carries it."""
    kind = TYPES[joint.type]
    fixed = fixed_joint_at(at)
    if kind == "fixed":
        return fixed
    entry = {"type": kind, "origin": fixed["origin"], "axis": joint.axis.tolist()}
    return entry | _limits(joint) | _friction(joint)


def _limits(joint: UrdfJoint) -> dict[str, Any]:
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


def _friction(joint: UrdfJoint) -> dict[str, Any]:
    if joint.friction is None:
        return {}
    viscous, coulomb = joint.friction
    return {"friction": {"viscous": viscous, "coulomb": coulomb}}


def _inertia(inertial: UrdfInertial | None) -> RigidPart:
    """Mass, centre and inertia in link axes: R I R^T turns the inertia from the inertial frame of the file."""
    if inertial is None:
        return NOTHING
    own = RigidPart(inertial.mass, np.zeros(3), inertial.inertia)
    return moved(own, *inertial.place)
