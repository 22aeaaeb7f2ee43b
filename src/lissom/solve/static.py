"""Equilibrium: joints held or free, and the torques that hold a motion."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
import scipy.linalg
from jaxtyping import Array, Float

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Motion

RTOL, ATOL = (
    1e-10,
    1e-12,
)  # Newton is quadratic: one iteration more than needed costs nothing
MAX_STEPS = 60
MAX_WALK = 300
LARGEST_MOVE = 0.3  # [rad or m]


def held(
    formulation: AbstractFormulation, encoder: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`.

    The independent joints of a closed chain are held, and the others follow.
    """
    n, drives = formulation.size, jnp.asarray(formulation.independent, dtype=int)

    def missing(z, _):
        x, tau = z[:n], on_drives(formulation, z[n:])
        motion = engine.at_rest(formulation, x)
        gap = (motion.place.encoder - encoder)[drives]
        return jnp.concatenate([gap, engine.resting_force(formulation, motion, tau)])

    z = _root(missing, jnp.concatenate([encoder[drives], jnp.zeros(n)]))
    return z[:n], on_drives(formulation, z[n:])


def on_drives(
    formulation: AbstractFormulation, tau: Float[Array, " i"]
) -> Float[Array, " j"]:
    """Torques of all joints where the independent ones are driven."""
    drives = jnp.asarray(formulation.independent, dtype=int)
    return jnp.zeros(formulation.n_encoders).at[drives].set(tau)


def balanced(
    formulation: AbstractFormulation,
    encoder: Float[Array, " j"],
    theta_d: Float[Array, " j"],
    theta_dd: Float[Array, " j"],
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and torques tau of a joint motion, the elastic state in quasi-static balance with it.

    The independent joints of a closed chain set the motion and take the torques.
    """
    n, d, drives = (
        formulation.size,
        formulation.n_elastic,
        jnp.asarray(formulation.independent, dtype=int),
    )
    xd, xdd = (
        jnp.concatenate([part[drives], jnp.zeros(d)]) for part in (theta_d, theta_dd)
    )

    def missing(z, _):
        x, tau = z[:n], on_drives(formulation, z[n:])
        motion = formulation.motion(x, xd, xdd)
        applied = engine.on_joints(formulation, tau)
        gap = (motion.place.encoder - encoder)[drives]
        return jnp.concatenate([gap, engine.needed_force(formulation, motion, applied)])

    z = _root(missing, jnp.concatenate([encoder[drives], jnp.zeros(n)]))
    return z[:n], on_drives(formulation, z[n:])


def settled(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Equilibrium with free joints under given torques near `start`, by Newton's dogleg."""

    def missing(x, _):
        return engine.resting_force(formulation, engine.at_rest(formulation, x), tau)

    return optx.root_find(
        missing, optx.Dogleg(rtol=RTOL, atol=1e-9), start, max_steps=400, throw=False
    ).value


def slope(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
):
    """Unbalanced force, its derivative and the inertia at x: what a descent to rest needs."""

    def force(x):
        return engine.resting_force(formulation, engine.at_rest(formulation, x), tau)

    return force(x), jax.jacfwd(force)(x), engine.inertia_at(formulation, x)


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


def _root(function, start):
    return optx.root_find(
        function,
        optx.Newton(rtol=RTOL, atol=ATOL),
        start,
        max_steps=MAX_STEPS,
        throw=False,
    ).value


def imbalance(
    formulation: AbstractFormulation, motion: Motion, tau: Float[Array, " j"]
) -> Float[Array, ""]:
    """Largest generalised force left over, against the largest one present: the check of every equilibrium."""
    forces = jnp.stack(engine.resting_forces(formulation, motion, tau))
    return jnp.max(jnp.abs(jnp.sum(forces, axis=0))) / (jnp.max(jnp.abs(forces)) + 1e-9)
