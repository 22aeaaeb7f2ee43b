"""The discrete algebraic Riccati equation, by doubling."""

import numpy as np

from ..types import Float

Matrix = Float[np.ndarray, "_ _"]

DOUBLINGS = 60  # each one squares what is left of a motion: 2^60 samples are enough
CONVERGED = 1e-13  # change of the solution, against its size
UNBOUNDED = 1e100  # cost regarded as diverging


def discrete_riccati(A: Matrix, B: Matrix, Q: Matrix, R: Matrix) -> Matrix:
    r"""P of the cost 1/2 x^T P x that the best control leaves, by the structure-preserving doubling algorithm.

    $$ P = A^T P (1 + B R^{-1} B^T P)^{-1} A + Q $$

    Works with singular A (motions that die out within a sample), where Schur methods lose their order. Reference:
    [Chu2004].

    Raises:
        LinAlgError: it does not converge: some motion that lasts is neither moved nor weighed.
    """
    G = B @ np.linalg.solve(R, B.T)
    H = Q
    one = np.eye(len(A))
    for _ in range(DOUBLINGS):
        W = one + G @ H
        before_A = np.linalg.solve(W, A)
        before_G = np.linalg.solve(W, G)
        change = A.T @ H @ before_A
        G = _symmetric(G + A @ before_G @ A.T)
        H = _symmetric(H + change)
        A = A @ before_A
        size = np.abs(H).max()
        if not size < UNBOUNDED:
            break
        if np.abs(change).max() <= CONVERGED * size:
            return H
    raise np.linalg.LinAlgError("the Riccati equation has no stabilising solution")


def _symmetric(A: Matrix) -> Matrix:
    return 0.5 * (A + A.T)
