"""What virtual work, energy and differentiation say about one motion of any robot in any formulation."""

import jax
import jax.numpy as jnp
import numpy as np

from helpers import compiled_once
from lissom.dynamics import engine


def motion_near(model, seed, bend=1e-3):
    """A formulation on the branch of its assembled pose, and a generic motion near it."""
    random = np.random.default_rng(seed)
    state = model.at()
    f = model.formulation_at(state)
    j, d = f.n_joints, f.n_elastic
    draw = random.uniform(-1.0, 1.0, (3, j + d))
    draw[:, j:] *= bend
    x = state.x + jnp.asarray(0.3 * draw[0])
    return f, x, jnp.asarray(2.0 * draw[1]), jnp.asarray(5.0 * draw[2])


@compiled_once
def checks(f, x, xd, xdd):
    """What virtual work, energy and differentiation say about one motion."""
    motion = f.motion(x, xd, xdd)
    rates, rates_d = jax.jvp(f.differentiated_rates, (x, xd), (xd, xdd))

    def energy(x, xd):
        place = f.configuration(x)
        potential = engine.strain_energy(f, place) + engine.gravity_energy(f, place)
        moving = f.motion(x, xd, jnp.zeros_like(x))
        return potential + engine.kinetic_energy(f, moving)

    _, power = jax.jvp(energy, (x, xd), (xd, xdd))
    needed = engine.needed_force(f, motion)
    M = engine.inertia_at(f, x)
    bias = engine.bias(f, x, xd)
    free = jnp.linalg.solve(M, needed - bias)
    # What is left of two large forces that nearly cancel is known to the rounding of their size.
    cancelled = jnp.abs(needed) + jnp.abs(bias)
    rounding = jnp.finfo(free.dtype).eps * jnp.abs(jnp.linalg.inv(M)) @ cancelled
    return {
        "given": (motion.rates, motion.rates_d),
        "differentiated": (rates, rates_d),
        "work": xd @ needed,
        "size": jnp.sum(jnp.abs(xd * needed)),
        "power": power + engine.damping_power(f, motion),
        "acceleration": free,
        "rounding": jnp.max(rounding) / jnp.max(jnp.abs(xdd)),
    }


def node_places(model, state):
    """Places of all nodes; shorter links have fewer."""
    position = np.asarray(model.poses(state).position)
    counts = model.robot.outline.nodes.values()
    rows = [row[:count] for row, count in zip(position, counts, strict=True)]
    return np.concatenate(rows)
