"""What virtual work, energy and differentiation say about one motion of any robot in any formulation."""

import jax
import jax.numpy as jnp
import numpy as np

from helpers import compiled_once, relative
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


@compiled_once
def matrix_and_force(f, x, xd, xdd):
    """M, and the force that a motion needs."""
    motion = f.motion(x, xd, xdd)
    return engine.inertia_at(f, x), engine.needed_force(f, motion)


def partings_of_orders(model, other, seed):
    """Relative differences in M and in the force of one motion, of one robot with its links in two orders."""
    f, *motion = motion_near(model, seed)
    names, others = (
        [*one.independent_names, *one.coordinate_names] for one in (model, other)
    )
    place = np.array([names.index(name) for name in others])
    M, force = (np.asarray(part) for part in matrix_and_force(f, *motion))
    moved = [jnp.asarray(np.asarray(part)[place]) for part in motion]
    M_other, force_other = matrix_and_force(other.formulation, *moved)
    # Joints and elastic coordinates have units of their own.
    size = np.sqrt(np.abs(np.diag(M_other)))
    scale = np.outer(size, size)
    return (
        relative(M[np.ix_(place, place)] / scale, M_other / scale),
        relative(force[place] / size, force_other / size),
    )


def node_places(model, state):
    """Places of all nodes; shorter links have fewer."""
    position = np.asarray(model.poses(state).position)
    counts = model.robot.outline.nodes.values()
    rows = [row[:count] for row, count in zip(position, counts, strict=True)]
    return np.concatenate(rows)
