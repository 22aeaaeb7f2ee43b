"""Modes as polynomials of parameters: of a robot's named ones, or of any matrices M, C, K that depend on some."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...algebra.eigen import modal_assurance
from ...algebra.monomials import monomials_of
from ...describe.defaults import FOLLOWED_MODES
from ...files.summary import named_numbers
from ...parameters import Locked
from ...solve.arguments import (
    ArgumentError,
    ModelLike,
    check_something_moves,
    model_from,
)
from ...solve.smallest_inertia import require_positive_inertia
from ..modes.complex_modes import RIGID, Eigenpairs, frequency_hz, vibration_pairs
from .eigenseries import EigenSeries, eigen_series
from .expansion import AccuracyGoal, Expansion, expand_until
from .matched_pairs import match_pairs, select_pairs
from .matrix_source import MatrixFunction, MatrixSource
from .mode_polynomials import ModePolynomials, mode_polynomials
from .parameters import named_quantities
from .regions import ParameterBox, ParameterPoints, ParameterRegion

ORDER = 4  # as in [Palomba2019] section 4
MAC = 0.999  # wanted of the vectors where only a frequency accuracy is given


def parametric_modes(
    model: ModelLike,
    parameters: Sequence[str] | Mapping[str, Any],
    *,
    order: int | None = None,
    at: Any = None,
    over: Any = None,
    accuracy: float | None = None,
    mac: float = MAC,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    motion: Callable[[Any], Mapping[str, Any]] | None = None,
    count: int = FOLLOWED_MODES,
    above_hz: float = RIGID,
    locked: Locked = False,
    hold: str = "encoder",
    biorthonormal: bool = True,
    max_pieces: int = 64,
    watch: Callable[[int, int], None] | None = None,
) -> ModePolynomials:
    """Eigenvalues, right and left vectors as polynomials of parameters, by the recursion of [Palomba2019].

    At every value of the parameters the links are in quasi-static balance with the motion of the joints (elastic
    speeds and accelerations zero, torques from inverse dynamics), and M, C, K are the exact derivatives of the
    equations of motion there; all of that is expanded, the balance included.

    Without `accuracy` there is one expansion, of the given order (4), compared with exact modes at some points of the
    range (`notes["checked"]`; without a range, close to the expansion point). With it, the lowest order that reaches it
    is chosen and the range is cut into several expansions until it holds at every checked point.

    Args:
        model: the robot: a `Model`, or a `Robot`, a library name or a file in the default formulation.
        parameters: names: a joint (`shoulder` or `q.shoulder`: position; `qd.shoulder`, `qdd.shoulder`: speed and
            acceleration) or a path in the robot (`payload.mass`, `links.upper.beam.material.E`). A mapping gives
            parameters names of their own, `{"E": "links.*.beam.material.E"}`, or lets one move several quantities,
            `{"q1": {"q.upper": 1, "q.lower": -1}, "q2": "q.lower"}`: each quantity is the sum of its parameters.
        order: total order of the polynomials; with `accuracy` the only one tried.
        at: expansion point; default: the middle of `over`, else q, qd, qdd and the values in the robot.
        over: range of each parameter, `{"shoulder": (-1, 1)}`, or an array of points (a trajectory), one per row.
        accuracy: wanted relative error of the frequencies over that range, such as 0.001.
        mac: wanted modal assurance of right and left vectors, with `accuracy`.
        q: joint positions where no parameter moves them; default zero. Likewise qd and qdd.
        qd: joint speeds.
        qdd: joint accelerations.
        motion: instead of named quantities, a JAX function from the parameters (an array, in order) to the quantities
            that they move, such as the joints' motion at a time; parameters are then free names.
        count: number of pairs, lowest frequency first.
        above_hz: skip pairs with lower frequencies at the expansion point, such as pendulum motion of free joints.
        locked: hold the joints.
        hold: what q means: `encoder` readings, or `theta`, the coordinates of the ERLS.
        biorthonormal: scale the left vectors so that psi^* (2 lambda M + C) phi = 1 as polynomials.
        max_pieces: most expansion points of the automatic mode.
        watch: called with the numbers of finished and waiting pieces.

    Returns:
        `ModePolynomials`: called with values of the parameters, it gives eigenvalues, frequencies [Hz], vectors there;
        `exact(points)` solves the eigenproblem to compare with, `coefficients()` are the polynomials.

    Raises:
        ValueError: an unknown parameter, or a point that lacks one.
        RepeatedEigenvalueError: an eigenvalue is repeated at an expansion point.
        AccuracyError: the accuracy needs more than `max_pieces` expansion points.
        SeriesError: a parameter enters in a way that has no Taylor series.
        EquilibriumError: the links find no balance.
        IndefiniteInertiaError: the inertia is negative along some motion at an expansion point.

    Example:
        >>> import lissom as ls
        >>> found = ls.parametric_modes(ls.Model("planar-2r"), ["lower"], q=[0.0, 1.0], order=3, locked=True, count=3)
        >>> found.frequency_hz([[0.9], [1.0], [1.1]]).shape
        (3, 3)
    """
    if hold not in ("encoder", "theta"):
        raise ValueError(f"hold must be 'encoder' or 'theta', got {hold!r}")
    model = model_from(model)
    check_something_moves(model, locked)
    source, present = named_quantities(
        model, parameters, (q, qd, qdd), motion, hold == "encoder", locked
    )

    def check_inertia(centre: np.ndarray, M: np.ndarray) -> None:
        at_centre = named_numbers(source.parameters, centre, digits=4)
        require_positive_inertia(model, M, f"at {at_centre}")

    expander = _Expander(source, count, above_hz, biorthonormal, check_inertia)
    found = _expand(
        expander, order, at, over, accuracy, mac, max_pieces, watch, present
    )
    return dataclasses.replace(found, origin=model)


def parametric_eigenpairs(
    matrices: Callable[[Any], Any],
    parameters: Sequence[str],
    *,
    order: int | None = None,
    at: Any = None,
    over: Any = None,
    accuracy: float | None = None,
    mac: float = MAC,
    coordinates: Sequence[str] = (),
    count: int = 3,
    above_hz: float = RIGID,
    biorthonormal: bool = True,
    max_pieces: int = 64,
    watch: Callable[[int, int], None] | None = None,
) -> ModePolynomials:
    """Eigenvalues, right and left vectors of any second-order system M, C, K as polynomials of its parameters.

    The recursion of [Palomba2019], eqs. (20)-(27), as in `parametric_modes`, on matrices instead of a robot.

    Args:
        matrices: JAX function from the parameters (p,) to (M, C, K).
        parameters: names of the parameters, in order.
        order: total order of the polynomials; 4 by default, with `accuracy` the only one tried.
        at: expansion point, `{"k": 1.0}`; the middle of `over` by default.
        over: range of each parameter, `{"k": (0.5, 2.0)}`, or an array of points, one per row.
        accuracy: wanted relative error of the frequencies over that range, such as 0.001.
        mac: wanted modal assurance of right and left vectors, with `accuracy`.
        coordinates: names of the coordinates.
        count: number of pairs, lowest frequency first.
        above_hz: skip pairs with lower frequencies at the expansion point [Hz].
        biorthonormal: scale the left vectors so that psi^* (2 lambda M + C) phi = 1 as polynomials.
        max_pieces: most expansion points, with `accuracy`.
        watch: called with the numbers of finished and waiting pieces.

    Returns:
        `ModePolynomials`, as from `parametric_modes`.

    Raises:
        ValueError: an unknown parameter, a point that lacks one, or matrices that are not square and of one size.
        RepeatedEigenvalueError: an eigenvalue is repeated at an expansion point.
        AccuracyError: the accuracy needs more than `max_pieces` expansion points.
        SeriesError: a parameter enters in a way that has no Taylor series.

    Example:
        >>> import jax.numpy as jnp, lissom as ls
        >>> def matrices(p):
        ...     K = jnp.array([[2.0 + p[0], -1.0], [-1.0, 2.0]])
        ...     return jnp.eye(2), 0.01 * K, K
        >>> found = ls.parametric_eigenpairs(matrices, ["k"], at={"k": 0.0}, order=3, count=2)
        >>> [f"{frequency:.3f}" for frequency in found.frequency_hz([[0.1]])[0]]
        ['0.163', '0.278']
    """
    source = MatrixFunction(matrices, parameters, coordinates)
    expander = _Expander(source, count, above_hz, biorthonormal)
    return _expand(expander, order, at, over, accuracy, mac, max_pieces, watch, None)


def _expand(
    expander: "_Expander", order, at, over, accuracy, mac, max_pieces, watch, present
) -> ModePolynomials:
    """One expansion about `at`, or as many expansions as the accuracy needs."""
    source = expander.source
    region = _region(over, source.parameters)
    if accuracy is None:
        return _single_expansion(expander, order, at, region, present)
    goal = _goal(source, accuracy, mac, order, max_pieces)
    return _automatic_expansion(expander, goal, region, watch)


def _single_expansion(
    expander: "_Expander",
    order: int | None,
    at: Any,
    region: ParameterRegion | None,
    present: Callable[[], np.ndarray] | None,
) -> ModePolynomials:
    """One expansion of the given order about one point."""
    order = ORDER if order is None else order
    _check_order(order)
    start = _start(expander.source.parameters, at, region, present)
    # Without a range the expansion is good near its point: it is checked there.
    points = _point_above(start)[None] if region is None else region.few_checks()
    low = start - 1.0 if region is None else region.low
    high = start + 1.0 if region is None else region.high
    series = expander.about(start, None, order)
    polynomials = _join(expander, order, [(start, low, high)], [series], "")
    checked = _exact_errors(polynomials, points)
    return dataclasses.replace(
        polynomials, notes={**polynomials.notes, "checked": checked}
    )


def _check_order(order: Any) -> None:
    is_whole = isinstance(order, int | np.integer) and not isinstance(order, bool)
    if not is_whole or order < 0:
        raise ArgumentError("order", order, "must be a whole number, 0 or more")


def _point_above(start: np.ndarray) -> np.ndarray:
    """A point near an expansion point: every parameter a tenth larger, an angle of zero 0.1 rad."""
    # Larger, not smaller: below zero there is no mass and no length.
    return start + 0.1 * np.where(start == 0.0, 1.0, np.abs(start))


def _exact_errors(polynomials: ModePolynomials, points: np.ndarray) -> str:
    """How far the polynomials are from exact modes at some points, in words."""
    values = polynomials(points)
    frequency = 0.0
    likeness = 1.0
    for i, exact in enumerate(polynomials.exact(points)):
        error = np.abs(frequency_hz(exact.eigenvalue) / values.frequency_hz[i] - 1.0)
        mac = modal_assurance(values.right[i], exact.right.T)
        frequency = max(frequency, float(error.max()))
        likeness = min(likeness, float(mac.min()))
    low = ", ".join(f"{value:.4g}" for value in points.min(axis=0))
    high = ", ".join(f"{value:.4g}" for value in points.max(axis=0))
    where = f"{len(points)} points from ({low}) to ({high})"
    if len(points) == 1:
        where = f"({low})"
    return f"frequency error {frequency:.2g} and MAC {likeness:.6f} at {where}, against exact modes"


def _goal(
    source: MatrixSource, accuracy: float, mac: float, order: int | None, pieces: int
) -> AccuracyGoal:
    if order is not None:
        _check_order(order)
        return AccuracyGoal(accuracy, mac, (order,), pieces)
    highest = _highest_order(len(source.parameters))
    orders = tuple(range(1, highest + 1))
    return AccuracyGoal(accuracy, mac, orders, pieces)


def _automatic_expansion(
    expander: "_Expander",
    goal: AccuracyGoal,
    region: ParameterRegion | None,
    watch: Callable[[int, int], None] | None,
) -> ModePolynomials:
    """As many expansions as the accuracy needs over the region."""
    if region is None:
        raise ValueError(
            "accuracy: give the range of the parameters for which it must hold "
            "(over=...)"
        )
    source = expander.source
    highest = goal.orders[-1]

    def expand(centre, parent):
        return expander.about(centre, parent, highest)

    names = source.parameters
    expansions = expand_until(region, expand, source.exact, names, goal, watch)
    # All pieces get the highest order that one of them needs: one polynomial has one order.
    order = max(expansion.order for expansion in expansions)
    size = monomials_of(len(names), order).size
    series = [expansion.series.first_terms(size) for expansion in expansions]
    boxes = [expansion.box for expansion in expansions]
    return _join(expander, order, boxes, series, _checks_in_words(expansions))


def _checks_in_words(expansions: Sequence[Expansion]) -> str:
    frequency = max(expansion.errors.worst[0] for expansion in expansions)
    mac = min(expansion.errors.worst[1] for expansion in expansions)
    points = sum(len(expansion.errors.frequency) for expansion in expansions)
    return f"frequency error {frequency:.2g} and MAC {mac:.6f} at {points} points, from residuals"


def _join(
    expander: "_Expander",
    order: int,
    boxes,
    series: Sequence[EigenSeries],
    checked: str,
) -> ModePolynomials:
    """All expansions as one set of polynomials, with the matrices they came from."""
    source = expander.source
    notes = {**source.notes, "checked": checked}
    whole = mode_polynomials(
        source.parameters, order, boxes, series, source.coordinates, notes
    )
    return dataclasses.replace(whole, source=source)


class _Expander:
    """Expands the same modes about different points."""

    def __init__(
        self,
        source: MatrixSource,
        count: int,
        above_hz: float,
        biorthonormal: bool,
        check_inertia: Callable[[np.ndarray, np.ndarray], None] = lambda at, M: None,
    ):
        self.source = source
        self.count = count
        self.above_hz = above_hz
        self.biorthonormal = biorthonormal
        self.check_inertia = check_inertia

    def about(
        self, centre: np.ndarray, parent: ModePolynomials | None, order: int
    ) -> EigenSeries:
        """Series about a point; the modes are those of the parent expansion there, else the lowest ones."""
        M, C, K = self.source.series(centre, order)
        self.check_inertia(centre, M[0])
        at_centre = (M[0], C[0], K[0])
        if parent is None:
            pairs = self._lowest(vibration_pairs(*at_centre, self.above_hz))
        else:
            # A mode that the parent follows may have sunk below `above_hz` here.
            values = parent(centre)
            pairs = vibration_pairs(*at_centre)
            pairs = match_pairs(pairs, values.eigenvalue, values.right)
        monomials = monomials_of(len(centre), order)
        return eigen_series(monomials, M, C, K, pairs, self.biorthonormal)

    def _lowest(self, pairs: Eigenpairs) -> Eigenpairs:
        there = len(pairs.eigenvalue)
        if there < self.count:
            raise ValueError(
                f"count: only {there} vibrating pairs lie above {self.above_hz:g} Hz "
                f"at the expansion point, {self.count} were asked for"
            )
        return select_pairs(pairs, np.arange(self.count))


def _highest_order(p: int) -> int:
    """Highest order worth trying: some two hundred terms at most, whatever the number of parameters."""
    return {1: 10, 2: 8, 3: 6, 4: 5}.get(p, 4)


def _region(over: Any, names: tuple[str, ...]) -> ParameterRegion | None:
    """The range, or the points, over which the polynomials have to be good."""
    if over is None:
        return None
    if isinstance(over, Mapping):
        return _box(over, names)
    try:
        points = np.asarray(over, dtype=float)
    except (TypeError, ValueError):
        message = f"must be a mapping of names to ranges, such as {{{names[0]!r}: (0.0, 1.0)}}, or an array of points"
        raise ArgumentError("over", over, message) from None
    is_table = points.ndim == 2 and points.shape[1] == len(names)
    if not is_table or not len(points):
        raise ValueError(
            f"over: an array of points has one row per point and {len(names)} columns ({', '.join(names)}), "
            f"got shape {points.shape}"
        )
    return ParameterPoints(points)


def _range_of(name: str, ends: Any) -> np.ndarray:
    """The two ends of the range of a parameter."""
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        message = "must be a range (low, high) of two numbers"
        raise ArgumentError(f"over: {name}", ends, message) from None
    return np.array([low, high])


def _box(over: Mapping[str, Any], names: tuple[str, ...]) -> ParameterBox:
    unknown = [name for name in over if name not in names]
    missing = [name for name in names if name not in over]
    if unknown or missing:
        raise ValueError(
            f"over: {', '.join(unknown + missing)}: give a range for each of {', '.join(names)}, nothing else"
        )
    low, high = np.array([_range_of(name, over[name]) for name in names]).T
    if not (high > low).all():
        raise ValueError("over: each range is (low, high) with low < high")
    return ParameterBox(low, high)


def _start(
    names: tuple[str, ...],
    at: Any,
    region: ParameterRegion | None,
    present: Callable[[], np.ndarray] | None,
) -> np.ndarray:
    """The expansion point: as given, else the middle of the range, else where the robot is now."""
    if at is not None and not isinstance(at, Mapping):
        message = (
            f"must be a mapping of names to numbers, such as {{{names[0]!r}: 1.0}}"
        )
        raise ArgumentError("at", at, message)
    at = dict(at or {})
    unknown = [name for name in at if name not in names]
    if unknown:
        raise ValueError(
            f"at: {', '.join(unknown)} is no parameter; they are {', '.join(names)}"
        )
    if len(at) == len(names):
        rest = np.zeros(len(names))  # nothing is left open
    # Parameters that `at` leaves open take the middle of the range, or the robot's own values.
    elif region is not None:
        rest = region.centre()
    elif present is not None:
        rest = present()
    else:
        raise ValueError(
            f"at: give the value of each of {', '.join(names)} at the expansion point"
        )
    start = []
    for name, value in zip(names, rest, strict=True):
        try:
            start.append(float(at.get(name, value)))
        except (TypeError, ValueError):
            raise ArgumentError(f"at: {name}", at[name], "must be a number") from None
    return np.array(start)
