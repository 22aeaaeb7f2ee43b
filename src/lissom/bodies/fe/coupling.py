"""Faces tied to a node with six dofs: rigidly (RBE2), or so that the node follows their mean motion (RBE3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from ..body import rigid_shapes
from .elements import NONE, FeError, FiniteElements, Sparse

Kind = Literal["rigid", "distributing"]
FULL_RANK = 1e-8  # smallest singular value of a face's rigid motions, of the largest, that counts as there


@dataclass(frozen=True)
class Coupling:
    """Nodes of a face, and where the node with six dofs sits that moves with them."""

    nodes: np.ndarray  # positions in `FiniteElements.points`
    at: np.ndarray  # (3,) [m]
    kind: Kind = "rigid"


@dataclass(frozen=True)
class Coupled:
    """Finite elements with couplings: u of the original dofs is `expand` times u of the new ones."""

    fe: FiniteElements
    expand: Sparse  # (n of `base`, n of `fe`)
    base: FiniteElements
    added: tuple[int, ...]  # position in `fe.points` of the node of each coupling


def coupled(fe: FiniteElements, couplings: Sequence[Coupling]) -> Coupled:
    """Finite elements whose faces move with new nodes of six dofs each.

    `rigid` (RBE2): the face moves as a rigid body with the node, u_f = B(X_f - X) r. Its own dofs disappear.
    `distributing` (RBE3): the node has the mean motion of the face, r = (B^T B)^-1 B^T u_f, and stiffens nothing; six
    dofs of the face disappear.

    Raises:
        FeError: two faces share a node, or a face cannot follow all six motions (its nodes lie on one line).
    """
    if not couplings:
        return Coupled(fe, sp.csr_matrix(sp.eye(fe.size)), fe, ())
    _refuse_overlap(fe, couplings)
    n = fe.size
    blocks = [_rows(fe, coupling) for coupling in couplings]
    dependent = np.concatenate([rows for rows, _, _ in blocks])
    kept = np.setdiff1d(np.arange(n), dependent)
    column = np.full(n, NONE)
    column[kept] = np.arange(len(kept))
    entries = [(kept, np.arange(len(kept)), np.ones(len(kept)))]
    for number, (rows, others, values) in enumerate(blocks):
        columns = np.concatenate(
            [column[others], len(kept) + 6 * number + np.arange(6)]
        )
        row, col = np.broadcast_arrays(rows[:, None], columns[None, :])
        entries.append((row.ravel(), col.ravel(), values.ravel()))
    row, col, value = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    T = sp.csr_matrix((value, (row, col)), shape=(n, len(kept) + 6 * len(couplings)))
    return _joined(fe, T, column, couplings)


def _joined(
    fe: FiniteElements, T: Sparse, column: np.ndarray, couplings: Sequence[Coupling]
) -> Coupled:
    place = np.where(fe.place >= 0, column[fe.place], NONE)
    first = T.shape[1] - 6 * len(couplings)
    new = first + np.arange(6 * len(couplings)).reshape(-1, 6)
    top = int(fe.labels.max())
    K, M = (sp.csc_matrix(T.T @ A @ T) for A in (fe.K, fe.M))
    joined = replace(
        fe,
        K=(K + K.T) / 2,
        M=(M + M.T) / 2,
        points=np.concatenate([fe.points, [c.at for c in couplings]]),
        labels=np.concatenate([fe.labels, top + 1 + np.arange(len(couplings))]),
        place=np.concatenate([place, new]),
    )
    added = tuple(len(fe.points) + k for k in range(len(couplings)))
    return Coupled(joined, T, fe, added)


def _rows(
    fe: FiniteElements, coupling: Coupling
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Dependent dofs, the other dofs of the face, and the dependent ones over (others, r)."""
    place = fe.place[coupling.nodes]
    shapes = np.asarray(rigid_shapes(fe.points[coupling.nodes] - coupling.at))
    there = place >= 0
    dofs, B = place[there], shapes[there]
    size = np.linalg.norm(np.ptp(fe.points[coupling.nodes], axis=0))
    scaled = B * np.array([1, 1, 1, *(3 * [1 / max(size, 1e-300)])])
    singular = np.linalg.svd(scaled, compute_uv=False) if len(B) >= 6 else np.zeros(6)
    if singular[-1] <= FULL_RANK * max(singular[0], 1e-300):
        raise FeError(
            f"interface: {len(coupling.nodes)} nodes near {np.round(coupling.at, 6).tolist()} cannot hold all six "
            "motions: they lie on one line or point. Choose a face, or a node with rotations"
        )
    if coupling.kind == "rigid":
        return dofs, np.zeros(0, dtype=int), B
    mean = np.linalg.pinv(B)  # r = mean u_f, (6, f)
    scale = np.array([1, 1, 1, *(3 * [max(size, 1e-300)])])[:, None]
    order = qr(scale * mean, mode="economic", pivoting=True)[-1]
    lead, rest = order[:6], np.sort(order[6:])
    inverse = np.linalg.inv(mean[:, lead])
    return (
        dofs[lead],
        dofs[rest],
        np.concatenate([-inverse @ mean[:, rest], inverse], axis=1),
    )


def _refuse_overlap(fe: FiniteElements, couplings: Sequence[Coupling]) -> None:
    nodes = np.concatenate([c.nodes for c in couplings])
    values, counts = np.unique(nodes, return_counts=True)
    if counts.max(initial=0) > 1:
        raise FeError(
            f"interface: node {fe.labels[values[counts.argmax()]]} belongs to two coupled faces: they must not touch"
        )
