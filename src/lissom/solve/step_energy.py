"""Energy that a collocation step takes from a robot: what the audit of a run finds in the end, known at once."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from .problem import Tangents
from .step import Moment


def largest_energy(
    tangents: Tangents, x: Float[Array, " n"], xd: Float[Array, " n"]
) -> Float[Array, ""]:
    """Kinetic or elastic energy, whichever is larger [J]."""
    kinetic = 0.5 * xd @ tangents.M @ xd
    elastic = 0.5 * x @ tangents.K @ x
    return jnp.maximum(kinetic, elastic)


def lost_energy(
    tangents: Tangents,
    h,
    weights: Float[Array, " s"],
    now: Moment,
    x: Float[Array, "s n"],
    xd: Float[Array, "s n"],
    xdd: Float[Array, "s n"],
) -> Float[Array, ""]:
    r"""Energy at the end of a step, less that at its start and the work that its quadrature counts [J].

    At its stages a collocation step balances powers, so that the work counted is the quadrature of T' + U'. What that
    misses of the energies' change is made by the step, and negative where the method dissipates:

    $$ \Delta E = \tfrac12 \Delta\dot x^T M \Delta\dot x + \tfrac12 \Delta x^T K \Delta x
       - h \sum_i b_i (\ddot x_i^T M \Delta\dot x_i + \dot x_i^T K \Delta x_i). $$

    Exact for linear equations, whatever their damping and loads. The last stage is the end of the step.
    """
    dx, dxd = x - now.x, xd - now.xd
    momentum = dxd @ tangents.M.T
    force = dx @ tangents.K.T
    change = 0.5 * (dxd[-1] @ momentum[-1] + dx[-1] @ force[-1])
    powers = jnp.sum(xdd * momentum + xd * force, axis=1)
    return change - h * (jnp.asarray(weights) @ powers)
