"""Frequency responses."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from ..analyse.linear.frequency_response import FrequencyResponse
from ..analyse.linear.frequency_response import frequency_response as response_of
from ..atomic import write_atomically
from ..runs.output_files import PICTURE, check_outputs, written_files
from .frozen_model import FrozenModel, NumberArray
from .linearize import LinearRequest
from .modelled_result import ModelledResult, model_of

DATA = (".csv", ".npz")
PEAKS = 8  # told of each response, largest first


class FrequencyResponseRequest(LinearRequest):
    """Responses of every named output to every named input."""

    frequency_hz: NumberArray | None = None  # default: chosen from the poles
    picture: str | None = None
    data: str | None = None  # file for the numbers


class Peak(FrozenModel):
    """A local maximum of a response."""

    frequency_hz: float
    magnitude: float


class Response(FrozenModel):
    """One output under one input."""

    input: str
    output: str
    magnitude: NumberArray
    phase_deg: NumberArray
    peaks: tuple[Peak, ...]


class FrequencyResponseResult(ModelledResult):
    """Responses over one row of frequencies."""

    frequency_hz: NumberArray
    responses: tuple[Response, ...]
    warnings: tuple[str, ...]  # one line each
    files: dict[str, str]


def frequency_response(request: FrequencyResponseRequest) -> FrequencyResponseResult:
    """Responses of every named output to every named input."""
    check_outputs(
        {"picture": (request.picture, PICTURE), "data": (request.data, DATA)},
    )
    linear, warnings, _, scenario = request.linear_model()
    pairs = product(linear.input_names, linear.output_names)
    found = [response_of(linear, *pair, request.frequency_hz) for pair in pairs]
    if request.picture is not None:
        from ..show.plot_linear import plot_frequency_response

        plot_frequency_response(found, request.picture)
    if request.data is not None:
        save_responses(found, request.data)
    return FrequencyResponseResult(
        **model_of(scenario),
        frequency_hz=found[0].frequency_hz if found else np.zeros(0),
        responses=tuple(_told(one) for one in found),
        warnings=warnings,
        files=written_files(plot=request.picture, data=request.data),
    )


def _told(one: FrequencyResponse) -> Response:
    return Response(
        input=one.input,
        output=one.output,
        magnitude=one.magnitude,
        phase_deg=one.phase_deg,
        peaks=peaks_of(one),
    )


def peaks_of(one: FrequencyResponse) -> tuple[Peak, ...]:
    """Local maxima of a response, largest first."""
    height = one.magnitude
    inner = height[1:-1]
    higher = (inner > height[:-2]) & (inner >= height[2:])
    # The first and the last frequency have one neighbour only, and are no peaks.
    rows = np.flatnonzero(higher) + 1
    order = rows[np.argsort(-height[rows])]
    peaks = []
    for k in order[:PEAKS]:
        frequency = float(one.frequency_hz[k])
        peaks.append(Peak(frequency_hz=frequency, magnitude=float(height[k])))
    return tuple(peaks)


def save_responses(found: Sequence[FrequencyResponse], path: str) -> None:
    """Frequencies with real and imaginary parts of every response: `.csv` or `.npz`."""
    columns: dict[str, Any] = {"frequency_hz": found[0].frequency_hz}
    for one in found:
        name = f"{one.input}->{one.output}"
        columns[f"{name}.real"] = np.real(one.response)
        columns[f"{name}.imag"] = np.imag(one.response)
    if path.lower().endswith(".npz"):
        write_atomically(path, lambda file: np.savez_compressed(file, **columns))
        return
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        # `repr` of a float is the shortest text that reads back as the same number.
        cells = [repr(float(value)) for value in row]
        lines.append(",".join(cells))
    text = "\n".join(lines) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))
