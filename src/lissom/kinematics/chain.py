"""The equivalent rigid-link system as a tree of links: frames, body twists, body Jacobian."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..algebra.se3 import twist_to_child
from ..algebra.so3 import Series, axis_rotation, exponential
from ..types import Float, Real

# Links per iteration of a scan: short chains become straight-line code, long ones keep compile time flat.
UNROLL = 4
GROUND = -1  # number of the parent of a link that stands on the ground
FIXED = -1  # number of a joint that does not move


class Chain(eqx.Module):
    """Links that each move on one parent, and j moving joints; a fixed joint has neither turn nor slide.

    Frames without mass and elasticity may follow the links of the robot: they move as joints allow, like links.
    """

    # Joint frame in the parent link's frame, before the joint moves.
    rotation: Float[Real, "l 3 3"]  # R_X
    position: Float[Real, "l 3"]  # p_X  [m]
    axis: Float[Real, "l 3"]  # unit axis in the joint frame
    turns: Float[Real, " l"]  # 1 for a revolute joint, else 0
    slides: Float[Real, " l"]  # 1 for a prismatic joint, else 0
    # Number of the joint that moves each link, among those that are coordinates; `FIXED` for a fixed joint.
    joints: tuple[int, ...] = eqx.field(static=True)
    # None: each link moves on the one before it.
    parents: tuple[int, ...] | None = eqx.field(static=True, default=None)
    # Links on joints that follow the joint of another link: ratio theta + offset. None where there are none.
    followers: tuple[int, ...] = eqx.field(static=True, default=())
    ratios: Float[Real, " l"] | None = None  # 1 for all other links
    offsets: Float[Real, " l"] | None = None  # 0 for all other links

    @property
    def n_links(self) -> int:
        """Number of links, frames that follow them included."""
        return len(self.joints)

    @property
    def n_joints(self) -> int:
        """Number of joints that are coordinates."""
        return max(self.joints, default=FIXED) + 1

    @property
    def own_joints(self) -> Float[np.ndarray, "l j"]:
        """1 where a joint (column) is the own one of a link (row)."""
        numbers = np.asarray(self.joints, dtype=int)
        is_own = numbers[:, None] == np.arange(self.n_joints)
        is_own[list(self.followers)] = False
        return is_own.astype(float)

    @property
    def selection(self) -> Float[Real, "l j"]:
        """How far a joint (column) moves the joint below a link (row): 1 its own, the ratio where that one follows."""
        numbers = np.asarray(self.joints, dtype=int)
        moved = (numbers[:, None] == np.arange(self.n_joints)).astype(float)
        return moved if self.ratios is None else moved * self.ratios[:, None]

    def below_links(self, motion: Float[Array, " j"]) -> Float[Array, " l"]:
        """Rate or acceleration of the joint below every link; zero where that is fixed."""
        if self.joints == tuple(range(self.n_joints)):
            return motion
        # `FIXED` is the last number of all, counted from the end.
        moved = jnp.append(motion, 0.0)[np.asarray(self.joints)]
        return moved if self.ratios is None else moved * self.ratios

    def coordinates_below_links(self, theta: Float[Array, " j"]) -> Float[Array, " l"]:
        """Coordinate of the joint below every link; zero where that is fixed."""
        moved = self.below_links(theta)
        return moved if self.offsets is None else moved + self.offsets

    def on_joints(self, force: Float[Array, " l"]) -> Float[Array, " j"]:
        """The transpose of `below_links`: forces on the joints that are coordinates."""
        if self.followers:
            return jnp.asarray(self.selection).T @ force
        moving = np.flatnonzero(np.asarray(self.joints) != FIXED)
        return force if len(moving) == len(self.joints) else force[moving]

    @property
    def screw(self) -> Float[Array, "l 6"]:
        """Unit joint twist s of every link, in its own frame: (slide, turn)."""
        axis = jnp.asarray(self.axis)
        slide = axis * self.slides[:, None]
        turn = axis * self.turns[:, None]
        return jnp.concatenate([slide, turn], axis=1)


class Relative(eqx.Module):
    """Pose of every link frame in its parent's, and the arm from the parent's tip to it."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]  # in the parent's axes
    arm: Float[Array, "l 3"]  # in the parent's axes; nonzero for prismatic joints only


@eqx.filter_jit  # of every pose, in many places: traced once
def relative_poses(
    chain: Chain,
    theta: Float[Array, " j"],
    displaced: Float[Array, "l 6"] | None = None,
    series: Series | None = None,
) -> Relative:
    """Joint motion of every link: turn about, or slide along, the joint axis.

    Args:
        chain: the links and their joints.
        theta: joint coordinates.
        displaced: displacement u and rotation vector phi of the point that carries each link, in its parent's axes;
            None where links are rigid.
        series: `series_of(phi)`, where it is known.
    """
    motion = chain.coordinates_below_links(theta)
    R_X = jnp.asarray(chain.rotation)
    p_X = jnp.asarray(chain.position)
    axis = jnp.asarray(chain.axis)
    if displaced is not None:
        R_X = exponential(displaced[:, 3:], series) @ R_X
        p_X = p_X + displaced[:, :3]
    R = R_X @ jax.vmap(axis_rotation)(axis, motion * chain.turns)
    slide = axis * (motion * chain.slides)[:, None]
    arm = jnp.einsum("lij,lj->li", R_X, slide)
    return Relative(R, p_X + arm, arm)


def scan_links(step, start, links):
    """`jax.lax.scan` over the links from the base outwards."""
    count = jax.tree.leaves(links)[0].shape[0]
    return jax.lax.scan(step, start, links, unroll=min(count, UNROLL))


def outwards(
    parents: tuple[int, ...] | None,
    step: Callable[[Any, Any], Any],
    ground: Any,
    links: Any,
) -> Any:
    """Value of every link from that of its parent, `step(parent, link)`; the ground has the value `ground`."""
    if parents is None:

        def next_link(before, link):
            here = step(before, link)
            return here, here

        return scan_links(next_link, ground, links)[1]
    values: list[Any] = []
    for i, parent in enumerate(parents):
        link = jax.tree.map(lambda part, i=i: part[i], links)
        below = ground if parent == GROUND else values[parent]
        values.append(step(below, link))
    return jax.tree.map(lambda *parts: jnp.stack(parts), *values)


def inwards(
    parents: tuple[int, ...] | None,
    hand_down: Callable[[Any, Any], Any],
    links: Any,
    own: Float[Array, " l *n"],
) -> Float[Array, " l *n"]:
    """Sum of every link's `own` and of `hand_down(link, sum)` of all links that it carries, from the tips inwards."""
    if parents is None:

        def previous_link(carry, link):
            here = link[1] + carry
            return hand_down(link[0], here), here

        nothing = jnp.zeros_like(own[0])
        unroll = min(len(own), UNROLL)
        return jax.lax.scan(
            previous_link, nothing, (links, own), reverse=True, unroll=unroll
        )[1]
    sums = list(own)
    # A link comes after the one that carries it.
    for i in reversed(range(len(parents))):
        if parents[i] != GROUND:
            link = jax.tree.map(lambda part, i=i: part[i], links)
            sums[parents[i]] = sums[parents[i]] + hand_down(link, sums[i])
    return jnp.stack(sums)


def of_previous(value: Float[Array, " l *n"]) -> Float[Array, " l *n"]:
    """For every link of a serial chain, the value of the link before it; zero for the first, on the ground."""
    return jnp.concatenate([jnp.zeros_like(value[:1]), value[:-1]])


def of_parents(
    parents: tuple[int, ...] | None, value: Float[Array, " b *n"]
) -> Float[Array, " l *n"]:
    """For every link, the value of its parent; zero where that is the ground."""
    if parents is None:
        return of_previous(value)
    # `GROUND` is the last number of all, counted from the end.
    with_ground = jnp.concatenate([value, jnp.zeros_like(value[:1])])
    return with_ground[np.asarray(parents)]


def on_parents(
    parents: tuple[int, ...] | None, value: Float[Array, " l *n"], count: int
) -> Float[Array, " b *n"]:
    """The transpose of `of_parents`: sums over the children of each of `count` links."""
    if parents is None:
        return jnp.concatenate([value[1:], jnp.zeros_like(value[:1])])
    sums = jnp.zeros((count + 1, *value.shape[1:]))
    return sums.at[np.asarray(parents)].add(value)[:count]


def stands_on_ground(chain: Chain) -> Float[np.ndarray, " l"]:
    """1 for every link that the ground carries."""
    parents = chain.parents or range(GROUND, chain.n_links - 1)
    return (np.asarray(parents) == GROUND).astype(float)


def with_frames(chain: Chain, value: Float[Array, " b *n"]) -> Float[Array, " l *n"]:
    """Values of the robot's links, and zeros for the frames of the chain that follow them."""
    missing = chain.n_links - value.shape[0]
    if missing == 0:
        return value
    return jnp.concatenate([value, jnp.zeros((missing, *value.shape[1:]))])


@eqx.filter_jit
def frames_in_world(
    parents: tuple[int, ...] | None, R: Float[Array, "l 3 3"], p: Float[Array, "l 3"]
) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
    """Rotation and origin of every frame in the world, from its pose (R, p) in its parent's frame."""

    def step(frame, link):
        R, p = frame
        R_i, p_i = link
        return R @ R_i, p + R @ p_i

    ground = (jnp.eye(3), jnp.zeros(3))
    return outwards(parents, step, ground, (R, p))


@eqx.filter_jit
def link_frames(
    chain: Chain,
    theta: Float[Array, " j"],
    displaced: Float[Array, "l 6"] | None = None,
) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
    """Rotation and origin of every link frame in the world."""
    relative = relative_poses(chain, theta, displaced)
    return frames_in_world(chain.parents, relative.R, relative.p)


def link_twists(
    chain: Chain, relative: Relative, theta_d: Float[Array, " j"]
) -> Float[Array, "l 6"]:
    """Body twist V = (v, w) of every link, in its own frame."""
    joint = chain.screw * chain.below_links(theta_d)[:, None]

    def step(V, link):
        pose, s = link
        return twist_to_child(pose.R, pose.p, V) + s

    return outwards(chain.parents, step, jnp.zeros(6), (relative, joint))


def body_jacobian(chain: Chain, relative: Relative) -> Float[Array, "l 6 j"]:
    """Body Jacobian J of every link: V = J theta_d, [Vidoni2015] eq. (69), in link axes (erratum 5)."""
    joint = chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]

    def step(J, link):
        pose, s = link
        return twist_to_child(pose.R, pose.p, J) + s

    ground = jnp.zeros((6, chain.n_joints))
    return outwards(chain.parents, step, ground, (relative, joint))
