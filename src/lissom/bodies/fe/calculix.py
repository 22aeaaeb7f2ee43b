"""CalculiX: the files of `*FREQUENCY, SOLVER=MATRIXSTORAGE`: job.sti, job.mas, job.dof, with the nodes of job.inp.

One triangle of each matrix is stored; job.dof names the node and the direction of each row, `57.3`.
"""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .deck import deck_nodes, deck_surface
from .elements import (
    FeError,
    FiniteElements,
    Sparse,
    elements_of,
    mirrored,
    triangle_of,
)


def read_calculix(path: Path, nodes: Path | None = None) -> FiniteElements:
    """K, M and dofs of a job named by its `.sti` file."""
    deck = nodes or path.with_suffix(".inp")
    others = {ending: path.with_suffix(ending) for ending in (".mas", ".dof")}
    for file in (*others.values(), deck):
        if not file.is_file():
            raise FeError(
                f"{path}: {file.name} must lie beside it"
                + (" (or: --nodes FILE)" if file == deck else "")
            )
    names = others[".dof"].read_text(encoding="ascii").split()
    dofs = np.array([[int(part) for part in name.split(".")] for name in names])
    K, M = (_matrix(file, len(dofs)) for file in (path, others[".mas"]))
    labels, points, sets = deck_nodes(deck)
    notes, surface = (f"nodes from {deck.name}",), deck_surface(deck, labels)
    return elements_of(
        K,
        M,
        points,
        labels,
        dofs,
        source=path.name,
        notes=notes,
        sets=sets,
        surface=surface,
    )


def _matrix(path: Path, n: int) -> Sparse:
    entries = np.fromstring(path.read_text(encoding="ascii"), sep=" ").reshape(-1, 3)
    row, col = entries[:, 0].astype(int) - 1, entries[:, 1].astype(int) - 1
    A = sp.csc_matrix((entries[:, 2], (row, col)), shape=(n, n))
    return mirrored(A) if triangle_of(A) else A
