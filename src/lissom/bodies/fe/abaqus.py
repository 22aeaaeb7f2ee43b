"""Abaqus: the text files of *MATRIX GENERATE, in any of its three formats, with the nodes of the input file.

`FORMAT=MATRIX INPUT` and `FORMAT=LABELS` name node and dof of each row and column: `1,2, 57,3, 1.0e5`.
`FORMAT=COORDINATE` counts rows: `2 171 1.0e5`, nodes by ascending number, dofs by number. One triangle stands for both.
Negative nodes are internal ones of Abaqus: generalised coordinates. Rows that boundary conditions hold carry 1e36.
"""

import re
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

HELD = (
    1e35  # Abaqus writes 1e36 on the diagonal of a dof that a boundary condition holds
)


def read_mtx(path: Path, mass: Path | None, nodes: Path) -> FiniteElements:
    """K of a `_STIF` file and M of the `_MASS` file beside it."""
    other = mass or _partner(path)
    labels, points, sets = deck_nodes(nodes)
    surface = deck_surface(nodes, labels)
    stiffness, inertia = _entries(path), _entries(other)
    if stiffness.shape[1] != inertia.shape[1]:
        raise FeError(
            f"{other}: is not in the format of {path.name}: write both with one FORMAT"
        )
    notes = [f"mass from {other.name}, nodes from {nodes.name}"]
    if stiffness.shape[1] == 3:
        n = int(max(stiffness[:, :2].max(), inertia[:, :2].max()))
        K, M = (
            _assembled(e[:, 0] - 1, e[:, 1] - 1, e[:, 2], n)
            for e in (stiffness, inertia)
        )
        order = np.argsort(labels)
        new = np.argsort(order)
        sets = {name: new[group] for name, group in sets.items()}
        surface = None if surface is None else new[surface]
        _refuse_held(K, path)
        return elements_of(
            K,
            M,
            points[order],
            labels[order],
            source=path.name,
            notes=notes,
            sets=sets,
            surface=surface,
        )
    names = np.unique(
        np.concatenate(
            [e[:, :2] for e in (stiffness, inertia)]
            + [stiffness[:, 2:4], inertia[:, 2:4]]
        ),
        axis=0,
    )
    K, M = (
        _assembled(_rows(names, e[:, :2]), _rows(names, e[:, 2:4]), e[:, 4], len(names))
        for e in (stiffness, inertia)
    )
    _refuse_held(K, path)
    dofs = names.astype(int)
    dofs[dofs[:, 0] <= 0] = 0
    if (dofs[:, 0] == 0).any():
        notes.append(
            f"{int((dofs[:, 0] == 0).sum())} dofs of internal nodes of Abaqus kept as generalised coordinates"
        )
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


def _partner(path: Path) -> Path:
    """`job_STIF1.mtx` and `job_MASS1.mtx` belong together."""
    name = re.sub("STIF", "MASS", path.name, flags=re.IGNORECASE)
    other = path.with_name(name)
    if name == path.name or not other.is_file():
        raise FeError(
            f"{path}: no mass matrix beside it (expected {name}). Name it: --mass-file FILE"
        )
    return other


def _entries(path: Path) -> np.ndarray:
    """Numbers of each line, (e, 5) with labels or (e, 3) without."""
    text = path.read_text(encoding="ascii", errors="replace")
    lines = [
        line
        for line in text.splitlines()
        if line.strip() and not line.lstrip().startswith(("*", "%", "#"))
    ]
    rows = [
        line.replace(",", " ").replace("D", "E").replace("d", "e").split()
        for line in lines
    ]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not widths <= {3, 5}:
        raise FeError(
            f"{path}: each line must be `node, dof, node, dof, value` or `row column value`"
        )
    entries = np.array(rows, dtype=float)
    first = entries[0] if entries.shape[1] == 3 else None
    if first is not None and first[0] == first[1] and first[2] == len(entries) - 1:
        return entries[1:]  # rows, columns and entries of a Matrix Market header
    return entries


def _rows(names: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Row of each (node, dof) in the sorted list of names."""
    span = np.ptp(names, axis=0)[1] + 1

    def key(a):
        return a[:, 0] * span + (a[:, 1] - names[:, 1].min())

    return np.searchsorted(key(names), key(wanted))


def _assembled(row, col, value, n: int) -> Sparse:
    A = sp.csc_matrix((value, (row.astype(int), col.astype(int))), shape=(n, n))
    return mirrored(A) if triangle_of(A) else A


def _refuse_held(K: Sparse, path: Path) -> None:
    held = int((np.abs(K.diagonal()) > HELD).sum())
    if held:
        raise FeError(
            f"{path}: {held} dofs are held by boundary conditions (1e36 in K): export the free part, without *BOUNDARY"
        )
