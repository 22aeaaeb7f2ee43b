"""Modes as polynomials of parameters: of a robot's named ones, or of any matrices M, C, K that depend on some."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
import scipy.optimize

from ...algebra.monomials import monomials_of
from ...algebra.taylor import taylor_coefficients
from ...solve.model import Model
from .accuracy import (
    Box,
    ErrorEstimate,
    Points,
    Region,
    Wanted,
    expand_until,
    residual_errors,
)
from .eigenseries import EigenSeries, eigen_series
from .mode_polynomials import ModePolynomials, mode_polynomials
from .parameters import named_quantities
from .quadratic import RIGID, Eigenpairs, modal_assurance, vibration_pairs

ORDER = 4  # as in [Palomba2019] section 4
MAC = 0.999  # wanted of the vectors where only a frequency accuracy is given


@runtime_checkable
class MatrixSource(Protocol):
    """M, C, K that depend on parameters."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        ...

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the n coordinates."""
        ...

    @property
    def notes(self) -> Mapping[str, str]:
        """What they are of."""
        ...

    def exact(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K at points (N, p), stacked."""
        ...

    def series(
        self, p0: np.ndarray, order: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Their Taylor coefficients about a point."""
        ...


class MatrixFunction:
    """M, C, K given as a JAX function of the parameters."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        parameters: Sequence[str],
        coordinates: Sequence[str] = (),
    ):
        self.function, self.parameters, self.notes = function, tuple(parameters), {}
        n = len(jax.eval_shape(function, jnp.zeros(len(self.parameters)))[0])
        self.coordinates = tuple(coordinates) or tuple(str(i) for i in range(n))
        self._compiled = jax.jit(function)

    def exact(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, C, K at points."""
        found = [self._compiled(jnp.asarray(p)) for p in np.atleast_2d(points)]
        return tuple(np.stack([np.asarray(one[i]) for one in found]) for i in range(3))  # pyright: ignore

    def series(
        self, p0: np.ndarray, order: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Their Taylor coefficients."""
        return taylor_coefficients(self.function, p0, order)


@dataclass(frozen=True, eq=False, kw_only=True)
class ParametricModes(ModePolynomials):
    """Polynomial eigenpairs together with the matrices they came from: errors can be estimated at any point."""

    source: MatrixSource
    above_hz: float

    def error_estimate(self, points: Any) -> ErrorEstimate:
        """Errors at points, from the residual of the exact eigenproblem there; no eigenproblem is solved."""
        points = np.asarray(self.points(points)).reshape(-1, len(self.parameters))
        values = self(points)
        return residual_errors(
            self.source.exact(points), values.eigenvalue, values.right, values.left
        )

    def exact(self, points: Any) -> list[Eigenpairs]:
        """The exact pairs at points by LAPACK, in the order of these polynomials (matched by their vectors)."""
        points = np.asarray(self.points(points)).reshape(-1, len(self.parameters))
        M, C, K = self.source.exact(points)
        values = self(points)
        return [
            matched(
                vibration_pairs(M[i], C[i], K[i]), values.eigenvalue[i], values.right[i]
            )
            for i in range(len(points))
        ]


def parametric_modes(
    model: Model,
    parameters: Sequence[str] | Mapping[str, Any],
    *,
    order: int | None = None,
    at: Mapping[str, Any] | None = None,
    over: Any = None,
    accuracy: float | None = None,
    mac: float = MAC,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    motion: Callable[[Any], Mapping[str, Any]] | None = None,
    count: int = 3,
    above_hz: float = RIGID,
    locked: bool = False,
    hold: str = "encoder",
    biorthonormal: bool = True,
    max_pieces: int = 64,
    watch: Callable[[int, int], None] | None = None,
) -> ParametricModes:
    """Eigenvalues, right and left vectors as polynomials of parameters, by the recursion of [Palomba2019].

    At every value of the parameters the links are in quasi-static balance with the motion of the joints (elastic
    speeds and accelerations zero, torques from inverse dynamics), and M, C, K are the exact derivatives of the
    equations of motion there; all of that is expanded, the balance included.

    Without `accuracy` there is one expansion, of the given order (4). With it, the lowest order that reaches it is
    chosen and the range is cut into several expansions until it holds at every checked point.

    Args:
        model: the robot.
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

    Raises:
        ValueError: an unknown parameter, or a point that lacks one.
        RepeatedEigenvalueError: an eigenvalue is repeated at an expansion point.
        AccuracyError: the accuracy needs more than `max_pieces` expansion points.
        SeriesError: a parameter enters in a way that has no Taylor series.
        EquilibriumError: the links find no balance.

    Example:
        >>> import lissom as ls
        >>> found = ls.parametric_modes(ls.Model("planar-2r"), ["lower"], q=[0.0, 1.0], order=3, locked=True)
        >>> found.frequency_hz([[0.9], [1.0], [1.1]]).shape
        (3, 3)
    """
    if hold not in ("encoder", "theta"):
        raise ValueError(f"hold must be 'encoder' or 'theta', got {hold!r}")
    source, present = named_quantities(
        model, parameters, (q, qd, qdd), motion, hold == "encoder", locked
    )
    expansion = _Expansion(source, count, above_hz, biorthonormal)
    return _expanded(
        expansion, order, at, over, accuracy, mac, max_pieces, watch, present
    )


def parametric_eigenpairs(
    matrices: Callable[[Any], Any],
    parameters: Sequence[str],
    *,
    order: int | None = None,
    at: Mapping[str, Any] | None = None,
    over: Any = None,
    accuracy: float | None = None,
    mac: float = MAC,
    coordinates: Sequence[str] = (),
    count: int = 3,
    above_hz: float = RIGID,
    biorthonormal: bool = True,
    max_pieces: int = 64,
    watch: Callable[[int, int], None] | None = None,
) -> ParametricModes:
    """The same for any second-order system: `matrices` is a JAX function from the parameters (p,) to (M, C, K).

    Args:
        matrices: the function.
        parameters: names of the parameters, in order.
        order: see `parametric_modes`; likewise the other arguments.
        at: expansion point.
        over: range or points.
        accuracy: wanted relative error of the frequencies.
        mac: wanted modal assurance.
        coordinates: names of the coordinates.
        count: number of pairs.
        above_hz: skip pairs with lower frequencies.
        biorthonormal: scaling of the left vectors.
        max_pieces: most expansion points.
        watch: progress.
    """
    expansion = _Expansion(
        MatrixFunction(matrices, parameters, coordinates),
        count,
        above_hz,
        biorthonormal,
    )
    return _expanded(expansion, order, at, over, accuracy, mac, max_pieces, watch, None)


def _expanded(
    expansion: "_Expansion", order, at, over, accuracy, mac, max_pieces, watch, present
) -> ParametricModes:
    source = expansion.source
    names = source.parameters
    region = _region(over, names)
    if accuracy is None:
        order = ORDER if order is None else order
        start = _start(names, at, region, present)
        low, high = (
            (region.low, region.high)
            if region is not None
            else (start - 1.0, start + 1.0)
        )
        found, boxes = [expansion.about(start, None, order)], [(start, low, high)]
        checked = "nothing: one expansion of the given order"
    else:
        if region is None:
            raise ValueError(
                "accuracy: say over which range of the parameters it has to hold (over=...)"
            )
        orders = (
            tuple(range(1, _highest(len(names)) + 1)) if order is None else (order,)
        )
        wanted = Wanted(accuracy, mac, orders, max_pieces)

        def about(centre, parent):
            return expansion.about(centre, parent, orders[-1])

        pieces = expand_until(region, about, source.exact, names, wanted, watch)
        order = max(piece.order for piece in pieces)
        size = monomials_of(len(names), order).size
        found = [
            EigenSeries(*(part[:size] for part in piece.found)) for piece in pieces
        ]
        boxes = [(piece.centre, piece.low, piece.high) for piece in pieces]
        worst = [piece.errors.worst for piece in pieces]
        checked = (
            f"frequency error {max(w[0] for w in worst):.2g} and MAC {min(w[1] for w in worst):.6f} at "
            f"{sum(len(piece.errors.frequency) for piece in pieces)} points, from residuals"
        )
    whole = mode_polynomials(
        names,
        order,
        boxes,
        found,
        source.coordinates,
        {**source.notes, "checked": checked},
    )
    return ParametricModes(
        polynomial=whole.polynomial,
        modes=whole.modes,
        coordinates=whole.coordinates,
        notes=whole.notes,
        source=source,
        above_hz=expansion.above_hz,
    )


class _Expansion:
    """Expansions of the same modes about different points."""

    def __init__(
        self, source: MatrixSource, count: int, above_hz: float, biorthonormal: bool
    ):
        self.source, self.count, self.above_hz, self.biorthonormal = (
            source,
            count,
            above_hz,
            biorthonormal,
        )

    def about(
        self, centre: np.ndarray, parent: ModePolynomials | None, order: int
    ) -> EigenSeries:
        """Series about a point; the modes are those of the parent expansion there, else the lowest ones."""
        M, C, K = self.source.series(centre, order)
        pairs = vibration_pairs(
            M[0], C[0], K[0], self.above_hz if parent is None else RIGID
        )
        if parent is not None:
            values = parent(centre)
            pairs = matched(pairs, values.eigenvalue, values.right)
        elif len(pairs.eigenvalue) < self.count:
            raise ValueError(
                f"count: only {len(pairs.eigenvalue)} pairs vibrate above {self.above_hz:g} Hz at the expansion point, "
                f"{self.count} were asked for"
            )
        else:
            pairs = chosen(pairs, np.arange(self.count))
        return eigen_series(
            monomials_of(len(centre), order), M, C, K, pairs, self.biorthonormal
        )


def chosen(pairs: Eigenpairs, which: np.ndarray) -> Eigenpairs:
    """Some of the pairs; the rest joins the others."""
    rest = np.setdiff1d(np.arange(len(pairs.eigenvalue)), which)
    others = np.concatenate([pairs.others, pairs.eigenvalue[rest]])
    return Eigenpairs(
        pairs.eigenvalue[which], pairs.right[:, which], pairs.left[:, which], others
    )


def matched(pairs: Eigenpairs, eigenvalue: np.ndarray, right: np.ndarray) -> Eigenpairs:
    """The pairs that continue given ones: likest vectors and nearest eigenvalues, with the vectors' phase kept."""
    mac = modal_assurance(right[:, None, :], pairs.right.T[None, :, :])
    distance = np.abs(eigenvalue[:, None] - pairs.eigenvalue[None, :]) / np.abs(
        eigenvalue[:, None]
    )
    _, which = scipy.optimize.linear_sum_assignment(
        (1.0 - mac) + np.minimum(distance, 1.0)
    )
    pairs = chosen(pairs, which)
    product = np.einsum("mn,nm->m", right, pairs.right.conj())
    scale = product / np.maximum(np.abs(product), 1e-300)
    return Eigenpairs(
        pairs.eigenvalue, pairs.right * scale, pairs.left * scale, pairs.others
    )


def _highest(p: int) -> int:
    """Highest order worth trying: some two hundred terms at most, whatever the number of parameters."""
    return {1: 10, 2: 8, 3: 6, 4: 5}.get(p, 4)


def _region(over: Any, names: tuple[str, ...]) -> Region | None:
    if over is None:
        return None
    if isinstance(over, Mapping):
        strange = [name for name in over if name not in names] + [
            name for name in names if name not in over
        ]
        if strange:
            raise ValueError(
                f"over: {', '.join(strange)}: give a range for each of {', '.join(names)}, nothing else"
            )
        low, high = (
            np.array([float(over[name][side]) for name in names]) for side in (0, 1)
        )
        if not (high > low).all():
            raise ValueError("over: each range is (low, high) with low < high")
        return Box(low, high)
    points = np.asarray(over, dtype=float)
    if points.ndim != 2 or points.shape[1] != len(names) or not len(points):
        raise ValueError(
            f"over: an array of points has one row per point and {len(names)} columns ({', '.join(names)}), "
            f"got shape {points.shape}"
        )
    return Points(points)


def _start(
    names, at, region: Region | None, present: Callable[[], np.ndarray] | None
) -> np.ndarray:
    """The expansion point: as given, else the middle of the range, else where the robot is now."""
    given = dict(at or {})
    strange = [name for name in given if name not in names]
    if strange:
        raise ValueError(
            f"at: {', '.join(strange)} is no parameter; they are {', '.join(names)}"
        )
    if all(name in given for name in names):
        return np.array([float(given[name]) for name in names])
    if region is None and present is None:
        raise ValueError(
            f"at: give the value of each of {', '.join(names)} at the expansion point"
        )
    rest = (
        region.centre()
        if region is not None
        else present()
        if present is not None
        else ()
    )
    return np.array(
        [float(given.get(name, value)) for name, value in zip(names, rest, strict=True)]
    )
