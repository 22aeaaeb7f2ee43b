"""The stiffness of carried weight that first order leaves out.

A link that bends moves and turns the links that it carries. To second order in the elastic coordinates their weight
rises or falls, which is a stiffness of the order of the weight: a pendulum's, or that of a load on a mast. A
formulation that is linear in the elastic displacements has none of it. The chain of finite rotations has all: with
eps(x) what the encoders read,

    K_w = d^2 V(eps(x), eta) / dx^2 - d f(x) / dx,

V the energy of weight where `nonlinear` places the links, f the generalised force of weight in the formulation itself.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..describe.robot import Robot
from ..types import Float
from . import engine
from .basis import ModelOptions
from .engine import VirtualWork
from .formulation import AbstractFormulation, on_branch_near
from .formulations import Bodies, formulation_of


def lacks_weight_stiffness(formulation: AbstractFormulation) -> bool:
    """Whether the carried weight has no second-order term: links displaced to first order by complete virtual work.

    Dual screws are displaced to first order too, but their forces are: the slope of a force of first order is complete.
    """
    is_virtual_work = isinstance(formulation.equations, VirtualWork)
    return is_virtual_work and not formulation.support.finite_rotations


def finite_rotation_model(
    robot: Robot, bodies: Bodies, choices: ModelOptions, joints: Float[Array, " j"]
) -> AbstractFormulation:
    """The same links on deformed tips, loops closed near these joints: where finite rotations place the weight.

    Raises:
        DescriptionError: a robot that `nonlinear` does not take.
    """
    plain = ModelOptions(stiffening=choices.stiffening)
    return on_branch_near(formulation_of(robot, "nonlinear", plain, bodies), joints)


def weight_stiffness(
    formulation: AbstractFormulation,
    finite: AbstractFormulation,
    x: Float[Array, " n"],
) -> Float[Array, "n n"]:
    """K_w at coordinates x of the formulation; `finite` is its `finite_rotation_model`."""
    independent = jnp.asarray(formulation.independent, dtype=int)
    no_torque = jnp.zeros(formulation.n_encoders)

    def energy(x):
        _, eta = formulation.split(x)
        reading = formulation.configuration(x).encoder[independent]
        place = finite.configuration(jnp.concatenate([reading, eta]))
        return engine.gravity_energy(finite, place)

    def own_force(x):
        still = engine.at_rest(formulation, x)
        return engine.resting_forces(formulation, still, no_torque)[0]

    return jax.hessian(energy)(x) - jax.jacfwd(own_force)(x)
