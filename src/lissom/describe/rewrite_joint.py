"""A joint written the other way, by Denavit-Hartenberg parameters or by origin and axis: the robot stays the same."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..algebra.so3 import elementary
from ..files.errors import refused
from ..imports.body_tree import rpy_of
from ..types import Matrix3
from .link import Link
from .link_geometry import (
    GROUND_NUMBER,
    axis,
    children_of,
    joint_pose,
    link_tip,
    parent_of,
    polyline,
)
from .robot import Robot

SAME = 1e-9  # [m, or entry of a rotation matrix] smaller differences are round-off
UP = (0.0, 0.0, 1.0)
Links = Sequence[Link]


class Edit(NamedTuple):
    """A change of a robot file: path of an entry, and its new data; None deletes it."""

    path: tuple[str | int, ...]
    data: Any = None


def rewrite_joint(
    file: str, link: int, by: Literal["dh", "origin"]
) -> tuple[Edit, ...]:
    """Changes of a robot file after which a joint is placed `by` the other way, and every link is where it was.

    Raises:
        DescriptionError: the file is in error, or the joint is none that a Denavit-Hartenberg row describes.
    """
    robot = Robot.load(file)
    if not 0 <= link < len(robot.links):
        message = f"there are {len(robot.links)} links, the first is 0"
        raise refused("link", link, message)
    rewritten = _by_origin if by == "origin" else _by_dh
    return tuple(rewritten(robot.links, link))


def _by_origin(links: Links, i: int) -> Iterator[Edit]:
    joint = links[i].joint
    if joint.origin is not None:
        return
    at = ("links", i, "joint")
    rotation, _ = joint_pose(links, i)
    yield Edit(path=(*at, "origin"), data={"rpy": _written(rpy_of(rotation))})
    if joint.dh is None:
        return
    yield Edit(path=(*at, "dh"))
    yield Edit(path=(*at, "axis"), data=_written(UP))
    yield from _shape_without_row(links, i)
    # Rx(alpha) of this row turned the joints that it carries: their own origins contain it now.
    if joint.dh.alpha != 0:
        for child in children_of(links, i):
            yield from _by_origin(links, child)


def _shape_without_row(links: Links, i: int) -> Iterator[Edit]:
    """Shape of the link that its row implied: the path of a beam, the tip of a rigid link."""
    link = links[i]
    if link.beam is not None and link.beam.path is None:
        corners = np.asarray(polyline(links, i), dtype=float)
        path = [_written(corner) for corner in corners]
        yield Edit(path=("links", i, "beam", "path"), data=path)
    if link.rigid is not None and link.rigid.tip is None:
        tip = np.asarray(link_tip(links, i), dtype=float)
        if np.any(tip):
            yield Edit(path=("links", i, "rigid", "tip"), data=_written(tip))


def _by_dh(links: Links, i: int) -> Iterator[Edit]:
    link = links[i]
    if link.joint.dh is not None:
        return
    theta = _turn_about_z(links, i)
    tip = np.asarray(link_tip(links, i), dtype=float)
    if abs(tip[1]) > SAME:
        reason = f"its tip {tip.tolist()} lies off the x-z plane of its frame"
        raise _no_row(link, reason)
    at = ("links", i, "joint")
    row = {"a": tip[0], "alpha": _twist(links, i), "d": tip[2], "theta": theta}
    for key in ("origin", "axis"):
        yield Edit(path=(*at, key))
    numbers = {name: _number(value) for name, value in row.items()}
    yield Edit(path=(*at, "dh"), data=numbers)
    # A row leads a beam along d and then along a; this one goes straight to its tip.
    if link.beam is not None and link.beam.path is None and tip[0] and tip[2]:
        path = [_written(np.zeros(3)), _written(tip)]
        yield Edit(path=("links", i, "beam", "path"), data=path)


def _turn_about_z(links: Links, i: int) -> float:
    """The angle theta of a joint frame that is Rx(alpha of its carrier) Rz(theta)."""
    link = links[i]
    if np.abs(np.asarray(axis(link), dtype=float) - UP).max() > SAME:
        raise _no_row(link, "it moves about another axis than z")
    rotation, position = joint_pose(links, i)
    parent = parent_of(links, i)
    row = None
    if parent is not None and parent != GROUND_NUMBER:
        row = links[parent].joint.dh
    elif np.abs(np.asarray(position, dtype=float)).max() > SAME:
        raise _no_row(link, "it does not sit at the origin of the world")
    turn = np.asarray(rotation, dtype=float)
    if row is not None:
        turn = np.asarray(elementary(0, row.alpha)).T @ turn
    if abs(turn[2, 2] - 1) > SAME:
        raise _no_row(link, "its frame is turned about more than z")
    return float(np.arctan2(turn[1, 0], turn[0, 0]))


def _twist(links: Links, i: int) -> float:
    """The angle alpha that lets the joints on this link be written by rows too; 0 where they count on none."""
    carried = [links[child].joint for child in children_of(links, i)]
    if not carried or any(joint.origin is None for joint in carried):
        return 0.0
    child = children_of(links, i)[0]
    turn: Matrix3 = np.asarray(joint_pose(links, child)[0], dtype=float)
    # The third column of Rx(alpha) Rz(theta) is (0, -sin alpha, cos alpha).
    if abs(turn[0, 2]) > SAME:
        return 0.0
    return float(np.arctan2(-turn[1, 2], turn[2, 2]))


def _no_row(link: Link, reason: str) -> Exception:
    message = f"no Denavit-Hartenberg row describes this joint: {reason}"
    return refused(f"links.{link.name}.joint", None, message)


def _written(values: Any) -> list[float]:
    return [_number(value) for value in values]


def _number(value: Any) -> float:
    """A number of the file: round-off of rotations is written as zero."""
    return 0.0 if abs(value) < 1e-15 else float(value)
