"""Sparse symmetric positive definite systems: Cholesky factors front by front, ordered by nested dissection.

Stiffness matrices of solid links fill up when they are factorised. Cutting the mesh in two again and again, and putting
the nodes on the cuts last, keeps the fill low ([George1973]); working on one dense front for each piece
([DuffReid1983]) turns nearly all of the arithmetic into products of dense matrices. Only the lower triangle is kept.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import get_blas_funcs, get_lapack_funcs
from scipy.sparse.csgraph import breadth_first_order

Progress = Callable[[str, float], None]
Sparse = Any  # scipy.sparse
LEAF = 120  # unknowns in a piece that is not cut again: below, the overhead of a front outweighs its fill
WORDS = "factorising"
dpotrf, dtrtrs = get_lapack_funcs(("potrf", "trtrs"), dtype=float)
(dsyrk,) = get_blas_funcs(("syrk",), dtype=float)


class NotPositiveDefiniteError(ValueError):
    """A matrix that should be positive definite has a zero or negative pivot; `unknown` is its row."""

    def __init__(self, unknown: int):
        super().__init__(f"the matrix is not positive definite (at unknown {unknown})")
        self.unknown = unknown


class _Front(NamedTuple):
    """Factors of one piece: its own unknowns (first to last, in the new order) and those of later pieces it touches."""

    first: int
    last: int
    border: np.ndarray  # the unknowns of later pieces
    diagonal: np.ndarray  # L_11, lower triangle
    below: np.ndarray  # L_21


class _Update(NamedTuple):
    """What the elimination of a piece adds to the equations of the unknowns on its border."""

    border: np.ndarray
    matrix: np.ndarray  # lower triangle


class Cholesky(NamedTuple):
    """A = L L^T of a sparse matrix; call it to solve."""

    order: np.ndarray  # unknown of A at each place of the new order
    fronts: list[_Front]

    def __call__(self, right: np.ndarray) -> np.ndarray:
        """A^-1 right, for one column or several."""
        n = len(self.order)
        if not n:
            return np.zeros(np.shape(right))
        # A copy, which the solves overwrite, column by column in memory as LAPACK takes it.
        y = np.array(right[self.order], dtype=float, order="F").reshape(n, -1)
        self._solve_lower(y)
        self._solve_transposed(y)
        x = np.empty_like(y)
        x[self.order] = y
        return x.reshape(np.shape(right))

    def _solve_lower(self, y: np.ndarray) -> None:
        """L^-1 y, in place: from the first piece to the last."""
        for front in self.fronts:
            own = slice(front.first, front.last)
            part = _triangular(front.diagonal, y[own], transposed=False)
            y[own] = part
            if front.border.size:
                y[front.border] -= front.below @ part

    def _solve_transposed(self, y: np.ndarray) -> None:
        """L^-T y, in place: from the last piece to the first."""
        for front in reversed(self.fronts):
            own = slice(front.first, front.last)
            part = y[own]
            if front.border.size:
                part = part - front.below.T @ y[front.border]
            y[own] = _triangular(front.diagonal, part, transposed=True)


def cholesky(
    matrix: Sparse, points: np.ndarray | None = None, progress: Progress | None = None
) -> Cholesky:
    """Cholesky factor of a sparse symmetric positive definite matrix, as a function that solves.

    Args:
        matrix: A, both triangles stored.
        points: position of each unknown, (n, 3); unknowns of one node share theirs. Without it, distances along the
            edges of the matrix take its place.
        progress: called with a text and the share of the work that is done.

    Raises:
        NotPositiveDefiniteError: a pivot is not positive.
    """
    A = sp.csr_matrix(matrix)
    if not matrix.shape[0]:
        return Cholesky(np.zeros(0, dtype=int), [])
    A.sort_indices()
    if points is None:
        points = landmark_distances(A)
    pieces = nested_dissection(A, np.asarray(points, dtype=float))
    order = np.concatenate([piece for piece, _ in pieces])
    reordered = A[order][:, order].tocsc()
    return Cholesky(order, _factorise(reordered, pieces, order, progress))


def nested_dissection(A: Sparse, points: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Pieces in the order of elimination, each with the number of pieces that it follows directly (its children)."""
    nodes, of_dof = np.unique(points, axis=0, return_inverse=True)
    of_dof = of_dof.reshape(-1)
    pattern = _pattern_of_nodes(A, of_dof)
    unknowns_of = _unknowns_of_nodes(of_dof, len(nodes))
    per_node = max(1.0, len(points) / len(nodes))
    other_side = np.zeros(len(nodes), dtype=bool)
    pieces: list[tuple[np.ndarray, int]] = []

    def place(piece: np.ndarray, children: int) -> None:
        none = np.zeros(0, dtype=int)
        unknowns = [unknowns_of[node] for node in piece]
        pieces.append((np.concatenate([none, *unknowns]), children))

    def cut(piece: np.ndarray) -> None:
        """Places a piece: first what its two halves leave inside them, then the nodes between."""
        halves = None
        if len(piece) * per_node > LEAF:
            halves = _bisect(pattern, nodes, piece, other_side)
        if halves is None:
            place(piece, children=0)
            return
        lower, upper, between = halves
        inner = [half for half in (lower, upper) if len(half)]
        for half in inner:
            cut(half)
        place(between, children=len(inner))

    cut(np.arange(len(nodes)))
    return pieces


def _pattern_of_nodes(A: Sparse, of_dof: np.ndarray) -> Sparse:
    """Which nodes share an entry of the matrix; `of_dof` is the node of each unknown."""
    rows = np.repeat(of_dof, np.diff(A.indptr))
    columns = of_dof[A.indices]
    pattern = sp.csr_matrix((np.ones(A.nnz), (rows, columns)))
    pattern.data[:] = 1.0
    return pattern


def _unknowns_of_nodes(of_dof: np.ndarray, n_nodes: int) -> list[np.ndarray]:
    unknowns = np.argsort(of_dof, kind="stable")
    ends = np.cumsum(np.bincount(of_dof, minlength=n_nodes))
    return np.split(unknowns, ends[:-1])


def landmark_distances(A: Sparse) -> np.ndarray:
    """Edges between each unknown and three unknowns far from each other, in place of coordinates."""
    distance = np.zeros((A.shape[0], 3))
    seed = 0
    for axis in range(3):
        distance[:, axis] = _levels(A, seed)
        # The next landmark is the unknown farthest from those so far.
        nearest = np.min(distance[:, : axis + 1], axis=1)
        seed = int(np.argmax(nearest))
    return distance


def _levels(A: Sparse, seed: int) -> np.ndarray:
    """Edges between each unknown and the seed."""
    order, before = breadth_first_order(A, seed, directed=False)
    level = np.zeros(A.shape[0])
    for unknown in order[1:]:
        level[unknown] = level[before[unknown]] + 1
    return level


def _bisect(
    pattern: Sparse, points: np.ndarray, piece: np.ndarray, other_side: np.ndarray
):
    """Two halves of a piece and the nodes between them; `None` where no plane parts its nodes."""
    here = points[piece]
    longest = np.argmax(np.ptp(here, axis=0))
    along = here[:, longest]
    low = along < np.median(along)
    # Where more than half of the nodes share the lowest place, none lies below the median.
    if not low.any():
        low = along <= along.min()
    if low.all():
        return None
    lower, upper = piece[low], piece[~low]
    low_touches = _nodes_touching(pattern, lower, upper, other_side)
    high_touches = _nodes_touching(pattern, upper, lower, other_side)
    # The nodes between are those of one half that touch the other: of the half that has fewer of them.
    if low_touches.sum() <= high_touches.sum():
        return lower[~low_touches], upper, lower[low_touches]
    return lower, upper[~high_touches], upper[high_touches]


def _nodes_touching(
    pattern: Sparse, these: np.ndarray, those: np.ndarray, mark: np.ndarray
) -> np.ndarray:
    """Which of these nodes share an entry of the matrix with those."""
    # `mark` is scratch for all nodes, clear before and after: a new one for every cut would cost more than the cut.
    mark[those] = True
    rows = pattern[these]
    touched_so_far = np.concatenate([[0], np.cumsum(mark[rows.indices])])
    mark[those] = False
    starts = rows.indptr[:-1]
    ends = rows.indptr[1:]
    return touched_so_far[ends] > touched_so_far[starts]


def _factorise(
    A: Sparse, pieces, order: np.ndarray, progress: Progress | None
) -> list[_Front]:
    """Fronts of all pieces of the reordered matrix."""
    fronts: list[_Front] = []
    # Updates of fronts whose parent is to come: the parent follows its children, which are the last ones here.
    waiting: list[_Update] = []
    place = np.empty(A.shape[0], dtype=int)
    first = 0
    for number, (piece, children) in enumerate(pieces):
        last = first + len(piece)
        updates = [waiting.pop() for _ in range(children)]
        F, border = _assemble_front(A, first, last, updates, place)
        front, update = _eliminate_front(F, first, last, border, order)
        fronts.append(front)
        waiting.append(update)
        first = last
        is_last = number + 1 == len(pieces)
        if progress is not None and (number % 50 == 0 or is_last):
            progress(WORDS, (number + 1) / len(pieces))
    return fronts


def _assemble_front(
    A: Sparse, first: int, last: int, updates: list[_Update], place: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Dense matrix of a front, own unknowns first, and its border; `place` is scratch: of unknowns in the front."""
    columns = A[:, first:last].tocoo()
    is_lower = columns.row >= first
    rows = columns.row[is_lower]
    borders = [update.border for update in updates]
    border = np.unique(np.concatenate([rows, *borders]))
    border = border[border >= last]
    n = last - first
    size = n + len(border)
    place[first:last] = np.arange(n)
    place[border] = np.arange(n, size)
    F = np.zeros((size, size), order="F")
    F[place[rows], columns.col[is_lower]] = columns.data[is_lower]
    for update in updates:
        where = place[update.border]
        F[np.ix_(where, where)] += update.matrix
    return F, border


def _eliminate_front(
    F: np.ndarray, first: int, last: int, border: np.ndarray, order: np.ndarray
) -> tuple[_Front, _Update]:
    """A front's factors, and what is left for its border: F_22 - L_21 L_21^T."""
    n = last - first
    L11, failed = dpotrf(F[:n, :n], lower=1, clean=1)
    if failed:
        raise NotPositiveDefiniteError(int(order[first + failed - 1]))
    L21 = np.zeros((len(border), n))
    rest = np.asfortranarray(F[n:, n:])
    if len(border) and n:
        coupling = np.asfortranarray(F[n:, :n].T)
        L21_T = _triangular(L11, coupling, transposed=False)
        rest = dsyrk(-1.0, L21_T, trans=1, beta=1.0, c=rest, lower=1, overwrite_c=1)
        L21 = L21_T.T
    return _Front(first, last, border, L11, L21), _Update(border, rest)


def _triangular(L: np.ndarray, right: np.ndarray, transposed: bool) -> np.ndarray:
    if not L.size:
        return right
    x, _ = dtrtrs(L, right, lower=1, trans=int(transposed))
    return x
