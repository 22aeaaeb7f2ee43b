"""State feedback by poles: how fast joints answer, and how well vibrations are damped.

Every drive moves one rigid motion of the robot. Its two poles go to the bandwidth; a vibration keeps its frequency, and
is given the damping that is asked for where it has less. The gain is that of [TitsYang1996].
"""

from typing import Any

import numpy as np
from jaxtyping import Complex

from .design_model import DesignError, DesignModel, Matrix, check_stabilisable


def wanted_poles(
    design: DesignModel, bandwidth: float, damping: float = 0.7, vibration: float = 0.2
) -> Complex[np.ndarray, " s"]:
    """Poles of the closed loop in continuous time [rad/s].

    Args:
        design: the sampled model.
        bandwidth: of the joints [Hz].
        damping: ratio of the joints' motions.
        vibration: least damping ratio of the vibrations.
    """
    rigid = 2 * design.B.shape[1]
    poles = np.asarray(design.poles, dtype=complex)
    slowest_first = np.argsort(np.abs(poles), kind="stable")
    joints = _pair(2 * np.pi * bandwidth, damping)
    found = list(np.tile(joints, rigid // 2))
    for pole in poles[slowest_first[rigid:]]:
        found.append(_damped(pole, vibration))
    return np.array(found[: len(poles)])


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

    Raises:
        DesignError: no torque moves a motion that lasts, or these poles cannot be reached.
    """
    from scipy.signal import place_poles  # slow to import

    check_stabilisable(design)
    z = np.exp(np.asarray(poles) * design.sample)
    try:
        found: Any = place_poles(design.A, design.B, z, maxiter=100)
    except ValueError as failure:
        raise DesignError(f"these poles cannot be placed: {failure}", "poles") from None
    return np.asarray(found.gain_matrix)
