"""Eigenvalues, right and left vectors as polynomials of named parameters: the modal model of [Palomba2019]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Complex

from ...algebra import series
from ...algebra.series import from_dense
from ...atomic import write_atomically
from ...describe.modelled import model_facts
from ...drawing import picture_of
from ...files.array_file import read_arrays
from ...files.summary import Result, Summary, count, number, plain
from ...solve.model import Model
from ...types import Float, namespace
from ..modes.complex_modes import (
    Eigenpairs,
    damping_ratio,
    frequency_hz,
    vibration_pairs,
)
from ..validity.description import robot_warnings
from ..validity.validity_warning import warning_lines
from .accuracy import ErrorEstimate, residual_errors
from .eigenseries import EigenSeries
from .matched_pairs import match_pairs
from .matrix_source import MatrixSource
from .piecewise_polynomial import PiecewisePolynomial, text_of
from .polynomial_export import (
    PolynomialTable,
    archive,
    c_source,
    from_archive,
    identifier,
    numpy_source,
)

KINDS = ("frequency_hz", "damping_ratio", "eigenvalue")

# An expansion point and the corners of the box around it: centre, low, high.
PieceBox = tuple[np.ndarray, np.ndarray, np.ndarray]


class ModesAt(NamedTuple):
    """Modal data at points (leading axes), m pairs of n coordinates."""

    # lambda [1/s], the member of the pair with positive imaginary part.
    eigenvalue: Complex[Any, "... m"]
    frequency_hz: Float[Any, "... m"]  # |lambda| / (2 pi)
    damping_ratio: Float[Any, "... m"]  # -Re lambda / |lambda|
    right: Complex[Any, "... m n"]  # phi
    left: Complex[Any, "... m n"]  # psi: psi^* (lambda^2 M + lambda C + K) = 0


class Sensitivity(NamedTuple):
    """Partial derivatives at points, the parameters along the last axis."""

    eigenvalue: Complex[Any, "... m p"]
    frequency_hz: Float[Any, "... m p"]
    damping_ratio: Float[Any, "... m p"]
    right: Complex[Any, "... m n p"]
    left: Complex[Any, "... m n p"]


@dataclass(frozen=True, eq=False, repr=False)
class ModePolynomials(Result):
    """Eigenpairs as polynomials of named parameters, about one or several expansion points.

    Call it with points: an array whose last axis holds the parameters in their order, or a mapping from each
    parameter's name to its values. NumPy in, NumPy out; JAX in, JAX out, with `jax.grad`, `jax.jit` and `jax.vmap`.

    Example:
        >>> import jax.numpy as jnp, lissom as ls
        >>> def matrices(p):
        ...     return jnp.eye(1), jnp.zeros((1, 1)), (1.0 + p[0]) * jnp.eye(1)
        >>> found = ls.parametric_eigenpairs(matrices, ["k"], at={"k": 0.0}, order=2, count=1)
        >>> found.summary().title
        'mode polynomials: order 2, 3 terms, 1 expansion point'
        >>> found.save("modes.npz")
        >>> ls.ModePolynomials.load("modes.npz").parameters
        ('k',)
    """

    # Columns: m eigenvalues, m n right, m n conjugate left components.
    polynomial: PiecewisePolynomial
    modes: int
    coordinates: tuple[str, ...]  # names of the n components of the vectors
    # Robot, formulation, what was expanded, what was checked.
    notes: Mapping[str, str] = field(default_factory=dict)
    source: MatrixSource | None = None  # the matrices they came from; lost in a file
    origin: Model | None = None  # the model of the robot, where there is one

    saved_as: ClassVar[str] = "polynomials"  # what JSON calls its file

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return self.polynomial.parameters

    @property
    def order(self) -> int:
        """Total order of the polynomials."""
        return self.polynomial.order

    @property
    def terms(self) -> int:
        """Number of terms of each polynomial, [Palomba2019] Table 1."""
        return self.polynomial.monomials.size

    @property
    def centres(self) -> Float[np.ndarray, "P p"]:
        """Expansion points, one row for each piece."""
        return self.polynomial.centre

    def __call__(self, points: Any) -> ModesAt:
        """Eigenvalues, right and left vectors at points, batched over leading axes."""
        return self._modes_at(self.polynomial(self.points(points)))

    def eigenvalues(self, points: Any) -> Complex[Any, "... m"]:
        """Eigenvalues alone, without vectors."""
        return self._eigenvalue_polynomial()(self.points(points))

    def frequency_hz(self, points: Any) -> Float[Any, "... m"]:
        """Undamped natural frequencies |lambda| / (2 pi) at points [Hz]."""
        return frequency_hz(self.eigenvalues(points))

    def damping_ratio(self, points: Any) -> Float[Any, "... m"]:
        """Damping ratios -Re lambda / |lambda| at points."""
        return damping_ratio(self.eigenvalues(points))

    def sensitivity(self, points: Any) -> Sensitivity:
        """Derivatives of everything with respect to every parameter: the derivatives of the polynomials."""
        points = self.points(points)
        xp = namespace(points)
        slopes = []
        for name in self.parameters:
            values = self.polynomial.derivative(name)(points)
            slopes.append(self._modes_at(values))

        def stacked(name):
            parts = [getattr(slope, name) for slope in slopes]
            return xp.stack(parts, axis=-1)

        lam = self.eigenvalues(points)[..., None]
        d_lam = stacked("eigenvalue")
        # |lambda| and -Re lambda / |lambda| are differentiated by hand: they are no polynomials.
        size = abs(lam)
        d_square = lam.real * d_lam.real + lam.imag * d_lam.imag
        d_size = d_square / size
        d_ratio = -d_lam.real / size + lam.real * d_size / size**2
        return Sensitivity(
            eigenvalue=d_lam,
            frequency_hz=d_size / (2 * np.pi),
            damping_ratio=d_ratio,
            right=stacked("right"),
            left=stacked("left"),
        )

    def points(self, points: Any) -> Float[Any, "... p"]:
        """Points as an array, parameters along the last axis.

        Raises:
            ValueError: a parameter is missing, unknown, or the last axis has another length.
        """
        if isinstance(points, Mapping):
            return self._named_points(points)
        xp = namespace(points)
        points = xp.asarray(points, dtype=float)
        if points.ndim == 0 and len(self.parameters) == 1:
            points = points[None]
        if points.shape[-1:] != (len(self.parameters),):
            raise ValueError(
                f"points: the last axis must hold {len(self.parameters)} values ({', '.join(self.parameters)}), "
                f"got shape {tuple(points.shape)}"
            )
        return points

    def _named_points(self, points: Mapping[str, Any]) -> Float[Any, "... p"]:
        unknown = [name for name in points if name not in self.parameters]
        missing = [name for name in self.parameters if name not in points]
        if unknown or missing:
            what = f"missing {', '.join(missing)}"
            if unknown:
                what = f"unknown {', '.join(unknown)}"
            raise ValueError(
                f"points: {what}; the parameters are {', '.join(self.parameters)}"
            )
        xp = namespace(*points.values())
        columns = [xp.asarray(points[name], dtype=float) for name in self.parameters]
        return xp.stack(xp.broadcast_arrays(*columns), axis=-1)

    def truncated(self, order: int) -> "ModePolynomials":
        """The polynomials with terms up to a lower order alone."""
        return replace(self, polynomial=self.polynomial.truncated(order))

    def last_order(self, points: Any) -> Float[np.ndarray, "... m"]:
        """Share of the highest order's terms in the eigenvalue at points: a rough error estimate without the model."""
        points = np.asarray(self.points(points))
        if self.order == 0:
            return np.ones((*points.shape[:-1], self.modes))
        whole = self.eigenvalues(points)
        shorter = self.truncated(self.order - 1).eigenvalues(points)
        return abs(whole - shorter) / abs(whole)

    def coefficients(self, kind: str = "eigenvalue") -> PiecewisePolynomial:
        """The polynomials of the eigenvalues, or those of frequencies or damping ratios to the same order.

        Args:
            kind: `eigenvalue`, `frequency_hz` or `damping_ratio`.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        lam = self._eigenvalue_polynomial()
        if kind == "eigenvalue":
            return lam
        # Functions of lambda become series by composition, cut at the same order.
        pieces = []
        for coefficients in lam.coefficients:
            columns = [_real_series(lam.monomials, c, kind) for c in coefficients.T]
            pieces.append(np.stack(columns, axis=1))
        return replace(lam, coefficients=np.stack(pieces))

    def text(
        self,
        mode: int = 0,
        kind: str = "frequency_hz",
        piece: int = 0,
        digits: int = 6,
        smallest: float = 1e-6,
    ):
        """One polynomial written out; terms that stay below `smallest` of the value over the piece are left out."""
        return text_of(self.coefficients(kind), mode, piece, digits, smallest)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be wrong with the data of the robot, one line each."""
        if self.origin is None:
            return ()
        return warning_lines(robot_warnings(self.origin.robot))

    def to_dict(self) -> dict[str, Any]:
        """Order, terms, checked errors and the leading terms of each frequency; the coefficients go to a file."""
        values = self(self.centres[0])
        known = {}
        if self.origin is not None:
            known = model_facts(self.origin.robot.name, self.origin.modelled)
        data = known | {
            "parameters": self.parameters,
            "order": self.order,
            "terms": self.terms,
            "expansion_points": self.centres,
            "checked": self.notes.get("checked"),
            "frequency_hz": values.frequency_hz,
            "damping_ratio": values.damping_ratio,
            "text": self._leading_terms(),
            "warnings": self.warnings,
        }
        return plain(data)

    def summary(self) -> Summary:
        """The leading terms of each frequency, and how far they are from exact modes."""
        values = self(self.centres[0])
        rows = []
        for m, text in enumerate(self._leading_terms()):
            pair = (values.frequency_hz[m], values.damping_ratio[m])
            rows.append((str(m + 1), *map(number, pair), text))
        facts = dict(self.notes)
        name = facts.pop("robot", "mode polynomials")
        if self.origin is not None:
            facts = {"model": str(self.origin.modelled), **facts}
        points = count(len(self.centres), "expansion point")
        title = f"{name}: order {self.order}, {self.terms} terms, {points}"
        columns = ("mode", "frequency [Hz]", "damping", "f =")
        return Summary(title, tuple(facts.items()), columns, tuple(rows))

    def plot(self, path: Any = None) -> Any:
        """Figure of the frequencies over each parameter, the others at the first expansion point; `path` writes it."""
        return picture_of(self, path=path)

    def _leading_terms(self) -> tuple[str, ...]:
        # The whole polynomial has hundreds of terms: the file holds it.
        return tuple(self.text(m, digits=5, smallest=1e-4) for m in range(self.modes))

    def error_estimate(self, points: Any) -> ErrorEstimate:
        """Errors at points, from the residual of the exact eigenproblem there; no eigenproblem is solved.

        Raises:
            ValueError: the polynomials were read from a file, which holds no matrices.
        """
        points = self._rows(points)
        values = self(points)
        exact = self.matrices.exact(points)
        return residual_errors(exact, values.eigenvalue, values.right, values.left)

    def exact(self, points: Any) -> list[Eigenpairs]:
        """The exact pairs at points by LAPACK, in the order of these polynomials (matched by their vectors).

        Raises:
            ValueError: the polynomials were read from a file, which holds no matrices.
        """
        points = self._rows(points)
        values = self(points)
        M, C, K = self.matrices.exact(points)
        exact = []
        for i in range(len(points)):
            pairs = vibration_pairs(M[i], C[i], K[i])
            pairs = match_pairs(pairs, values.eigenvalue[i], values.right[i])
            exact.append(pairs)
        return exact

    @property
    def matrices(self) -> MatrixSource:
        """M, C, K that the polynomials came from.

        Raises:
            ValueError: the polynomials were read from a file, which holds no matrices.
        """
        if self.source is None:
            raise ValueError(
                "polynomials read from a file have no matrices to be compared with: "
                "compute them with ls.parametric_modes"
            )
        return self.source

    def _rows(self, points: Any) -> np.ndarray:
        """Points as rows, whatever axes they came in."""
        points = np.asarray(self.points(points))
        return points.reshape(-1, len(self.parameters))

    def save(self, path: Any, vectors: bool = True) -> None:
        """Writes the polynomials: `.npz` to load again, `.c` (C99) or `.py` (NumPy) as source that needs no lissom.

        Args:
            path: the file.
            vectors: also write the vectors into a source.
        """
        table = PolynomialTable(
            self.polynomial, self.modes, self.coordinates, self.notes
        )
        kind = str(path).rpartition(".")[2]
        if kind == "npz":
            arrays = archive(table)
            write_atomically(path, lambda file: np.savez_compressed(file, **arrays))
            return
        if kind == "c":
            text = c_source(table, identifier(path), vectors)
        elif kind == "py":
            text = numpy_source(table, vectors)
        else:
            raise ValueError(f"{path}: mode polynomials are written as .npz, .c or .py")
        write_atomically(path, lambda file: file.write(text.encode()))

    @staticmethod
    def load(path: Any) -> "ModePolynomials":
        """The polynomials of an `.npz` file."""
        return ModePolynomials(*from_archive(read_arrays(path)))

    def _eigenvalue_polynomial(self) -> PiecewisePolynomial:
        p = self.polynomial
        return replace(p, coefficients=p.coefficients[..., : self.modes])

    def _modes_at(self, values: Any) -> ModesAt:
        """Modal data from the columns of the polynomial."""
        m = self.modes
        n = len(self.coordinates)
        lam = values[..., :m]
        vectors = (*values.shape[:-1], m, n)
        right = values[..., m : m + m * n].reshape(vectors)
        conjugate_left = values[..., m + m * n :].reshape(vectors)
        return ModesAt(
            eigenvalue=lam,
            frequency_hz=frequency_hz(lam),
            damping_ratio=damping_ratio(lam),
            right=right,
            left=conjugate_left.conj(),
        )


def mode_polynomials(
    parameters: Sequence[str],
    order: int,
    boxes: Sequence[PieceBox],
    expansions: Sequence[EigenSeries],
    coordinates: Sequence[str],
    notes: Mapping[str, str],
) -> ModePolynomials:
    """The polynomials of several expansions; boxes are (centre, low, high)."""
    coefficients = []
    for one in expansions:
        columns = [part.reshape(len(part), -1) for part in one]
        coefficients.append(np.concatenate(columns, axis=1))
    centre, low, high = (np.stack(part) for part in zip(*boxes, strict=True))
    polynomial = PiecewisePolynomial(
        parameters=tuple(parameters),
        order=order,
        centre=centre,
        low=low,
        high=high,
        coefficients=np.stack(coefficients),
    )
    modes = expansions[0].eigenvalue.shape[1]
    return ModePolynomials(polynomial, modes, tuple(coordinates), dict(notes))


def _real_series(monomials, lam: np.ndarray, kind: str) -> np.ndarray:
    """|lambda| / (2 pi) or -Re lambda / |lambda| as a series."""
    real = from_dense(np.real(lam))
    imaginary = from_dense(np.imag(lam))
    real_square = series.multiply(monomials, real, real)
    imaginary_square = series.multiply(monomials, imaginary, imaginary)
    square = series.add_series([real_square, imaginary_square])

    def square_to(power):
        outer = series.power(square.value, power, monomials.order)
        return series.compose(monomials, square, outer)

    if kind == "frequency_hz":
        size = square_to(0.5)
        return size.dense(monomials.size) / (2 * np.pi)
    ratio = series.multiply(monomials, real, square_to(-0.5))
    return -ratio.dense(monomials.size)
