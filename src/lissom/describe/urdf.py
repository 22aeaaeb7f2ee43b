"""URDF files as chains of rigid links: kinematics, inertias, limits, friction. Shapes and meshes are not read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import yourdfpy

from lissom.types import Matrix3

from .document import scalar
from .errors import nearest, refused

TYPES = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "fixed",
}


def chain_from_urdf(path: Path, tip: str | None = None) -> dict[str, Any]:
    """The chain from the base of a URDF file to its link `tip`, as plain data of a robot file.

    The base link stands on the ground, so its inertia does not matter; links beside the chain are left out.
    A link's tip is the origin of the joint after it.

    Raises:
        DescriptionError: the file is not a URDF, is no tree, has several tips and none is chosen, or uses a joint type
            that has no counterpart here.
    """
    urdf = _parsed(path)
    joints = list(_chain(urdf, path, tip))
    links = {link.name: link for link in urdf.links}
    following = [*joints[1:], None]
    entries = [
        _link(links[j.child], j, after, str(path))
        for j, after in zip(joints, following, strict=True)
    ]
    return {"lissom": 1, "name": urdf.name or path.stem, "links": entries}


def _parsed(path: Path) -> Any:
    try:
        ElementTree.parse(
            path
        )  # yourdfpy repairs broken XML as it can: half a robot is worse than none
        model = yourdfpy.URDF.load(
            str(path), build_scene_graph=False, load_meshes=False
        )
    except (
        Exception
    ) as reason:  # the parser raises whatever its XML and number readers raise
        raise refused(
            "", None, f"is not a URDF file that can be read: {reason}", str(path)
        ) from None
    if not model.robot.links:
        raise refused("", None, "is a URDF file without links", str(path))
    return model.robot


def _chain(urdf: Any, path: Path, tip: str | None) -> Iterator[Any]:
    """The joints from the base to the tip."""
    names = [link.name for link in urdf.links]
    parents = {joint.child: joint for joint in urdf.joints}
    unknown = [
        j.name for j in urdf.joints if j.parent not in names or j.child not in names
    ]
    if unknown:
        raise refused(unknown[0], None, "joins a link that is not there", str(path))
    end = _tip(names, urdf, path, tip)
    joints: list[Any] = []
    while end in parents:
        if len(joints) > len(parents):
            raise refused(
                end, None, "the links form a ring: a URDF is a tree", str(path)
            )
        joints.append(parents[end])
        end = parents[end].parent
    if not joints:
        raise refused(end, None, "is the base: there is no joint to it", str(path))
    return reversed(joints)


def _tip(names: list[str], urdf: Any, path: Path, tip: str | None) -> str:
    if tip is not None:
        if tip not in names:
            raise refused(
                "tip",
                tip,
                f"no such link{nearest(tip, names) or '.'} Links: {', '.join(names)}",
                str(path),
            )
        return tip
    inner = {joint.parent for joint in urdf.joints}
    ends = [name for name in names if name not in inner]
    if len(ends) != 1:
        message = f"the URDF branches: choose where its chain ends with tip=..., one of {', '.join(ends)}"
        raise refused("tip", None, message, str(path))
    return ends[0]


def _link(link: Any, joint: Any, following: Any, file: str) -> dict[str, Any]:
    if joint.type not in TYPES:
        raise refused(
            joint.name, joint.type, f"only {', '.join(TYPES)} joints can be read", file
        )
    if joint.mimic is not None:
        raise refused(
            joint.name, "mimic", "joints that follow another one cannot be read", file
        )
    rigid = _rigid(link.inertial) | {
        "tip": _pose(following)[:3, 3].tolist() if following is not None else None
    }
    return {"name": _name(link.name), "joint": _joint(joint), "rigid": rigid}


def _joint(joint: Any) -> dict[str, Any]:
    pose = _pose(joint)
    origin = {"xyz": pose[:3, 3].tolist(), "rpy": rpy_of(pose[:3, :3])}
    entry: dict[str, Any] = {"type": TYPES[joint.type], "origin": origin}
    if entry["type"] == "fixed":
        return entry
    axis = joint.axis if joint.axis is not None else np.array([1.0, 0.0, 0.0])
    return (
        entry
        | {"axis": np.asarray(axis, float).tolist()}
        | _limits(joint)
        | _friction(joint)
    )


def _limits(joint: Any) -> dict[str, Any]:
    limits: dict[str, Any] = {}
    given = joint.limit
    if (
        given is not None
        and joint.type != "continuous"
        and (given.lower, given.upper) != (None, None)
    ):
        limits["position"] = [given.lower or 0.0, given.upper or 0.0]
    if given is not None and given.effort:
        limits["torque"] = given.effort
    return {"limits": limits} if limits else {}


def _friction(joint: Any) -> dict[str, Any]:
    if joint.dynamics is None:
        return {}
    viscous, coulomb = (
        joint.dynamics.damping,
        joint.dynamics.friction,
    )  # yourdfpy hands these on as text
    return {
        "friction": {
            "viscous": scalar(str(viscous or 0)),
            "coulomb": scalar(str(coulomb or 0)),
        }
    }


def _rigid(inertial: Any) -> dict[str, Any]:
    """Mass, centre and inertia in link axes: R I R^T turns the inertia from the inertial frame of the file."""
    if inertial is None:
        return {"mass": 0.0}
    pose = np.eye(4) if inertial.origin is None else np.asarray(inertial.origin, float)
    inertia = (
        np.zeros((3, 3))
        if inertial.inertia is None
        else np.asarray(inertial.inertia, float)
    )
    R = pose[:3, :3]
    turned = R @ inertia @ R.T
    symmetric = (turned + turned.T) / 2
    return {
        "mass": inertial.mass or 0.0,
        "com": pose[:3, 3].tolist(),
        "inertia": symmetric.tolist(),
    }


def _pose(joint: Any) -> np.ndarray:
    return np.eye(4) if joint.origin is None else np.asarray(joint.origin, float)


def rpy_of(R: Matrix3) -> list[float]:
    """Roll, pitch and yaw of a rotation matrix: R = Rz(yaw) Ry(pitch) Rx(roll); yaw is 0 at pitch +-90 deg."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) > 1e-9:
        return [
            float(np.arctan2(R[2, 1], R[2, 2])),
            float(pitch),
            float(np.arctan2(R[1, 0], R[0, 0])),
        ]
    return [float(np.arctan2(-R[1, 2], R[1, 1])), float(pitch), 0.0]


def _name(name: str) -> str:
    """A link name that can be used in dotted paths and node names."""
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)
