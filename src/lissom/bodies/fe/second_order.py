r"""Second-order displacements of a link's modes, for geometric stiffening.

A solid that moves by $u = \sum \phi_a \eta_a$ strains to second order too, by
$\tfrac12 \nabla u^T \nabla u = \tfrac12 \sum e_{ab} \eta_a \eta_b$: it would grow longer as it bends. Further
displacements $\tfrac12 \sum g_{ab} \eta_a \eta_b$ relax that strain as far as the solid can,

$$ \int \varepsilon(v) : C : \left(\varepsilon(g_{ab}) + e_{ab}\right) = 0
   \quad \text{for every } v \text{ that leaves the inner node at rest,} $$

one static solution for each pair of modes. The strain energy is then $\tfrac12 \eta^T K \eta$ up to fourth order, and
loads along the second-order displacements stiffen the link or soften it: what the shortening of a bent axis is for a
beam.
"""

from dataclasses import dataclass

import numpy as np

from ..body import rigid_shapes
from ..reduce.component_modes import Progress, report_progress
from ..reduce.free_modes import FreeModes
from ..reduce.lowest_modes import Solve
from .coupling import CoupledElements

# Singular value of the second-order displacements of modes with equal energies, against the largest, that is kept.
KEPT = 3e-3
# Part of a quadratic form, against its largest, that counts as rounding.
ROUNDING = 1e-9
BATCH = 32  # pairs of modes that are solved together


@dataclass(frozen=True)
class SecondOrder:
    r"""Second-order displacements $\sum_p f_p |A_p \eta + L_p \varphi|^2$ of a link over its n dofs, m modes.

    A rotation $\varphi$ of the whole link takes part as a mode without strain: a link that is turned a little, and
    bent, moves by their product too.
    """

    fields: np.ndarray  # (n, p) f_p
    factors: np.ndarray  # (p, d, m) A_p
    leans: np.ndarray  # (p, d, 3) L_p


def second_order(
    link: CoupledElements,
    modes: FreeModes,
    held: np.ndarray,
    origin: np.ndarray,
    solve: Solve,
    progress: Progress | None = None,
) -> SecondOrder | None:
    """Second-order displacements of all pairs of modes, in few fields; None where the elements are not known.

    Args:
        link: finite elements with their couplings.
        modes: those that are kept.
        held: dofs of the inner node.
        origin: where the inner node is.
        solve: inverse of the stiffness without them.
        progress: called with a text and the share of that part that is done.
    """
    loads_of_pairs = link.base.second_order_loads
    m = modes.clamped.shape[1]
    if loads_of_pairs is None or m == 0:
        return None
    free = np.setdiff1d(np.arange(link.fe.size), held)
    motions, amplitude = _motions(link, modes, origin)
    full = np.asarray(link.expand @ (motions * amplitude))
    first, second = np.triu_indices(len(amplitude))
    fields = np.zeros((link.fe.size, len(first)))
    for start in range(0, len(first), BATCH):
        report_progress(progress, "second-order displacements", start / len(first))
        batch = slice(start, start + BATCH)
        pairs = full[:, first[batch]], full[:, second[batch]]
        loads = link.expand.T @ loads_of_pairs(*pairs)
        fields[free, batch] = -solve(loads[free])
    report_progress(progress, "second-order displacements", 1.0)
    return _in_few_fields(link, fields, first, second, amplitude)


def _motions(
    link: CoupledElements, modes: FreeModes, origin: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rotations about the inner node, then the modes; and amplitudes at which they are comparable."""
    fe = link.fe
    rotations = fe.at_dofs(np.asarray(rigid_shapes(fe.points - origin)))[:, 3:]
    moment = np.einsum("nk,nk->k", rotations, fe.M @ rotations)
    omega = np.asarray(modes.omega)
    # Modes of equal energy have amplitudes as 1 / omega; rotations move as fast as the softest of them.
    of_rotations = 1.0 / (omega.min() * np.sqrt(moment))
    motions = np.hstack([rotations, np.asarray(modes.clamped)])
    return motions, np.concatenate([of_rotations, 1.0 / omega])


def _in_few_fields(
    link: CoupledElements,
    fields: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    amplitude: np.ndarray,
) -> SecondOrder:
    """The leading fields in the sense of the mass, each with the quadratic form of its amplitude."""
    # 1/2 sum over all a, b is the sum over a < b and half of a = b.
    weighted = np.where(first == second, 0.5, 1.0) * fields
    gram = weighted.T @ (link.fe.M @ weighted)
    value, V = np.linalg.eigh((gram + gram.T) / 2)
    size = np.sqrt(np.maximum(value, 0.0))
    leading = size > KEPT * size.max(initial=0.0)
    V = V[:, leading]
    own_fields = weighted @ V
    m = len(amplitude)
    signed_fields, factors = [], []
    for field, coefficients in zip(own_fields.T, V.T, strict=True):
        form = np.zeros((m, m))
        form[first, second] = coefficients / (amplitude[first] * amplitude[second])
        form = (form + form.T) / 2
        for sign, factor in _squares(form):
            signed_fields.append(sign * field)
            factors.append(factor)
    if not signed_fields:
        signed_fields, factors = [np.zeros(len(fields))], [np.zeros((1, m))]
    whole = _pad_factors(factors)
    return SecondOrder(np.stack(signed_fields, axis=1), whole[..., 3:], whole[..., :3])


def _squares(form: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """A quadratic form as a sum of squares less another one: (1, A) and (-1, B) for |A eta|^2 - |B eta|^2."""
    value, V = np.linalg.eigh(form)
    limit = ROUNDING * np.abs(value).max(initial=0.0)
    squares = []
    for sign in (1.0, -1.0):
        own = sign * value > limit
        if own.any():
            squares.append((sign, np.sqrt(sign * value[own])[:, None] * V[:, own].T))
    return squares


def _pad_factors(factors: list[np.ndarray]) -> np.ndarray:
    """Factors with equal numbers of rows: rows of zeros add nothing to a square."""
    rows = max(len(factor) for factor in factors)
    longer = []
    for factor in factors:
        longer.append(np.pad(factor, ((0, rows - len(factor)), (0, 0))))
    return np.stack(longer)
