"""URDF files as chains of rigid links: kinematics, inertias, limits, friction. Shapes and meshes are not read."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import yourdfpy

from ..types import Matrix3
from .document import MAX_BYTES, TOO_LARGE, scalar
from .errors import nearest, refused
from .names import name_of

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}

# Cosine of the pitch below which roll and yaw cannot be told apart.
UPRIGHT = 1e-9

X_AXIS = [1.0, 0.0, 0.0]  # of a joint where a URDF file says nothing


def chain_from_urdf(path: Path, tip: str | None = None) -> dict[str, Any]:
    """The chain from the base of a URDF file to its link `tip`, as plain data of a robot file.

    The base link stands on the ground, so its inertia does not matter; links beside the chain are left out.
    A link's tip is the origin of the joint after it.

    Raises:
        DescriptionError: the file is not a URDF, is no tree, has several tips and none is chosen, or uses a joint type
            that has no counterpart here.
    """
    file = str(path)
    urdf = _robot_in(path)
    links = {link.name: link for link in urdf.links}
    joints = _chain(urdf, file, tip)
    following = [*joints[1:], None]
    entries = []
    for joint, next_joint in zip(joints, following, strict=True):
        _check_joint(joint, file)
        link = links[joint.child]
        entry = {
            "name": name_of(link.name),
            "joint": _joint(joint),
            "rigid": _rigid(link.inertial),
        }
        if next_joint is not None:
            _, entry["rigid"]["tip"] = _frame(next_joint.origin)
        entries.append(entry)
    return {"lissom": 1, "name": urdf.name or path.stem, "links": entries}


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


def _chain(urdf: Any, file: str, tip: str | None) -> list[Any]:
    """The joints from the base to the tip."""
    names = [link.name for link in urdf.links]
    for joint in urdf.joints:
        if joint.parent not in names or joint.child not in names:
            message = "joins a link that is not there"
            raise refused(joint.name, None, message, file)
    # Followed from the tip: a link has one joint to its parent, but perhaps many to its children.
    joint_to = {joint.child: joint for joint in urdf.joints}
    link = _tip(names, urdf, file, tip)
    joints: list[Any] = []
    while link in joint_to:
        if len(joints) > len(joint_to):
            message = "the links form a ring: a URDF is a tree"
            raise refused(link, None, message, file)
        joints.append(joint_to[link])
        link = joint_to[link].parent
    if not joints:
        message = "is the base: there is no joint to it"
        raise refused(link, None, message, file)
    return joints[::-1]


def _tip(names: list[str], urdf: Any, file: str, tip: str | None) -> str:
    if tip is None:
        return _only_tip(names, urdf, file)
    if tip not in names:
        guess = nearest(tip, names) or "."
        message = f"no such link{guess} Links: {', '.join(names)}"
        raise refused("tip", tip, message, file)
    return tip


def _only_tip(names: list[str], urdf: Any, file: str) -> str:
    parents = {joint.parent for joint in urdf.joints}
    ends = [name for name in names if name not in parents]
    if len(ends) != 1:
        message = f"the URDF branches: choose where its chain ends with tip=..., one of {', '.join(ends)}"
        raise refused("tip", None, message, file)
    return ends[0]


def _check_joint(joint: Any, file: str) -> None:
    if joint.type not in TYPES:
        message = f"only {', '.join(TYPES)} joints can be read"
        raise refused(joint.name, joint.type, message, file)
    if joint.mimic is not None:
        message = "joints that follow another one cannot be read"
        raise refused(joint.name, "mimic", message, file)


def _joint(joint: Any) -> dict[str, Any]:
    R, p = _frame(joint.origin)
    kind = TYPES[joint.type]
    origin = {"xyz": p, "rpy": rpy_of(R)}
    if kind == "fixed":
        return {"type": kind, "origin": origin}
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


def _rigid(inertial: Any) -> dict[str, Any]:
    """Mass, centre and inertia in link axes: R I R^T turns the inertia from the inertial frame of the file."""
    if inertial is None:
        return {"mass": 0.0}
    R, p = _frame(inertial.origin)
    inertia = np.zeros((3, 3))
    if inertial.inertia is not None:
        inertia = np.asarray(inertial.inertia, float)
    turned = R @ inertia @ R.T
    # Exactly symmetric again, after the rounding of the products.
    symmetric = (turned + turned.T) / 2
    return {
        "mass": inertial.mass or 0.0,
        "com": p,
        "inertia": symmetric.tolist(),
    }


def _frame(origin: Any) -> tuple[Matrix3, list[float]]:
    """Rotation and position of an `origin`, a 4x4 matrix; none is written where the frames coincide."""
    if origin is None:
        return np.eye(3), [0.0, 0.0, 0.0]
    T = np.asarray(origin, float)
    R = T[:3, :3]
    p = T[:3, 3]
    return R, p.tolist()


def rpy_of(R: Matrix3) -> list[float]:
    """Roll, pitch and yaw of a rotation matrix: R = Rz(yaw) Ry(pitch) Rx(roll); yaw is 0 at pitch +-90 deg."""
    cos_pitch = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], cos_pitch)
    if cos_pitch > UPRIGHT:
        roll = np.arctan2(R[2, 1], R[2, 2])
        yaw = np.arctan2(R[1, 0], R[0, 0])
    else:
        # Roll and yaw turn about the same line: all of the turn is given to roll.
        roll = np.arctan2(-R[1, 2], R[1, 1])
        yaw = 0.0
    return [float(roll), float(pitch), float(yaw)]
