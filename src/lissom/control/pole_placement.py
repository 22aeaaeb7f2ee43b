"""State feedback by poles: bandwidth of the joints and damping of the vibrations.

Every drive moves one rigid motion of the robot. Its two poles go to the bandwidth; a vibration keeps its frequency, and
gets the specified damping ratio if it has less. Motions that no torque moves, as the bending of a link out of
the plane in which its motor turns it, keep their poles. The gain is that of [TitsYang1996].
"""

from typing import Any

import numpy as np
import scipy
from jaxtyping import Complex

from .controllable_subspace import (
    ControllableSubspace,
    controllable_subspace,
    matching_places,
    uncontrollable_poles,
)
from .design_error import DesignError
from .design_model import DesignModel, Matrix, check_stabilisable

SAME = 1e-6  # distance of poles z that are one

Poles = Complex[np.ndarray, "_"]


def desired_poles(
    design: DesignModel, bandwidth: float, damping: float = 0.7, vibration: float = 0.2
) -> Complex[np.ndarray, " s"]:
    """Poles of the closed loop in continuous time [rad/s]; those of motions that no torque moves stay, and come last.

    Args:
        design: the sampled model.
        bandwidth: of the joints [Hz].
        damping: ratio of the joints' motions.
        vibration: least damping ratio of the vibrations.
    """
    rigid = 2 * design.B.shape[1]
    moved, left = _controllable_and_uncontrollable(design)
    slowest_first = np.argsort(np.abs(moved), kind="stable")
    joints = _pair(2 * np.pi * bandwidth, damping)
    poles = list(np.tile(joints, rigid // 2))
    for pole in moved[slowest_first[rigid:]]:
        poles.append(_damped(pole, vibration))
    return np.array([*poles[: len(moved)], *left])


def check_specification(bandwidth: float, damping: float, vibration: float) -> None:
    """Refuse poles that no motion has.

    Raises:
        DesignError: the bandwidth or the damping ratio at fault.
    """
    if not 0 < bandwidth < np.inf:
        raise DesignError(f"must be positive [Hz], got {bandwidth:g}", "bandwidth")
    for name, ratio in (("damping", damping), ("vibration", vibration)):
        if not 0 < ratio < 1:
            raise DesignError(f"must lie between 0 and 1, got {ratio:g}", name)


def _controllable_and_uncontrollable(design: DesignModel) -> tuple[Poles, Poles]:
    """Poles of the motions that torques move, and of the others [rad/s]."""
    poles = np.asarray(design.poles, dtype=complex)
    left = uncontrollable_poles(design, controllable_subspace(design))
    places = matching_places(left, np.exp(poles * design.sample))
    return np.delete(poles, places), poles[places]


def _pair(omega: float, zeta: float) -> Complex[np.ndarray, " 2"]:
    turning = omega * np.sqrt(1 - zeta**2)
    return -zeta * omega + 1j * np.array([turning, -turning])


def _damped(pole: complex, least: float) -> complex:
    """A pole of the same frequency with at least so much damping."""
    omega = abs(pole)
    if -pole.real >= least * omega:
        return pole
    side = np.sign(pole.imag) or 1.0
    return omega * (-least + 1j * side * np.sqrt(1 - least**2))


def placed_gain(design: DesignModel, poles: Any) -> Matrix:
    """The feedback du = -K dx that gives the sampled model these poles of continuous time.

    Uncontrollable motions are left alone: their poles must be among the specified ones.

    Raises:
        DesignError: no torque moves a motion that lasts, or these poles cannot be reached.
    """
    check_stabilisable(design)
    subspace = controllable_subspace(design)
    z = _free_poles(design, subspace, np.exp(np.asarray(poles) * design.sample))
    A = subspace.controllable.T @ design.A @ subspace.controllable
    try:
        placement: Any = scipy.signal.place_poles(
            A, subspace.controllable.T @ design.B, z, maxiter=100
        )
    except ValueError as failure:
        raise DesignError(f"these poles cannot be placed: {failure}", "poles") from None
    return np.asarray(placement.gain_matrix) @ subspace.controllable.T


def _free_poles(design: DesignModel, subspace: ControllableSubspace, z: Poles) -> Poles:
    """The specified poles, less those of uncontrollable motions."""
    if len(z) != design.states:
        raise DesignError(f"{design.states} poles are needed, got {len(z)}", "poles")
    fixed = uncontrollable_poles(design, subspace)
    places = matching_places(fixed, z)
    for pole in fixed:
        if np.abs(z[places] - pole).min() > SAME:
            hertz = abs(np.log(pole)) / (2 * np.pi * design.sample)
            raise DesignError(
                f"no torque excites the motion at {hertz:.4g} Hz: its pole stays "
                "where it is",
                "poles",
            )
    return np.delete(z, places)
