"""Evenly spaced values over which modes are mapped."""

from dataclasses import dataclass

import numpy as np

from ...files.errors import refused
from ...types import Float


@dataclass(frozen=True)
class MapAxis:
    """Values of a joint (`upper`), of a joint speed (`upper.speed`) or of a key of the robot, start and stop included.

    Without points it is a range, as polynomials take it.
    """

    name: str
    start: int | float
    stop: int | float
    points: int | None = None

    def __post_init__(self):
        if self.points is not None and self.points < 1:
            raise refused("points", self.points, "must be one or more")

    def __str__(self) -> str:
        points = "" if self.points is None else f":{self.points}"
        return f"{self.name}={self.start:g}:{self.stop:g}{points}"

    @property
    def values(self) -> Float[np.ndarray, " v"]:
        """From start to stop, both included."""
        return np.linspace(self.start, self.stop, self.points or 2)
