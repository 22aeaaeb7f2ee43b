"""How good polynomial eigenpairs are, from the residual of the eigenproblem, and how to make them good enough.

With the matrices at a point, one bordered solve per pair

    [Q(lambda)  Q'(lambda) phi] [d phi   ]     [Q(lambda) phi]
    [phi^*      0             ] [d lambda] = - [0            ]

turns the residual Q phi of an approximate pair into its errors d lambda and d phi, to second order in them. No
eigenproblem is solved. [Palomba2019] names such an index as open work.
"""

import abc
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ...algebra.monomials import monomials_of
from .eigenseries import EigenSeries
from .mode_polynomials import ModePolynomials, mode_polynomials


class ErrorEstimate(NamedTuple):
    """Estimated errors of approximate pairs at points; m pairs."""

    frequency: Float[np.ndarray, "N m"]  # relative error of |lambda|
    damping: Float[np.ndarray, "N m"]  # error of the damping ratio, absolute
    mac_right: Float[np.ndarray, "N m"]  # MAC with the exact right vector
    mac_left: Float[np.ndarray, "N m"]

    @property
    def worst(self) -> tuple[float, float]:
        """Largest frequency error and smallest MAC."""
        return float(self.frequency.max(initial=0.0)), float(min(self.mac_right.min(initial=1.0),
                                                                 self.mac_left.min(initial=1.0)))  # fmt: skip


class AccuracyError(RuntimeError):
    """The wanted accuracy was not reached within the allowed number of expansion points."""


class Wanted(NamedTuple):
    """What automatic expansion has to reach, and what it may spend."""

    frequency: float  # relative error
    mac: float
    orders: tuple[int, ...]  # orders to try, lowest first
    pieces: int  # most expansion points


def residual_errors(matrices, eigenvalue, right, left) -> ErrorEstimate:
    """Errors of approximate pairs (N points, m pairs) of the given M, C, K (N, n, n), from their residuals."""
    M, C, K = (A[:, None] for A in matrices)
    lam = eigenvalue[..., None, None]
    Q, slope = lam**2 * M + lam * C + K, 2 * lam * M + C
    size = np.abs(lam[..., 0, 0]) ** 2 * np.abs(M).max(axis=(-2, -1)) + np.abs(K).max(
        axis=(-2, -1)
    )
    d_lam, d_phi = _corrections(Q, slope, right, size)
    _, d_chi = _corrections(
        Q.swapaxes(-1, -2), slope.swapaxes(-1, -2), left.conj(), size
    )
    size = np.abs(eigenvalue)
    frequency = np.abs(np.abs(eigenvalue + d_lam) / size - 1.0)
    damping = np.abs(
        (eigenvalue + d_lam).real / np.abs(eigenvalue + d_lam) - eigenvalue.real / size
    )
    return ErrorEstimate(frequency, damping, *(1.0 / (1.0 + d) for d in (d_phi, d_chi)))


def _corrections(Q, slope, phi, size):
    """Correction of lambda, and the squared length of d phi against that of phi."""
    n = phi.shape[-1]
    length = np.linalg.norm(phi, axis=-1, keepdims=True)
    phi = phi / length
    column = np.einsum("...ij,...j->...i", slope, phi)
    unit = size / np.abs(column).max(axis=-1)
    S = np.zeros((*Q.shape[:-2], n + 1, n + 1), complex)
    S[..., :n, :n], S[..., :n, n] = Q, unit[..., None] * column
    S[..., n, :n] = phi.conj() * size[..., None]
    b = np.zeros((*Q.shape[:-2], n + 1), complex)
    b[..., :n] = -np.einsum("...ij,...j->...i", Q, phi)
    d = np.linalg.solve(S, b[..., None])[..., 0]
    return unit * d[..., n], np.sum(np.abs(d[..., :n]) ** 2, axis=-1)


class Piece(NamedTuple):
    """One expansion, good over its box."""

    centre: np.ndarray
    low: np.ndarray
    high: np.ndarray
    found: EigenSeries
    order: int
    errors: ErrorEstimate


def expand_until(
    region: "Region",
    expand: Callable[[np.ndarray, ModePolynomials | None], EigenSeries],
    matrices: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
    parameters: tuple[str, ...],
    wanted: Wanted,
    watch: Callable[[int, int], None] | None = None,
) -> list[Piece]:
    """Expansions that together reach the wanted accuracy: the lowest order that does, else the region is cut in two.

    The cut goes across the parameter whose highest pure power contributes most.

    Raises:
        AccuracyError: it would take more expansion points than allowed.
    """
    queue: list[tuple[Region, ModePolynomials | None]] = [(region, None)]
    pieces: list[Piece] = []
    while queue:
        here, parent = queue.pop()
        centre = here.centre()
        found = expand(centre, parent)
        points = here.checks()
        exact = matrices(points)
        piece, best = _good_enough(
            here, centre, found, points, exact, parameters, wanted
        )
        if piece is not None:
            pieces.append(piece)
        elif len(pieces) + len(queue) + 2 > wanted.pieces:
            raise AccuracyError(
                f"a frequency error of {wanted.frequency:g} and a MAC of {wanted.mac:g} need more than {wanted.pieces} "
                f"expansion points: {best[0]:.2g} and {best[1]:.6f} were reached about "
                + ", ".join(
                    f"{name} = {v:.6g}"
                    for name, v in zip(parameters, centre, strict=True)
                )
                + ". Narrow the range, allow more expansion points or a higher order, or ask for less."
            )
        else:
            own = _polynomials(parameters, centre, here, found, wanted.orders[-1])
            queue += [
                (half, own)
                for half in here.halves(_contribution(found, wanted.orders[-1], here))
            ]
        if watch is not None:
            watch(len(pieces), len(queue))
    return pieces


def _good_enough(region, centre, found, points, exact, parameters, wanted):
    best = (np.inf, 0.0)
    for order in wanted.orders:
        polynomials = _polynomials(parameters, centre, region, found, order)
        values = polynomials(points)
        errors = residual_errors(exact, values.eigenvalue, values.right, values.left)
        frequency, mac = errors.worst
        best = min(best, (frequency, mac))
        if frequency <= wanted.frequency and mac >= wanted.mac:
            return Piece(centre, region.low, region.high, found, order, errors), best
    return None, best


def _polynomials(
    parameters, centre, region, found: EigenSeries, order: int
) -> ModePolynomials:
    size = monomials_of(len(parameters), order).size
    cut = EigenSeries(*(part[:size] for part in found))
    n = cut.right.shape[-1]
    return mode_polynomials(
        parameters, order, [(centre, region.low, region.high)], [cut], [""] * n, {}
    )


def _contribution(found: EigenSeries, order: int, region: "Region") -> np.ndarray:
    """How much the two highest pure powers of each parameter move the eigenvalues and vectors over the region."""
    p = len(region.low)
    monomials = monomials_of(p, order)
    half = 0.5 * (region.high - region.low)
    total = np.zeros(p)
    for i in range(p):
        for t in {max(order - 1, 1), order}:
            k = monomials.place[tuple(t * np.eye(p, dtype=int)[i])]
            eigenvalue = np.abs(found.eigenvalue[k] / found.eigenvalue[0]).max()
            vector = (
                np.linalg.norm(found.right[k], axis=-1)
                / np.linalg.norm(found.right[0], axis=-1)
            ).max()
            total[i] += (eigenvalue + vector) * half[i] ** t
    return total


class Region(abc.ABC):
    """Where polynomials have to be good: a box, or the points of a trajectory; it can be cut in two."""

    low: np.ndarray
    high: np.ndarray

    @abc.abstractmethod
    def centre(self) -> np.ndarray:
        """Where to expand."""

    @abc.abstractmethod
    def checks(self) -> np.ndarray:
        """Points at which the error is estimated."""

    @abc.abstractmethod
    def halves(self, weight: np.ndarray) -> Iterator["Region"]:
        """Two parts, cut across the parameter of largest weight."""


class Box(Region):
    """All parameter values between two corners; checked at its corners, faces and a spread of inner points."""

    def __init__(self, low: np.ndarray, high: np.ndarray, inner: int = 24):
        self.low, self.high, self.inner = (
            np.asarray(low, float),
            np.asarray(high, float),
            inner,
        )

    def centre(self) -> np.ndarray:
        """The middle."""
        return 0.5 * (self.low + self.high)

    def checks(self) -> np.ndarray:
        """Corners (of up to six parameters), middles of faces, and a low-discrepancy spread."""
        from scipy.stats import qmc  # slow to import, and few need it

        p = len(self.low)
        corners = (
            np.stack(np.meshgrid(*[[-1.0, 1.0]] * p, indexing="ij"), -1).reshape(-1, p)
            if p <= 6
            else []
        )
        faces = np.concatenate([np.eye(p), -np.eye(p)])
        spread = 2.0 * qmc.Halton(p, scramble=False).random(self.inner + 1)[1:] - 1.0
        unit = np.concatenate([part for part in (corners, faces, spread) if len(part)])
        return self.centre() + 0.5 * (self.high - self.low) * unit

    def halves(self, weight: np.ndarray) -> Iterator[Region]:
        """Two boxes."""
        i = int(np.argmax(weight))
        middle = self.centre()[i]
        for side, value in ((self.high, middle), (self.low, middle)):
            low, high = self.low.copy(), self.high.copy()
            (high if side is self.high else low)[i] = value
            yield Box(low, high, self.inner)


class Points(Region):
    """Given parameter values, such as a sampled trajectory; expanded about the one nearest their middle."""

    def __init__(self, points: np.ndarray, scale: np.ndarray | None = None):
        self.points = np.asarray(points, float)
        self.low, self.high = self.points.min(axis=0), self.points.max(axis=0)
        self.scale = np.maximum(self.high - self.low, 1e-12) if scale is None else scale

    def centre(self) -> np.ndarray:
        """The given point nearest the middle of the box around them."""
        away = (self.points - 0.5 * (self.low + self.high)) / self.scale
        return self.points[np.argmin(np.max(np.abs(away), axis=1))]

    def checks(self) -> np.ndarray:
        """The points themselves."""
        return self.points

    def halves(self, weight: np.ndarray) -> Iterator[Region]:
        """The points on either side of the middle of their box."""
        spread = self.high > self.low
        i = int(np.argmax(np.where(spread, weight, -1.0)))
        below = self.points[:, i] <= 0.5 * (self.low[i] + self.high[i])
        for side in (below, ~below):
            yield Points(self.points[side], self.scale)
