"""A formulation written by the recipe of CONTRIBUTING.md: links on deformed tips, all but the places differentiated."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from lissom.algebra.so3 import exponential
from lissom.describe.supported import Support
from lissom.dynamics.elastic import behind_inner_node, place_elastic
from lissom.dynamics.engine import VirtualWork
from lissom.dynamics.formulation import AbstractFormulation, Configuration, Joints
from lissom.dynamics.formulations import register_formulation
from lissom.dynamics.links import Links
from lissom.dynamics.robot_parts import links_of, parts_of
from lissom.kinematics.chain import relative_poses
from lissom.kinematics.mechanism import AbstractMechanism
from lissom.types import Real

OWN = Support(name="own", default_basis="nodal", finite_rotations=True)


class OwnFormulation(AbstractFormulation):
    """Every link sits on the tip of the link before it, displaced by u and turned by exp(phi x)."""

    mechanism: AbstractMechanism
    links: Links
    joints: Joints
    gravity: Float[Real, "3"]
    elastic_names: tuple[str, ...] = eqx.field(static=True)
    equations: VirtualWork = VirtualWork()
    support: Support = eqx.field(static=True, default=OWN)

    def configuration(self, x: Float[Array, " n"]) -> Configuration:
        """Link frames from the base outwards, body coordinates (0, eta), encoder readings theta."""
        theta, eta = self.split(x)
        q = behind_inner_node(place_elastic(self.links, eta))
        tips = jnp.einsum("ldc,lc->ld", jnp.asarray(self.links.shapes.tip), q)
        joint = relative_poses(self.mechanism.chain, theta)
        R, p, tip = jnp.eye(3), jnp.zeros(3), jnp.zeros(6)
        frames = []
        for i in range(len(tips)):
            E = exponential(tip[3:])
            p = p + R @ (joint.p[i] - joint.arm[i] + tip[:3] + E @ joint.arm[i])
            R, tip = R @ E @ joint.R[i], tips[i]
            frames.append((R, p))
        R, p = (jnp.stack(part) for part in zip(*frames, strict=True))
        return Configuration(R, p, q, theta)


def own_formulation(robot, bodies, choices) -> OwnFormulation:
    """The robot in this formulation."""
    return OwnFormulation(**parts_of(robot, bodies, links_of(bodies, choices)))


register_formulation(OWN, own_formulation)
