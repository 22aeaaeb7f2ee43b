"""Orthonormal modes of a free link, the six rigid ones first and clean, and the choice of those to keep."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float

from ...types import Real, namespace
from .basis import Dofs, split
from .eigen import Matrix, lowest_modes

DEPENDENT = (
    1e-11  # eigenvalue of the scaled Gram matrix below which motions count as dependent
)


class FreeModes(eqx.Module):
    r"""Mass-orthonormal modes of a link that floats freely, over its n dofs.

    The rigid modes are the rigid shapes themselves, made orthonormal: no near-zero eigenvalue mixes with them. The
    elastic modes are orthogonal to them, so that $U^T M U = I$ and $U^T K U = \mathrm{diag}(\omega^2)$ for $U$ =
    `basis`, as [Vidoni2015] eqs. (2), (53) need it.
    """

    rigid: Float[Real, "n 6"]
    shapes: Float[Real, "n m"]  # elastic modes
    clamped: Float[
        Real, "n m"
    ]  # the same less their rigid motion at the held dofs: zero there
    omega: Float[Real, " m"]  # of the elastic modes [rad/s]

    @property
    def basis(self) -> Float[Real, "n u"]:
        """U = [rigid | elastic], [Vidoni2015] eq. (2)."""
        return namespace(self.shapes).concatenate([self.rigid, self.shapes], axis=1)

    @property
    def frequency_hz(self) -> Float[Real, " m"]:
        """Of the elastic modes [Hz]."""
        return self.omega / (2 * np.pi)


class Excitation(NamedTuple):
    """What shakes a link: loads over its dofs, all of the same share in every frequency of a band."""

    force: Float[Real, "n f"]  # one column for each load
    band_hz: tuple[float, float]  # [Hz]
    damping_ratio: float = 0.02  # keeps resonances finite


class Record(NamedTuple):
    """What a truncation kept and dropped."""

    frequency_hz: Float[Real, " m"]
    kept: Bool[np.ndarray, " m"]
    energy: (
        Float[np.ndarray, " m"] | None
    )  # share of each mode in the energy of the excited link; adds up to 1


def free_modes(
    K: Matrix,
    M: Matrix,
    rigid: Float[Real, "n 6"],
    held: Dofs,
    basis: Float[Real, "n k"] | None = None,
) -> FreeModes:
    r"""Orthonormal modes of the free link, in the span of `basis` (which must hold the rigid shapes) or of all dofs.

    Motions are counted from the six dofs `held`, where the rigid motion is taken away: the stiffness is then regular,
    and the mass that a floating link feels, $M - M B (B^T M B)^{-1} B^T M$, knows no rigid motion. The rigid modes
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
    six, others = split(n, held)
    xp = namespace(rigid, basis, K if isinstance(K, Real) else 0.0)
    if basis is None:
        W = xp.eye(n)[:, others]
    elif xp is np:
        W = _clamped(basis, rigid, six, K)
    else:
        W = basis - rigid @ xp.linalg.solve(rigid[six], basis[six])
    M_B = M @ rigid
    M_rr = rigid.T @ M_B
    M_rw = M_B.T @ W
    M_w = W.T @ (M @ W) - M_rw.T @ xp.linalg.solve(M_rr, M_rw)
    omega2, v = lowest_modes(W.T @ (K @ W), M_w, W.shape[1])
    clamped = W @ v
    shapes = clamped - rigid @ xp.linalg.solve(M_rr, M_rw @ v)
    return FreeModes(_orthonormal_rigid(rigid, M_rr), shapes, clamped, xp.sqrt(omega2))


def truncated(
    modes: FreeModes,
    count: int | None = None,
    below_hz: float | None = None,
    excitation: Excitation | None = None,
) -> tuple[FreeModes, Record]:
    """The modes worth keeping, lowest first, and the record of what was dropped.

    Args:
        modes: all there are.
        count: at most so many; the lowest, or those with most energy where an excitation is given.
        below_hz: none at or above this frequency [Hz].
        excitation: rank by `energy_shares` instead of by frequency; needs `count`.
    """
    f = modes.frequency_hz
    if below_hz is None and excitation is None:
        keep = np.arange(min(len(f) if count is None else count, len(f)))
        return _taken(modes, keep), Record(f, np.isin(np.arange(len(f)), keep), None)
    if excitation is not None and count is None:
        raise ValueError("a ranking by excitation needs the number of modes to keep")
    energy = None if excitation is None else energy_shares(modes, excitation)
    order = np.arange(len(f)) if energy is None else np.argsort(-energy, kind="stable")
    order = [i for i in order if below_hz is None or f[i] < below_hz]
    keep = np.sort(np.asarray(order[:count], dtype=int))
    return _taken(modes, keep), Record(f, np.isin(np.arange(len(f)), keep), energy)


def energy_shares(modes: FreeModes, excitation: Excitation) -> Float[np.ndarray, " m"]:
    r"""Share of each elastic mode in the energy of the link under its excitation, averaged over the band.

    In steady vibration at $\Omega$ a mass-normalised mode holds the mean energy

    $$ \tfrac14 (\omega^2 + \Omega^2)\, \frac{(\phi^T f)^2}{(\omega^2 - \Omega^2)^2 + (2 \zeta \omega \Omega)^2} $$

    (kinetic plus strain). Modes are ranked by energy as [Palomba2014] ranks them, here those of the free link. A mode
    far from the band, or with a node where the load acts, matters little however low its frequency is.
    """
    from scipy.integrate import quad

    low, high = (2 * np.pi * f for f in excitation.band_hz)
    if not 0 <= low < high:
        raise ValueError(
            f"the band of an excitation must rise from a frequency of at least 0, got {excitation.band_hz}"
        )
    zeta = excitation.damping_ratio

    def held(omega: float) -> float:
        def response(W):
            return (omega**2 + W**2) / (
                (omega**2 - W**2) ** 2 + (2 * zeta * omega * W) ** 2
            )

        points = [
            w for w in (omega * (1 - zeta), omega, omega * (1 + zeta)) if low < w < high
        ]
        return quad(response, low, high, points=points or None, limit=200)[0]

    work = np.sum(
        (np.asarray(modes.shapes).T @ np.asarray(excitation.force)) ** 2, axis=1
    )
    energy = work * np.array([held(float(w)) for w in modes.omega])
    total = energy.sum()
    return energy / total if total > 0 else energy


def assurance(
    first: Float[np.ndarray, "n k"], second: Float[np.ndarray, "n m"], M: Matrix
) -> Float[np.ndarray, "k m"]:
    """Modal assurance criterion, mass-weighted: 1 where two shapes are the same up to their size, 0 if orthogonal."""
    cross = first.T @ (M @ second)
    one, two = (np.einsum("nk,nk->k", a, M @ a) for a in (first, second))
    return cross**2 / (one[:, None] * two)


def _taken(modes: FreeModes, keep: Sequence[int] | np.ndarray) -> FreeModes:
    return FreeModes(
        modes.rigid, modes.shapes[:, keep], modes.clamped[:, keep], modes.omega[keep]
    )


def _orthonormal_rigid(
    rigid: Float[Real, "n 6"], M_rr: Float[Real, "6 6"]
) -> Float[Real, "n 6"]:
    xp = namespace(rigid, M_rr)
    return xp.linalg.solve(xp.linalg.cholesky(M_rr), rigid.T).T


def _clamped(basis: Float[Real, "n k"], rigid, six, K: Matrix) -> Float[Real, "n r"]:
    """Independent, strain-orthonormal motions that leave six dofs at rest; with the rigid ones they span `basis`."""
    at_rest = ~np.any(basis[six], axis=0)
    if (
        at_rest.sum() == basis.shape[1] - 6
    ):  # Craig-Bampton: the six others are rigid motions less some of these
        W = basis[:, at_rest]
    else:
        W = basis - rigid @ np.linalg.solve(rigid[six], basis[six])
        W = W[:, np.linalg.norm(W, axis=0) > DEPENDENT * np.linalg.norm(basis, axis=0)]
    G = W.T @ (K @ W)
    strain = np.sqrt(np.diag(G))
    G = G / strain / strain[:, None]
    value, V = np.linalg.eigh(0.5 * (G + G.T))
    real = value > DEPENDENT
    return (W / strain) @ (V[:, real] / np.sqrt(value[real]))
