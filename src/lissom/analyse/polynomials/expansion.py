"""Expansions of eigenpairs over a region of parameters, as many and of as high an order as the accuracy needs."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...algebra.monomials import monomials_of
from ...files.summary import named_numbers
from .accuracy import ErrorEstimate, residual_errors
from .eigenseries import EigenSeries
from .mode_polynomials import ModePolynomials, PieceBox, mode_polynomials
from .model_matrices import Matrices
from .regions import ParameterRegion


class AccuracyError(RuntimeError):
    """The wanted accuracy was not reached within the allowed number of expansion points."""


class AccuracyGoal(NamedTuple):
    """What automatic expansion has to reach, and what it may spend."""

    frequency: float  # relative error
    mac: float
    orders: tuple[int, ...]  # orders to try, lowest first
    pieces: int  # most expansion points


class Expansion(NamedTuple):
    """One expansion, good over its box."""

    box: PieceBox
    series: EigenSeries
    order: int
    errors: ErrorEstimate


def expand_until(
    region: ParameterRegion,
    expand: Callable[[np.ndarray, ModePolynomials | None], EigenSeries],
    matrices: Callable[[np.ndarray], Matrices],
    parameters: tuple[str, ...],
    goal: AccuracyGoal,
    watch: Callable[[int, int], None] | None = None,
) -> list[Expansion]:
    """Expansions that together reach the wanted accuracy: the lowest order that does, else the region is cut in two.

    The cut goes across the parameter whose highest pure power contributes most.

    Raises:
        AccuracyError: it would take more expansion points than allowed.
    """
    # Regions still to be expanded, each with the expansion of the region that it was cut from.
    queue: list[tuple[ParameterRegion, ModePolynomials | None]] = [(region, None)]
    finished: list[Expansion] = []
    highest = goal.orders[-1]
    while queue:
        here, parent = queue.pop()
        centre = here.centre()
        series = expand(centre, parent)
        expansion, best = _lowest_order(here, series, matrices, parameters, goal)
        if expansion is not None:
            finished.append(expansion)
        # Cutting puts two halves in the place of this region.
        elif len(finished) + len(queue) + 2 > goal.pieces:
            raise _not_reached(goal, best, parameters, centre)
        else:
            # The halves follow the modes of this expansion, so that a mode keeps its number.
            own = _polynomials(parameters, centre, here, series, highest)
            for half in here.halves(_contribution(series, highest, here)):
                queue.append((half, own))
        if watch is not None:
            watch(len(finished), len(queue))
    return finished


def _lowest_order(
    region, series: EigenSeries, matrices, parameters, goal
) -> tuple[Expansion | None, tuple[float, float]]:
    """The expansion of the lowest order that reaches the goal, if one does, and the best errors of all orders."""
    centre = region.centre()
    points = region.checks()
    exact = matrices(points)
    best = (np.inf, 0.0)
    for order in goal.orders:
        values = _polynomials(parameters, centre, region, series, order)(points)
        errors = residual_errors(exact, values.eigenvalue, values.right, values.left)
        frequency, mac = errors.worst
        best = min(best, (frequency, mac))
        if frequency <= goal.frequency and mac >= goal.mac:
            box = (centre, region.low, region.high)
            return Expansion(box, series, order, errors), best
    return None, best


def _not_reached(
    goal: AccuracyGoal, best: tuple[float, float], parameters, centre: np.ndarray
) -> AccuracyError:
    where = named_numbers(parameters, centre)
    return AccuracyError(
        f"a frequency error of {goal.frequency:g} and a MAC of {goal.mac:g} need more "
        f"than {goal.pieces} expansion points: {best[0]:.2g} and {best[1]:.6f} were "
        f"reached about {where}. Narrow the range, allow more expansion points or a "
        "higher order, or relax the accuracy."
    )


def _polynomials(
    parameters, centre, region, series: EigenSeries, order: int
) -> ModePolynomials:
    size = monomials_of(len(parameters), order).size
    box = (centre, region.low, region.high)
    coordinates = [""] * series.right.shape[-1]
    cut = series.first_terms(size)
    return mode_polynomials(parameters, order, [box], [cut], coordinates, {})


def _contribution(
    series: EigenSeries, order: int, region: ParameterRegion
) -> np.ndarray:
    """How much the two highest pure powers of each parameter move the eigenvalues and vectors over the region."""
    p = len(region.low)
    monomials = monomials_of(p, order)
    reach = 0.5 * (region.high - region.low)
    lengths = np.linalg.norm(series.right, axis=-1)
    total = np.zeros(p)
    for i in range(p):
        # Two orders, since the series of a symmetric robot may lack every other one.
        for t in {max(order - 1, 1), order}:
            pure_power = t * np.eye(p, dtype=int)[i]
            k = monomials.place[tuple(pure_power)]
            eigenvalue = np.abs(series.eigenvalue[k] / series.eigenvalue[0])
            vector = lengths[k] / lengths[0]
            change = eigenvalue.max() + vector.max()
            total[i] += change * reach[i] ** t
    return total
