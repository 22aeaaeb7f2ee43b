"""Step responses."""

from itertools import product
from typing import Any

import numpy as np
from pydantic import Field

from ..analyse.linear.step_response import StepResponse
from ..analyse.linear.step_response import step_response as response_of
from ..atomic import write_atomically
from ..runs.output_files import PICTURE, check_outputs, written_files
from .frozen_model import FrozenModel, NumberArray
from .linearize import LinearRequest
from .modelled_result import ModelledResult, model_of

DATA = (".csv", ".npz")


class StepResponseRequest(LinearRequest):
    """Responses of every named output to a unit step of every named input."""

    duration: float | None = Field(default=None, gt=0, allow_inf_nan=False)  # [s]
    picture: str | None = None
    data: str | None = None  # file for the numbers


class Step(FrozenModel):
    """One output after a unit step of one input."""

    input: str
    output: str
    response: NumberArray
    largest: float  # by size
    last: float


class StepResponseResult(ModelledResult):
    """Responses over one row of times."""

    t: NumberArray  # [s]
    responses: tuple[Step, ...]
    warnings: tuple[str, ...]  # one line each
    files: dict[str, str]


def step_response(request: StepResponseRequest) -> StepResponseResult:
    """Responses of every named output to a unit step of every named input, from rest."""
    check_outputs(
        {"picture": (request.picture, PICTURE), "data": (request.data, DATA)},
    )
    linear, warnings, _, scenario = request.linear_model()
    pairs = product(linear.input_names, linear.output_names)
    found = [response_of(linear, *pair, request.duration) for pair in pairs]
    if request.picture is not None:
        from ..show.plot_linear import plot_step_response

        plot_step_response(found, request.picture)
    if request.data is not None:
        save_steps(found, request.data)
    return StepResponseResult(
        **model_of(scenario),
        t=found[0].t if found else np.zeros(0),
        responses=tuple(_told(one) for one in found),
        warnings=warnings,
        files=written_files(plot=request.picture, data=request.data),
    )


def _told(one: StepResponse) -> Step:
    largest = one.response[np.abs(one.response).argmax()]
    return Step(
        input=one.input,
        output=one.output,
        response=one.response,
        largest=float(largest),
        last=float(one.response[-1]),
    )


def save_steps(found: list[StepResponse], path: str) -> None:
    """Times and every response: `.csv` or `.npz`."""
    columns: dict[str, Any] = {"t": found[0].t}
    for one in found:
        columns[f"{one.input}->{one.output}"] = one.response
    if path.lower().endswith(".npz"):
        write_atomically(path, lambda file: np.savez_compressed(file, **columns))
        return
    lines = [",".join(columns)]
    for row in zip(*columns.values(), strict=True):
        lines.append(",".join(repr(float(value)) for value in row))
    text = "\n".join(lines) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))
