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
    k, i = linear.input_index(input), linear.output_index(output)
    f = (
        default_band(linear)
        if frequencies is None
        else np.atleast_1d(np.asarray(frequencies, dtype=float))
    )
    if f.ndim != 1 or not np.all(np.isfinite(f)) or np.any(f < 0.0):
        raise ValueError("frequencies must be a list of numbers >= 0 [Hz]")
    s = 2j * np.pi * f
    s = np.exp(s * linear.dt) if linear.dt else s
    H = transfer(linear.A, linear.B[:, [k]], linear.C[[i]], linear.D[[i]][:, [k]], s)
    return FrequencyResponse(
        f, H[:, 0, 0], linear.input_names[k], linear.output_names[i]
    )


def transfer(A, B, C, D, s: Complex[np.ndarray, " f"]) -> Complex[np.ndarray, "f p u"]:
    """C (s I - A)^-1 B + D for every s; not finite exactly at an undamped pole."""
    parts = []
    for at in np.array_split(s, max(1, -(-len(s) // CHUNK))):
        with np.errstate(divide="ignore", invalid="ignore"):
            parts.append(C @ _solved(at[:, None, None] * np.eye(len(A)) - A, B) + D)
    return np.concatenate(parts)


def _solved(matrices: np.ndarray, B: np.ndarray) -> np.ndarray:
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
    poles = np.log(poles.astype(complex)) / linear.dt if linear.dt else poles
    vibrating = np.sort(np.abs(poles[poles.imag > 1e-6 * np.abs(poles)])) / (2 * np.pi)
    fast = vibrating[vibrating > SWAY]
    vibrating = fast if len(fast) else vibrating
    low, high = (
        (0.1 * vibrating[0], 2.0 * vibrating[:8][-1])
        if len(vibrating)
        else (0.01, 100.0)
    )
    high = min(high, 0.5 / linear.dt) if linear.dt else high
    around = 1.0 + np.concatenate([-np.logspace(-1, -5, 15), np.logspace(-5, -1, 15)])
    band = np.concatenate(
        [np.geomspace(low, high, points), (vibrating[:40, None] * around).ravel()]
    )
    return np.unique(band[(band >= low) & (band <= high)])
