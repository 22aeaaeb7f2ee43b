"""Energy error of a collocation step: the part of it that the energy audit of a run would find."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from ..types import Float, Real

Matrix = Float[Real, "n n"]


def largest_energy(
    mass: Matrix, stiffness: Matrix, x: Float[Real, " n"], xd: Float[Real, " n"]
) -> Float[Array, ""]:
    """Kinetic or elastic energy, whichever is larger [J]."""
    kinetic = 0.5 * xd @ mass @ xd
    elastic = 0.5 * x @ stiffness @ x
    return jnp.maximum(kinetic, elastic)


def lost_energy(
    mass: Matrix,
    stiffness: Matrix,
    h: Any,
    weights: Float[Real, " s"],
    dx: Float[Real, "s n"],
    dxd: Float[Real, "s n"],
    xd: Float[Real, "s n"],
    xdd: Float[Real, "s n"],
) -> Float[Array, ""]:
    r"""Energy at the end of a step, less that at its start and the work that its quadrature counts [J].

    At its stages a collocation step balances powers, so that the work counted is the quadrature of T' + U'. What that
    misses of the energies' change is made by the step, and negative where the method dissipates:

    $$ \Delta E = \tfrac12 \Delta\dot x^T M \Delta\dot x + \tfrac12 \Delta x^T K \Delta x
       - h \sum_i b_i (\ddot x_i^T M \Delta\dot x_i + \dot x_i^T K \Delta x_i). $$

    Exact for linear equations, whatever their damping and loads.

    Args:
        mass: M.
        stiffness: K.
        h: length of the step [s].
        weights: b of the quadrature.
        dx: coordinates of the stages, less those at the start; the last stage is the end of the step.
        dxd: the same of the rates.
        xd: rates of the stages.
        xdd: accelerations of the stages.
    """
    momentum = dxd @ mass.T
    force = dx @ stiffness.T
    change = 0.5 * (dxd[-1] @ momentum[-1] + dx[-1] @ force[-1])
    powers = jnp.sum(xdd * momentum + xd * force, axis=1)
    return change - h * (jnp.asarray(weights) @ powers)
