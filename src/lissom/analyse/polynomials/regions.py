"""Regions in which polynomials must be accurate: a box of parameters, or points of a trajectory; each can be split."""

import abc
import itertools
from collections.abc import Iterator

import numpy as np
import scipy
from typing_extensions import override

MOST_WITH_CORNERS = 6  # parameters


class ParameterRegion(abc.ABC):
    """A set of parameter values with a centre to expand about and points to check at."""

    low: np.ndarray
    high: np.ndarray

    @abc.abstractmethod
    def centre(self) -> np.ndarray:
        """Expansion point of the region."""

    @abc.abstractmethod
    def checks(self) -> np.ndarray:
        """Points at which the error is estimated."""

    @abc.abstractmethod
    def few_checks(self) -> np.ndarray:
        """Some points at which an expansion is compared with exact modes, those at the ends of the range among them."""

    @abc.abstractmethod
    def halves(self, weight: np.ndarray) -> Iterator["ParameterRegion"]:
        """Two parts, cut across the parameter of largest weight."""


class ParameterBox(ParameterRegion):
    """All parameter values between two corners; checked at its corners, faces and a spread of inner points."""

    def __init__(self, low: np.ndarray, high: np.ndarray, inner: int = 24):
        self.low = np.asarray(low, float)
        self.high = np.asarray(high, float)
        self.inner = inner

    @override
    def centre(self) -> np.ndarray:
        return 0.5 * (self.low + self.high)

    def checks(self) -> np.ndarray:
        """Corners (of up to six parameters), middles of faces, and a low-discrepancy spread."""
        p = len(self.low)
        halton = scipy.stats.qmc.Halton(p, scramble=False)
        # Halton's first point is a corner, which is no inner point.
        spread = halton.random(self.inner + 1)[1:]
        unit = np.concatenate([_corners(p), _faces(p), 2.0 * spread - 1.0])
        half = 0.5 * (self.high - self.low)
        return self.centre() + half * unit

    def few_checks(self) -> np.ndarray:
        """The middles of its faces and, of two to six parameters, its corners."""
        p = len(self.low)
        unit = _faces(p)
        if p > 1:
            # The faces of a range of one parameter are its corners.
            unit = np.concatenate([unit, _corners(p)])
        half = 0.5 * (self.high - self.low)
        return self.centre() + half * unit

    @override
    def halves(self, weight: np.ndarray) -> Iterator[ParameterRegion]:
        i = int(np.argmax(weight))
        middle = self.centre()[i]
        high = self.high.copy()
        high[i] = middle
        yield ParameterBox(self.low.copy(), high, self.inner)
        low = self.low.copy()
        low[i] = middle
        yield ParameterBox(low, self.high.copy(), self.inner)


def _faces(p: int) -> np.ndarray:
    """Middles of the faces of the unit box of p parameters."""
    one = np.eye(p)
    return np.concatenate([one, -one])


def _corners(p: int) -> np.ndarray:
    """Corners of the unit box; none of more than six parameters, which would be a hundred and more."""
    if p > MOST_WITH_CORNERS:
        return np.zeros((0, p))
    return np.array(list(itertools.product([-1.0, 1.0], repeat=p)))


class ParameterPoints(ParameterRegion):
    """Given parameter values, such as a sampled trajectory; expanded about the one nearest their middle."""

    def __init__(self, points: np.ndarray, scale: np.ndarray | None = None):
        self.points = np.asarray(points, float)
        self.low = self.points.min(axis=0)
        self.high = self.points.max(axis=0)
        # Distances are measured against the spread of all points, also in a part of them.
        if scale is None:
            scale = np.maximum(self.high - self.low, 1e-12)
        self.scale = scale

    def centre(self) -> np.ndarray:
        """The given point nearest the middle of the box around them."""
        middle = 0.5 * (self.low + self.high)
        away = np.abs(self.points - middle) / self.scale
        distance = np.max(away, axis=1)
        return self.points[np.argmin(distance)]

    @override
    def checks(self) -> np.ndarray:
        return self.points

    def few_checks(self) -> np.ndarray:
        """Up to five of the points, evenly left out."""
        chosen = np.linspace(0, len(self.points) - 1, 5).round().astype(int)
        return self.points[np.unique(chosen)]

    def halves(self, weight: np.ndarray) -> Iterator[ParameterRegion]:
        """The points on either side of the middle of their box."""
        spread = self.high > self.low
        # A parameter that does not vary cannot be cut.
        i = int(np.argmax(np.where(spread, weight, -1.0)))
        middle = 0.5 * (self.low[i] + self.high[i])
        below = self.points[:, i] <= middle
        for side in (below, ~below):
            yield ParameterPoints(self.points[side], self.scale)
