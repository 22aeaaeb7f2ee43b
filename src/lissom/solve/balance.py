"""Quasi-static balance: where the links are, and which torques the joints need, while the joints follow a given motion.

The unknowns z = (x, tau) are all coordinates and the torques of the independent joints. They satisfy

    joint reading(x) = q,
    Gamma(x, xd, xdd, tau) = 0        with xd = (qd, 0), xdd = (qdd, 0),

Gamma being the equations of motion, [Palomba2019] eq. (2): the elastic coordinates have no speed and no acceleration.
Static equilibrium, inverse dynamics, linear models and mode polynomials all rest on this one residual. It is pure and
made of array operations, so that it can be batched, differentiated any number of times and expanded in Taylor series.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.marks import is_tracing, vmap_rows

from ..algebra.linear import inverse
from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation, Motion, Rates
from ..types import Float, joined, picked

# Newton's iteration converges quadratically: a step of this size, against the unknowns, was the last one needed.
SMALL_STEP = 1e-11
MAX_STEPS = 60
# Of an unknown, against itself or 1: third root of the rounding error, where central differences are best.
DIFFERENCE = 6e-6
# How far a coordinate of size 1 moves a node, at most [m or rad]: differences turn links by 0.06 rad or less.
FURTHEST = 1e4
CHORDS = 8  # steps between two derivatives, where one costs much more than a value


class MotionPoint(NamedTuple):
    """A point of a motion that satisfies the equations: coordinates, speeds, accelerations, joint torques."""

    x: Float[Array, " n"]
    xd: Float[Array, " n"]
    xdd: Float[Array, " n"]
    tau: Float[Array, " j"]


# --- the residual --------------------------------------------------------------------------------------------------


def motion_residual(
    formulation: AbstractFormulation, x, xd, xdd, tau
) -> Float[Array, " n"]:
    """Gamma of [Palomba2019] eq. (2): zero along every motion under the joint torques tau."""
    return motion_residual_of(formulation, formulation.motion(x, xd, xdd), tau)


def motion_residual_of(
    formulation: AbstractFormulation, motion: Motion, tau: Float[Array, " j"]
) -> Float[Array, " n"]:
    """Gamma of a motion that is already evaluated."""
    drive = engine.on_joints(formulation, tau)
    return engine.needed_force(formulation, motion, drive)


def balance_residual(
    formulation: AbstractFormulation,
    z: Float[Array, " N"],
    q: Float[Array, " j"],
    qd: Float[Array, " j"],
    qdd: Float[Array, " j"],
    encoders: bool = True,
) -> Float[Array, " N"]:
    """Residual of z = (x, tau) for the joint motion (q, qd, qdd): zero at the solution.

    The joint motion is that of all moving joints; in a closed chain the independent ones count. q is what the
    `encoders` read, or else theta, the joint coordinates of the equivalent rigid-link system.
    """
    n = formulation.size
    xd = moving_joints(formulation, qd)
    xdd = moving_joints(formulation, qdd)
    motion = formulation.motion(z[:n], xd, xdd)
    tau = on_independent(formulation, z[n:])
    force = motion_residual_of(formulation, motion, tau)
    if encoders:
        reading = of_independent(formulation, motion.place.encoder)
    else:
        reading = z[: formulation.n_joints]
    return jnp.concatenate([reading - of_independent(formulation, q), force])


def balance_guess(
    formulation: AbstractFormulation, q: Float[Array, " j"]
) -> Float[Array, " N"]:
    """Undeformed links without torques at the joint coordinates q: where Newton's iteration begins."""
    return joined(of_independent(formulation, q), np.zeros(formulation.size))


def moving_joints(
    formulation: AbstractFormulation, rates: Float[Array, " j"]
) -> Float[Array, " n"]:
    """Speeds or accelerations of all coordinates where the joints alone move."""
    joints = of_independent(formulation, rates)
    return jnp.concatenate([joints, jnp.zeros(formulation.n_elastic)])


def of_independent(
    formulation: AbstractFormulation, joints: Float[Array, " j"]
) -> Float[Array, " i"]:
    """The values of the independent joints among those of all moving ones."""
    if formulation.n_joints == formulation.n_encoders:
        return joints
    return picked(joints, np.asarray(formulation.independent, dtype=int))


def on_independent(
    formulation: AbstractFormulation, tau: Float[Array, " i"]
) -> Float[Array, " j"]:
    """Torques of all joints where the independent ones alone have some."""
    if formulation.n_joints == formulation.n_encoders:
        return tau
    independent = jnp.asarray(formulation.independent, dtype=int)
    return jnp.zeros(formulation.n_encoders).at[independent].set(tau)


def coordinate_scales(formulation: AbstractFormulation) -> Float[Array, " n"]:
    """Size of each coordinate x: 1, or less where 1 would move a node by more than `FURTHEST`.

    Modes have unit modal mass: those of a link of milligrams turn it over before their coordinate is 1e-6.
    """
    links = formulation.links
    places = links.place
    slots = places.shape[1]
    shape = jnp.asarray(links.node_shape)[..., 6 : 6 + slots]
    reach = jnp.max(jnp.abs(shape), axis=(1, 2))
    # The coordinates of a link follow those of the link before it.
    used = np.flatnonzero(places < formulation.n_elastic)
    elastic = picked(reach.reshape(-1), used)
    scales = 1.0 / jnp.maximum(1.0, elastic / FURTHEST)
    return jax.lax.stop_gradient(joined(np.ones(formulation.n_joints), scales))


# --- its solution --------------------------------------------------------------------------------------------------


def balanced_point(
    formulation: AbstractFormulation,
    q: Float[Array, " j"],
    qd: Float[Array, " j"],
    qdd: Float[Array, " j"],
    encoders: bool = True,
    start: Float[Array, " N"] | None = None,
) -> MotionPoint:
    """The point of a joint motion whose links are in quasi-static balance with it, torques from inverse dynamics.

    Newton's iteration begins at `start` = (x, tau), by default at undeformed links.
    """

    def missing(z):
        return balance_residual(formulation, z, q, qd, qdd, encoders)

    if start is None:
        start = balance_guess(formulation, q)
    z = newton(missing, start, scales_with_torques(formulation))
    n = formulation.size
    return MotionPoint(
        x=z[:n],
        xd=moving_joints(formulation, qd),
        xdd=moving_joints(formulation, qdd),
        tau=on_independent(formulation, z[n:]),
    )


def scales_with_torques(formulation: AbstractFormulation) -> Float[Array, " N"]:
    """Sizes of the unknowns z = (x, tau)."""
    torques = np.ones(formulation.n_joints)
    return jnp.concatenate([coordinate_scales(formulation), torques])


def newton(
    function: Callable[[Float[Array, " N"]], Float[Array, " N"]],
    start: Float[Array, " N"],
    scales: Float[Array, " N"],
) -> Float[Array, " N"]:
    """Root of a function near `start`; batches, and derivatives of any order by the implicit function theorem.

    Not finite where the derivative is singular. The caller judges the result by the residual force. `scales` are the
    sizes of the unknowns, against which steps and differences are small.
    """

    def iterate(function, z):
        def unfinished(state):
            count, z, step = state
            # A step that is not finite compares as false and ends the iteration.
            largest = jnp.max(jnp.abs(z / scales))
            wide = jnp.max(jnp.abs(step / scales)) > SMALL_STEP * (1.0 + largest)
            return wide & (count < MAX_STEPS)

        def improve(state):
            count, z, _ = state
            J, value = _derivative(function, z, scales)
            step = -inverse(J) @ value
            return count + 1, z + step, step

        begin = (0, z, jnp.full_like(z, jnp.inf))
        return jax.lax.while_loop(unfinished, improve, begin)[1]

    def solve_linear(linear, right_side):
        # Elimination in array operations: batched LAPACK calls in parallel can wait for each other forever.
        J = jax.jacfwd(linear)(jnp.zeros_like(right_side))
        return inverse(J) @ right_side

    if is_tracing():
        return iterate(function, start)
    return jax.lax.custom_root(function, start, iterate, solve_linear)


def _derivative(
    function: Callable[[Float[Array, " N"]], Float[Array, " N"]],
    z: Float[Array, " N"],
    scales: Float[Array, " N"],
) -> tuple[Float[Array, "N N"], Float[Array, " N"]]:
    """Derivative and value of a function; the derivative need only be good enough for Newton's steps to converge.

    Machine code takes it from differences. A few evaluations take no time, and the function alone is traced and
    compiled several times as fast as the function and its derivative. The root is as accurate: every step
    removes all but some 1e-9 of the error.
    """
    directions = jnp.eye(z.shape[0])
    if not is_tracing():
        values, columns = jax.vmap(lambda d: jax.jvp(function, (z,), (d,)))(directions)
        return columns.T, values[0]
    moves = DIFFERENCE * (scales + jnp.abs(z)) * directions
    points = jnp.concatenate([z[None], z + moves, z - moves])
    value, *others = jnp.split(vmap_rows(function)(points), [1, 1 + z.shape[0]])
    ahead, behind = others
    return ((ahead - behind) / (2.0 * jnp.sum(moves, axis=1)[:, None])).T, value[0]


def newton_by_chords(
    value: Callable[[np.ndarray], np.ndarray],
    derivative: Callable[[np.ndarray], np.ndarray],
    start: Float[np.ndarray, " N"],
) -> tuple[Float[np.ndarray, " N"], float]:
    """The same root in NumPy, for programs that are interpreted, not compiled; and the size of the last step.

    A derivative serves several steps. The last step is larger than `SMALL_STEP` if the iteration did not converge.
    """
    z = start
    size = np.inf
    J_inverse = np.linalg.inv(derivative(z))
    for count in range(MAX_STEPS):
        if count and count % CHORDS == 0:
            J_inverse = np.linalg.inv(derivative(z))
        step = -J_inverse @ value(z)
        z = z + step
        size = np.abs(step).max() / (1.0 + np.abs(z).max())
        if size < SMALL_STEP:
            break
    return z, float(size)


def relative_residual(
    formulation: AbstractFormulation, point: MotionPoint
) -> Float[Array, ""]:
    """Largest residual force at a point, relative to the largest of strain, drive and all other forces."""
    motion = formulation.motion(point.x, point.xd, point.xdd)
    needed = engine.link_forces(formulation, motion)
    drive = engine.on_joints(formulation, point.tau)
    strain = jax.vmap(engine.elastic_force)(formulation.links, motion.place.q)
    strain = Rates(strain[:, :6], strain[:, 6:], jnp.zeros_like(point.tau))
    parts = jax.tree.map(lambda *part: jnp.stack(part), needed, drive, strain)
    forces = jax.vmap(motion.pull_back)(parts)
    gap = jnp.max(jnp.abs(motion_residual_of(formulation, motion, point.tau)))
    return gap / (jnp.max(jnp.abs(forces)) + 1e-9)
