"""A formulation with other joints as its coordinates; open chains stay as they are."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.compiled import compiled_quickly

from ..types import Float
from .formulation import AbstractFormulation, F, with_mechanism


def with_independent_joints(formulation: F, independent: Sequence[int]) -> F:
    """The same robot with other independent joints."""
    if tuple(independent) == formulation.independent:
        return formulation
    mechanism = formulation.mechanism.with_independent(independent)
    if mechanism is formulation.mechanism:
        return formulation
    return with_mechanism(formulation, mechanism)


def other_coordinates(
    formulation: F, x: Float[np.ndarray, " n"], wanted: Sequence[int] = ()
) -> F | None:
    """The robot with the independent joints that move all others least at x, with those `wanted`; None if none."""
    chosen = formulation.mechanism.best_independent(x, wanted)
    return None if chosen is None else with_independent_joints(formulation, chosen)


def change_coordinates(
    old: AbstractFormulation,
    new: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """The same physical state in other coordinates.

    Elastic coordinates stay what they are. Where encoders read theta, those of the independent joints do, so the new
    ones start from their readings, and nodes agree to first order in the elastic displacements; with every other choice
    the rigid robot is the same one, and the change is exact.
    """
    return _in_new_coordinates(old, x, xd, new.independent)


@compiled_quickly
def _in_new_coordinates(f: AbstractFormulation, x, xd, independent: tuple[int, ...]):
    chosen = jnp.asarray(independent)
    motion = f.motion(x, xd, jnp.zeros_like(x))
    # Only the encoders of independent joints read theta; those of dependent ones see the links give way.
    if f.encoders_read_theta:
        theta, theta_d = motion.place.encoder, motion.rates.encoder
    else:
        theta, theta_d = motion.theta, motion.theta_d
    _, eta = f.split(x)
    _, eta_d = f.split(xd)
    new_x = jnp.concatenate([theta[chosen], eta])
    new_xd = jnp.concatenate([theta_d[chosen], eta_d])
    return new_x, new_xd
