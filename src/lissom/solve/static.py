"""Equilibrium: joints held or free, and the torques that hold a motion."""

import jax.numpy as jnp
import optimistix as optx
from jaxtyping import Array, Float

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation

RTOL, ATOL = 1e-10, 1e-12  # Newton is quadratic: one iteration more than needed costs nothing
MAX_STEPS = 60


def held(
    formulation: AbstractFormulation, encoder: Float[Array, " j"]
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`."""
    j, n = formulation.n_joints, formulation.size

    def missing(z, _):
        x, tau = z[:n], z[n:]
        return jnp.concatenate(
            [formulation.configuration(x).encoder - encoder, engine.resting_force(formulation, x, tau)]
        )

    z = _root(missing, jnp.concatenate([encoder, jnp.zeros(n)]))
    return z[:n], z[n : n + j]


def balanced(
    formulation: AbstractFormulation,
    encoder: Float[Array, " j"],
    theta_d: Float[Array, " j"],
    theta_dd: Float[Array, " j"],
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and torques tau of a joint motion, the elastic state in quasi-static balance with it."""
    n, d = formulation.size, formulation.n_elastic
    xd, xdd = (jnp.concatenate([part, jnp.zeros(d)]) for part in (theta_d, theta_dd))

    def missing(z, _):
        x, tau = z[:n], z[n:]
        place = formulation.configuration(x)
        applied = engine.Rates(jnp.zeros((place.q.shape[0], 6)), jnp.zeros_like(place.q), tau)
        return jnp.concatenate([place.encoder - encoder, engine.needed_force(formulation, x, xd, xdd, applied)])

    z = _root(missing, jnp.concatenate([encoder, jnp.zeros(n)]))
    return z[:n], z[n:]


def settled(formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]) -> Float[Array, " n"]:
    """Equilibrium with free joints under given torques, the one that Newton's dogleg reaches from `start`."""
    missing = lambda x, _: engine.resting_force(formulation, x, tau)  # noqa: E731
    return optx.root_find(missing, optx.Dogleg(rtol=RTOL, atol=1e-9), start, max_steps=400, throw=False).value


def _root(function, start):
    return optx.root_find(function, optx.Newton(rtol=RTOL, atol=ATOL), start, max_steps=MAX_STEPS, throw=False).value


def imbalance(formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]) -> Float[Array, ""]:
    """Largest generalised force left over, against the largest one present: the check of every equilibrium."""
    forces = jnp.stack(engine.resting_forces(formulation, x, tau))
    return jnp.max(jnp.abs(jnp.sum(forces, axis=0))) / (jnp.max(jnp.abs(forces)) + 1e-9)
