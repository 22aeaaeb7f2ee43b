"""Equilibrium: joints held or free."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
import scipy.linalg
from jaxtyping import Array, Float

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from .balance import newton, of_drives, on_drives, start_of_balance

RTOL = 1e-10  # Newton is quadratic: one iteration more than needed costs nothing
MAX_WALK = 300
LARGEST_MOVE = 0.3  # [rad or m]


def held(
    formulation: AbstractFormulation, encoder: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`.

    The independent joints of a closed chain are held, and the others follow.
    """
    n = formulation.size

    def missing(z):
        # The balance of a motion without speeds; the engine knows a cheaper force for it.
        x, tau = z[:n], on_drives(formulation, z[n:])
        gap = of_drives(formulation, formulation.configuration(x).encoder - encoder)
        return jnp.concatenate([gap, engine.resting_force(formulation, x, tau)])

    z = newton(missing, start_of_balance(formulation, encoder))
    return z[:n], on_drives(formulation, z[n:])


def settled(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Equilibrium with free joints under given torques near `start`, by Newton's dogleg."""

    def missing(x, _):
        return engine.resting_force(formulation, x, tau)

    return optx.root_find(
        missing, optx.Dogleg(rtol=RTOL, atol=1e-9), start, max_steps=400, throw=False
    ).value


def slope(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
):
    """Unbalanced force, its derivative and the inertia at x: what a descent to rest needs."""

    def force(x):
        return engine.resting_force(formulation, x, tau)

    return force(x), jax.jacfwd(force)(x), engine.inertia(formulation, x)


def descend(slope_at: Callable, x: np.ndarray, joints: int) -> np.ndarray:
    """Walk downhill in energy from x to a stable equilibrium: Newton's step, shifted where the energy is not convex.

    The walk leaves an unstable equilibrium along its softest mode; joints move at most `LARGEST_MOVE` per step.
    """
    for _ in range(MAX_WALK):
        g, K, M = (np.asarray(part) for part in slope_at(x))
        lam, modes = scipy.linalg.eigh(0.5 * (K + K.T), M)
        shift = max(0.0, -2.0 * lam[0])
        dx = -modes @ ((modes.T @ g) / np.maximum(lam + shift, 1e-12 * lam[-1]))
        move = np.abs(dx[:joints]).max(initial=0.0)
        if move < 1e-9 and lam[0] >= -1e-9 * lam[-1]:
            return x + dx
        if move < 1e-9:
            dx = 0.1 * modes[:, 0] / np.abs(modes[:joints, 0]).max()
        x = x + dx * min(
            1.0, LARGEST_MOVE / max(np.abs(dx[:joints]).max(initial=0.0), 1e-12)
        )
    return x


def imbalance(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
) -> Float[Array, ""]:
    """Largest generalised force left over, against the largest one present: the check of every equilibrium."""
    forces = jnp.stack(engine.resting_forces(formulation, x, tau))
    return jnp.max(jnp.abs(jnp.sum(forces, axis=0))) / (jnp.max(jnp.abs(forces)) + 1e-9)
