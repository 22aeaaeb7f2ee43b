"""Which joints of a closed chain are coordinates, and how a state changes from one choice to another."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..compilation import compiled_quickly
from ..dynamics.formulation import AbstractFormulation
from ..kinematics.compatibility import Tangent
from ..kinematics.loops.assembly import choose, with_independent


def with_coordinates(formulation: Any, independent: Sequence[int]) -> Any:
    """The same closed chain with other independent joints."""
    if tuple(independent) == formulation.independent:
        return formulation
    return dataclasses.replace(
        formulation, closure=with_independent(formulation.closure, independent)
    )


def other_coordinates(
    formulation: Any, x: Float[np.ndarray, " n"], wanted: Sequence[int] = ()
) -> Any | None:
    """The closed chain with the independent joints that move all others least at x, those `wanted` among them."""
    chosen = choose(
        formulation.chain,
        formulation.closure,
        np.asarray(_theta(formulation, jnp.asarray(x))),
        wanted,
    )
    return None if chosen is None else with_coordinates(formulation, chosen)


def exchanged(
    old: AbstractFormulation,
    new: AbstractFormulation,
    x: Float[Array, " n"],
    xd: Float[Array, " n"],
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """The same physical state in other coordinates.

    Elastic coordinates stay what they are. With the tangent choice theta is what the encoders of the independent joints
    read, so the new ones start from their readings, and nodes agree to first order in the elastic displacements; with
    every other choice the ERLS is the same one, and the change is exact.
    """
    return _exchanged(old, x, xd, new.independent)


_theta = compiled_quickly(lambda f, x: f.theta(x))


@compiled_quickly
def _exchanged(f: Any, x, xd, independent: tuple[int, ...]):
    j, chosen = f.n_joints, jnp.asarray(independent)
    if isinstance(f.reference, Tangent):
        theta, theta_d = f.configuration(x).encoder, f.rates(x, xd).encoder
    else:
        theta, theta_d = f.joint_coordinates(x), f.joint_map(x) @ xd[:j]
    return jnp.concatenate([theta[chosen], x[j:]]), jnp.concatenate(
        [theta_d[chosen], xd[j:]]
    )
