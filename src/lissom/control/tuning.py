"""Gains from a bandwidth, a damping ratio, or for the most damping of the loop."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
import scipy
from jaxtyping import Complex

from ..analyse.linear.linearize import linearize
from ..analyse.modes.modal import modes
from ..solve.law import AbstractLaw
from ..solve.model import Model
from ..types import Float
from .design_error import DesignError
from .margins import closed_loop_poles, open_loop
from .shaping import Mode

GAINS = 25  # tried in every search
GAIN_MARGIN = (
    2.0  # a loop whose gain is chosen is stable with this multiple of the gain
)
# Of delayed reference control: parts of critical damping, from zero to far too much.
DELAY_GAINS = (1e-3, 30.0)
# Part of a joint's inertia that a mode must carry to count as moved by the motors.
EXCITED = 1e-3
SLOW_MODES = 2.0  # times the first: modes that a vibration loop acts on
INTEGRAL_SHARE = (
    0.1  # of the bandwidth: the integral acts ten times more slowly than the rest
)


class PIDGains(NamedTuple):
    """Gains of joint control, one for each actuated joint."""

    kp: Float[np.ndarray, " a"]
    ki: Float[np.ndarray, " a"]
    kd: Float[np.ndarray, " a"]


def joint_inertia(model: Model, q: Any) -> Float[np.ndarray, " a"]:
    """Inertia at each actuated joint with rigid links and the other joints free to be held [kg m^2 or kg]."""
    M = np.asarray(model.mass_matrix(model.assemble(q)))
    independent = list(model.formulation.independent)
    inertia = np.zeros(model.n_joints)
    inertia[independent] = np.diag(M)[: len(independent)]
    return inertia[list(model.actuated)]


def pid_gains(model: Model, q: Any, bandwidth: float, damping: float = 0.7) -> PIDGains:
    """PID gains of a bandwidth [Hz] and a damping ratio for rigid links: kp = J omega^2, kd = 2 zeta J omega."""
    J = joint_inertia(model, q)
    omega = 2 * np.pi * bandwidth
    return PIDGains(
        kp=J * omega**2,
        ki=INTEGRAL_SHARE * J * omega**3,
        kd=2 * damping * J * omega,
    )


def locked_modes(model: Model, q: Any) -> list[Mode]:
    """Modes of the links with all joints held, slowest first."""
    natural = modes(model, model.assemble(q), locked=True, count=None)
    omega = 2 * np.pi * np.asarray(natural.frequency_hz)
    return [
        Mode(float(w), float(z)) for w, z in zip(omega, _ratios(natural), strict=True)
    ]


def driven_modes(model: Model, q: Any) -> list[Mode]:
    """Modes with all joints held that torques of the joints excite, slowest first.

    A joint that accelerates carries along the part (phi^T M_ej)^2 of its own inertia M_jj in a mode phi: modes whose
    part is below `EXCITED` for every actuated joint, such as those out of the plane of the motion, are left out.
    """
    state = model.static(model.assemble(q))
    natural = modes(model, state, locked=True, count=None)
    M = np.asarray(model.mass_matrix(state))
    joints = len(model.formulation.independent)
    carried = np.asarray(natural.shapes).T @ M[:, :joints]
    part = (carried**2 / np.diag(M)[:joints]).max(axis=1)
    slow_to_fast = zip(natural.frequency_hz, _ratios(natural), part, strict=True)
    return [
        Mode(float(2 * np.pi * f), float(z))
        for f, z, own in slow_to_fast
        if own > EXCITED
    ]


class DrivenShapes(NamedTuple):
    """Modes with all joints held that torques of the joints excite, slowest first."""

    omega: Float[np.ndarray, " k"]  # [rad/s]
    shapes: Float[np.ndarray, "e k"]  # of the elastic coordinates, of unit modal mass
    carried: Float[
        np.ndarray, "k j"
    ]  # amplitude that a unit joint acceleration excites


def driven_shapes(M: Any, K: Any, joints: int) -> DrivenShapes:
    """The modes that joints excite, from the matrices of a robot whose first coordinates are its joints."""
    M, K = np.asarray(M), np.asarray(K)
    held = slice(joints, len(M))
    stiffness = 0.5 * (K[held, held] + K[held, held].T)
    eigen: Any = scipy.linalg.eigh(stiffness, M[held, held])
    carried = eigen[1].T @ M[held, :joints]
    part = (carried**2 / np.diag(M)[:joints]).max(axis=1)
    excited = np.flatnonzero((part > EXCITED) & (eigen[0] > 0))
    return DrivenShapes(
        np.sqrt(eigen[0][excited]), eigen[1][:, excited], carried[excited]
    )


def modal_filter(
    readings: Float[np.ndarray, "m k"],
    omega: Float[np.ndarray, " k"],
    carried: Float[np.ndarray, "k j"],
) -> Float[np.ndarray, "j m"]:
    """W: from what gauges read to the joint accelerations that would bend the slowest modes so, over their frequency.

    As many modes as there are gauges are distinguished; those faster than `SLOW_MODES` times the first are dropped, so
    that a loop on W eps leaves them alone.

    Args:
        readings: of the gauges for unit amplitudes of the modes, slowest first.
        omega: their frequencies [rad/s].
        carried: what a unit joint acceleration excites in them.
    """
    distinguishable = min(len(readings), len(omega))
    amplitudes = np.linalg.pinv(readings[:, :distinguishable], rcond=1e-6)
    slow = omega[:distinguishable] < SLOW_MODES * omega[0]
    # A steady acceleration bends a mode by this much.
    bending = (
        -carried[:distinguishable][slow] / omega[:distinguishable][slow, None] ** 2
    )
    return np.linalg.pinv(bending, rcond=1e-6) @ amplitudes[slow] / omega[0]


def first_driven_mode(model: Model, q: Any) -> Mode:
    """The slowest mode with all joints held that torques of the joints excite.

    Raises:
        DesignError: there is none.
    """
    driven = driven_modes(model, q)
    if not driven:
        raise DesignError(
            f"no motor moves a mode of the links of {model.robot.name}: they are "
            "rigid, or vibrate only out of the plane of motion. Vibration control has "
            "no effect here"
        )
    return driven[0]


def _ratios(driven: Any) -> Float[np.ndarray, " k"]:
    ratio = np.asarray(driven.damping_ratio)
    return np.clip(np.nan_to_num(ratio), 0.0, 0.99)


class StableRange(NamedTuple):
    """Gains for which a loop is stable, and the one that is chosen."""

    least: float
    largest: float
    chosen: float
    damping: float  # least damping ratio of the slow motions with the chosen gain


def slow_damping(
    poles: Complex[np.ndarray, " s"], sample: float, fastest: float
) -> Float[np.ndarray, " s"]:
    """Damping ratios of the oscillations slower than a frequency [rad/s], least first; one for all other motions."""
    lasting = np.where(np.abs(poles) > 1e-6, poles, 1e-6)
    s = np.log(lasting.astype(complex)) / sample
    size = np.maximum(np.abs(s), 1e-300)
    oscillates = (np.abs(s.imag) > 1e-3 * size) & (size < fastest)
    return np.sort(np.where(oscillates, -s.real / size, 1.0))


def best_gain(
    poles_of: Callable[[float], Complex[np.ndarray, " s"]],
    gains: Float[np.ndarray, " g"],
    sample: float,
    fastest: float,
) -> StableRange:
    """The gain with the most damping in the slow motions among the stable ones.

    The motion with the least damping counts first. Where no gain changes that one, the next one counts. Twice the gain
    must be stable too, where there is such a gain.

    Raises:
        DesignError: the loop is stable for none of them.
    """
    poles_at = functools.cache(poles_of)

    def is_stable(gain: float) -> bool:
        return bool(np.abs(poles_at(gain)).max() < 1.0)

    stable = [gain for gain in map(float, gains) if is_stable(gain)]
    if not stable:
        raise DesignError(
            "the loop is unstable for every gain that was tried: lower the bandwidth of the position loop, or sample "
            "faster"
        )
    offered = [gain for gain in stable if is_stable(GAIN_MARGIN * gain)] or stable
    damping = [slow_damping(poles_at(gain), sample, fastest) for gain in offered]
    # Less than a millionth is rounding.
    ranks = [tuple(np.round(ratios, 6)) for ratios in damping]
    best = ranks.index(max(ranks))
    return StableRange(min(stable), max(stable), offered[best], float(damping[best][0]))


def vibration_gain(
    model: Model, q: Any, law_with: Callable[[float], Any], scale: float
) -> StableRange:
    """The gain of a vibration loop with the most damping of the first mode; either sign is tried.

    Args:
        model: the robot as the controller knows it.
        q: pose.
        law_with: the law with a gain.
        scale: a gain that is certainly large.
    """
    slowest = first_driven_mode(model, q)
    sizes = np.geomspace(1e-4 * scale, scale, GAINS)
    gains = np.concatenate([-sizes[::-1], [0.0], sizes])
    first = law_with(0.0)
    sample = float(np.asarray(first.sample))
    loop = open_loop(model, q, first)
    unit = open_loop(model, q, law_with(scale)).law

    def poles_of(gain):
        # The law is linear in its gain: between none and the scale, by its share.
        law = jax.tree.map(
            lambda none, whole: none + gain / scale * (whole - none), loop.law, unit
        )
        return closed_loop_poles(loop._replace(law=law))

    return best_gain(poles_of, gains, sample, 3 * slowest.omega)


def delay_gain(
    model: Model,
    q: Any,
    inner: AbstractLaw,
    strain_names: tuple[str, ...],
    filter: Float[np.ndarray, "a m"],
    direction: Float[np.ndarray, " a"],
) -> StableRange:
    """Stable gains of delayed reference control while the reference moves along a direction in joint space.

    Where the reference moves fast, its speed is changed by -k s (s . W eps), s the unit direction: an integrator from
    strain to the reference of the inner loop.
    """
    lin = linearize(
        model,
        q,
        inputs=tuple(f"{name}.setpoint" for name in model.actuated_names),
        outputs=strain_names,
        controller=inner,
    )
    sample = lin.dt
    s = direction / np.linalg.norm(direction)
    row = s @ filter @ lin.C
    through = s @ filter @ lin.D @ s
    states = len(lin.A)

    def poles_of(gain):
        whole = np.zeros((states + 1, states + 1))
        whole[:states, :states] = lin.A
        whole[:states, -1] = lin.B @ s
        whole[-1, :states] = -gain * sample * row
        whole[-1, -1] = 1.0 - gain * sample * through
        poles = np.linalg.eigvals(whole)
        # Where the reference stands does not matter: the pole of that, at one, is left out.
        nearest = np.argsort(np.abs(poles - 1.0))
        return poles[nearest[1:]]

    slowest = first_driven_mode(model, q)
    gains = np.geomspace(*DELAY_GAINS, 4 * GAINS)
    return best_gain(poles_of, gains, sample, 3 * slowest.omega)
