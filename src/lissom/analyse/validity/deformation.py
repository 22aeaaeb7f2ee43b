"""How far each body of a robot is bent, from where its nodes are: every formulation and every basis alike."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...algebra.so3 import CROSS, MOST_TURN, composed_rotation, lengths
from ...bodies.body import Body
from ...solve.model import Model
from ...types import Real


class NodeMotion(NamedTuple):
    """Nodes of all bodies at t times, padded to the longest body: world axes."""

    position: Float[Real, "t l k 3"]  # [m]
    rotation: Float[Real, "t l k 3"]  # from the rigid robot [rad]
    frame: Float[Real, "t l 3 3"]  # axes of the bodies
    body: Float[Real, "t l c"]  # their coordinates


class BentBody(NamedTuple):
    """One body over time, seen from its inner node."""

    link: str  # name of its link
    number: int  # of the body in the model
    body: Body
    length: float  # along its nodes [m]
    displacement: Float[np.ndarray, "t k 6"]  # of every node, in the axes of the body
    turn: Float[np.ndarray, "t k"]  # what the formulation takes for small [rad]
    # The part of the displacement that strains the body: a bent line that is as long as before comes nearer to its
    # joint, which the second order of `stiffening: geometric` knows.
    strained: Float[np.ndarray, "t k 6"]


def bent_bodies(model: Model, nodes: NodeMotion) -> list[BentBody]:
    """Every flexible body with its displacements."""
    found = []
    for number, (i, body) in enumerate(
        zip(model.body_links, model.bodies, strict=True)
    ):
        link = model.robot.links[i]
        if not link.flexible or body.coordinates == 6:
            continue
        u = body_displacement(model, body, nodes, number)
        turn = _small_rotation(model, nodes, number, u)
        length = length_of(body)
        strained = u
        if model.choices.stiffening == "geometric":
            strained = first_order_displacement(body, nodes, number)
        found.append(BentBody(link.name, number, body, length, u, turn, strained))
    return found


def first_order_displacement(
    body: Body, nodes: NodeMotion, number: int
) -> Float[np.ndarray, "t k 6"]:
    """Displacement of the nodes of a body that is linear in its coordinates."""
    # Squares and products of them, for the second order, follow behind.
    q = np.asarray(nodes.body)[:, number, : body.coordinates]
    return np.einsum("kdc,tc->tkd", np.asarray(body.node_shape), q)


def length_of(body: Body) -> float:
    """Length of a body along its nodes, from the inner one to the tip [m]."""
    points = np.asarray(body.points, dtype=float)
    if body.element_stiffness is None:
        # Nodes of a finite-element link stand in no order: as far as the farthest of them.
        reach = np.linalg.norm(points - points[0], axis=1)
        return float(reach.max())
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    return float(steps.sum())


def body_displacement(
    model: Model, body: Body, nodes: NodeMotion, number: int
) -> Float[np.ndarray, "t k 6"]:
    """Displacement and rotation of every node of a body from where its inner node, unbent, would carry it."""
    X = np.asarray(body.points, dtype=float)
    k = len(X)
    R = np.asarray(nodes.frame)[:, number]
    p = np.asarray(nodes.position)[:, number, :k]
    rotation = np.asarray(nodes.rotation)[:, number, :k]
    arm = _in_axes(R, p - p[:, :1])
    turned = _in_axes(R, relative_rotation(model, rotation))
    moved = arm - (X - X[0])
    if not model.formulation.support.finite_rotations:
        # Small rotations add up: that of the inner node carries the others with it.
        inner = _in_axes(R, rotation[:, :1])
        carried = np.einsum("aib,kb->aki", CROSS, X - X[0])
        moved = moved - np.tensordot(inner[:, 0], carried, axes=1)
    return np.concatenate([moved, turned], axis=-1)


def _in_axes(
    R: Float[np.ndarray, "t 3 3"], vectors: Float[np.ndarray, "t k 3"]
) -> Float[np.ndarray, "t k 3"]:
    """World vectors in the axes of the body."""
    return vectors @ R


def relative_rotation(
    model: Model, rotation: Float[np.ndarray, "t k 3"]
) -> Float[np.ndarray, "t k 3"]:
    """Rotation of every node from the inner one, world axes."""
    if not model.formulation.support.finite_rotations:
        return rotation - rotation[:, :1]
    inner = rotation[:, :1]
    is_lost = _is_lost(rotation) | _is_lost(inner)
    if not is_lost.any():
        return composed_rotation(rotation, -inner)
    # Nodes that turned too far for any rotation to be told: by at least this much.
    turned = composed_rotation(
        np.where(is_lost, 0.0, rotation), np.where(_is_lost(inner), 0.0, -inner)
    )
    return np.where(is_lost, MOST_TURN, turned)


def _is_lost(rotation: Float[np.ndarray, "t k 3"]) -> np.ndarray:
    """Whether a vector is no rotation: not finite, or of more than the half turn of any logarithm."""
    # Not a number is not below anything either.
    return ~(lengths(rotation) < 3.5)[..., None]


def _small_rotation(
    model: Model, nodes: NodeMotion, number: int, u: Float[np.ndarray, "t k 6"]
) -> Float[np.ndarray, "t k"]:
    """The angles that a formulation takes for small: within the body, or all the way from the rigid robot."""
    if model.formulation.support.finite_rotations:
        return lengths(u[..., 3:])
    k = u.shape[1]
    rotation = np.asarray(nodes.rotation)[:, number, :k]
    return lengths(rotation)
