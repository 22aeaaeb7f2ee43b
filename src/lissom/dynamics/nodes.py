"""Positions and motions of all nodes, and forces of wrenches on them: for pictures, loads and outputs."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.so3 import exponential, logarithm
from ..describe.robot import Robot
from ..describe.segments import body_of_node
from ..types import Float
from .formulation import AbstractFormulation, Configuration, Rates


class Poses(eqx.Module):
    """Nodes of all links in world axes; padded nodes of shorter links repeat nothing of interest."""

    position: Float[Array, "l k 3"]  # of the deformed robot [m]
    erls_position: Float[Array, "l k 3"]  # of the equivalent rigid-link system [m]
    rotation: Float[Array, "l k 3"]  # from the ERLS [rad]
    frame: Float[Array, "l 3 3"]  # link axes in the world
    body: Float[Array, "l c"]  # coordinates of the bodies


def find_node(robot: Robot, node: str) -> tuple[int, int]:
    """Numbers of the body and of its node, of a name such as `upper/2` or `upper/tip`."""
    link, _, number = node.partition("/")
    problem = robot.outline.node_problem(node)
    if problem:
        raise ValueError(f"{node}: {problem}")
    count = robot.outline.nodes[link]
    assert count is not None
    k = count - 1 if number == "tip" else int(number)
    return body_of_node(robot, robot.link_names.index(link), k)


def node_displacements(
    formulation: AbstractFormulation, q: Float[Array, "l c"]
) -> Float[Array, "l k 6"]:
    """Displacement of every node from its link frame in link axes, u = U q."""
    U = jnp.asarray(formulation.links.node_shape)
    return jnp.einsum("lkdc,lc->lkd", U, q)


@eqx.filter_jit  # used by outputs and measured motions: traced once
def node_poses(formulation: AbstractFormulation, place: Configuration) -> Poses:
    """B = r + u, [Boscariol2012] eq. (1); with finite rotations, rotation vectors from the rigid robot."""
    u = node_displacements(formulation, place.q)
    X = jnp.asarray(formulation.links.points)
    undeformed = place.p[:, None, :] + _turn(place.R, X)
    position = undeformed + _turn(place.R, u[..., :3])
    if not formulation.support.finite_rotations:
        rotation = _turn(place.R, u[..., 3:])
        return Poses(position, undeformed, rotation, place.R, place.q)
    # Finite rotations do not add up: the whole rotation from the rigid link to the node is taken.
    R, p = formulation.rigid_frames(place)
    rigid = p[:, None, :] + _turn(R, X)
    back = jnp.swapaxes(R, 1, 2)[:, None]
    rotation = logarithm(place.R[:, None] @ exponential(u[..., 3:]) @ back)
    return Poses(position, rigid, rotation, place.R, place.q)


def _turn(
    R: Float[Array, "l 3 3"], vectors: Float[Array, "l k 3"]
) -> Float[Array, "l k 3"]:
    """Vectors of every link, from its axes to the world's."""
    return jnp.einsum("lij,lkj->lki", R, vectors)


def node_wrench(
    formulation: AbstractFormulation,
    place: Configuration,
    link: int,
    node: int,
    wrench: Float[Array, " 6"],
    in_world: bool,
) -> Rates:
    """Forces of a wrench on a node, as `engine.needed_force` takes them."""
    equations = formulation.equations
    return equations.node_wrench(formulation, place, link, node, wrench, in_world)
