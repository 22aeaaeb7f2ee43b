"""What comes out at a node or a joint when a torque or a force goes in, over frequency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Complex

from ...types import Float
from .state_space import LinearModel

POINTS = 600  # of a response without frequencies given, beside those at the resonances
SWAY = 0.3  # frequency [Hz] below which a motion is a sway of free joints, not a vibration to look at first
CHUNK = 256  # frequencies solved at a time


@dataclass(frozen=True)
class FrequencyResponse:
    """Response of one output to one input: y = H u at each frequency."""

    frequency_hz: Float[np.ndarray, " f"]
    response: Complex[np.ndarray, " f"]  # in the units of output over input
    input: str
    output: str

    @property
    def magnitude(self) -> Float[np.ndarray, " f"]:
        """|H|."""
        return np.abs(self.response)

    @property
    def phase_deg(self) -> Float[np.ndarray, " f"]:
        """Phase of H in degrees, without jumps."""
        return np.degrees(np.unwrap(np.angle(self.response)))


def frequency_response(
    linear: LinearModel,
    input: str,
    output: str,
    frequencies: Sequence[float] | Any = None,
) -> FrequencyResponse:
    """Frequency response between a named input and a named output.

    Args:
        linear: from `linearize`, continuous or discretised.
        input: name of an input; a joint's name stands for its torque.
        output: name of an output.
        frequencies: [Hz]; by default a logarithmic band around the vibrations of the model, dense at resonances.

    Returns:
        `FrequencyResponse`: `frequency_hz` [Hz] and the complex `response` [output per input], H = C (sI - A)^-1 B + D
        at s = j omega, or at z = exp(j omega dt) for a sampled model.

    Raises:
        UnknownNameError: the model has no such input or output.
        ValueError: a frequency is negative or not finite.

    Example:
        >>> import lissom as ls
        >>> small = ls.linearize("double-pendulum", [0.0, 0.5])
        >>> ls.frequency_response(small, "upper", "upper.encoder", [0.5, 5.0]).response.shape
        (2,)
    """
    k = linear.input_index(input)
    i = linear.output_index(output)
    if frequencies is None:
        f = default_band(linear)
    else:
        f = np.atleast_1d(np.asarray(frequencies, dtype=float))
    finite = np.all(np.isfinite(f))
    if f.ndim != 1 or not finite or np.any(f < 0.0):
        raise ValueError("frequencies must be a list of numbers >= 0 [Hz]")
    s = 2j * np.pi * f
    # A sampled model answers on the unit circle, z = exp(s dt).
    s = np.exp(s * linear.dt) if linear.dt else s
    B = linear.B[:, [k]]
    C = linear.C[[i]]
    D = linear.D[[i]][:, [k]]
    H = transfer_function(linear.A, B, C, D, s)
    return FrequencyResponse(
        frequency_hz=f,
        response=H[:, 0, 0],
        input=linear.input_names[k],
        output=linear.output_names[i],
    )


def transfer_function(
    A, B, C, D, s: Complex[np.ndarray, " f"]
) -> Complex[np.ndarray, "f p u"]:
    """C (s I - A)^-1 B + D for every s; not finite exactly at an undamped pole."""
    parts = []
    chunks = max(1, -(-len(s) // CHUNK))
    for some in np.array_split(s, chunks):
        one = np.eye(len(A))
        matrices = some[:, None, None] * one - A
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(C @ _solutions(matrices, B) + D)
    return np.concatenate(parts)


def _solutions(matrices: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solutions of all systems; a singular one gives infinity instead of an error for all."""
    shape = (len(matrices), *B.shape)
    try:
        return np.linalg.solve(matrices, np.broadcast_to(B, shape))
    except np.linalg.LinAlgError:
        # LAPACK refuses the whole batch for one singular matrix: then one after the other.
        solutions = np.full(shape, np.inf + 0j)
        for k, matrix in enumerate(matrices):
            try:
                solutions[k] = np.linalg.solve(matrix, B)
            except np.linalg.LinAlgError:
                continue
        return solutions


def default_band(linear: LinearModel, points: int = POINTS) -> Float[np.ndarray, " f"]:
    """Frequencies from below the first to beyond the eighth vibration of a model, and close to each resonance."""
    poles: Any = linear.poles
    if linear.dt:
        # Poles of the sampled system, back to continuous time.
        poles = np.log(poles.astype(complex)) / linear.dt
    vibrates = poles.imag > 1e-6 * np.abs(poles)
    omega = np.sort(np.abs(poles[vibrates]))
    resonances = omega / (2 * np.pi)
    fast = resonances > SWAY
    if np.any(fast):
        resonances = resonances[fast]
    low, high = 0.01, 100.0
    if len(resonances):
        low = 0.1 * resonances[0]
        high = 2.0 * resonances[:8][-1]
    if linear.dt:
        high = min(high, 0.5 / linear.dt)
    # A resonance of little damping is narrow: points crowd towards it from both sides.
    below = 1.0 - np.logspace(-1, -5, 15)
    above = 1.0 + np.logspace(-5, -1, 15)
    around = np.concatenate([below, above])
    near_resonances = resonances[:40, None] * around
    everywhere = np.geomspace(low, high, points)
    band = np.concatenate([everywhere, near_resonances.ravel()])
    inside = (band >= low) & (band <= high)
    return np.unique(band[inside])
