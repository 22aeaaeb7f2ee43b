"""Equilibrium: joints held or free."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Motion
from .balance import newton, of_independent, on_independent, start_of_balance

RTOL = 1e-10  # Newton is quadratic: one iteration more than needed costs nothing
MAX_DESCENT = 300  # steps downhill
LARGEST_MOVE = 0.3  # [rad or m] of a joint in one of them
AT_REST = 1e-9  # [rad or m] a smaller move of the joints is none


def equilibrium_held(
    formulation: AbstractFormulation, encoder: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`.

    The independent joints of a closed chain are held, and the others follow.
    """
    n = formulation.size

    def missing(z):
        # The balance of a motion without speeds; the engine knows a cheaper force for it.
        tau = on_independent(formulation, z[n:])
        motion = engine.at_rest(formulation, z[:n])
        gap = of_independent(formulation, motion.place.encoder - encoder)
        return jnp.concatenate([gap, engine.resting_force(formulation, motion, tau)])

    z = newton(missing, start_of_balance(formulation, encoder))
    return z[:n], on_independent(formulation, z[n:])


def equilibrium_free(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Coordinates x at rest with free joints under given torques, near `start`, by Newton's dogleg."""
    import optimistix as optx  # slow to import, and only derivatives come here

    def missing(x, _):
        return unbalanced_at_rest(formulation, engine.at_rest(formulation, x), tau)

    method = optx.Dogleg(rtol=RTOL, atol=1e-9)
    found = optx.root_find(missing, method, start, max_steps=400, throw=False)
    return found.value


def equilibrium_next_to(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """The same from a start that is one but for rounding, as `descend` finds it."""

    def missing(x):
        return unbalanced_at_rest(formulation, engine.at_rest(formulation, x), tau)

    return newton(missing, start)


def unbalanced_at_rest(
    formulation: AbstractFormulation, motion: Motion, tau: Float[Array, " j"]
) -> Float[Array, " n"]:
    """Force that keeps free joints from rest under given torques; end stops push too."""
    return engine.resting_force(
        formulation, motion, with_stops(formulation, motion, tau)
    )


def with_stops(
    formulation: AbstractFormulation, motion: Motion, tau: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Torques of drives and of the end stops that push."""
    stops = formulation.joints.stops
    if stops is None:
        return tau
    encoder = motion.place.encoder
    still = jnp.zeros_like(encoder)
    return tau + stops.torque(encoder, still, stops.contact(encoder, still))


def slope(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
):
    """Unbalanced force, its derivative and the inertia at x: what a descent to rest needs."""

    def force(x):
        return unbalanced_at_rest(formulation, engine.at_rest(formulation, x), tau)

    return force(x), jax.jacfwd(force)(x), engine.inertia_at(formulation, x)


def descend(slope_at: Callable, x: np.ndarray, joints: int) -> np.ndarray:
    """Go downhill in energy from x to a stable equilibrium: Newton's step, shifted where the energy is not convex.

    An unstable equilibrium is left along its softest mode; joints move at most `LARGEST_MOVE` per step.
    """
    import scipy.linalg  # slow to import

    for _ in range(MAX_DESCENT):
        force, K, M = (np.asarray(part) for part in slope_at(x))
        squares, modes = scipy.linalg.eigh(0.5 * (K + K.T), M)
        # Where the energy curves downwards, the step is that of an energy curved upwards as strongly.
        shift = max(0.0, -2.0 * squares[0])
        curvature = np.maximum(squares + shift, 1e-12 * squares[-1])
        dx = -modes @ ((modes.T @ force) / curvature)
        move = np.abs(dx[:joints]).max(initial=0.0)
        is_stable = squares[0] >= -1e-9 * squares[-1]
        if move < AT_REST and is_stable:
            return x + dx
        if move < AT_REST:
            softest = modes[:, 0]
            dx = 0.1 * softest / np.abs(softest[:joints]).max()
            move = np.abs(dx[:joints]).max(initial=0.0)
        x = x + dx * min(1.0, LARGEST_MOVE / max(move, 1e-12))
    return x


def imbalance(
    formulation: AbstractFormulation, motion: Motion, tau: Float[Array, " j"]
) -> Float[Array, ""]:
    """Largest generalised force left over, against the largest one present: the check of every equilibrium."""
    forces = jnp.stack(engine.resting_forces(formulation, motion, tau))
    left = jnp.max(jnp.abs(jnp.sum(forces, axis=0)))
    return left / (jnp.max(jnp.abs(forces)) + 1e-9)
