"""Fewer states: minimal realisation and balanced truncation, with SciPy's Schur, Sylvester and Lyapunov solvers.

States are balanced by the square-root method: with the Gramians P = S S^T and Q = R R^T and R^T S = U Sigma V^T, the
projection T = S V Sigma^-1/2, W = R U Sigma^-1/2 keeps the largest Hankel singular values Sigma.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from jaxtyping import Float

STILL = 0.05  # |pole| [rad/s] of a motion that stands still
DECAY = 1e-9  # |Re| of a pole, against the largest |pole|, below which a motion does not die out

Matrix = Float[np.ndarray, "_ _"]


def minimal_realisation(
    A: Matrix, B: Matrix, C: Matrix, dt: float, tolerance: float
) -> tuple[Matrix, Matrix, Matrix, Any]:
    """States that inputs move and outputs see.

    Motions that stand still (rigid ones, their roots repeated) form a block of their own, which is kept whole. The rest
    is taken apart into its modes, equal ones together: a mode stays if its residue shows in any response.
    """
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance must lie between 0 and 1, got {tolerance!r}")
    A, scale = _scaled(A)
    B, C = B / scale[:, None], C * scale
    still = (lambda z: abs(z - 1.0) < STILL * dt) if dt else (lambda s: abs(s) < STILL)
    A_l, B_l, C_l, A_m, B_m, C_m = split(A, B, C, still)
    if not len(A_m):
        return A, B, C, {"method": "minimal", "states_before": len(A), "states": len(A)}
    T, W = _seen_modes(A_m, B_m, C_m, tolerance)
    A_r = np.asarray(scipy.linalg.block_diag(A_l, W @ A_m @ T))
    record = {"method": "minimal", "states_before": len(A), "states": len(A_r)}
    return (
        A_r,
        np.concatenate([B_l, W @ B_m]),
        np.concatenate([C_l, C_m @ T], axis=1),
        record,
    )


def _seen_modes(
    A: Matrix, B: Matrix, C: Matrix, tolerance: float
) -> tuple[Matrix, Matrix]:
    """Real bases T and W, W T = 1, of the modes whose residues C v w B show."""
    found: Any = np.linalg.eig(A)
    lam, V = found
    W = np.linalg.inv(V)
    residues = np.abs(np.einsum("pk,ku->kpu", C @ V, W @ B))
    shows = (
        np.max(residues / np.maximum(residues.max(axis=0), 1e-300), axis=(1, 2))
        > tolerance
    )
    T, rows = [], []
    for k in np.flatnonzero(shows & (np.imag(lam) >= 0)):
        v, w = V[:, k], W[k]
        if np.imag(lam[k]) > 0:  # the pair: x = 2 Re(v w x)
            T += [np.real(v), np.imag(v)]
            rows += [2 * np.real(w), -2 * np.imag(w)]
        else:
            T.append(np.real(v))
            rows.append(np.real(w))
    return np.stack(T, axis=1) if T else np.zeros((len(A), 0)), np.stack(
        rows
    ) if rows else np.zeros((0, len(A)))


def balanced_truncation(
    A: Matrix, B: Matrix, C: Matrix, dt: float, order: int
) -> tuple[Matrix, Matrix, Matrix, Any]:
    """`order` states: all that do not decay, and the most important ones of the rest."""
    if not 0 < order <= len(A):
        raise ValueError(
            f"order must lie between 1 and the {len(A)} states of the model, got {order!r}"
        )
    A, scale = _scaled(A)
    B, C = B / scale[:, None], C * scale
    poles = np.linalg.eigvals(A)
    bound = DECAY * np.abs(poles).max(initial=0.0)
    lasts = (lambda z: abs(z) >= 1.0 - DECAY) if dt else (lambda s: s.real >= -bound)
    A_l, B_l, C_l, A_s, B_s, C_s = split(A, B, C, lasts)
    lasting = len(A_l)
    if lasting > order:
        raise ValueError(
            f"{lasting} states belong to motions that do not die out (rigid, unstable or undamped): the order must be "
            f"at least {lasting}, or give the robot damping, or close the loop with kp and kd"
        )
    values, T, W = balancing(A_s, B_s, C_s, dt)
    kept = order - lasting
    T, W = T[:, :kept], W[:, :kept]
    kept = T.shape[1]
    record = {
        "method": "balanced",
        "states_before": len(A),
        "lasting": lasting,
        "hankel_singular_values": values.tolist(),
        "error_bound": float(2.0 * values[kept:].sum()),
    }
    A_r = np.asarray(scipy.linalg.block_diag(A_l, W.T @ A_s @ T))
    return (
        A_r,
        np.concatenate([B_l, W.T @ B_s]),
        np.concatenate([C_l, C_s @ T], axis=1),
        record,
    )


def balancing(
    A: Matrix, B: Matrix, C: Matrix, dt: float
) -> tuple[np.ndarray, Matrix, Matrix]:
    """Hankel singular values of a decaying system, and the projections that balance it, largest first."""
    if not len(A):
        return np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))
    if dt:
        P, Q = (
            scipy.linalg.solve_discrete_lyapunov(a, b, method="bilinear")
            for a, b in ((A, B @ B.T), (A.T, C.T @ C))
        )
    else:
        P, Q = (
            scipy.linalg.solve_continuous_lyapunov(a, -b)
            for a, b in ((A, B @ B.T), (A.T, C.T @ C))
        )
    S, R = _root(P), _root(Q)
    U, values, Vt = np.linalg.svd(R.T @ S)
    there = values > np.finfo(float).eps * values.max(initial=0.0)
    scale = 1.0 / np.sqrt(values[there])
    return values, S @ Vt.T[:, there] * scale, R @ U[:, there] * scale


def split(
    A: Matrix, B: Matrix, C: Matrix, first: Callable[[complex], bool]
) -> tuple[Matrix, ...]:
    """The system in two uncoupled parts: that of the poles chosen by `first`, and the rest."""

    def sort(re, im):
        return first(complex(re, im))

    ordered: Any = scipy.linalg.schur(A, output="real", sort=sort)
    T, Z, l = ordered
    A_l, A_s, A_c = T[:l, :l], T[l:, l:], T[:l, l:]
    X = (
        scipy.linalg.solve_sylvester(A_l, -A_s, -A_c)
        if l and l < len(A)
        else np.zeros((l, len(A) - l))
    )
    to = Z @ np.block([[np.eye(l), X], [np.zeros((len(A) - l, l)), np.eye(len(A) - l)]])
    back = (
        np.block([[np.eye(l), -X], [np.zeros((len(A) - l, l)), np.eye(len(A) - l)]])
        @ Z.T
    )
    B, C = back @ B, C @ to
    return A_l, B[:l], C[:, :l], A_s, B[l:], C[:, l:]


def _scaled(A: Matrix) -> tuple[Matrix, np.ndarray]:
    """A in coordinates scaled so that rows and columns are alike: speeds and displacements of any size."""
    balanced, (scale, _) = scipy.linalg.matrix_balance(A, permute=False, separate=True)
    return balanced, scale


def _root(P: Matrix) -> Matrix:
    """Factor S with S S^T = P of a Gramian, its rounding cut off."""
    lam, V = np.linalg.eigh(0.5 * (P + P.T))
    return V * np.sqrt(np.maximum(lam, 0.0))
