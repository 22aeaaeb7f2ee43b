"""MJCF files, the descriptions of MuJoCo, as robots of rigid links. Pinocchio reads them (the extra `peers`)."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..files.document import MAX_BYTES, TOO_LARGE
from ..files.errors import nearest, refused
from ..files.names import name_of
from .body_tree import (
    TreeBody,
    fixed_joint_at,
    link_entries,
    massless_links,
    ordered_bodies,
)
from .rigid_part import RigidPart

UNLIMITED = 1e10  # beyond this a limit is none


def robot_from_mjcf(
    path: Path, tips: Sequence[str] = (), hold: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Plain data of a robot file: the bodies of an MJCF file from its world to the chosen tips.

    Bodies without joints are part of what carries them. Joints that lead to no tip are held at their zero, their
    bodies ride along.

    Raises:
        DescriptionError: the file cannot be read, branches and no tip is chosen, or has joints without a counterpart
            here (free, ball, several on one body).
    """
    file = str(path)
    pin, model = _model_in(path)
    _check_joints(model, file)
    bodies = _body_names(pin, model)
    kept = _kept_joints(model, bodies, tips, file)
    held = _held_values(model, hold or {}, file)
    still = [j for j in range(1, model.njoints) if j not in kept or j in held]
    pose = pin.neutral(model)
    for joint, value in held.items():
        pose[model.joints[joint].idx_q] = value
    names = {model.names[j]: bodies[j] for j in range(1, model.njoints)}
    if still:
        model = pin.buildReducedModel(model, still, pose)
    ground = TreeBody("ground", {}, None)
    made = [ground]
    for j in range(1, model.njoints):
        carrier = made[model.parents[j]]
        body = TreeBody(name_of(names[model.names[j]]), _joint(model, j), carrier)
        body.parts.append(_inertia(model.inertias[j]))
        carrier.children.append(body)
        made.append(body)
    ordered = ordered_bodies(ground)
    massless_links(ordered, file)
    links = [entry for body in ordered for entry in link_entries(body, ordered)]
    return {"lissom": 1, "name": model.name or path.stem, "links": links}


def _model_in(path: Path) -> tuple[Any, Any]:
    """Pinocchio and its model of the file."""
    if path.stat().st_size > MAX_BYTES:
        raise refused("", None, TOO_LARGE, str(path))
    try:
        pin: Any = import_module("pinocchio")
    except ImportError:
        message = "MJCF files are read by Pinocchio: pip install 'lissom[peers]'"
        raise refused("", None, message, str(path)) from None
    try:
        return pin, pin.buildModelFromMJCF(str(path))
    except Exception as reason:
        # The parser raises whatever its XML reader raises.
        message = f"is not an MJCF file that can be read: {reason}"
        raise refused("", None, message, str(path)) from None


def _check_joints(model: Any, file: str) -> None:
    if model.njoints < 2:
        raise refused("", None, "is an MJCF file without joints", file)
    for joint, name in zip(model.joints[1:], model.names[1:], strict=True):
        if joint.nv != 1:
            message = "only hinge and slide joints can be read, one for each body"
            raise refused(name, joint.shortname(), message, file)


def _body_names(pin: Any, model: Any) -> dict[int, str]:
    """The body that each joint moves, by the joint's number: the one whose frame is the joint's."""
    names: dict[int, str] = {}
    for frame in model.frames:
        if frame.type == pin.FrameType.BODY and frame.parentJoint:
            names.setdefault(frame.parentJoint, frame.name)
    return names


def _kept_joints(
    model: Any, bodies: Mapping[int, str], tips: Sequence[str], file: str
) -> set[int]:
    """Numbers of the joints on the ways to the tips."""
    numbers = {name: joint for joint, name in bodies.items()}
    ends = [j for j in bodies if j not in set(model.parents[1:])]
    if not tips and len(ends) > 1:
        shown = ", ".join(bodies[j] for j in ends)
        message = f"the file branches: choose where its chain ends with tip=... (--tip LINK), one or several of {shown}"
        raise refused("tip", None, message, file)
    for tip in tips:
        if tip not in numbers:
            guess = nearest(tip, numbers) or "."
            message = f"no body with a joint has this name{guess} There are: {', '.join(numbers)}"
            raise refused("tip", tip, message, file)
    kept: set[int] = set()
    for joint in [numbers[tip] for tip in tips] or ends:
        while joint:
            kept.add(joint)
            joint = model.parents[joint]
    return kept


def _held_values(model: Any, hold: Mapping[str, float], file: str) -> dict[int, float]:
    """Values of joints that stand still, by their numbers."""
    known = list(model.names[1:])
    for name in hold:
        if name not in known:
            guess = nearest(name, known) or "."
            message = f"no such moving joint{guess} Joints: {', '.join(known)}"
            raise refused("hold", name, message, file)
    return {model.getJointId(name): float(value) for name, value in hold.items()}


def _joint(model: Any, j: int) -> dict[str, Any]:
    """A joint with its axis, limits, friction and rotor."""
    joint, place = model.joints[j], model.jointPlacements[j]
    data = joint.createData()
    joint.calc(data, np.zeros(model.nq))
    linear, angular = np.split(np.asarray(data.S).reshape(6), 2)
    kind, axis = ("revolute", angular) if np.any(angular) else ("prismatic", linear)
    origin = fixed_joint_at((np.asarray(place.rotation), np.asarray(place.translation)))
    entry = {**origin, "type": kind, "axis": axis.tolist()}
    limits: dict[str, Any] = {}
    low, high = (
        model.lowerPositionLimit[joint.idx_q],
        model.upperPositionLimit[joint.idx_q],
    )
    if max(abs(low), abs(high)) < UNLIMITED:
        limits["position"] = [float(low), float(high)]
    effort = float(model.upperEffortLimit[joint.idx_v])
    if 0.0 < effort < UNLIMITED:
        limits["torque"] = effort
    viscous = float(model.damping[joint.idx_v])
    coulomb = float(model.upperDryFrictionLimit[joint.idx_v])
    if limits:
        entry["limits"] = limits
    if viscous or coulomb:
        entry["friction"] = {"viscous": viscous, "coulomb": coulomb}
    rotor = float(model.armature[joint.idx_v])
    if rotor:
        # MuJoCo counts it on the side of the joint.
        entry["motor"] = {"inertia": rotor, "ratio": 1.0}
    return entry


def _inertia(body: Any) -> RigidPart:
    lever, inertia = np.asarray(body.lever), np.asarray(body.inertia)
    return RigidPart(float(body.mass), lever, inertia)
