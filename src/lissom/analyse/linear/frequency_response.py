"""What comes out at a node or a joint when a torque or a force goes in, over frequency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Complex, Float

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

    Raises:
        UnknownNameError: the model has no such input or output.
    """
    k = linear.input_index(input)
    i = linear.output_index(output)
    if frequencies is None:
        f = default_band(linear)
    else:
        f = np.atleast_1d(np.asarray(frequencies, dtype=float))
    if f.ndim != 1 or not np.all(np.isfinite(f)) or np.any(f < 0.0):
        raise ValueError("frequencies must be a list of numbers >= 0 [Hz]")
    s = 2j * np.pi * f
    # A sampled model answers on the unit circle, z = exp(s dt).
    s = np.exp(s * linear.dt) if linear.dt else s
    B = linear.B[:, [k]]
    C = linear.C[[i]]
    D = linear.D[[i]][:, [k]]
    H = transfer(linear.A, B, C, D, s)[:, 0, 0]
    return FrequencyResponse(f, H, linear.input_names[k], linear.output_names[i])


def transfer(A, B, C, D, s: Complex[np.ndarray, " f"]) -> Complex[np.ndarray, "f p u"]:
    """C (s I - A)^-1 B + D for every s; not finite exactly at an undamped pole."""
    parts = []
    chunks = max(1, -(-len(s) // CHUNK))
    for some in np.array_split(s, chunks):
        matrices = some[:, None, None] * np.eye(len(A)) - A
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(C @ _solutions(matrices, B) + D)
    return np.concatenate(parts)


def _solutions(matrices: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solutions of all systems; a singular one gives infinity instead of an error for all."""
    try:
        return np.linalg.solve(matrices, np.broadcast_to(B, (len(matrices), *B.shape)))
    except np.linalg.LinAlgError:
        whole = np.full((len(matrices), *B.shape), np.inf + 0j)
        for k, matrix in enumerate(matrices):
            try:
                whole[k] = np.linalg.solve(matrix, B)
            except np.linalg.LinAlgError:
                continue
        return whole


def default_band(linear: LinearModel, points: int = POINTS) -> Float[np.ndarray, " f"]:
    """Frequencies from below the first to beyond the eighth vibration of a model, and close to each resonance."""
    poles: Any = linear.poles
    if linear.dt:
        # Poles of the sampled system, back to continuous time.
        poles = np.log(poles.astype(complex)) / linear.dt
    vibrates = poles.imag > 1e-6 * np.abs(poles)
    resonances = np.sort(np.abs(poles[vibrates])) / (2 * np.pi)
    if np.any(resonances > SWAY):
        resonances = resonances[resonances > SWAY]
    low, high = 0.01, 100.0
    if len(resonances):
        low = 0.1 * resonances[0]
        high = 2.0 * resonances[:8][-1]
    if linear.dt:
        high = min(high, 0.5 / linear.dt)
    around = 1.0 + np.concatenate([-np.logspace(-1, -5, 15), np.logspace(-5, -1, 15)])
    near_resonances = resonances[:40, None] * around
    everywhere = np.geomspace(low, high, points)
    band = np.concatenate([everywhere, near_resonances.ravel()])
    return np.unique(band[(band >= low) & (band <= high)])
