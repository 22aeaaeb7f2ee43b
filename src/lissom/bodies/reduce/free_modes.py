"""Orthonormal modes of a free link, the six rigid ones first and clean, and the choice of those to keep."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Int

from ...algebra.eigen import normalise_signs
from ...types import Float, Real, namespace
from .component_modes import Dofs, split_dofs
from .lowest_modes import Matrix, eigen_by_parts, lowest_modes, symmetric

# Share of a mode's largest displacement, in terms of the force that it needs, below which a dof is at rest.
AT_REST = 1e-12
# Eigenvalue of the scaled Gram matrix below which motions count as dependent.
DEPENDENT = 1e-11


class FreeModes(eqx.Module):
    r"""Mass-orthonormal modes of a link that floats freely, over its n dofs.

    The rigid modes are the rigid shapes themselves, made orthonormal: no near-zero eigenvalue mixes with them. The
    elastic modes are orthogonal to them, so that $U^T M U = I$ and $U^T K U = \mathrm{diag}(\omega^2)$ for $U$ =
    `basis`, as [Vidoni2015] eqs. (2), (53) need it.
    """

    rigid: Float[Real, "n 6"]
    shapes: Float[Real, "n m"]  # elastic modes
    # the same less their rigid motion at the held dofs: zero there
    clamped: Float[Real, "n m"]
    omega: Float[Real, " m"]  # of the elastic modes [rad/s]

    @property
    def basis(self) -> Float[Real, "n u"]:
        """U = [rigid | elastic], [Vidoni2015] eq. (2)."""
        xp = namespace(self.shapes)
        return xp.hstack([self.rigid, self.shapes])

    @property
    def frequency_hz(self) -> Float[Real, " m"]:
        """Natural frequencies of the elastic modes [Hz]."""
        return self.omega / (2 * np.pi)


class Excitation(NamedTuple):
    """Loads that excite a link: over its dofs, with a flat spectrum in a band of frequencies."""

    force: Float[Real, "n f"]  # one column for each load
    band_hz: tuple[float, float]  # [Hz]
    damping_ratio: float = 0.02  # keeps resonances finite


class Truncation(NamedTuple):
    """Result of a truncation: which modes were kept, and their share of the energy."""

    frequency_hz: Float[Real, " m"]
    kept: Bool[np.ndarray, " m"]
    # share of each mode in the energy of the excited link; adds up to 1
    energy: Float[np.ndarray, " m"] | None


def free_modes(
    K: Matrix,
    M: Matrix,
    rigid: Float[Real, "n 6"],
    held: Dofs,
    basis: Float[Real, "n k"] | None = None,
) -> FreeModes:
    r"""Orthonormal modes of the free link, in the span of `basis` (which must hold the rigid shapes) or of all dofs.

    Motions are counted from the six dofs `held`, where the rigid motion is taken away: the stiffness is then regular,
    and the mass of the floating link, $M - M B (B^T M B)^{-1} B^T M$, knows no rigid motion. The rigid modes
    never enter an eigenvalue problem.

    Args:
        K: stiffness [n n].
        M: mass.
        rigid: rigid shapes.
        held: six dofs that stop every rigid motion, those of the inner node.
        basis: motions to stay within, such as those of `craig_bampton`; dependent ones are dropped (traced ones must be
            independent when their rigid motion is taken away).
    """
    n = K.shape[0]
    six, others = split_dofs(n, held)
    xp = namespace(rigid, basis, K if isinstance(K, Real) else 0.0)
    if basis is None:
        W = xp.eye(n)[:, others]
    elif xp is np:
        W = _independent_motions(basis, rigid, six, K)
    else:
        W = _without_rigid_motion(basis, rigid, six)
    M_B = M @ rigid
    M_rr = rigid.T @ M_B
    M_rw = M_B.T @ W
    # The mass of the floating link: less that of the rigid motion.
    rigid_share = M_rw.T @ xp.linalg.solve(M_rr, M_rw)
    M_w = W.T @ (M @ W) - rigid_share
    K_w = W.T @ (K @ W)
    omega2, v = lowest_modes(K_w, M_w, W.shape[1])
    # The signs of W's own columns are as free as those of the modes.
    clamped = normalise_signs(_with_points_at_rest(W @ v, K))
    rigid_motion = xp.linalg.solve(M_rr, M_B.T @ clamped)
    L = xp.linalg.cholesky(M_rr)
    return FreeModes(
        rigid=xp.linalg.solve(L, rigid.T).T,
        shapes=clamped - rigid @ rigid_motion,
        clamped=clamped,
        omega=xp.sqrt(omega2),
    )


def truncate_modes(
    modes: FreeModes,
    count: int | None = None,
    below_hz: float | None = None,
    excitation: Excitation | None = None,
) -> tuple[FreeModes, Truncation]:
    """The selected modes, lowest first, and the record of those dropped.

    Args:
        modes: all there are.
        count: at most so many; the lowest, or those with most energy where an excitation is given.
        below_hz: none at or above this frequency [Hz].
        excitation: rank by `energy_shares` instead of by frequency; needs `count`.
    """
    f = modes.frequency_hz
    numbers = np.arange(len(f))
    energy = None
    ranked = numbers
    if excitation is not None:
        if count is None:
            raise ValueError(
                "a ranking by excitation needs the number of modes to keep"
            )
        energy = energy_shares(modes, excitation)
        ranked = np.argsort(-energy, kind="stable")
    if below_hz is not None:
        # Frequencies are looked at only here: traced ones have no numbers to compare.
        ranked = [i for i in ranked if f[i] < below_hz]
    keep = np.asarray(ranked[:count], dtype=int)
    keep = np.sort(keep)
    kept = np.isin(numbers, keep)
    return _chosen_modes(modes, keep), Truncation(f, kept, energy)


def energy_shares(modes: FreeModes, excitation: Excitation) -> Float[np.ndarray, " m"]:
    r"""Share of each elastic mode in the energy of the link under its excitation, averaged over the band.

    In steady vibration at $\Omega$ a mass-normalised mode holds the mean energy

    $$ \tfrac14 (\omega^2 + \Omega^2)\, \frac{(\phi^T f)^2}{(\omega^2 - \Omega^2)^2 + (2 \zeta \omega \Omega)^2} $$

    (kinetic plus strain). Modes are ranked by energy as [Palomba2014] ranks them, here those of the free link. A mode
    far from the band, or with a node where the load acts, matters little however low its frequency is.
    """
    low, high = 2 * np.pi * np.array(excitation.band_hz)
    if not 0 <= low < high:
        raise ValueError(
            f"the band of an excitation must rise from a frequency of at least 0, got {excitation.band_hz}"
        )
    zeta = excitation.damping_ratio
    shapes = np.asarray(modes.shapes)
    modal_force = shapes.T @ np.asarray(excitation.force)
    energy = np.sum(modal_force**2, axis=1)
    for k, omega in enumerate(modes.omega):
        energy[k] *= _band_energy(float(omega), zeta, low, high)
    total = energy.sum()
    return energy / total if total > 0 else energy


def _band_energy(omega: float, zeta: float, low: float, high: float) -> float:
    """Integral of the response of one mode over the frequencies of a band, for unit work."""
    from scipy.integrate import quad

    def response(W):
        detuning = (omega**2 - W**2) ** 2
        loss = (2 * zeta * omega * W) ** 2
        return (omega**2 + W**2) / (detuning + loss)

    # The resonance is narrow: the quadrature gets a break point there.
    width = zeta * omega
    peak = (omega - width, omega, omega + width)
    inside = [w for w in peak if low < w < high]
    integral = quad(response, low, high, points=inside or None, limit=200)
    return integral[0]


def assurance(
    first: Float[np.ndarray, "n k"], second: Float[np.ndarray, "n m"], M: Matrix
) -> Float[np.ndarray, "k m"]:
    """Modal assurance criterion, mass-weighted: 1 where two shapes are the same up to their size, 0 if orthogonal."""
    cross = first.T @ (M @ second)
    size_of_first = np.einsum("nk,nk->k", first, M @ first)
    size_of_second = np.einsum("nm,nm->m", second, M @ second)
    return cross**2 / np.outer(size_of_first, size_of_second)


def _chosen_modes(
    modes: FreeModes, keep: Sequence[int] | Int[np.ndarray, " k"]
) -> FreeModes:
    return FreeModes(
        rigid=modes.rigid,
        shapes=modes.shapes[:, keep],
        clamped=modes.clamped[:, keep],
        omega=modes.omega[keep],
    )


def _with_points_at_rest(modes: Float[Real, "n m"], K: Matrix) -> Float[Real, "n m"]:
    """The modes with zeros where they are at rest but for rounding: half of a symmetric link's, at its ends."""
    if namespace(modes) is not np:
        return modes
    # Displacements and rotations are made comparable by the root of their stiffness.
    stiffness = np.sqrt(K.diagonal())[:, None]
    size = stiffness * np.abs(modes)
    is_at_rest = size < AT_REST * size.max(axis=0, initial=0.0)
    return np.where(is_at_rest, 0.0, modes)


def _without_rigid_motion(
    basis: Float[Real, "n k"], rigid: Float[Real, "n 6"], six: Dofs
) -> Float[Real, "n k"]:
    """The motions less the rigid motion that they have at six dofs: those are at rest."""
    xp = namespace(basis, rigid)
    twist = xp.linalg.solve(rigid[six], basis[six])
    return basis - rigid @ twist


def _independent_motions(
    basis: Float[Real, "n k"], rigid: Float[Real, "n 6"], six: Dofs, K: Matrix
) -> Float[Real, "n r"]:
    """Independent, strain-orthonormal motions that leave six dofs at rest; with the rigid ones they span `basis`."""
    at_rest = ~np.any(basis[six], axis=0)
    if at_rest.sum() == basis.shape[1] - 6:
        # Craig-Bampton: the six others are rigid motions less some of these.
        W = basis[:, at_rest]
    else:
        W = _without_rigid_motion(basis, rigid, six)
        size = np.linalg.norm(W, axis=0)
        size_before = np.linalg.norm(basis, axis=0)
        W = W[:, size > DEPENDENT * size_before]
    G = W.T @ (K @ W)
    strain = np.sqrt(np.diag(G))
    # Scaled to a unit diagonal, so that the eigenvalues measure directions and not sizes.
    G = G / strain / strain[:, None]
    value, V = eigen_by_parts(np.linalg.eigh, symmetric(G))
    independent = value > DEPENDENT
    V = V[:, independent]
    return (W / strain) @ (V / np.sqrt(value[independent]))
