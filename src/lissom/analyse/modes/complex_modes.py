"""The quadratic eigenproblem of a linear model: damped, gyroscopic, and without any symmetry.

    (lambda^2 M + lambda C + K) phi = 0,        psi^* (lambda^2 M + lambda C + K) = 0,

[Palomba2019] eqs. (12)-(18). Right and left vectors are biorthonormal, z_i^* B w_j = 1 if i = j, else 0; written in
phi and psi, psi^* (2 lambda M + C) phi = 1. A rigid motion without resistance is a double root with one vector: there
is nothing to be biorthonormal with, and psi^* M phi = 1 takes its place.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex

from ...algebra.eigen import symmetric_modes
from ...types import Float, namespace

EPS = np.finfo(float).eps
RIGID = 1e-3  # frequency [Hz] below which a mode counts as rigid motion
RIGID_RATE = 2 * np.pi * RIGID  # the same as |lambda| [rad/s]
GROWS = 1e-7  # growth rate, against |lambda|, above which a motion counts as unstable: what rounding alone cannot do
VIBRATES = 1e-9  # imaginary part, against |lambda|, above which a motion vibrates
CLOSE = 1e-7  # distance of two eigenvalues, against their size, below which they count as repeated


class QuadraticModes(NamedTuple):
    """Eigenvalues with Im >= 0, in order of |lambda|, with their right and left vectors."""

    eigenvalue: Complex[np.ndarray, " m"]  # lambda [rad/s]
    right: Complex[np.ndarray, "n m"]  # phi
    left: Complex[np.ndarray, "n m"]  # psi
    stability: tuple[str, ...]  # vibration | overdamped | rigid | unstable


class Eigenpairs(NamedTuple):
    """Complex pairs with positive imaginary part, lowest frequency first; m pairs of n coordinates."""

    eigenvalue: Complex[np.ndarray, " m"]
    right: Complex[np.ndarray, "n m"]  # phi, unit length
    left: Complex[np.ndarray, "n m"]  # psi, with psi^* (2 lambda M + C) phi = 1
    # The remaining eigenvalues: real ones and low pairs; conjugates left out.
    others: Complex[np.ndarray, " r"]


class ModalForm(NamedTuple):
    """z' = A z of the states z = (omega eta, eta'), eta the undamped modes x = V eta: entries of A are rates [1/s]."""

    A: Float[np.ndarray, "s s"]
    M: Float[np.ndarray, "n n"]  # V^T M V
    V: Float[np.ndarray, "n n"]
    omega: Float[np.ndarray, " n"]  # [rad/s], not less than a least rate


def modal_form(
    M: Float[np.ndarray, "n n"],
    C: Float[np.ndarray, "n n"],
    K: Float[np.ndarray, "n n"],
    least_rate: float = RIGID_RATE,
) -> ModalForm:
    """The first-order form of M xdd + C xd + K x = 0 in which slow motions stay exact beside stiff ones.

    Args:
        M: inertia.
        C: damping.
        K: stiffness.
        least_rate: of the scale of displacements [rad/s]; rigid motions have no frequency of their own.
    """
    squares, V = symmetric_modes(K, M)
    M_v = _without_rounding(V, M)
    C_v = _without_rounding(V, C)
    K_v = _without_rounding(V, K)
    n = len(M)
    zero = np.zeros((n, n))
    one = np.eye(n)
    K_C = np.concatenate([K_v, C_v], axis=1)
    lower = -np.linalg.solve(M_v, K_C)
    A = np.block([[zero, one], [lower]])
    # Displacements are counted times their frequency; rigid ones have none and take the least rate.
    omega = np.sqrt(np.maximum(np.abs(squares), least_rate**2))
    scale = np.concatenate([1.0 / omega, np.ones(n)])
    return ModalForm(A * scale / scale[:, None], M_v, V, omega)


def quadratic_modes(
    M: Float[np.ndarray, "n n"],
    C: Float[np.ndarray, "n n"],
    K: Float[np.ndarray, "n n"],
    count: int | None = None,
) -> QuadraticModes:
    """Modes of M xdd + C xd + K x = 0, one of each conjugate pair; `count` for the lowest ones only.

    The problem is first written in the undamped modes of the symmetric parts (`modal_form`), where its entries are of
    the size of the eigenvalues.
    """
    if not len(M):
        none = np.zeros((0, 0), complex)
        return QuadraticModes(np.zeros(0, complex), none, none, ())
    form = modal_form(M, C, K)
    lam, right, left = _first_order_modes(form)
    chosen = _without_twins(lam, right, _one_of_each_pair(lam))
    chosen = chosen[:count]
    lam = lam[chosen]
    right = form.V @ right[:, chosen]
    left = form.V @ left[:, chosen]
    right, left = _biorthonormal(M, C, lam, right, left)
    stability = tuple(_kind(value) for value in lam)
    return QuadraticModes(lam, right, left, stability)


def _first_order_modes(form: ModalForm):
    """All eigenvalues of the first-order form, with the vectors phi and psi of the quadratic one in modes."""
    import scipy.linalg  # slow to import

    solution: Any = scipy.linalg.eig(form.A, left=True, right=True)
    lam, y, w = solution
    n = len(form.omega)
    right = (1.0 / form.omega)[:, None] * w[:n]
    # The lower half of a left vector of A is M^T psi.
    left = np.linalg.solve(form.M.T, y[n:])
    return lam, right, left


def _one_of_each_pair(lam):
    """Places of the eigenvalues with Im >= 0, lowest first; of equal ones the vibrating one first."""
    size = np.abs(lam)
    upper = np.flatnonzero(lam.imag >= -1e-12 * size)
    order = np.lexsort((-lam[upper].imag, size[upper]))
    return upper[order]


def _without_rounding(V, A):
    """V^T A V with zeros where there is rounding alone, which LAPACK would otherwise scale up beside rigid motions."""
    product = V.T @ A @ V
    V_size = np.abs(V)
    A_size = np.abs(A)
    rounding = 8 * EPS * (V_size.T @ A_size @ V_size)
    return np.where(np.abs(product) > rounding, product, 0.0)


def _without_twins(lam, right, chosen):
    """A rigid motion is a double root with one vector: it is named once."""
    rigid = [k for k in chosen if np.abs(lam[k]) < RIGID_RATE]
    if len(rigid) < 2:
        return chosen
    vectors = right[:, rigid]
    vectors = vectors / np.linalg.norm(vectors, axis=0)
    distinct: list[int] = []
    basis: list[np.ndarray] = []
    for k, vector in zip(rigid, vectors.T, strict=True):
        rest = vector
        if basis:
            # What is left of the vector when those before it are taken out.
            Q, _ = np.linalg.qr(np.stack(basis, axis=1))
            rest = vector - Q @ (Q.conj().T @ vector)
        if np.linalg.norm(rest) > 1e-3:
            distinct.append(k)
            basis.append(vector)
    twins = set(rigid) - set(distinct)
    return np.array([k for k in chosen if k not in twins])


def _biorthonormal(M, C, lam, right, left):
    """Scale, and within repeated eigenvalues mix, so that psi_i^* ((lambda_i + lambda_j) M + C) phi_j = delta_ij."""
    inertia = np.einsum("im,ij,jm->m", right.conj(), M, right)
    right = right / np.sqrt(np.abs(inertia))
    # The phase of a complex vector is free: its largest entry is made real and positive.
    place = np.argmax(np.abs(right), axis=0)
    largest = right[place, np.arange(len(lam))]
    right = right * (np.abs(largest) / largest)
    for group in _groups_of_equals(lam):
        phi = right[:, group]
        psi = left[:, group]
        mean = lam[group].mean()
        # A rigid motion without resistance has no norm of its own, and takes that of M.
        rigid = np.abs(mean) < RIGID_RATE and _is_free(C, phi)
        weight = M if rigid else 2.0 * mean * M + C
        G = psi.conj().T @ weight @ phi
        if np.linalg.cond(G) < 1e10:
            mix = np.linalg.inv(G)
            left[:, group] = psi @ mix.conj().T
    return right, left


def _is_free(C, phi) -> bool:
    """Whether no damping resists the motions phi."""
    resistance = phi.conj().T @ C @ phi
    largest = max(np.abs(C).max(), 1.0)
    return bool(np.abs(resistance).max() < 1e-9 * largest)


def _groups_of_equals(lam) -> list[list[int]]:
    """Groups of equal eigenvalues; every eigenvalue is in one, most of them alone."""
    groups: list[list[int]] = []
    for k, value in enumerate(lam):
        bound = CLOSE * np.abs(value)
        if np.abs(value) < RIGID_RATE:
            bound = max(bound, RIGID_RATE)
        for group in groups:
            if np.abs(lam[group[-1]] - value) <= bound:
                group.append(k)
                break
        else:
            groups.append([k])
    return groups


def _kind(value: complex) -> str:
    if abs(value) < RIGID_RATE:
        return "rigid"
    if value.real > GROWS * abs(value):
        return "unstable"
    return "vibration" if value.imag > VIBRATES * abs(value) else "overdamped"


def vibration_pairs(M, C, K, above_hz: float = RIGID) -> Eigenpairs:
    """The vibrating pairs with an undamped frequency above `above_hz`, biorthonormal, lowest frequency first.

    Eq. (18) with the norm z^* B w = 1, which is psi^* (2 lambda M + C) phi = 1.
    """
    lam, right, left, _ = quadratic_modes(M, C, K)
    size = np.abs(lam)
    vibrates = np.imag(lam) > VIBRATES * size
    vibrates &= frequency_hz(lam) > above_hz
    length = np.linalg.norm(right[:, vibrates], axis=0)
    return Eigenpairs(
        eigenvalue=lam[vibrates],
        right=right[:, vibrates] / length,
        left=left[:, vibrates] * length,
        others=lam[~vibrates],
    )


def frequency_hz(eigenvalue):
    """Undamped natural frequency |lambda| / (2 pi), eq. (31)."""
    return abs(eigenvalue) / (2 * np.pi)


def damping_ratio(eigenvalue):
    """-Re lambda / |lambda|, eq. (32)."""
    xp = namespace(eigenvalue)
    size = abs(eigenvalue)
    return -eigenvalue.real / xp.where(size > 0.0, size, 1.0)
