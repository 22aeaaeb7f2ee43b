"""Step response from torques and forces to outputs at nodes and joints."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from typing_extensions import override

from ...files.summary import Summary, number, plain
from ...parameters import Duration
from ...types import Float
from .abstract_responses import AbstractResponses
from .linear_summary import linear_facts
from .state_space import LinearModel

POINTS = 2000  # of a response without times given
MOST_POINTS = 1_000_000
PERIODS = 12  # of the slowest vibration
FADED = 5.0  # time constants of the slowest decay: less than a percent is left
AT_REST = 1e-3  # [rad/s] slower poles are rigid motions: they set no duration
LONGEST = 60.0  # [s]


@dataclass(frozen=True)
class StepResponse:
    """One output after a unit step of one input, from rest."""

    t: Float[np.ndarray, " t"]  # [s]
    response: Float[np.ndarray, " t"]  # in the units of output over input
    input: str
    output: str


class StepResponses(AbstractResponses[StepResponse]):
    """Every output of a linear model after a unit step of each of its inputs, over one row of times."""

    @property
    def t(self) -> Float[np.ndarray, " t"]:
        """Times [s]."""
        return self.responses[0].t if self.responses else np.zeros(0)

    def to_dict(self) -> dict[str, Any]:
        """Times and responses as plain data."""
        data = linear_facts(self.linear) | {
            "t": self.t,
            "responses": [_data_of(one) for one in self.responses],
            "warnings": self.warnings,
        }
        return plain(data)

    def summary(self) -> Summary:
        """Largest and last value of each response."""
        span = self.t[-1] if len(self.t) else 0.0
        rows = []
        for one in self.responses:
            values = (number(_largest(one)), number(one.response[-1]))
            rows.append((one.input, one.output, *values))
        known = linear_facts(self.linear)
        columns = ("input", "output", "largest", f"after {span:.3g} s")
        facts = (("model", known.get("model", known["formulation"])),)
        return Summary(f"{known['robot']}: step response", facts, columns, tuple(rows))

    @override
    def columns(self) -> Iterator[tuple[str, np.ndarray]]:
        yield "t", self.t
        for one in self.responses:
            yield f"{one.input}->{one.output}", one.response


def _largest(one: StepResponse) -> float:
    """The largest value by size, with its sign."""
    return float(one.response[np.abs(one.response).argmax()])


def _data_of(one: StepResponse) -> dict[str, Any]:
    return {
        "input": one.input,
        "output": one.output,
        "response": one.response,
        "largest": _largest(one),
        "last": float(one.response[-1]),
    }


def step_responses(linear: LinearModel, *, duration: Duration = None) -> StepResponses:
    """Responses of every output of a linear model to a unit step of each of its inputs, from rest.

    Args:
        linear: from `linearize`, with the inputs and outputs that are meant.
        duration: [s]; by default until the slowest vibration has faded, or for twelve of its periods.

    Returns:
        All responses, input by input; `responses["upper", "lower/tip.py"]` is one of them.

    Raises:
        ValueError: a duration that is none.

    Example:
        >>> import lissom as ls
        >>> linear = ls.linearize("double-pendulum", inputs=["upper"], outputs=["lower/tip.py"], kp=500, kd=20)
        >>> ls.step_responses(linear).summary().columns[:3]
        ('input', 'output', 'largest')
    """
    pairs = product(linear.input_names, linear.output_names)
    responses = [step_response(linear, *pair, duration) for pair in pairs]
    return StepResponses(linear, tuple(responses))


def step_response(
    linear: LinearModel, input: str, output: str, duration: float | None = None
) -> StepResponse:
    r"""Response of a named output to a unit step of a named input.

    Between two times the input is constant, so that every value is exact (zero-order hold):

    $$ x_{k+1} = e^{A h} x_k + \int_0^h e^{A s} B \, ds \, u $$

    Args:
        linear: from `linearize`, continuous or discretised.
        input: name of an input; a joint's name stands for its torque.
        output: name of an output.
        duration: [s]; by default until the slowest vibration has faded, or for twelve of its periods.

    Returns:
        `StepResponse`: `t` [s] and the `response` at these times [output per unit of input].

    Raises:
        UnknownNameError: the model has no such input or output.
        ValueError: the duration is not a positive number of seconds, or holds too many samples.

    Example:
        >>> import lissom as ls
        >>> small = ls.linearize("double-pendulum", [0.0, 0.5], kp=50.0, kd=5.0)
        >>> response = ls.step_response(small, "upper", "upper.encoder", duration=0.5)
        >>> f"{response.t[-1]:.3f}"
        '0.500'
    """
    k = linear.input_index(input)
    i = linear.output_index(output)
    span = default_duration(linear) if duration is None else float(duration)
    if not 0.0 < span < np.inf:
        raise ValueError(f"duration must be a positive number of seconds, got {span:g}")
    if linear.dt and span / linear.dt > MOST_POINTS:
        raise ValueError(
            f"duration: {span:g} s are more than {MOST_POINTS} samples of {linear.dt:g} s"
        )
    sampled = linear if linear.dt else linear.discretize(span / POINTS)
    count = int(round(span / sampled.dt)) + 1
    values = _step_values(sampled, k, i, count)
    return StepResponse(
        t=sampled.dt * np.arange(count),
        response=values,
        input=linear.input_names[k],
        output=linear.output_names[i],
    )


def _step_values(sampled: LinearModel, k: int, i: int, count: int) -> np.ndarray:
    A, B = sampled.A, sampled.B[:, k]
    C, D = sampled.C[i], sampled.D[i, k]
    x = np.zeros(len(A))
    values = np.empty(count)
    for n in range(count):
        values[n] = C @ x + D
        x = A @ x + B
    return values


def default_duration(linear: LinearModel) -> float:
    """Until the slowest vibration or decay has faded, or for twelve periods where it does not."""
    poles: Any = linear.poles
    if linear.dt:
        poles = np.log(poles.astype(complex)) / linear.dt
    moving = poles[np.abs(poles) > AT_REST]
    if not len(moving):
        return 1.0
    size = np.abs(moving)
    slowest = moving[size.argmin()]
    period = 2 * np.pi / size.min()
    decay = FADED / max(-slowest.real, 1e-300)
    return float(min(decay, PERIODS * period, LONGEST))
