"""The rigid robot beside an elastic one: its independent joints stand where the encoders are, its loops close rigidly.

Its twists are written in world axes, at the world's origin, where every joint adds its own screw to all links that it
moves. A link of the elastic robot then sees the twist of its rigid counterpart in its own frame, wherever that is.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from ..algebra.so3 import cross
from ..types import Float
from .chain import (
    Chain,
    body_jacobian,
    inwards,
    link_frames,
    outwards,
    relative_poses,
)
from .mechanism import AbstractJointDependence, AbstractMechanism


class RigidRobot(eqx.Module):
    """Joint screws of the rigid robot in world axes; j moving joints, i of them independent, b links."""

    chain: Chain  # of its links, cut where loops close
    # Of the joint below each link: (velocity at the world's origin, turning).
    screw: Float[Array, "b 6"]
    # How all joints of the chain follow from the independent ones; None: all are independent.
    dependence: AbstractJointDependence | None
    closing_joints: int = eqx.field(static=True)  # further joints of the chain

    def joint_rates(self, rate_i: Float[Array, " i"]) -> Float[Array, " j"]:
        """Rates of all moving joints."""
        if self.dependence is None:
            return rate_i
        return self.dependence.follow(rate_i)[: self.chain.n_joints]

    def twists(self, joint_rate: Float[Array, " j"]) -> Float[Array, "b 6"]:
        """Twist of every link in world axes, at the world's origin."""
        own = self.screw * self.chain.below_links(joint_rate)[:, None]
        return outwards(self.chain.parents, jnp.add, jnp.zeros(6), own)

    def joint_forces(self, wrench: Float[Array, "b 6"]) -> Float[Array, " j"]:
        """The transpose of `twists`: forces on the moving joints from wrenches on the links, at the world's origin."""
        carried = inwards(self.chain.parents, lambda _, sum: sum, wrench, wrench)
        return self.chain.on_joints(jnp.sum(self.screw * carried, axis=1))

    def independent_forces(self, on_joints: Float[Array, " j"]) -> Float[Array, " i"]:
        """Forces on the independent joints from forces on all moving ones: the transpose of `joint_rates`."""
        if self.dependence is None:
            return on_joints
        # Joints of the frames that close loops come last in the chain, and take no force.
        count = self.closing_joints
        return self.dependence.forces(jnp.pad(on_joints, (0, count)))


def rigid_robot(
    mechanism: AbstractMechanism, reading: Float[Array, " i"], links: int
) -> RigidRobot:
    """The rigid robot whose independent joints have these coordinates.

    Args:
        mechanism: the chain and its loops.
        reading: of the encoders of the independent joints.
        links: number of links; frames that close loops follow them in the chain and carry nothing.
    """
    rigid = mechanism.rigid
    chain = rigid.chain
    theta = rigid.chain_coordinates(reading)
    joints = rigid.home.shape[0]
    dependence = None
    if joints > len(rigid.independent):
        J = body_jacobian(chain, relative_poses(chain, theta))
        dependence = rigid.dependence(J)
    open_chain = _of_links(chain, links)
    screw = world_screws(open_chain, theta[:joints])
    return RigidRobot(open_chain, screw, dependence, theta.shape[0] - joints)


def _of_links(chain: Chain, links: int) -> Chain:
    """The chain without the frames that close its loops."""
    parents = chain.parents
    return Chain(
        rotation=chain.rotation[:links],
        position=chain.position[:links],
        axis=chain.axis[:links],
        turns=chain.turns[:links],
        slides=chain.slides[:links],
        joints=chain.joints[:links],
        parents=None if parents is None else parents[:links],
        followers=chain.followers,
        ratios=None if chain.ratios is None else chain.ratios[:links],
        offsets=None if chain.offsets is None else chain.offsets[:links],
    )


def world_screws(chain: Chain, theta: Float[Array, " j"]) -> Float[Array, "l 6"]:
    """Unit twist of the joint below every link in world axes, at the world's origin."""
    R, p = link_frames(chain, theta)
    axis = jnp.einsum("lij,lj->li", R, jnp.asarray(chain.axis))
    turn = axis * chain.turns[:, None]
    slide = axis * chain.slides[:, None]
    # The origin moves with w x (0 - p).
    return jnp.concatenate([slide + cross(p, turn), turn], axis=1)
