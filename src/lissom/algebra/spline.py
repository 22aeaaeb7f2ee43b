"""Cubic splines in NumPy: short tables are no reason to wait for SciPy's interpolation to be imported."""

import numpy as np

from ..types import Float


def clamped_spline(
    t: Float[np.ndarray, " k"], values: Float[np.ndarray, " k *n"]
) -> Float[np.ndarray, "p 4 *n"]:
    """The cubic spline through points, at rest at both ends.

    Returns:
        Coefficients of its pieces in powers of the time since the knot where each begins, lowest power first.
    """
    width = np.diff(t).reshape(-1, *[1] * (values.ndim - 1))
    rise = np.diff(values, axis=0) / width
    slope = _slopes(width, rise)
    before, after = slope[:-1], slope[1:]
    second = (3.0 * rise - 2.0 * before - after) / width
    third = (before + after - 2.0 * rise) / width**2
    return np.stack([values[:-1], before, second, third], axis=1)


def _slopes(
    width: Float[np.ndarray, " p *_"], rise: Float[np.ndarray, " p *n"]
) -> Float[np.ndarray, " k *n"]:
    """Slopes at all knots: zero at the ends, equal second derivatives on both sides of those between."""
    # m_(k-1) / h_(k-1) + 2 (1 / h_(k-1) + 1 / h_k) m_k + m_(k+1) / h_k = 3 (r_(k-1) / h_(k-1) + r_k / h_k)
    beside = 1.0 / width
    diagonal = 2.0 * (beside[:-1] + beside[1:])
    right = 3.0 * (rise[:-1] * beside[:-1] + rise[1:] * beside[1:])
    # The diagonal outweighs what stands beside it: elimination needs no pivots.
    for k in range(1, len(diagonal)):
        share = beside[k] / diagonal[k - 1]
        diagonal[k] -= share * beside[k]
        right[k] -= share * right[k - 1]
    slope = np.zeros((len(rise) + 1, *rise.shape[1:]))
    for k in reversed(range(len(diagonal))):
        slope[k + 1] = (right[k] - beside[k + 1] * slope[k + 2]) / diagonal[k]
    return slope
