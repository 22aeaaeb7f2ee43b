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
from lissom.kinematics.chain import frames_in_world, of_previous, relative_poses
from lissom.kinematics.mechanism import AbstractMechanism
from lissom.types import Real

OWN = Support(
    name="own",
    bases=("nodal",),
    default_basis="nodal",
    references=("tangent",),
    default_reference="tangent",
    finite_rotations=True,
)


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
        tip = of_previous(tips)
        E = exponential(tip[:, 3:])
        joint = relative_poses(self.mechanism.chain, theta)
        arm = jnp.einsum("lij,lj->li", E, joint.arm)
        p = joint.p - joint.arm + tip[:, :3] + arm
        R, p = frames_in_world(None, E @ joint.R, p)
        return Configuration(R, p, q, theta)


def own_formulation(robot, bodies, choices) -> OwnFormulation:
    """The robot in this formulation."""
    return OwnFormulation(**parts_of(robot, bodies, links_of(bodies, choices)))


register_formulation(OWN, own_formulation)
