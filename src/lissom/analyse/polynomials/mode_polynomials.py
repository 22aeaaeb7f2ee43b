"""Eigenvalues, right and left vectors as polynomials of named parameters: the modal model of [Palomba2019]."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from ...algebra import series
from ...algebra.series import of_dense
from ...atomic import write_atomically
from ...types import namespace
from .eigenseries import EigenSeries
from .polynomial import PiecewisePolynomial, written
from .quadratic import damping_ratio, frequency_hz

KINDS = ("frequency_hz", "damping_ratio", "eigenvalue")


class ModesAt(NamedTuple):
    """Modal data at points (leading axes), m pairs of n coordinates."""

    eigenvalue: Complex[
        Any, "... m"
    ]  # lambda [1/s], the member of the pair with positive imaginary part
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


@dataclass(frozen=True, eq=False)
class ModePolynomials:
    """Eigenpairs as polynomials of named parameters, about one or several expansion points.

    Call it with points: an array whose last axis holds the parameters in their order, or a mapping from each
    parameter's name to its values. NumPy in, NumPy out; JAX in, JAX out, with `jax.grad`, `jax.jit` and `jax.vmap`.
    """

    polynomial: PiecewisePolynomial  # columns: m eigenvalues, m n right, m n conjugate left components
    modes: int
    coordinates: tuple[str, ...]  # names of the n components of the vectors
    notes: Mapping[str, str] = field(
        default_factory=dict
    )  # robot, formulation, what was expanded, what was checked

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
        """Expansion points."""
        return self.polynomial.centre

    def __call__(self, points: Any) -> ModesAt:
        """Modal data at points."""
        return self._parted(self.polynomial(self.points(points)))

    def eigenvalues(self, points: Any) -> Complex[Any, "... m"]:
        """Eigenvalues alone: cheaper than everything."""
        return self._head(self.modes)(self.points(points))

    def frequency_hz(self, points: Any) -> Float[Any, "... m"]:
        """Undamped natural frequencies [Hz]."""
        return frequency_hz(self.eigenvalues(points))

    def damping_ratio(self, points: Any) -> Float[Any, "... m"]:
        """Damping ratios."""
        return damping_ratio(self.eigenvalues(points))

    def sensitivity(self, points: Any) -> Sensitivity:
        """Derivatives of everything with respect to every parameter: the derivatives of the polynomials."""
        points = self.points(points)
        xp = namespace(points)
        parts = [
            self._parted(self.polynomial.derivative(name)(points))
            for name in self.parameters
        ]
        lam = self.eigenvalues(points)[..., None]
        slope, right, left = (xp.stack([getattr(part, name) for part in parts], axis=-1)
                              for name in ("eigenvalue", "right", "left"))  # fmt: skip
        size = abs(lam)
        grown = (lam.real * slope.real + lam.imag * slope.imag) / size
        damping = -slope.real / size + lam.real * grown / size**2
        return Sensitivity(slope, grown / (2 * np.pi), damping, right, left)

    def points(self, points: Any) -> Float[Any, "... p"]:
        """Points as an array, parameters along the last axis.

        Raises:
            ValueError: a parameter is missing, unknown, or the last axis has another length.
        """
        if isinstance(points, Mapping):
            strange = [name for name in points if name not in self.parameters]
            missing = [name for name in self.parameters if name not in points]
            if strange or missing:
                what = (
                    f"unknown {', '.join(strange)}"
                    if strange
                    else f"missing {', '.join(missing)}"
                )
                raise ValueError(
                    f"points: {what}; the parameters are {', '.join(self.parameters)}"
                )
            xp = namespace(*points.values())
            columns = xp.broadcast_arrays(
                *[xp.asarray(points[name], dtype=float) for name in self.parameters]
            )
            return xp.stack(columns, axis=-1)
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

    def truncated(self, order: int) -> "ModePolynomials":
        """The same with terms up to a lower order only."""
        return ModePolynomials(
            self.polynomial.truncated(order), self.modes, self.coordinates, self.notes
        )

    def last_order(self, points: Any) -> Float[np.ndarray, "... m"]:
        """Share of the highest order's terms in the eigenvalue at points: a rough error estimate without the model."""
        points = np.asarray(self.points(points))
        if self.order == 0:
            return np.ones((*points.shape[:-1], self.modes))
        whole, shorter = (
            self.eigenvalues(points),
            self.truncated(self.order - 1).eigenvalues(points),
        )
        return abs(whole - shorter) / abs(whole)

    def coefficients(self, kind: str = "eigenvalue") -> PiecewisePolynomial:
        """The polynomials of the eigenvalues, or those of frequencies or damping ratios to the same order.

        Args:
            kind: `eigenvalue`, `frequency_hz` or `damping_ratio`.
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        p = self._head(self.modes)
        if kind == "eigenvalue":
            return p
        found = [
            [_real_series(p.monomials, piece[:, i], kind) for i in range(self.modes)]
            for piece in p.coefficients
        ]
        return PiecewisePolynomial(
            p.parameters,
            p.order,
            p.centre,
            p.low,
            p.high,
            np.stack(found).swapaxes(1, 2),
        )

    def text(
        self,
        mode: int = 0,
        kind: str = "frequency_hz",
        piece: int = 0,
        digits: int = 6,
        smallest: float = 1e-6,
    ):
        """One polynomial written out; terms that stay below `smallest` of the value over the piece are left out."""
        return written(self.coefficients(kind), mode, piece, digits, smallest)

    def __str__(self) -> str:
        head = (
            f"{self.modes} eigenpairs as polynomials of order {self.order} in {', '.join(self.parameters)}: "
            f"{self.terms} terms each, {self.polynomial.pieces} expansion point(s)"
        )
        values = self(self.centres[:1])
        rows = [
            f"  mode {i + 1}: {values.frequency_hz[0, i]:.6g} Hz, damping {values.damping_ratio[0, i]:.4g}; "
            f"f = {self.text(i, digits=4, smallest=1e-4)}"
            for i in range(self.modes)
        ]
        return "\n".join(
            [head, *[f"  {key}: {value}" for key, value in self.notes.items()], *rows]
        )

    def save(self, path: Any, vectors: bool = True) -> None:
        """Writes the polynomials: `.npz` to load again, `.c` (C99) or `.py` (NumPy) as source that needs no lissom.

        Args:
            path: the file.
            vectors: also write the vectors into a source.
        """
        from .export import archive, c_source, numpy_source

        kind = str(path).rpartition(".")[2]
        if kind == "npz":
            write_atomically(
                path, lambda file: np.savez_compressed(file, **archive(self))
            )
        elif kind in ("c", "py"):
            stem = str(path).replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
            word = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
            word = word if word[:1].isalpha() else f"modes_{word}"
            text = (
                c_source(self, word, vectors)
                if kind == "c"
                else numpy_source(self, vectors)
            )
            write_atomically(path, lambda file: file.write(text.encode()))
        else:
            raise ValueError(f"{path}: mode polynomials are written as .npz, .c or .py")

    @staticmethod
    def load(path: Any) -> "ModePolynomials":
        """The polynomials of an `.npz` file."""
        from .export import from_archive

        with np.load(path) as data:
            return from_archive(data)

    def _head(self, columns: int) -> PiecewisePolynomial:
        p = self.polynomial
        return PiecewisePolynomial(
            p.parameters,
            p.order,
            p.centre,
            p.low,
            p.high,
            p.coefficients[..., :columns],
        )

    def _parted(self, values: Any) -> ModesAt:
        m, n = self.modes, len(self.coordinates)
        lam = values[..., :m]
        right = values[..., m : m + m * n].reshape(*values.shape[:-1], m, n)
        left = values[..., m + m * n :].reshape(*values.shape[:-1], m, n)
        return ModesAt(lam, frequency_hz(lam), damping_ratio(lam), right, left.conj())


def mode_polynomials(
    parameters: Sequence[str],
    order: int,
    boxes: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
    found: Sequence[EigenSeries],
    coordinates: Sequence[str],
    notes: Mapping[str, str],
) -> ModePolynomials:
    """The polynomials of several expansions; boxes are (centre, low, high)."""
    columns = [
        np.concatenate([part.reshape(len(part), -1) for part in one], axis=1)
        for one in found
    ]
    centre, low, high = (np.stack(side) for side in zip(*boxes, strict=True))
    polynomial = PiecewisePolynomial(
        tuple(parameters), order, centre, low, high, np.stack(columns)
    )
    return ModePolynomials(
        polynomial, found[0].eigenvalue.shape[1], tuple(coordinates), dict(notes)
    )


def _real_series(monomials, lam: np.ndarray, kind: str) -> np.ndarray:
    """|lambda| / (2 pi) or -Re lambda / |lambda| as a series."""
    square = series.total(
        [
            series.multiply(monomials, part, part)
            for part in (of_dense(np.real(lam)), of_dense(np.imag(lam)))
        ]
    )
    if kind == "frequency_hz":
        size = series.compose(
            monomials, square, series.power(square.value, 0.5, monomials.order)
        )
        return size.dense(monomials.size) / (2 * np.pi)
    inverse = series.compose(
        monomials, square, series.power(square.value, -0.5, monomials.order)
    )
    return -series.multiply(monomials, of_dense(np.real(lam)), inverse).dense(
        monomials.size
    )
