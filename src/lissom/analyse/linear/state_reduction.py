"""Fewer states: minimal realisation and balanced truncation, with SciPy's Schur, Sylvester and Lyapunov solvers.

States are balanced by the square-root method: with the Gramians P = S S^T and Q = R R^T and R^T S = U Sigma V^T, the
projection T = S V Sigma^-1/2, W = R U Sigma^-1/2 keeps the largest Hankel singular values Sigma.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...types import Float

SLOW = 0.05  # |pole| [rad/s] of a motion that stands still
DECAY = 1e-9  # |Re| of a pole, against the largest |pole|, below which a motion does not die out

Matrix = Float[np.ndarray, "_ _"]


class StateMatrices(NamedTuple):
    """dx/dt = A x + B u, y = C x, or the same in steps; the feed-through does not affect the states."""

    A: Matrix
    B: Matrix
    C: Matrix

    @property
    def states(self) -> int:
        """Number n of states."""
        return len(self.A)

    def project(self, T: Matrix, W: Matrix) -> "StateMatrices":
        """The system in the coordinates z of x = T z, z = W x."""
        return StateMatrices(W @ self.A @ T, W @ self.B, self.C @ T)

    def parallel(self, other: "StateMatrices") -> "StateMatrices":
        """Two systems that do not couple, with the same inputs and a common output."""
        import scipy.linalg  # slow to import

        A = scipy.linalg.block_diag(self.A, other.A)
        B = np.concatenate([self.B, other.B])
        C = np.concatenate([self.C, other.C], axis=1)
        return StateMatrices(np.asarray(A), B, C)


def minimal_realisation(
    system: StateMatrices, dt: float, tolerance: float
) -> tuple[StateMatrices, dict[str, Any]]:
    """The controllable and observable states, and a record of those left out.

    Motions that stand still (rigid ones, their roots repeated) form a block of their own, which is kept whole. The rest
    is taken apart into its modes, equal ones together: a mode stays if its residue shows in any response.
    """
    if not 0.0 < tolerance < 1.0:
        raise ValueError(f"tolerance must lie between 0 and 1, got {tolerance!r}")
    whole = _scale_rows_and_columns(system)
    rigid, moving = split_by_poles(whole, _stands_still(dt))
    reduced = whole
    if moving.states:
        T, W = _modes_that_show(moving, tolerance)
        reduced = rigid.parallel(moving.project(T, W))
    record = {
        "method": "minimal",
        "states_before": whole.states,
        "states": reduced.states,
    }
    return reduced, record


def _stands_still(dt: float) -> Callable[[complex], bool]:
    """Whether a pole belongs to a motion that stands still: near 0, or near 1 where time is sampled."""
    if dt:
        return lambda z: abs(z - 1.0) < SLOW * dt
    return lambda s: abs(s) < SLOW


def _modes_that_show(system: StateMatrices, tolerance: float) -> tuple[Matrix, Matrix]:
    """Real bases T and W, W T = 1, of the modes whose residues C v w B show."""
    A, B, C = system
    pairs: Any = np.linalg.eig(A)
    lam, V = pairs
    W = np.linalg.inv(V)
    # Residue of mode k from input u to output p, against the largest of any mode.
    residues = np.abs(np.einsum("pk,ku->kpu", C @ V, W @ B))
    largest = np.maximum(residues.max(axis=0), 1e-300)
    importance = np.max(residues / largest, axis=(1, 2))
    shows = importance > tolerance
    upper = np.imag(lam) >= 0
    columns = []
    rows = []
    for k in np.flatnonzero(shows & upper):
        v = V[:, k]
        w = W[k]
        if np.imag(lam[k]) > 0:
            # A conjugate pair together: x = 2 Re(v w x).
            columns += [np.real(v), np.imag(v)]
            rows += [2 * np.real(w), -2 * np.imag(w)]
        else:
            columns.append(np.real(v))
            rows.append(np.real(w))
    if not columns:
        nothing = np.zeros((0, len(A)))
        return nothing.T, nothing
    return np.stack(columns, axis=1), np.stack(rows)


def balanced_truncation(
    system: StateMatrices, dt: float, order: int
) -> tuple[StateMatrices, dict[str, Any]]:
    """`order` states, all that do not decay and the most important ones of the rest; and a record of them."""
    whole = _scale_rows_and_columns(system)
    if not 0 < order <= whole.states:
        raise ValueError(
            f"order must lie between 1 and the {whole.states} states of the model, got {order!r}"
        )
    lasting, decaying = split_by_poles(whole, _lasts(whole.A, dt))
    if lasting.states > order:
        raise ValueError(
            f"{lasting.states} states belong to motions that do not decay (rigid, "
            f"unstable or undamped): the order must be at least {lasting.states}, or "
            "give the robot damping, or close the loop with kp and kd"
        )
    values, T, W = balancing(decaying, dt)
    # Fewer states than requested if some are neither controllable nor observable.
    count = min(order - lasting.states, T.shape[1])
    projected = decaying.project(T[:, :count], W[:, :count].T)
    left_out = values[count:]
    record = {
        "method": "balanced",
        "states_before": whole.states,
        "lasting": lasting.states,
        "hankel_singular_values": values.tolist(),
        "error_bound": float(2.0 * left_out.sum()),
    }
    return lasting.parallel(projected), record


def _lasts(A: Matrix, dt: float) -> Callable[[complex], bool]:
    """Whether a pole belongs to a motion that does not die out."""
    if dt:
        return lambda z: abs(z) >= 1.0 - DECAY
    poles = np.linalg.eigvals(A)
    bound = DECAY * np.abs(poles).max(initial=0.0)
    return lambda s: s.real >= -bound


def balancing(system: StateMatrices, dt: float) -> tuple[np.ndarray, Matrix, Matrix]:
    """Hankel singular values of a decaying system, and the projections that balance it, largest first."""
    if not system.states:
        nothing = np.zeros((0, 0))
        return np.zeros(0), nothing, nothing
    A, B, C = system
    P = _gramian(A, B @ B.T, dt)
    Q = _gramian(A.T, C.T @ C, dt)
    S = _root(P)
    R = _root(Q)
    U, values, Vt = np.linalg.svd(R.T @ S)
    # States whose singular value is rounding are neither controllable nor observable: they have no balanced form.
    largest = values.max(initial=0.0)
    there = values > np.finfo(float).eps * largest
    scale = 1.0 / np.sqrt(values[there])
    T = S @ Vt.T[:, there] * scale
    W = R @ U[:, there] * scale
    return values, T, W


def _gramian(A: Matrix, Q: Matrix, dt: float) -> Matrix:
    """Solution P of A P + P A^T + Q = 0, or of A P A^T - P + Q = 0 where time is sampled."""
    import scipy.linalg  # slow to import

    if dt:
        return scipy.linalg.solve_discrete_lyapunov(A, Q, method="bilinear")
    return scipy.linalg.solve_continuous_lyapunov(A, -Q)


def split_by_poles(
    system: StateMatrices, first: Callable[[complex], bool]
) -> tuple[StateMatrices, StateMatrices]:
    """The system in two uncoupled parts: that of the poles chosen by `first`, and the rest."""
    import scipy.linalg  # slow to import

    # LAPACK's wrapper counts the arguments of the bare function: a decorated one would not do.
    ordered: Any = scipy.linalg.schur(
        system.A,
        output="real",
        sort=lambda re, im: first(complex(re, im)),
    )
    T, Z, l = ordered
    A_l = T[:l, :l]
    A_s = T[l:, l:]
    A_c = T[:l, l:]
    # The coupling block of the Schur form goes away in coordinates shifted by X, A_l X - X A_s = -A_c.
    X = np.zeros_like(A_c)
    if X.size:
        X = scipy.linalg.solve_sylvester(A_l, -A_s, -A_c)
    B_z = Z.T @ system.B
    C_z = system.C @ Z
    B_s = B_z[l:]
    B_l = B_z[:l] - X @ B_s
    C_l = C_z[:, :l]
    C_s = C_l @ X + C_z[:, l:]
    return StateMatrices(A_l, B_l, C_l), StateMatrices(A_s, B_s, C_s)


def _scale_rows_and_columns(system: StateMatrices) -> StateMatrices:
    """The system in coordinates scaled so that rows and columns of A have similar norms."""
    import scipy.linalg  # slow to import

    options = {"permute": False, "separate": True}
    A, (scale, _) = scipy.linalg.matrix_balance(system.A, **options)
    return StateMatrices(A, system.B / scale[:, None], system.C * scale)


def _root(P: Matrix) -> Matrix:
    """Factor S with S S^T = P of a Gramian, its rounding cut off."""
    symmetric = 0.5 * (P + P.T)
    lam, V = np.linalg.eigh(symmetric)
    return V * np.sqrt(np.maximum(lam, 0.0))
