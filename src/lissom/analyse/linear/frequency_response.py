"""Frequency response from torques and forces to outputs at nodes and joints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Complex
from typing_extensions import override

from ...files.summary import Summary, plain
from ...parameters import Band
from ...types import Float
from .abstract_responses import AbstractResponses
from .linear_summary import linear_facts
from .state_space import LinearModel

POINTS = 600  # of a response without frequencies given, beside those at the resonances
SWAY = (
    0.3  # frequency [Hz] below which a motion is a sway of free joints, not a vibration
)
PEAKS = 8  # in the data of each response, largest first
SHOWN_PEAKS = 5
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
        """Magnitude |H| at each frequency [output per input]."""
        return np.abs(self.response)

    @property
    def phase_deg(self) -> Float[np.ndarray, " f"]:
        """Phase of H in degrees, without jumps."""
        return np.degrees(np.unwrap(np.angle(self.response)))


class FrequencyResponses(AbstractResponses[FrequencyResponse]):
    """Every output of a linear model under each of its inputs, over one row of frequencies."""

    @property
    def frequency_hz(self) -> Float[np.ndarray, " f"]:
        """Frequencies [Hz]."""
        return self.responses[0].frequency_hz if self.responses else np.zeros(0)

    def to_dict(self) -> dict[str, Any]:
        """Frequencies, magnitudes, phases and peaks as plain data."""
        data = linear_facts(self.linear) | {
            "frequency_hz": self.frequency_hz,
            "responses": [_data_of(one) for one in self.responses],
            "warnings": self.warnings,
        }
        return plain(data)

    def summary(self) -> Summary:
        """The peaks of each response."""
        rows = []
        for one in self.responses:
            peaks = [f"{peak['frequency_hz']:.4g}" for peak in peaks_of(one)]
            rows.append((one.input, one.output, ", ".join(peaks[:SHOWN_PEAKS])))
        known = linear_facts(self.linear)
        columns = ("input", "output", "peaks [Hz], highest first")
        facts = (("model", known.get("model", known["formulation"])),)
        title = f"{known['robot']}: frequency response"
        return Summary(title, facts, columns, tuple(rows))

    @override
    def columns(self) -> Iterator[tuple[str, np.ndarray]]:
        yield "frequency_hz", self.frequency_hz
        for one in self.responses:
            name = f"{one.input}->{one.output}"
            yield f"{name}.real", np.real(one.response)
            yield f"{name}.imag", np.imag(one.response)


def _data_of(one: FrequencyResponse) -> dict[str, Any]:
    return {
        "input": one.input,
        "output": one.output,
        "magnitude": one.magnitude,
        "phase_deg": one.phase_deg,
        "peaks": peaks_of(one),
    }


def peaks_of(one: FrequencyResponse) -> list[dict[str, float]]:
    """Local maxima of a response, largest first: frequency [Hz] and magnitude."""
    height = one.magnitude
    inner = height[1:-1]
    higher = (inner > height[:-2]) & (inner >= height[2:])
    # The first and the last frequency have one neighbour only, and are no peaks.
    rows = np.flatnonzero(higher) + 1
    order = rows[np.argsort(-height[rows])]
    return [
        {"frequency_hz": float(one.frequency_hz[k]), "magnitude": float(height[k])}
        for k in order[:PEAKS]
    ]


def frequency_responses(
    linear: LinearModel, *, band: Band = None
) -> FrequencyResponses:
    """Frequency responses of every output of a linear model to each of its inputs.

    Args:
        linear: from `linearize`, with the inputs and outputs that are meant.
        band: frequencies [Hz]; by default a logarithmic band around the vibrations of the model.

    Returns:
        All responses, input by input; `responses["upper", "lower/tip.ay"]` is one of them.

    Raises:
        ValueError: a frequency that is none.

    Example:
        >>> import lissom as ls
        >>> linear = ls.linearize("double-pendulum", inputs=["upper"], outputs=["lower/tip.ay"], locked=True)
        >>> ls.frequency_responses(linear, band=[1.0, 10.0]).summary().columns[:2]
        ('input', 'output')
    """
    pairs = product(linear.input_names, linear.output_names)
    responses = [frequency_response(linear, *pair, band) for pair in pairs]
    return FrequencyResponses(linear, tuple(responses))


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
