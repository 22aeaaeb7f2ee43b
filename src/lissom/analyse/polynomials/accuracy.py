"""How good polynomial eigenpairs are, from the residual of the eigenproblem.

With the matrices at a point, one bordered solve per pair

    [Q(lambda)  Q'(lambda) phi] [d phi   ]     [Q(lambda) phi]
    [phi^*      0             ] [d lambda] = - [0            ]

turns the residual Q phi of an approximate pair into its errors d lambda and d phi, to second order in them. No
eigenproblem is solved. [Palomba2019] names such an index as open work.
"""

from typing import NamedTuple

import numpy as np

from ...types import Float


class ErrorEstimate(NamedTuple):
    """Estimated errors of approximate pairs at points; m pairs."""

    frequency: Float[np.ndarray, "N m"]  # relative error of |lambda|
    damping: Float[np.ndarray, "N m"]  # error of the damping ratio, absolute
    mac_right: Float[np.ndarray, "N m"]  # MAC with the exact right vector
    mac_left: Float[np.ndarray, "N m"]

    @property
    def worst(self) -> tuple[float, float]:
        """Largest frequency error and smallest MAC."""
        frequency = self.frequency.max(initial=0.0)
        right = self.mac_right.min(initial=1.0)
        left = self.mac_left.min(initial=1.0)
        return float(frequency), float(min(right, left))


def residual_errors(matrices, eigenvalue, right, left) -> ErrorEstimate:
    """Errors of approximate pairs (N points, m pairs) of the given M, C, K (N, n, n), from their residuals."""
    M, C, K = (A[:, None] for A in matrices)
    lam = eigenvalue[..., None, None]
    Q = lam**2 * M + lam * C + K
    slope = 2 * lam * M + C
    M_size = np.abs(M).max(axis=(-2, -1))
    K_size = np.abs(K).max(axis=(-2, -1))
    size = np.abs(eigenvalue) ** 2 * M_size + K_size
    d_lam, d_phi = _corrections(Q, slope, right, size)
    # A left vector is a right one of the transposed problem, conjugated.
    Q_t = Q.swapaxes(-1, -2)
    slope_t = slope.swapaxes(-1, -2)
    _, d_chi = _corrections(Q_t, slope_t, left.conj(), size)
    corrected = eigenvalue + d_lam
    omega = np.abs(eigenvalue)
    ratio_change = corrected.real / np.abs(corrected) - eigenvalue.real / omega
    # d phi is orthogonal to phi: their MAC is that of two sides of a right-angled triangle.
    return ErrorEstimate(
        frequency=np.abs(np.abs(corrected) / omega - 1.0),
        damping=np.abs(ratio_change),
        mac_right=1.0 / (1.0 + d_phi),
        mac_left=1.0 / (1.0 + d_chi),
    )


def _corrections(Q, slope, phi, size):
    """Correction of lambda, and the squared length of d phi against that of phi."""
    n = phi.shape[-1]
    batch = Q.shape[:-2]
    phi = phi / np.linalg.norm(phi, axis=-1, keepdims=True)
    column = np.einsum("...ij,...j->...i", slope, phi)
    # The border is scaled to the size of Q, so that the bordered matrix is well conditioned.
    unit = size / np.abs(column).max(axis=-1)
    S = np.zeros((*batch, n + 1, n + 1), complex)
    S[..., :n, :n] = Q
    S[..., :n, n] = unit[..., None] * column
    S[..., n, :n] = phi.conj() * size[..., None]
    b = np.zeros((*batch, n + 1, 1), complex)
    b[..., :n, 0] = -np.einsum("...ij,...j->...i", Q, phi)
    solution = np.linalg.solve(S, b)[..., 0]
    d_phi = solution[..., :n]
    d_lam = unit * solution[..., n]
    return d_lam, np.sum(np.abs(d_phi) ** 2, axis=-1)
