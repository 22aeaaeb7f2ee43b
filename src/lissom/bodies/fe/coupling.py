"""Faces coupled to a node with six dofs: rigidly (RBE2), or so that the node follows their mean motion (RBE3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from ..body import rigid_shapes
from .elements import NONE, FeError, FiniteElements, Sparse

Kind = Literal["rigid", "distributing"]
FULL_RANK = 1e-8  # smallest singular value of a face's rigid motions, relative to the largest, that counts
TINY = 1e-300  # stands for zero where something is divided by it


@dataclass(frozen=True)
class Coupling:
    """Nodes of a face, and where the node with six dofs sits that moves with them."""

    nodes: np.ndarray  # positions in `FiniteElements.points`
    at: np.ndarray  # (3,) [m]
    kind: Kind = "rigid"


@dataclass(frozen=True)
class CoupledElements:
    """Finite elements with couplings: u of the original dofs is `expand` times u of the new ones."""

    fe: FiniteElements
    expand: Sparse  # (n of `base`, n of `fe`)
    base: FiniteElements
    added: tuple[int, ...]  # position in `fe.points` of the node of each coupling


class Constraint(NamedTuple):
    """Dofs of a face that a coupling determines: u_dependent = values (u_others, r)."""

    dependent: np.ndarray
    others: np.ndarray
    values: np.ndarray


def couple_faces(fe: FiniteElements, couplings: Sequence[Coupling]) -> CoupledElements:
    """Finite elements whose faces move with new nodes of six dofs each.

    `rigid` (RBE2): the face moves as a rigid body with the node, u_f = B(X_f - X) r. Its own dofs disappear.
    `distributing` (RBE3): the node has the mean motion of the face, r = (B^T B)^-1 B^T u_f, and stiffens nothing; six
    dofs of the face disappear.

    Raises:
        FeError: two faces share a node, or a face cannot follow all six motions (its nodes lie on one line).
    """
    if not couplings:
        same = sp.csr_matrix(sp.eye(fe.size))
        return CoupledElements(fe, same, fe, ())
    _refuse_overlap(fe, couplings)
    constraints = [_constraint(fe, coupling) for coupling in couplings]
    dependent = np.concatenate([c.dependent for c in constraints])
    independent = np.setdiff1d(np.arange(fe.size), dependent)
    column = np.full(fe.size, NONE)
    column[independent] = np.arange(len(independent))
    T = _expansion(independent, column, constraints)
    return _with_new_nodes(fe, T, column, couplings)


def _expansion(
    independent: np.ndarray, column: np.ndarray, constraints: Sequence[Constraint]
) -> Sparse:
    """T, original dofs from new ones: the dofs that are kept, then six for each coupling."""
    rows = [independent]
    columns = [np.arange(len(independent))]
    values = [np.ones(len(independent))]
    for number, constraint in enumerate(constraints):
        new_node = len(independent) + 6 * number + np.arange(6)
        over = np.concatenate([column[constraint.others], new_node])
        dependent = constraint.dependent
        rows.append(np.repeat(dependent, len(over)))
        columns.append(np.tile(over, len(dependent)))
        values.append(constraint.values.ravel())
    row = np.concatenate(rows)
    col = np.concatenate(columns)
    value = np.concatenate(values)
    new_dofs = len(independent) + 6 * len(constraints)
    shape = (len(column), new_dofs)
    return sp.csr_matrix((value, (row, col)), shape=shape)


def _with_new_nodes(
    fe: FiniteElements, T: Sparse, column: np.ndarray, couplings: Sequence[Coupling]
) -> CoupledElements:
    count = len(couplings)
    first_new_dof = T.shape[1] - 6 * count
    old_place = np.where(fe.place >= 0, column[fe.place], NONE)
    new_dofs = first_new_dof + np.arange(6 * count)
    new_place = new_dofs.reshape(-1, 6)
    largest_label = int(fe.labels.max())
    new_labels = largest_label + 1 + np.arange(count)
    new_points = [coupling.at for coupling in couplings]
    K = sp.csc_matrix(T.T @ fe.K @ T)
    M = sp.csc_matrix(T.T @ fe.M @ T)
    joined = replace(
        fe,
        # The products are symmetric up to rounding alone.
        K=(K + K.T) / 2,
        M=(M + M.T) / 2,
        points=np.concatenate([fe.points, new_points]),
        labels=np.concatenate([fe.labels, new_labels]),
        place=np.concatenate([old_place, new_place]),
    )
    nodes = len(fe.points)
    added = tuple(range(nodes, nodes + count))
    return CoupledElements(joined, T, fe, added)


def _constraint(fe: FiniteElements, coupling: Coupling) -> Constraint:
    points = fe.points[coupling.nodes]
    place = fe.place[coupling.nodes]
    has_dof = place >= 0
    dofs = place[has_dof]
    shapes = rigid_shapes(points - coupling.at)
    B = np.asarray(shapes)[has_dof]
    box = np.ptp(points, axis=0)
    size = max(float(np.linalg.norm(box)), TINY)
    _refuse_low_rank(coupling, B, size)
    if coupling.kind == "rigid":
        no_others = np.zeros(0, dtype=int)
        return Constraint(dofs, no_others, B)
    mean = np.linalg.pinv(B)  # r = mean u_f, (6, f)
    # Of the dofs of the face, the six that r determines best are eliminated: pivots of a QR decomposition.
    # Rotations are multiplied by the size of the face, so that all six rows are lengths.
    lengths = mean.copy()
    lengths[3:] *= size
    pivots = qr(lengths, mode="economic", pivoting=True)[-1]
    lead = pivots[:6]
    rest = np.sort(pivots[6:])
    # From r = mean u_f: u_lead = mean_lead^-1 (r - mean_rest u_rest).
    inverse = np.linalg.inv(mean[:, lead])
    of_others = -inverse @ mean[:, rest]
    values = np.hstack([of_others, inverse])
    return Constraint(dofs[lead], dofs[rest], values)


def _refuse_low_rank(coupling: Coupling, B: np.ndarray, size: float) -> None:
    """Refuse a face whose nodes do not determine six motions."""
    singular = np.zeros(6)
    if len(B) >= 6:
        scaled = B.copy()
        scaled[:, 3:] /= size
        singular = np.linalg.svd(scaled, compute_uv=False)
    largest = max(singular[0], TINY)
    if singular[-1] <= FULL_RANK * largest:
        raise FeError(
            f"interface: {len(coupling.nodes)} nodes near "
            f"{np.round(coupling.at, 6).tolist()} cannot constrain all six motions: "
            "they lie on one line or point. Choose a face, or a node with rotations"
        )


def _refuse_overlap(fe: FiniteElements, couplings: Sequence[Coupling]) -> None:
    nodes = np.concatenate([c.nodes for c in couplings])
    values, counts = np.unique(nodes, return_counts=True)
    if counts.max(initial=0) > 1:
        shared = values[counts.argmax()]
        raise FeError(
            f"interface: node {fe.labels[shared]} belongs to two coupled faces: "
            "coupled faces must not share nodes"
        )
