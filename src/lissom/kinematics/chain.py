"""The equivalent rigid-link system as a chain: frames, body twists, body Jacobian."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..algebra.se3 import twist_to_child
from ..algebra.so3 import axis_rotation
from ..types import Real

UNROLL = 4  # links per loop iteration: short chains become straight-line code, long ones keep compile time flat


class Chain(eqx.Module):
    """Serial chain of l links and j moving joints; a fixed joint has neither turn nor slide."""

    rotation: Float[Real, "l 3 3"]  # R_X  joint frame in the parent link's frame, before the joint moves
    position: Float[Real, "l 3"]  # p_X  [m]
    axis: Float[Real, "l 3"]  # unit axis in the joint frame
    turns: Float[Real, " l"]  # 1 for a revolute joint, else 0
    slides: Float[Real, " l"]  # 1 for a prismatic joint, else 0
    selection: Float[Real, "l j"]  # joint coordinate of each link; a row of zeros for a fixed joint

    @property
    def screw(self) -> Float[Array, "l 6"]:
        """Unit joint twist s of every link, in its own frame: (slide, turn)."""
        axis = jnp.asarray(self.axis)
        return jnp.concatenate([axis * self.slides[:, None], axis * self.turns[:, None]], axis=1)


class Relative(eqx.Module):
    """Pose of every link frame in its parent's, and the arm from the parent's tip to it."""

    R: Float[Array, "l 3 3"]
    p: Float[Array, "l 3"]  # in the parent's axes
    arm: Float[Array, "l 3"]  # in the parent's axes; nonzero for prismatic joints only


def relative_poses(chain: Chain, theta: Float[Array, " j"]) -> Relative:
    """Joint motion of every link: turn about, or slide along, the joint axis."""
    motion = chain.selection @ theta
    R_X, axis = jnp.asarray(chain.rotation), jnp.asarray(chain.axis)
    R = R_X @ jax.vmap(axis_rotation)(axis, motion * chain.turns)
    arm = jnp.einsum("lij,lj->li", R_X, axis * (motion * chain.slides)[:, None])
    return Relative(R, jnp.asarray(chain.position) + arm, arm)


def scan_links(step, start, links):
    """`jax.lax.scan` over the links from the base outwards."""
    count = jax.tree.leaves(links)[0].shape[0]
    return jax.lax.scan(step, start, links, unroll=min(count, UNROLL))


def link_frames(chain: Chain, theta: Float[Array, " j"]) -> tuple[Float[Array, "l 3 3"], Float[Array, "l 3"]]:
    """Rotation and origin of every link frame in the world."""
    relative = relative_poses(chain, theta)

    def outwards(frame, link):
        R, p = frame
        here = (R @ link.R, p + R @ link.p)
        return here, here

    return scan_links(outwards, (jnp.eye(3), jnp.zeros(3)), relative)[1]


def link_twists(chain: Chain, relative: Relative, theta_d: Float[Array, " j"]) -> Float[Array, "l 6"]:
    """Body twist V = (v, w) of every link, in its own frame."""
    joint = chain.screw * (chain.selection @ theta_d)[:, None]

    def outwards(V, link):
        pose, s = link
        V = twist_to_child(pose.R, pose.p, V) + s
        return V, V

    return scan_links(outwards, jnp.zeros(6), (relative, joint))[1]


def body_jacobian(chain: Chain, relative: Relative) -> Float[Array, "l 6 j"]:
    """Body Jacobian J of every link: V = J theta_d, [Vidoni2015] eq. (69), in link axes (erratum 5)."""
    joint = chain.screw[:, :, None] * jnp.asarray(chain.selection)[:, None, :]

    def outwards(J, link):
        pose, s = link
        J = twist_to_child(pose.R, pose.p, J) + s
        return J, J

    return scan_links(outwards, jnp.zeros((6, chain.selection.shape[1])), (relative, joint))[1]
