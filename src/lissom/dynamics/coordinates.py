"""A formulation on another branch of its mechanism, or with other joints as coordinates; open chains stay the same."""

from collections.abc import Sequence
from typing import TypeVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import compiled_quickly
from .formulation import AbstractFormulation

F = TypeVar("F", bound=AbstractFormulation)


def near(formulation: F, joints: Float[Array, " j"]) -> F:
    """The same robot, its mechanism on the branch near these coordinates of all moving joints."""
    mechanism = formulation.mechanism
    other = mechanism.near(joints)
    return formulation if other is mechanism else _with(formulation, other)


def with_coordinates(formulation: F, independent: Sequence[int]) -> F:
    """The same robot with other independent joints."""
    mechanism = formulation.mechanism
    other = mechanism.with_independent(independent)
    return formulation if other is mechanism else _with(formulation, other)


def other_coordinates(
    formulation: F, x: Float[np.ndarray, " n"], wanted: Sequence[int] = ()
) -> F | None:
    """The robot with the independent joints that move all others least at x, with those `wanted`; None if none."""
    chosen = formulation.mechanism.best_independent(x, wanted)
    return None if chosen is None else with_coordinates(formulation, chosen)


def _with(formulation: F, mechanism) -> F:
    return eqx.tree_at(lambda f: f.mechanism, formulation, mechanism)


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
    return _changed(old, x, xd, new.independent)


@compiled_quickly
def _changed(f: AbstractFormulation, x, xd, independent: tuple[int, ...]):
    chosen = jnp.asarray(independent)
    motion = f.motion(x, xd, jnp.zeros_like(x))
    if f.encoders_read_theta:
        theta, theta_d = motion.place.encoder, motion.rates.encoder
    else:
        theta, theta_d = motion.theta, motion.theta_d
    _, eta = f.split(x)
    _, eta_d = f.split(xd)
    new_x = jnp.concatenate([theta[chosen], eta])
    new_xd = jnp.concatenate([theta_d[chosen], eta_d])
    return new_x, new_xd
