"""Nastran: OUTPUT4 files (binary and text) and DMIG entries of a punch file, both read by pyyeti.

Rows of an OP4 matrix carry no names. They are taken in Nastran's own order: grid points by ascending number, six dofs
each, then scalar points (the generalised coordinates of a component that Nastran reduced already). Displacements in a
local output system (CD of a GRID card) are turned to the basic system.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .deck import included_file
from .elements import (
    FeError,
    FiniteElements,
    Sparse,
    elements_of,
    names_its_file,
)
from .optional import optional_module

# Names in files, most general first.
STIFFNESS = ("kgg", "kxx", "kaa", "kaax", "k2gg", "k")
MASS = ("mgg", "mxx", "maa", "maax", "m2gg", "m")
# A name in quotes may go on in the next line.
INCLUDE = re.compile(
    r"^\s*include\s+['\"]?(?P<name>[^'\"]*?)(['\"]|\s*$)", re.IGNORECASE | re.MULTILINE
)
GENERALISED = 0  # component of a scalar point, and its node: none
FIELD = 8  # columns of a field of a bulk data card
LAST_COLUMN = 72  # of the fields that hold data
IN_BASIC_AXES = (
    1e-9  # largest difference from the unit matrix of axes that count as the basic ones
)


class GridPoints(NamedTuple):
    """The GRID cards of a file."""

    labels: np.ndarray  # (k,) numbers
    points: np.ndarray  # (k, 3) in the basic system
    axes: np.ndarray  # (k, 3, 3) of the output system, as columns


def read_op4(path: Path, nodes: Path) -> FiniteElements:
    """K and M of an OUTPUT4 file, with the GRID cards of a bulk data or punch file."""
    op4 = optional_module("pyyeti.nastran.op4", "Nastran files")
    as_columns = (True, sp.coo_matrix.tocsc)
    matrices = op4.read(str(path), into="dct", sparse=as_columns)
    K = _first_of(STIFFNESS, matrices, path)
    M = _first_of(MASS, matrices, path)
    grids = grid_points(nodes)
    n = K.shape[0]
    aset = _aset_points(nodes)
    dofs = np.full((n, 2), GENERALISED)
    row = 0
    for label in _labels_of_rows(n, grids.labels, aset, path):
        for component in range(1, 7):
            dofs[row] = label, component
            row += 1
    return _in_basic_axes(K, M, grids, dofs, path)


def read_dmig(path: Path, nodes: Path) -> FiniteElements:
    """K and M of the DMIG entries of a punch file, with the GRID cards of the same or another file."""
    bulk = optional_module("pyyeti.nastran.bulk", "Nastran files")
    check_includes(path)
    entries = bulk.rddmig(str(path), square=True)
    tables = {name.lower(): table for name, table in entries.items()}
    K = _first_of(STIFFNESS, tables, path)
    M = _first_of(MASS, tables, path)
    # A dof without mass may be missing from M, one without stiffness from K.
    index = K.index.union(M.index)
    dofs = np.array(index.tolist(), dtype=int)

    def matrix(table):
        whole = table.reindex(index=index, columns=index, fill_value=0.0)
        return sp.csc_matrix(whole.to_numpy(dtype=float))

    grids = grid_points(nodes)
    return _in_basic_axes(matrix(K), matrix(M), grids, dofs, path)


def check_includes(path: Path, folder: Path | None = None, depth: int = 0) -> None:
    """Refuses bulk data that include files outside of the folder of the first one: pyyeti would read them."""
    folder = path.parent if folder is None else folder
    text = path.read_text(encoding="utf-8", errors="replace")
    for match in INCLUDE.finditer(text):
        name = "".join(match["name"].split())
        check_includes(included_file(path, name, folder, depth), folder, depth + 1)


@names_its_file
def grid_points(path: Path) -> GridPoints:
    """The GRID cards of a file."""
    check_includes(path)
    bulk = optional_module("pyyeti.nastran.bulk", "Nastran files")
    n2p = optional_module("pyyeti.nastran.n2p", "Nastran files")
    if bulk.rdgrids(str(path)) is None:
        raise FeError(
            f"{path}: holds no GRID cards. Give the bulk data or punch file that does (--nodes FILE)"
        )
    uset: Any = bulk.bulk2uset(str(path))[0]
    # Six rows for each grid point; the first of them ends with its position.
    first_rows = uset.to_numpy(dtype=float)[::6]
    points = first_rows[:, -3:]
    labels = np.asarray(uset.index.get_level_values(0))[::6]
    # Rigid shapes: rows in the output system, columns in the basic one.
    rigid = n2p.rbgeom_uset(uset).reshape(-1, 6, 6)
    axes = rigid[:, :3, :3].mT
    return GridPoints(labels.astype(int), points, axes)


@names_its_file
def _aset_points(path: Path) -> list[int]:
    """Grid points of the ASET entries of a file: those that the matrices of a reduced component keep."""
    labels: set[int] = set()
    text = path.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        if not re.match(r"ASET\s", line):
            continue
        end = min(len(line), LAST_COLUMN)
        fields = []
        for start in range(FIELD, end, FIELD):
            cell = line[start : start + FIELD]
            fields.append(cell.strip())
        # Pairs of a point and its components; component 0 or none is a scalar point.
        pairs = zip(fields[::2], fields[1::2], strict=False)
        for point, components in pairs:
            if components not in ("", "0"):
                labels.add(int(point))
    return sorted(labels)


def _labels_of_rows(
    n: int, labels: np.ndarray, aset: Sequence[int], path: Path
) -> list[int]:
    """Grid points that own the rows of a matrix: all of them, or those of the ASET entries."""
    every = sorted(labels.tolist())
    if every and 6 * len(every) == n:
        return every
    # Rows behind those of the ASET are generalised coordinates.
    if aset and 6 * len(aset) <= n:
        return list(aset)
    of_aset = f" and the ASET entries {6 * len(aset)}" if aset else ""
    raise FeError(
        f"{path}: {n} rows, but the {len(labels)} GRID cards have {6 * len(labels)} dofs{of_aset}. "
        "Write the g-set (KGG, MGG), or give the file with the ASET entries (--nodes FILE)"
    )


def _first_of(names: Sequence[str], matrices: Any, path: Path) -> Any:
    for name in names:
        if name in matrices:
            return matrices[name]
    raise FeError(
        f"{path}: holds none of {', '.join(names).upper()}. It holds: {', '.join(matrices).upper()}"
    )


def _in_basic_axes(
    K: Sparse, M: Sparse, grids: GridPoints, dofs: np.ndarray, path: Path
) -> FiniteElements:
    """Finite elements in basic axes."""
    difference = np.abs(grids.axes - np.eye(3))
    difference = difference.max(axis=(1, 2))
    is_local = difference > IN_BASIC_AXES
    notes = []
    for label in grids.labels[is_local][:3]:
        notes.append(f"node {label}: output axes turned to the basic system")
    if is_local.any():
        T = _to_basic(grids, is_local, dofs)
        K = sp.csc_matrix(T @ K @ T.T)
        M = sp.csc_matrix(T @ M @ T.T)
    is_generalised = dofs[:, 1] == GENERALISED
    generalised = int(is_generalised.sum())
    if generalised:
        notes.append(f"{generalised} generalised coordinates (scalar points)")
    return elements_of(
        K,
        M,
        grids.points,
        grids.labels,
        dofs,
        source=path.name,
        notes=notes,
    )


def _to_basic(grids: GridPoints, is_local: np.ndarray, dofs: np.ndarray) -> Sparse:
    """Turns dofs in output systems to basic axes: u_basic = T u."""
    T = sp.lil_matrix(sp.eye(len(dofs)))
    row_of = {}
    for row, (node, component) in enumerate(dofs.tolist()):
        row_of[node, component] = row
    for k in np.flatnonzero(is_local):
        label = int(grids.labels[k])
        for components in ((1, 2, 3), (4, 5, 6)):
            keys = [(label, c) for c in components]
            rows = [row_of[key] for key in keys if key in row_of]
            if len(rows) == 3:
                T[np.ix_(rows, rows)] = grids.axes[k]
            elif rows:
                raise FeError(
                    f"node {label} has an output system and some of its dofs only: write all six of them"
                )
    return sp.csr_matrix(T)
