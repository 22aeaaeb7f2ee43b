"""Equilibrium: joints held or free."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from jaxnative.marks import noinline

from ..dynamics import engine
from ..dynamics.formulation import AbstractFormulation
from ..dynamics.nodes import node_wrench
from ..types import Float, Real
from .balance import (
    coordinate_scales,
    newton,
    of_independent,
    on_independent,
    scales_with_torques,
)

RTOL = 1e-10  # Newton is quadratic: one iteration more than needed costs nothing
MAX_DESCENT = 300  # steps downhill
LARGEST_MOVE = 0.3  # [rad or m] of a joint in one of them
AT_REST = 1e-9  # [rad or m] a smaller move of the joints is none, of other coordinates against their scales
UPHILL = (
    1e-6  # of the strain energy: what links gain that are no longer where they sag to
)
ROUNDING = 1e-12  # of energies, relative
SHORTEST = 1e-9  # part of a step, below which rounding decides what climbs


class NodeWrench(eqx.Module):
    """A constant force and moment on a node, along world axes [N, N m]."""

    link: int = eqx.field(static=True)
    node: int = eqx.field(static=True)  # counted along the link
    value: Float[Array, " 6"]


Wrenches = tuple[NodeWrench, ...]


class Rest(NamedTuple):
    """A robot at rest: forces of weight and strain, less joint torques and wrenches, and its configuration."""

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
    formulation: AbstractFormulation,
    x: Float[Array, " n"],
    tau: Float[Array, " j"],
    wrenches: Wrenches = (),
) -> Rest:
    """The robot standing still at x under joint torques and wrenches."""
    motion = engine.at_rest(formulation, x)
    place = motion.place
    weight, strain, drive = engine.resting_forces(formulation, motion, tau)
    for one in wrenches:
        load = node_wrench(formulation, place, one.link, one.node, one.value, True)
        drive = drive - motion.pull_back(load)
    return Rest(weight, strain, drive, motion.theta, place.encoder, place.q)


# The search for an equilibrium, its check and gravity torques call the same machine code.
kept_rest_at = noinline(rest_at)


def equilibrium_held(
    formulation: AbstractFormulation,
    encoder: Float[Array, " j"],
    start: Float[Array, " n"],
    wrenches: Wrenches = (),
) -> tuple[Float[Array, " n"], Float[Array, " j"]]:
    """Coordinates x and holding torques tau at rest with the joints held so that the encoders read `encoder`.

    The independent joints of a closed chain are held, and the others follow. Newton's iteration begins at `start`.
    """
    n = formulation.size

    def missing(z):
        # The balance of a motion without speeds; the engine knows a cheaper force for it.
        tau = on_independent(formulation, z[n:])
        rest = kept_rest_at(formulation, z[:n], tau, wrenches)
        gap = of_independent(formulation, rest.encoder - encoder)
        return jnp.concatenate([gap, rest.force])

    begin = jnp.append(start, jnp.zeros(formulation.n_joints))
    z = newton(missing, begin, scales_with_torques(formulation))
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

    return newton(missing, start, coordinate_scales(formulation))


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
    # Of strain alone, positive definite while the joints are held: what steps are measured by.
    strain_stiffness: Float[Real, "n n"]
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
        strain_stiffness=strain_stiffness(formulation, x),
        gap=gap(x),
        encoders=jax.jacfwd(gap)(x),
    )


def strain_stiffness(
    formulation: AbstractFormulation, x: Float[Array, " n"]
) -> Float[Array, "n n"]:
    """Stiffness of the links at x, without that of weight."""
    N = engine.rate_map(formulation, x)
    place = formulation.configuration(x)
    still = jnp.zeros_like(x)
    return engine.structural_matrices(formulation, place, still, N)[1]


def energy(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Float[Array, ""]:
    """V(x) of strain and weight [J]: lowest at an equilibrium."""
    found = energies_at(formulation, x)
    return found.strain + found.weight


class Energies(NamedTuple):
    """Energy of a robot at rest [J]."""

    strain: Float[Array, ""]
    weight: Float[Array, ""]
    lift: Float[
        Array, ""
    ]  # of all mass to the furthest point: what rounding is relative to


@noinline
def energies_at(formulation: AbstractFormulation, x: Float[Array, " n"]) -> Energies:
    """Energies at x."""
    place = formulation.configuration(x)
    links = formulation.links
    mass = jnp.sum(jnp.asarray(links.mass)[:, 0, 0])
    furthest = jnp.max(jnp.abs(place.p)) + jnp.max(jnp.abs(jnp.asarray(links.points)))
    pull = jnp.max(jnp.abs(jnp.asarray(formulation.gravity)))
    return Energies(
        strain=engine.strain_energy(formulation, place),
        weight=engine.gravity_energy(formulation, place),
        lift=mass * pull * furthest,
    )


def is_uphill(
    formulation: AbstractFormulation, x: Float[Array, " n"], start: Float[Array, " n"]
) -> Bool[Array, ""]:
    """Whether an equilibrium has more energy than the start: Newton's iteration then leapt past where links sag to.

    Such an equilibrium is unstable, or links are curled up in it.
    """
    at_start = energies_at(formulation, start)
    found = energies_at(formulation, x)
    gained = found.strain + found.weight - at_start.strain - at_start.weight
    return gained > UPHILL * found.strain + ROUNDING * found.lift


def descend_held(
    model_at: Callable[[np.ndarray], EnergyModel],
    energy_at: Callable[[np.ndarray], float],
    x: np.ndarray,
    scales: np.ndarray,
) -> np.ndarray:
    """Go downhill in energy from x to a stable equilibrium with held joints, however soft and light the links are.

    Strain grows faster than weight falls, so that there is always a lowest point. Where the energy curves downwards the
    step is that of an energy curved upwards as strongly; a step that would climb is shortened. Curvatures are measured
    against the stiffness of strain: against inertia, those of a light link under a heavy load lie further apart than
    numbers have digits. `scales` are the sizes of the coordinates.
    """
    for _ in range(MAX_DESCENT):
        here = EnergyModel(*(np.asarray(part) for part in model_at(x)))
        if not all(np.isfinite(part).all() for part in here):
            return x
        back, along, lowest = _step_downhill(here, scales)
        if _size(along, scales) < AT_REST and lowest >= 0.0:
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


def _step_downhill(
    here: EnergyModel, scales: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """The way back to the held joints, the way downhill that leaves them there, and the lowest curvature."""
    import scipy.linalg  # slow to import

    E, K = here.encoders, here.stiffness
    back = -np.linalg.pinv(E) @ here.gap
    N = scipy.linalg.null_space(E)
    stiffness, measure = N.T @ (K + K.T) @ N / 2, N.T @ here.strain_stiffness @ N
    try:
        curvatures, modes = scipy.linalg.eigh(stiffness, measure)
    except np.linalg.LinAlgError:
        # Links bent by many turns: rounding makes the measure indefinite, and every other one leads downhill too.
        diagonal = np.abs(np.diag(measure))
        measure = np.diag(diagonal + diagonal.max())
        curvatures, modes = scipy.linalg.eigh(stiffness, measure)
    modes = N @ modes
    largest = np.abs(curvatures).max(initial=0.0)
    upwards = np.maximum(np.abs(curvatures), 1e-9 * largest)
    along = -modes @ ((modes.T @ (here.force + K @ back)) / upwards)
    lowest = float(curvatures.min(initial=0.0)) + 1e-9 * largest
    if lowest < 0.0 and _size(along, scales) < AT_REST:
        # An unstable equilibrium is left along its softest mode.
        along = 1e-3 * modes[:, 0] / _size(modes[:, 0], scales)
    return back, along, lowest


def _size(step: np.ndarray, scales: np.ndarray) -> float:
    """The largest entry of a step, against the sizes of the coordinates."""
    return np.abs(step / scales).max(initial=0.0)
