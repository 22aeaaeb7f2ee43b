"""CalculiX: the files of `*FREQUENCY, SOLVER=MATRIXSTORAGE`: job.sti, job.mas, job.dof, with the nodes of job.inp.

One triangle of each matrix is stored; job.dof names the node and the direction of each row, `57.3`.
"""

from pathlib import Path

import numpy as np

from .deck import read_deck
from .elements import (
    FeError,
    FiniteElements,
    Sparse,
    elements_of,
    matrix_of_entries,
)


def read_calculix(path: Path, nodes: Path | None = None) -> FiniteElements:
    """K, M and dofs of a job named by its `.sti` file."""
    deck_file = nodes or path.with_suffix(".inp")
    mass_file = path.with_suffix(".mas")
    dof_file = path.with_suffix(".dof")
    for file in (mass_file, dof_file, deck_file):
        if not file.is_file():
            other_way = " (or: --nodes FILE)" if file == deck_file else ""
            raise FeError(f"{path}: {file.name} must lie beside it{other_way}")
    dofs = []
    names = dof_file.read_text(encoding="ascii").split()
    for name in names:
        node, component = name.split(".")
        dofs.append((int(node), int(component)))
    deck = read_deck(deck_file)
    return elements_of(
        _matrix(path, len(dofs)),
        _matrix(mass_file, len(dofs)),
        deck.points,
        deck.labels,
        np.array(dofs),
        source=path.name,
        notes=(f"nodes from {deck_file.name}",),
        sets=deck.sets,
        surface=deck.surface,
    )


def _matrix(path: Path, n: int) -> Sparse:
    text = path.read_text(encoding="ascii")
    entries = np.fromstring(text, sep=" ").reshape(-1, 3)
    row, column, value = entries.T
    # The file counts rows and columns from 1.
    return matrix_of_entries(row - 1, column - 1, value, n)
