"""Equilibrium: joints held or free."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from jaxnative.marks import noinline

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..types import Float, Real
from .balance import newton, of_independent, on_independent

RTOL = 1e-10  # Newton is quadratic: one iteration more than needed costs nothing
MAX_DESCENT = 300  # steps downhill
LARGEST_MOVE = 0.3  # [rad or m] of a joint in one of them
AT_REST = 1e-9  # [rad or m] a smaller move of the joints is none
SHORTEST = 1e-9  # part of a step, below which rounding decides what climbs


class Rest(NamedTuple):
    """A robot at rest: forces of weight and strain, less the joint torques, and its configuration."""

    weight: Float[Array, " n"]
    strain: Float[Array, " n"]
    drive: Float[Array, " n"]
    theta: Float[Array, " j"]
    encoder: Float[Array, " j"]
    q: Float[Array, "l c"]  # body coordinates

    @property
    def force(self) -> Float[Array, " n"]:
        """Residual generalised force; zero in equilibrium."""
        return self.weight + self.strain + self.drive

    @property
    def imbalance(self) -> Float[Array, ""]:
        """Largest residual force, relative to the largest force: the check of every equilibrium."""
        largest = jnp.max(jnp.abs(jnp.stack([self.weight, self.strain, self.drive])))
        return jnp.max(jnp.abs(self.force)) / (largest + 1e-9)


def rest_at(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
) -> Rest:
    """The robot standing still at x under joint torques."""
    motion = engine.at_rest(formulation, x)
    forces = engine.resting_forces(formulation, motion, tau)
    return Rest(*forces, motion.theta, motion.place.encoder, motion.place.q)


# The search for an equilibrium, its check and gravity torques call the same machine code.
kept_rest_at = noinline(rest_at)


def equilibrium_held(
    formulation: AbstractFormulation,
    encoder: Float[Array, " j"],
    start: Float[Array, " n"],
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`.

    The independent joints of a closed chain are held, and the others follow. Newton's iteration begins at `start`.
    """
    n = formulation.size

    def missing(z):
        # The balance of a motion without speeds; the engine knows a cheaper force for it.
        rest = kept_rest_at(formulation, z[:n], on_independent(formulation, z[n:]))
        gap = of_independent(formulation, rest.encoder - encoder)
        return jnp.concatenate([gap, rest.force])

    z = newton(missing, jnp.append(start, jnp.zeros(formulation.n_joints)))
    return z[:n], on_independent(formulation, z[n:])


def equilibrium_free(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Coordinates x at rest with free joints under given torques, near `start`, by Newton's dogleg."""
    import optimistix as optx  # slow to import, and only derivatives come here

    def missing(x, _):
        return rest_at(formulation, x, with_stops(formulation, x, tau)).force

    method = optx.Dogleg(rtol=RTOL, atol=1e-9)
    root = optx.root_find(missing, method, start, max_steps=400, throw=False)
    return root.value


def equilibrium_next_to(
    formulation: AbstractFormulation, tau: Float[Array, " j"], start: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Equilibrium from a start that is one but for rounding, as `descend` finds it."""

    def missing(x):
        return kept_rest_at(formulation, x, with_stops(formulation, x, tau)).force

    return newton(missing, start)


def with_stops(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
) -> Float[Array, " j"]:
    """Torques of drives and of the end stops that push a robot at rest."""
    stops = formulation.joints.stops
    if stops is None:
        return tau
    encoder = formulation.configuration(x).encoder
    still = jnp.zeros_like(encoder)
    return tau + stops.torque(encoder, still, stops.contact(encoder, still))


def slope(
    formulation: AbstractFormulation, x: Float[Array, " n"], tau: Float[Array, " j"]
):
    """Unbalanced force, its derivative and the inertia at x: what a descent to rest needs."""

    def force(x):
        return rest_at(formulation, x, with_stops(formulation, x, tau)).force

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


class EnergyModel(NamedTuple):
    """The energy of a robot at rest about some coordinates, and what its held joints allow."""

    energy: Float[Real, ""]  # V of strain and weight [J]
    force: Float[Real, " n"]  # its derivative
    stiffness: Float[Real, "n n"]  # the derivative of that
    inertia: Float[Real, "n n"]
    gap: Float[
        Real, " i"
    ]  # of the encoders of independent joints, from where they are held
    encoders: Float[Real, "i n"]  # their derivative


def energy_model(
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    encoder: Float[Array, " j"],
) -> EnergyModel:
    """The energy about x with the joints held so that the encoders read `encoder`."""
    free = jnp.zeros(formulation.n_encoders)

    def force(x):
        return rest_at(formulation, x, free).force

    def gap(x):
        reading = formulation.configuration(x).encoder
        return of_independent(formulation, reading - encoder)

    return EnergyModel(
        energy=energy(formulation, x),
        force=force(x),
        stiffness=jax.jacfwd(force)(x),
        inertia=engine.inertia_at(formulation, x),
        gap=gap(x),
        encoders=jax.jacfwd(gap)(x),
    )


def energy(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Float[Array, ""]:
    """V(x) of strain and weight [J]: lowest at an equilibrium."""
    place = formulation.configuration(x)
    weight = engine.gravity_energy(formulation, place)
    return engine.strain_energy(formulation, place) + weight


def descend_held(
    model_at: Callable[[np.ndarray], EnergyModel],
    energy_at: Callable[[np.ndarray], float],
    x: np.ndarray,
) -> np.ndarray:
    """Go downhill in energy from x to a stable equilibrium with held joints, however soft the links are.

    Strain grows faster than weight falls, so that there is always a lowest point. Where the energy curves downwards the
    step is that of an energy curved upwards as strongly; a step that would climb is shortened.
    """
    for _ in range(MAX_DESCENT):
        here = EnergyModel(*(np.asarray(part) for part in model_at(x)))
        if not all(np.isfinite(part).all() for part in here):
            return x
        back, along, lowest = _step_downhill(here)
        if np.abs(along).max(initial=0.0) < AT_REST and lowest >= 0.0:
            return x + back + along
        promised = float(here.force @ along)
        length = 1.0
        while length > SHORTEST and not (
            energy_at(x + back + length * along)
            <= here.energy + here.force @ back + 1e-4 * length * promised
        ):
            length *= 0.5
        x = x + back + length * along
    return x


def _step_downhill(here: EnergyModel) -> tuple[np.ndarray, np.ndarray, float]:
    """The way back to the held joints, the way downhill that leaves them there, and the lowest curvature."""
    import scipy.linalg  # slow to import

    E, K, M = here.encoders, here.stiffness, here.inertia
    back = -np.linalg.pinv(E) @ here.gap
    N = scipy.linalg.null_space(E)
    stiffness, inertia = N.T @ (K + K.T) @ N / 2, N.T @ M @ N
    try:
        squares, modes = scipy.linalg.eigh(stiffness, inertia)
    except np.linalg.LinAlgError:
        # Links bent by many turns: rounding makes the inertia indefinite, and every other measure leads downhill too.
        measure = np.diag(np.abs(np.diag(inertia)) + np.abs(inertia).max())
        squares, modes = scipy.linalg.eigh(stiffness, measure)
    modes = N @ modes
    curvature = np.maximum(np.abs(squares), 1e-9 * np.abs(squares).max(initial=0.0))
    along = -modes @ ((modes.T @ (here.force + K @ back)) / curvature)
    lowest = float(squares.min(initial=0.0)) + 1e-9 * np.abs(squares).max(initial=0.0)
    if lowest < 0.0 and np.abs(along).max(initial=0.0) < AT_REST:
        # An unstable equilibrium is left along its softest mode.
        along = 1e-3 * modes[:, 0] / np.abs(modes[:, 0]).max()
    return back, along, lowest
