"""Right and left eigenpairs of (lambda^2 M + lambda C + K) phi = 0, [Palomba2019] eqs. (12)-(18)."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Complex, Float

from ...types import namespace
from ..modes.complex_modes import RIGID, quadratic_modes


class Eigenpairs(NamedTuple):
    """Complex pairs with positive imaginary part, lowest frequency first; m pairs of n coordinates."""

    eigenvalue: Complex[np.ndarray, " m"]
    right: Complex[np.ndarray, "n m"]  # phi, unit length
    left: Complex[np.ndarray, "n m"]  # psi, with psi^* (2 lambda M + C) phi = 1
    others: Complex[
        np.ndarray, " r"
    ]  # the remaining eigenvalues: real ones and low pairs; conjugates left out


def all_eigenpairs(M, C, K):
    """All 2n eigenvalues with right and left vectors, by LAPACK's generalised solver (ggev)."""
    n = len(M)
    one, zero = np.eye(n), np.zeros((n, n))
    A = np.block([[zero, one], [-K, -C]])
    B = np.block([[one, zero], [zero, M]])
    found: Any = scipy.linalg.eig(A, B, left=True, right=True)
    lam, z, w = found
    return lam, w[:n], z[n:]


def vibration_pairs(M, C, K, above_hz: float = RIGID) -> Eigenpairs:
    """The vibrating pairs with an undamped frequency above `above_hz`, biorthonormal, lowest frequency first.

    Eq. (18) with the norm z^* B w = 1, which is psi^* (2 lambda M + C) phi = 1.
    """
    lam, right, left, _ = quadratic_modes(M, C, K)
    vibrates = (np.imag(lam) > 1e-9 * np.abs(lam)) & (
        np.abs(lam) > 2 * np.pi * above_hz
    )
    length = np.linalg.norm(right[:, vibrates], axis=0)
    return Eigenpairs(
        lam[vibrates],
        right[:, vibrates] / length,
        left[:, vibrates] * length,
        lam[~vibrates],
    )


def frequency_hz(eigenvalue):
    """Undamped natural frequency |lambda| / (2 pi), eq. (31)."""
    return abs(eigenvalue) / (2 * np.pi)


def damping_ratio(eigenvalue):
    """-Re lambda / |lambda|, eq. (32)."""
    xp = namespace(eigenvalue)
    size = abs(eigenvalue)
    return -eigenvalue.real / xp.where(size > 0.0, size, 1.0)


def modal_assurance(
    a: Complex[np.ndarray, "... n"], b: Complex[np.ndarray, "... n"]
) -> Float[np.ndarray, "..."]:
    """MAC of vectors along the last axis, eq. (33)."""
    product = np.abs(np.sum(np.conj(a) * b, axis=-1)) ** 2
    return product / (np.sum(np.abs(a) ** 2, axis=-1) * np.sum(np.abs(b) ** 2, axis=-1))
