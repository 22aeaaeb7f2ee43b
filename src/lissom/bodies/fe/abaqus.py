"""Abaqus: the text files of *MATRIX GENERATE, in any of its three formats, with the nodes of the input file.

`FORMAT=MATRIX INPUT` and `FORMAT=LABELS` name node and dof of each row and column: `1,2, 57,3, 1.0e5`.
`FORMAT=COORDINATE` counts rows: `2 171 1.0e5`, nodes by ascending number, dofs by number. One triangle stands for both.
Negative nodes are internal ones of Abaqus: generalised coordinates. Rows that boundary conditions hold carry 1e36.
"""

import re
from pathlib import Path

import numpy as np

from .deck import Deck, read_deck
from .elements import (
    FeError,
    FiniteElements,
    Sparse,
    elements_of,
    matrix_of_entries,
    names_its_file,
)

# Abaqus writes 1e36 on the diagonal of a dof that a boundary condition holds.
HELD = 1e35
COMMENTS = ("*", "%", "#")


def read_mtx(path: Path, mass: Path | None, nodes: Path) -> FiniteElements:
    """K of a `_STIF` file and M of the `_MASS` file beside it."""
    mass_file = mass or _mass_file(path)
    deck = read_deck(nodes)
    stiffness = _entries(path)
    inertia = _entries(mass_file)
    if stiffness.shape[1] != inertia.shape[1]:
        raise FeError(
            f"{mass_file}: is not in the format of {path.name}: write both with one FORMAT"
        )
    notes = [f"mass from {mass_file.name}, nodes from {nodes.name}"]
    if stiffness.shape[1] == 3:
        return _by_rows(stiffness, inertia, deck, path, notes)
    return _by_names(stiffness, inertia, deck, path, notes)


def _by_rows(
    stiffness: np.ndarray,
    inertia: np.ndarray,
    deck: Deck,
    path: Path,
    notes: list[str],
) -> FiniteElements:
    """Matrices whose rows are counted, nodes by ascending number."""
    both = np.concatenate([stiffness, inertia])
    n = int(both[:, :2].max())

    def matrix(entries):
        row, column, value = entries.T
        return matrix_of_entries(row - 1, column - 1, value, n)

    K = matrix(stiffness)
    _refuse_held(K, path)
    order = np.argsort(deck.labels)
    new = np.argsort(order)  # new position of each node of the deck
    surface = deck.surface
    if surface is not None:
        surface = new[surface]
    return elements_of(
        K,
        matrix(inertia),
        deck.points[order],
        deck.labels[order],
        source=path.name,
        notes=notes,
        sets={name: new[group] for name, group in deck.sets.items()},
        surface=surface,
    )


def _by_names(
    stiffness: np.ndarray,
    inertia: np.ndarray,
    deck: Deck,
    path: Path,
    notes: list[str],
) -> FiniteElements:
    """Matrices whose rows and columns are named by node and dof."""
    both = np.concatenate([stiffness, inertia])
    row_names = both[:, :2]
    column_names = both[:, 2:4]
    names = np.unique(np.vstack([row_names, column_names]), axis=0)

    def matrix(entries):
        rows = _rows_of(names, entries[:, :2])
        columns = _rows_of(names, entries[:, 2:4])
        values = entries[:, 4]
        return matrix_of_entries(rows, columns, values, len(names))

    K = matrix(stiffness)
    _refuse_held(K, path)
    # Labels of internal nodes have no coordinates: node 0 stands for a generalised coordinate.
    dofs = names.astype(int)
    internal = dofs[:, 0] <= 0
    dofs[internal] = 0
    if internal.any():
        notes.append(
            f"{int(internal.sum())} dofs of internal nodes of Abaqus kept as generalised coordinates"
        )
    return elements_of(
        K,
        matrix(inertia),
        deck.points,
        deck.labels,
        dofs,
        source=path.name,
        notes=notes,
        sets=deck.sets,
        surface=deck.surface,
    )


def _mass_file(path: Path) -> Path:
    """`job_STIF1.mtx` and `job_MASS1.mtx` belong together."""
    name = re.sub("STIF", "MASS", path.name, flags=re.IGNORECASE)
    other = path.with_name(name)
    if name == path.name or not other.is_file():
        raise FeError(
            f"{path}: no mass matrix beside it (expected {name}). Name it: --mass-file FILE"
        )
    return other


@names_its_file
def _entries(path: Path) -> np.ndarray:
    """Numbers of each line, (e, 5) with labels or (e, 3) without."""
    text = path.read_text(encoding="ascii", errors="replace")
    # Fortran writes exponents with D, which Python does not read.
    text = text.replace("D", "E").replace("d", "e")
    rows = []
    for line in text.splitlines():
        is_comment = line.lstrip().startswith(COMMENTS)
        if line.strip() and not is_comment:
            numbers = line.replace(",", " ")
            rows.append(numbers.split())
    widths = {len(row) for row in rows}
    if widths not in ({3}, {5}):
        raise FeError(
            f"{path}: each line must be `node, dof, node, dof, value` or `row column value`"
        )
    entries = np.array(rows, dtype=float)
    return entries[1:] if _has_header(entries) else entries


def _has_header(entries: np.ndarray) -> bool:
    """True if the first line is a Matrix Market header: rows, columns and number of entries."""
    if entries.shape[1] != 3:
        return False
    rows, columns, count = entries[0]
    return bool(rows == columns and count == len(entries) - 1)


def _rows_of(names: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Row of each (node, dof) in the sorted list of names."""
    first = names[:, 1].min()
    span = np.ptp(names[:, 1]) + 1

    def key(pairs):
        node, dof = pairs.T
        return node * span + (dof - first)

    return np.searchsorted(key(names), key(wanted))


def _refuse_held(K: Sparse, path: Path) -> None:
    is_held = np.abs(K.diagonal()) > HELD
    held = int(is_held.sum())
    if held:
        raise FeError(
            f"{path}: {held} dofs are constrained by boundary conditions (1e36 in K): "
            "export the free part, without *BOUNDARY"
        )
