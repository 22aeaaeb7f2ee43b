"""Polynomial eigenpairs as files: NumPy archives to load again, C and Python sources that need no lissom."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from .piecewise_polynomial import PiecewisePolynomial

FORMAT = 1
ARRAYS = ("centre", "low", "high", "coefficients")


class PolynomialTable(NamedTuple):
    """Contents of a file of polynomial eigenpairs."""

    polynomial: PiecewisePolynomial
    modes: int
    coordinates: tuple[str, ...]
    notes: Mapping[str, str]


def archive(polynomials: PolynomialTable) -> dict[str, Any]:
    """The polynomials and their names as arrays for `numpy.savez`."""
    p = polynomials.polynomial
    about = {
        "format": FORMAT,
        "parameters": p.parameters,
        "order": p.order,
        "modes": polynomials.modes,
        "coordinates": polynomials.coordinates,
        "notes": dict(polynomials.notes),
    }
    arrays: dict[str, Any] = {"about": np.array(json.dumps(about))}
    for name in ARRAYS:
        arrays[name] = getattr(p, name)
    return arrays


def from_archive(data: Any) -> PolynomialTable:
    """The polynomials of an archive.

    Raises:
        ValueError: the archive holds something else.
    """
    if "about" not in data or any(name not in data for name in ARRAYS):
        raise ValueError("the file holds no mode polynomials")
    about = json.loads(str(data["about"]))
    if about.get("format") != FORMAT:
        raise ValueError(
            f"the file has format {about.get('format')}, this version reads {FORMAT}"
        )
    arrays = {name: np.asarray(data[name]) for name in ARRAYS}
    parameters = tuple(about["parameters"])
    p = PiecewisePolynomial(parameters, about["order"], **arrays)
    coordinates = tuple(about["coordinates"])
    return PolynomialTable(p, about["modes"], coordinates, about["notes"])


def identifier(path: Any) -> str:
    """The name of a file, without its ending, as a name that C accepts."""
    name = str(path).replace("\\", "/").rpartition("/")[2]
    stem = name.rpartition(".")[0]
    word = ""
    for letter in stem:
        plain = letter.isascii() and letter.isalnum()
        word += letter if plain else "_"
    return word if word[:1].isalpha() else f"modes_{word}"


def _head(polynomials: PolynomialTable) -> list[str]:
    p = polynomials.polynomial
    return [
        f"{polynomials.modes} eigenpairs as polynomials of order {p.order}: {p.monomials.size} terms, "
        f"{p.pieces} piece(s).",
        f"Parameters, in order: {', '.join(p.parameters)}.",
        f"Coordinates of the vectors, in order: {', '.join(polynomials.coordinates)}.",
        *(f"{key}: {value}" for key, value in polynomials.notes.items()),
        "Eigenvalues [1/s] have positive imaginary parts; frequency |lambda| / (2 pi) [Hz], damping -Re / |lambda|.",
        "Left vectors psi: psi^* (lambda^2 M + lambda C + K) = 0. SI units, radians. Written by lissom.",
    ]


def _parts(polynomials: PolynomialTable, vectors: bool) -> dict[str, np.ndarray]:
    """Coefficients (piece, term, column) of each output, the left vectors themselves instead of their conjugates."""
    # Columns as `ModePolynomials` has them: eigenvalues, right vectors, conjugate left vectors.
    c = polynomials.polynomial.coefficients
    m = polynomials.modes
    n = len(polynomials.coordinates)
    parts = {"eigenvalue": c[..., :m]}
    if vectors:
        parts["right"] = c[..., m : m + m * n]
        parts["left"] = c[..., m + m * n :].conj()
    return parts


def _real_pairs(values: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs of real ones, real part first."""
    return np.stack([np.real(values), np.imag(values)], axis=-1)


def _floats(values: np.ndarray) -> str:
    # The shortest text that reads back as the same number.
    return ", ".join(repr(float(v)) for v in np.ravel(values))


def c_source(
    polynomials: PolynomialTable, name: str = "modes", vectors: bool = True
) -> str:
    """C99 without any library but math.h: `NAME_eigenvalue`, `NAME_right`, `NAME_left`, `NAME_frequency_hz`, ...

    Complex results are pairs of doubles, real part first; vectors mode after mode.
    """
    N = name.upper()
    text = [*_c_head(polynomials, N), *_c_tables(polynomials, name, vectors)]
    text.append(f"""
/* The piece that a point lies in, or lies least outside of. */
int {name}_piece(const double *p)
{{
    int best = 0;
    double least = HUGE_VAL;
    for (int k = 0; k < {N}_PIECES; k++) {{
        double away = 0.0;
        for (int i = 0; i < {N}_PARAMETERS; i++) {{
            double low = {name}_low_at[k * {N}_PARAMETERS + i], high = {name}_high_at[k * {N}_PARAMETERS + i];
            double half = fmax(0.5 * (high - low), 1e-12), d = fabs(p[i] - 0.5 * (low + high)) / half;
            if (d > away) away = d;
        }}
        if (away < least) {{ least = away; best = k; }}
    }}
    return best;
}}

static void {name}_sum(const double *p, const double *terms, int columns, double *out)
{{
    double monomial[{N}_TERMS];
    int k = {name}_piece(p);
    const double *centre = {name}_centre_at + k * {N}_PARAMETERS;
    const double *c = terms + (long)k * {N}_TERMS * columns;
    monomial[0] = 1.0;
    for (int t = 1; t < {N}_TERMS; t++) {{
        int i = {name}_factor_of[t];
        monomial[t] = monomial[{name}_parent_of[t]] * (p[i] - centre[i]);
    }}
    for (int j = 0; j < columns; j++) out[j] = c[j];
    for (int t = 1; t < {N}_TERMS; t++)
        for (int j = 0; j < columns; j++) out[j] += monomial[t] * c[(long)t * columns + j];
}}

/* lambda: 2 * {N}_MODES doubles */
void {name}_eigenvalue(const double *p, double *out) {{ {name}_sum(p, {name}_eigenvalue_terms, 2 * {N}_MODES, out); }}

void {name}_frequency_hz(const double *p, double *out)
{{
    double l[2 * {N}_MODES];
    {name}_eigenvalue(p, l);
    for (int i = 0; i < {N}_MODES; i++) out[i] = hypot(l[2 * i], l[2 * i + 1]) / 6.283185307179586;
}}

void {name}_damping_ratio(const double *p, double *out)
{{
    double l[2 * {N}_MODES];
    {name}_eigenvalue(p, l);
    for (int i = 0; i < {N}_MODES; i++) out[i] = -l[2 * i] / hypot(l[2 * i], l[2 * i + 1]);
}}""")
    for key in ("right", "left") if vectors else ():
        text.append(f"""
/* {key} vectors: 2 * {N}_MODES * {N}_COORDINATES doubles, mode after mode */
void {name}_{key}(const double *p, double *out)
{{
    {name}_sum(p, {name}_{key}_terms, 2 * {N}_MODES * {N}_COORDINATES, out);
}}""")
    return "\n".join(text) + "\n"


def _c_head(polynomials: PolynomialTable, N: str) -> list[str]:
    """The comment at the top, and the sizes."""
    p = polynomials.polynomial
    # A comment must not end before its end.
    comment = "\n   ".join(line.replace("*/", "* /") for line in _head(polynomials))
    sizes = {
        "PARAMETERS": len(p.parameters),
        "MODES": polynomials.modes,
        "COORDINATES": len(polynomials.coordinates),
        "TERMS": p.monomials.size,
        "PIECES": p.pieces,
    }
    lines = [f"/* {comment} */", "#include <math.h>", ""]
    lines += [f"#define {N}_{key} {value}" for key, value in sizes.items()]
    return [*lines, ""]


def _c_tables(polynomials: PolynomialTable, name: str, vectors: bool) -> list[str]:
    """All numbers: the boxes, how the terms build on each other, the coefficients."""
    p = polynomials.polynomial
    mono = p.monomials
    lines = []
    size = f"{p.pieces} * {len(p.parameters)}"
    for key in ("centre", "low", "high"):
        numbers = _floats(getattr(p, key))
        lines.append(f"static const double {name}_{key}_at[{size}] = {{{numbers}}};")
    # Every term is its parent times one parameter.
    for key in ("parent", "factor"):
        numbers = ", ".join(str(int(v)) for v in getattr(mono, key))
        lines.append(f"static const int {name}_{key}_of[{mono.size}] = {{{numbers}}};")
    for key, part in _parts(polynomials, vectors).items():
        pairs = _real_pairs(part)
        lines.append(
            f"static const double {name}_{key}_terms[{pairs.size}] = {{{_floats(pairs)}}};"
        )
    return lines


def numpy_source(polynomials: PolynomialTable, vectors: bool = True) -> str:
    """A Python module that needs NumPy alone: `evaluate(points)` and the names of everything."""
    p = polynomials.polynomial
    # Nothing in the notes may end the docstring or escape from it.
    head = "\n".join(_head(polynomials))
    head = head.replace('"""', "'''").replace("\\", "/")
    parts = _parts(polynomials, vectors)
    levels = [(a.tolist(), b.tolist()) for a, b in p.monomials.levels]
    text = [
        f'"""{head}\n"""',
        "",
        "import numpy as np",
        "",
        f"PARAMETERS = {p.parameters!r}",
        f"COORDINATES = {polynomials.coordinates!r}",
        f"MODES = {polynomials.modes}",
        f"LEVELS = {levels!r}",
    ]
    shape = f"{p.pieces}, {len(p.parameters)}"
    for key in ("centre", "low", "high"):
        numbers = _floats(getattr(p, key))
        text.append(f"{key.upper()} = np.array([{numbers}]).reshape({shape})")
    for key, values in parts.items():
        numbers = _floats(_real_pairs(values))
        text.append(
            f"{key.upper()} = np.array([{numbers}]).view(complex).reshape{values.shape!r}"
        )
    tables = ", ".join(f'("{key}", {key.upper()})' for key in parts)
    text.append(f'''

def evaluate(points):
    """Eigenvalues, frequencies [Hz], damping ratios{" and vectors" if vectors else ""} at points (..., parameters)."""
    points = np.asarray(points, dtype=float)
    flat = points.reshape(-1, len(PARAMETERS))
    half = np.maximum(0.5 * (HIGH - LOW), 1e-12)
    piece = np.argmin(np.max(np.abs(flat[:, None] - 0.5 * (LOW + HIGH)) / half, axis=-1), axis=1)
    dx = flat - CENTRE[piece]
    levels = [np.ones((len(flat), 1))]
    for parent, factor in LEVELS:
        levels.append(levels[-1][:, parent] * dx[:, factor])
    terms = np.concatenate(levels, axis=1)
    out = {{}}
    for name, table in ({tables},):
        values = np.empty((len(flat), table.shape[-1]), complex)
        for k in np.unique(piece):
            values[piece == k] = terms[piece == k] @ table[k]
        shape = (MODES,) if name == "eigenvalue" else (MODES, len(COORDINATES))
        out[name] = values.reshape(points.shape[:-1] + shape)
    size = np.abs(out["eigenvalue"])
    out["frequency_hz"], out["damping_ratio"] = size / (2 * np.pi), -out["eigenvalue"].real / size
    return out''')
    return "\n".join(text) + "\n"
