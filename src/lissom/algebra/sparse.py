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
    """One piece: its own unknowns (first to last, in the new order), those of later pieces that it touches, factors."""

    first: int
    last: int
    border: np.ndarray
    diagonal: np.ndarray  # L_11, lower triangle
    below: np.ndarray  # L_21


class Cholesky(NamedTuple):
    """A = L L^T of a sparse matrix; call it to solve."""

    order: np.ndarray  # unknown of A at each place of the new order
    fronts: list[_Front]

    def __call__(self, right: np.ndarray) -> np.ndarray:
        """A^-1 right, for one column or several."""
        if not len(self.order):
            return np.zeros(np.shape(right))
        y = np.array(right[self.order], dtype=float, order="F").reshape(
            len(self.order), -1
        )
        for f in self.fronts:
            part = _triangular(f.diagonal, y[f.first : f.last], transposed=False)
            y[f.first : f.last] = part
            if f.border.size:
                y[f.border] -= f.below @ part
        for f in reversed(self.fronts):
            part = y[f.first : f.last]
            if f.border.size:
                part = part - f.below.T @ y[f.border]
            y[f.first : f.last] = _triangular(f.diagonal, part, transposed=True)
        x = np.empty_like(y)
        x[self.order] = y
        return x.reshape(np.shape(right))

    @property
    def entries(self) -> int:
        """Numbers that the factor holds."""
        return sum(f.diagonal.size + f.below.size for f in self.fronts)


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
    places = (
        landmark_distances(A) if points is None else np.asarray(points, dtype=float)
    )
    pieces = nested_dissection(A, places)
    order = np.concatenate([piece for piece, _ in pieces])
    return Cholesky(
        order, _factorise(A[order][:, order].tocsc(), pieces, order, progress)
    )


def nested_dissection(A: Sparse, points: np.ndarray) -> list[tuple[np.ndarray, int]]:
    """Pieces in the order of elimination, each with the number of pieces that it follows directly (its children)."""
    nodes, of_dof = np.unique(points, axis=0, return_inverse=True)
    of_dof = of_dof.reshape(-1)
    pattern = sp.csr_matrix(
        (np.ones(A.nnz), (np.repeat(of_dof, np.diff(A.indptr)), of_dof[A.indices]))
    )
    pattern.data[:] = 1.0
    dofs = np.argsort(of_dof, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(of_dof, minlength=len(nodes)))])
    per_node = max(1.0, len(points) / len(nodes))
    other_side = np.zeros(len(nodes), dtype=bool)
    pieces: list[tuple[np.ndarray, int]] = []

    def place(piece: np.ndarray, children: int) -> int:
        unknowns = [dofs[start[k] : start[k + 1]] for k in piece]
        pieces.append(
            (np.concatenate(unknowns) if unknowns else np.zeros(0, dtype=int), children)
        )
        return 1

    def cut(piece: np.ndarray) -> int:
        """Places a piece and all inside it; the number of pieces that stand for it (1)."""
        halves = (
            None
            if len(piece) * per_node <= LEAF
            else _bisected(pattern, nodes, piece, other_side)
        )
        if halves is None:
            return place(piece, 0)
        lower, upper, between = halves
        return place(between, sum(cut(half) for half in (lower, upper) if len(half)))

    cut(np.arange(len(nodes)))
    return pieces


def landmark_distances(A: Sparse) -> np.ndarray:
    """Edges between each unknown and three unknowns far from each other, in place of coordinates."""
    distance = np.zeros((A.shape[0], 3))
    seed = 0
    for axis in range(3):
        distance[:, axis] = _levels(A, seed)
        seed = int(np.argmax(np.min(distance[:, : axis + 1], axis=1)))
    return distance


def _levels(A: Sparse, seed: int) -> np.ndarray:
    order, before = breadth_first_order(A, seed, directed=False)
    level = np.zeros(A.shape[0])
    for unknown in order[1:]:
        level[unknown] = level[before[unknown]] + 1
    return level


def _bisected(
    pattern: Sparse, points: np.ndarray, piece: np.ndarray, other_side: np.ndarray
):
    """Two halves of a piece and the nodes between them; `None` where no plane parts its nodes."""
    here = points[piece]
    along = here[:, np.argmax(np.ptp(here, axis=0))]
    low = along < np.median(along)
    if not low.any():
        low = along <= along.min()
    if low.all():
        return None
    lower, upper = piece[low], piece[~low]
    low_touches = _touching(pattern, lower, upper, other_side)
    high_touches = _touching(pattern, upper, lower, other_side)
    if low_touches.sum() <= high_touches.sum():
        return lower[~low_touches], upper, lower[low_touches]
    return lower, upper[~high_touches], upper[high_touches]


def _touching(
    pattern: Sparse, these: np.ndarray, those: np.ndarray, mark: np.ndarray
) -> np.ndarray:
    """Which of these nodes share an entry of the matrix with those."""
    mark[those] = True
    rows = pattern[these]
    counted = np.concatenate([[0], np.cumsum(mark[rows.indices])])
    mark[those] = False
    return counted[rows.indptr[1:]] > counted[rows.indptr[:-1]]


def _factorise(
    A: Sparse, pieces, order: np.ndarray, progress: Progress | None
) -> list[_Front]:
    fronts: list[_Front] = []
    waiting: list[
        tuple[np.ndarray, np.ndarray]
    ] = []  # border and update matrix (lower triangle) of fronts whose parent is to come
    place = np.empty(A.shape[0], dtype=int)  # of an unknown in the current front
    first = 0
    for number, (piece, children) in enumerate(pieces):
        last = first + len(piece)
        below = [waiting.pop() for _ in range(children)]
        columns = A[:, first:last].tocoo()
        kept = columns.row >= first
        rows, cols, values = columns.row[kept], columns.col[kept], columns.data[kept]
        border = np.unique(np.concatenate([rows, *(indices for indices, _ in below)]))
        border = border[border >= last]
        n = last - first
        place[first:last] = np.arange(n)
        place[border] = n + np.arange(len(border))
        F = np.zeros((n + len(border), n + len(border)), order="F")
        F[place[rows], cols] = values
        for indices, update in below:
            where = place[indices]
            F[np.ix_(where, where)] += update
        L11, failed = dpotrf(F[:n, :n], lower=1, clean=1)
        if failed:
            raise NotPositiveDefiniteError(int(order[first + failed - 1]))
        update, L21 = np.asfortranarray(F[n:, n:]), np.zeros((len(border), n))
        if len(border) and n:
            transposed = _triangular(
                L11, np.asfortranarray(F[n:, :n].T), transposed=False
            )
            update = dsyrk(
                -1.0, transposed, trans=1, beta=1.0, c=update, lower=1, overwrite_c=1
            )
            L21 = transposed.T
        waiting.append((border, update))
        fronts.append(_Front(first, last, border, L11, L21))
        first = last
        if progress is not None and (number % 50 == 0 or number + 1 == len(pieces)):
            progress(WORDS, (number + 1) / len(pieces))
    return fronts


def _triangular(L: np.ndarray, right: np.ndarray, transposed: bool) -> np.ndarray:
    if not L.size:
        return right
    x, _ = dtrtrs(L, right, lower=1, trans=int(transposed))
    return x
