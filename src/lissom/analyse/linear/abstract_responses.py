"""What frequency and step responses have in common: one for each input and output of a linear model."""

import abc
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ...drawing import picture_of
from ...files.summary import Result
from ..columns_file import write_columns
from .state_space import LinearModel

Response = TypeVar("Response")


@dataclass(frozen=True, repr=False)
class AbstractResponses(Result, Generic[Response]):
    """Every output of a linear model for each of its inputs, input by input."""

    linear: LinearModel
    responses: tuple[Response, ...]

    def __getitem__(self, channels: tuple[str, str]) -> Response:
        """The response from an input to an output: `responses["upper", "lower/tip.ay"]`."""
        k = self.linear.input_index(channels[0])
        i = self.linear.output_index(channels[1])
        return self.responses[k * len(self.linear.output_names) + i]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the linear model at its point, one line each."""
        return self.linear.warnings

    def plot(self, path: Any = None) -> Any:
        """Figure of all responses; `path` writes it too."""
        return picture_of(self, path=path)

    def save(self, path: Any) -> Any:
        """Write all responses as columns with names: `.csv` or `.npz`."""
        return write_columns(path, dict(self.columns()))

    @abc.abstractmethod
    def columns(self) -> Iterator[tuple[str, np.ndarray]]:
        """Names and numbers of the columns of the file."""
