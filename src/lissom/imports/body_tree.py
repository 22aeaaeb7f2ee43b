"""Rigid bodies on joints as a tree, and the links of a robot file that they become."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..files.errors import refused
from ..types import Matrix3, Vector3
from .rigid_part import RigidPart, combined

Frame = tuple[Matrix3, Vector3]  # rotation and position
AT_HOME: Frame = (np.eye(3), np.zeros(3))
SAME_POINT = 1e-9  # [m]
# Cosine of the pitch below which roll and yaw cannot be distinguished.
UPRIGHT = 1e-9


@dataclass(eq=False)
class TreeBody:
    """A link of the robot that is being made: all links of a file that move as one."""

    name: str
    joint: dict[str, Any]
    parent: "TreeBody | None"
    parts: list[RigidPart] = field(default_factory=list)
    visuals: list[Any] = field(default_factory=list)
    children: list["TreeBody"] = field(default_factory=list)
    tip: Vector3 | None = None  # where a chosen tip was merged into it

    @property
    def origin(self) -> Vector3:
        """Position of its joint in the frame of its parent [m]."""
        return np.asarray(self.joint["origin"]["xyz"])


def ordered_bodies(ground: TreeBody) -> list[TreeBody]:
    """All bodies, each after what carries it, branch after branch."""
    found: list[TreeBody] = []
    waiting = ground.children[::-1]
    while waiting:
        body = waiting.pop()
        found.append(body)
        waiting += body.children[::-1]
    return found


def massless_links(bodies: list[TreeBody], file: str) -> list[str]:
    """Names of links on moving joints that have no mass; a robot of which no link has one is refused."""
    massless = [body for body in bodies if not combined(body.parts).mass > 0.0]
    if len(massless) < len(bodies):
        return [body.name for body in massless if body.joint["type"] != "fixed"]
    names = ", ".join(body.name for body in bodies)
    message = (
        f"no link has a mass ({names}): a robot that moves needs <inertial> with mass and inertia; "
        "export the file with inertias, or add them"
    )
    raise refused("inertial", None, message, file)


def after(place: Frame, then: Frame) -> Frame:
    """A frame given relative to `place`, in the frame that `place` is given in."""
    R, p = place
    turn, shift = then
    return R @ turn, p + R @ shift


def fixed_joint_at(at: Frame) -> dict[str, Any]:
    """Entries of a fixed joint, its frame given in that of the parent link."""
    R, p = at
    return {"type": "fixed", "origin": {"xyz": p.tolist(), "rpy": rpy_of(R)}}


def link_entries(body: TreeBody, bodies: list[TreeBody]) -> Iterator[dict[str, Any]]:
    """The link of a robot file, and before it a massless one where its joint lies off its parent's tip."""
    joint, carrier = body.joint, body.parent
    assert carrier is not None
    parent = carrier.name
    tip = _tip(carrier) if carrier.parent is not None else None
    if tip is not None and np.abs(body.origin - tip).max() > SAME_POINT:
        bracket = f"to_{body.name}"
        reach = body.origin - tip
        yield {
            "name": bracket,
            "joint": fixed_joint_at((np.eye(3), tip)),
            "rigid": {"mass": 0.0, "tip": reach.tolist()},
            "parent": parent,
        }
        joint = {**joint, "origin": {**joint["origin"], "xyz": reach.tolist()}}
        parent = bracket
    whole = combined(body.parts)
    rigid: dict[str, Any] = {"mass": float(whole.mass)}
    if whole.mass or np.any(whole.inertia):
        rigid["com"] = whole.centre.tolist()
        rigid["inertia"] = whole.inertia.tolist()
    own_tip = _tip(body)
    if own_tip is not None:
        rigid["tip"] = own_tip.tolist()
    entry = {"name": body.name, "joint": joint, "rigid": rigid}
    before = bodies[bodies.index(body) - 1] if body is not bodies[0] else None
    follows = carrier is before or (before is None and carrier.parent is None)
    if not follows or parent != carrier.name:
        entry["parent"] = parent
    yield entry


def _tip(body: TreeBody) -> Vector3 | None:
    """Where the next link sits, or the tip that was chosen."""
    if body.children:
        return body.children[0].origin
    if body.tip is not None and np.any(body.tip):
        return body.tip
    return None


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
