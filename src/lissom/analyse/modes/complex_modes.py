"""The quadratic eigenproblem of a linear model: damped, gyroscopic, and without any symmetry.

    (lambda^2 M + lambda C + K) phi = 0,        psi^* (lambda^2 M + lambda C + K) = 0,

[Palomba2019] eqs. (12)-(18). Right and left vectors are biorthonormal, z_i^* B w_j = 1 if i = j, else 0; written in
phi and psi, psi^* (2 lambda M + C) phi = 1. A rigid motion without resistance is a double root with one vector: there
is nothing to be biorthonormal with, and psi^* M phi = 1 takes its place.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Complex, Float, Inexact

EPS = np.finfo(float).eps
RIGID = 1e-3  # frequency [Hz] below which a mode counts as rigid motion
GROWS = 1e-7  # growth rate, against |lambda|, above which a motion counts as unstable: what rounding alone cannot do
CLOSE = 1e-7  # distance of two eigenvalues, against their size, below which they count as repeated


class QuadraticModes(NamedTuple):
    """Eigenvalues with Im >= 0, in order of |lambda|, with their right and left vectors."""

    eigenvalue: Complex[np.ndarray, " m"]  # lambda [rad/s]
    right: Complex[np.ndarray, "n m"]  # phi
    left: Complex[np.ndarray, "n m"]  # psi
    stability: tuple[str, ...]  # vibration | overdamped | rigid | unstable


def quadratic_modes(
    M: Float[np.ndarray, "n n"],
    C: Float[np.ndarray, "n n"],
    K: Float[np.ndarray, "n n"],
    count: int | None = None,
) -> QuadraticModes:
    """Modes of M xdd + C xd + K x = 0, one of each conjugate pair; `count` for the lowest ones only.

    The problem is first written in the undamped modes of the symmetric parts, displacements times their frequencies
    beside speeds, where its entries are of the size of the eigenvalues: slow motions stay exact beside stiff ones.
    """
    n = len(M)
    if not n:
        return QuadraticModes(
            np.zeros(0, complex),
            np.zeros((0, 0), complex),
            np.zeros((0, 0), complex),
            (),
        )
    squares, V = scipy.linalg.eigh(0.5 * (K + K.T), 0.5 * (M + M.T))
    M_v, C_v, K_v = (_without_rounding(V, A) for A in (M, C, K))
    A = np.block(
        [
            [np.zeros((n, n)), np.eye(n)],
            [-np.linalg.solve(M_v, np.concatenate([K_v, C_v], axis=1))],
        ]
    )
    scale = np.concatenate(
        [
            1.0 / np.sqrt(np.maximum(np.abs(squares), (2 * np.pi * RIGID) ** 2)),
            np.ones(n),
        ]
    )
    found: Any = scipy.linalg.eig(A * scale / scale[:, None], left=True, right=True)
    lam, y, w = found
    right = (scale[:, None] * w)[:n]
    left = np.linalg.solve(M_v.T, (y / scale[:, None])[n:])
    keep = np.flatnonzero(lam.imag >= -1e-12 * np.abs(lam))
    keep = keep[np.lexsort((-lam[keep].imag, np.abs(lam[keep])))]
    keep = _without_twins(lam, right, keep)[:count]
    lam, right, left = lam[keep], V @ right[:, keep], V @ left[:, keep]
    right, left = _biorthonormal(M, C, lam, right, left)
    return QuadraticModes(lam, right, left, tuple(_kind(value) for value in lam))


def _without_rounding(V, A):
    """V^T A V with zeros where there is rounding alone, which LAPACK would otherwise scale up beside rigid motions."""
    product = V.T @ A @ V
    return np.where(
        np.abs(product) > 8 * EPS * (np.abs(V).T @ np.abs(A) @ np.abs(V)), product, 0.0
    )


def _without_twins(lam, right, keep):
    """A rigid motion is a double root with one vector: it is named once."""
    rigid = [k for k in keep if np.abs(lam[k]) < 2 * np.pi * RIGID]
    if len(rigid) < 2:
        return keep
    vectors = right[:, rigid] / np.linalg.norm(right[:, rigid], axis=0)
    named: list[int] = []
    for k, v in zip(rigid, vectors.T, strict=True):
        basis = [vectors[:, rigid.index(other)] for other in named]
        if basis:
            Q = np.linalg.qr(np.stack(basis, axis=1))[0]
            v = v - Q @ (Q.conj().T @ v)
        if np.linalg.norm(v) > 1e-3:
            named.append(k)
    return np.array([k for k in keep if k not in rigid or k in named])


def _biorthonormal(M, C, lam, right, left):
    """Scale, and within repeated eigenvalues mix, so that psi_i^* ((lambda_i + lambda_j) M + C) phi_j = delta_ij."""
    right = right / np.sqrt(np.abs(np.einsum("im,ij,jm->m", right.conj(), M, right)))
    largest = np.argmax(np.abs(right), axis=0)
    phase = right[largest, np.arange(len(lam))]
    right = right * (np.abs(phase) / phase)
    for group in _repeated(lam):
        phi, psi, mean = right[:, group], left[:, group], lam[group].mean()
        rigid = np.abs(mean) < 2 * np.pi * RIGID and _resists_not(C, phi)
        G = psi.conj().T @ (M if rigid else 2.0 * mean * M + C) @ phi
        if np.linalg.cond(G) < 1e10:
            left[:, group] = psi @ np.linalg.inv(G).conj().T
    return right, left


def _resists_not(C, phi) -> bool:
    return bool(np.abs(phi.conj().T @ C @ phi).max() < 1e-9 * max(np.abs(C).max(), 1.0))


def _repeated(lam) -> list[list[int]]:
    """Groups of equal eigenvalues; every eigenvalue is in one, most of them alone."""
    groups: list[list[int]] = []
    for k, value in enumerate(lam):
        bound = max(
            CLOSE * np.abs(value),
            2 * np.pi * RIGID if np.abs(value) < 2 * np.pi * RIGID else 0.0,
        )
        near = next(
            (group for group in groups if np.abs(lam[group[-1]] - value) <= bound), None
        )
        if near is None:
            groups.append([k])
        else:
            near.append(k)
    return groups


def _kind(value: complex) -> str:
    if abs(value) < 2 * np.pi * RIGID:
        return "rigid"
    if value.real > GROWS * abs(value):
        return "unstable"
    return "vibration" if value.imag > 1e-9 * abs(value) else "overdamped"


def modal_assurance(
    M: Float[np.ndarray, "n n"],
    first: Inexact[np.ndarray, "n a"],
    second: Inexact[np.ndarray, "n b"],
) -> Float[np.ndarray, "a b"]:
    """MAC of every pair of vectors with the weight M: 1 for the same shape, 0 for orthogonal ones."""

    def own(phi):
        return np.einsum("im,ij,jm->m", phi.conj(), M, phi).real

    return np.abs(first.conj().T @ M @ second) ** 2 / np.maximum(
        np.outer(own(first), own(second)), 1e-300
    )
