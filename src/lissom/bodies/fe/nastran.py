"""Nastran: OUTPUT4 files (binary and text) and DMIG entries of a punch file, both read by pyyeti.

Rows of an OP4 matrix carry no names. They are taken in Nastran's own order: grid points by ascending number, six dofs
each, then scalar points (the generalised coordinates of a component that Nastran reduced already). Displacements in a
local output system (CD of a GRID card) are turned to the basic system.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .elements import FeError, FiniteElements, Sparse, elements_of
from .optional import needed

STIFFNESS = (
    "kgg",
    "kxx",
    "kaa",
    "kaax",
    "k2gg",
    "k",
)  # names in files, most general first
MASS = ("mgg", "mxx", "maa", "maax", "m2gg", "m")
GENERALISED = 0  # component of a scalar point


def read_op4(path: Path, nodes: Path) -> FiniteElements:
    """K and M of an OUTPUT4 file, with the GRID cards of a bulk data or punch file."""
    op4 = needed("pyyeti.nastran.op4", "Nastran files")
    matrices = op4.read(str(path), into="dct", sparse=(True, sp.coo_matrix.tocsc))
    K, M = (_chosen(matrices, names, path) for names in (STIFFNESS, MASS))
    labels, points, turns = grid_points(nodes)
    n = K.shape[0]
    grids = _grids_of(n, labels, _asked(nodes), path)
    dofs = [(label, c) for label in grids for c in range(1, 7)]
    dofs += [(0, GENERALISED)] * (n - len(dofs))
    return _turned(K, M, labels, points, turns, np.array(dofs), path)


def read_dmig(path: Path, nodes: Path) -> FiniteElements:
    """K and M of the DMIG entries of a punch file, with the GRID cards of the same or another file."""
    bulk = needed("pyyeti.nastran.bulk", "Nastran files")
    tables = {
        name.lower(): table
        for name, table in bulk.rddmig(str(path), square=True).items()
    }
    K, M = (_chosen(tables, names, path) for names in (STIFFNESS, MASS))
    index = K.index.union(M.index)
    labels, points, turns = grid_points(nodes)
    K, M = (
        A.reindex(index=index, columns=index, fill_value=0.0).to_numpy(dtype=float)
        for A in (K, M)
    )
    dofs = np.array([(int(label), int(c)) for label, c in index])
    return _turned(
        sp.csc_matrix(K), sp.csc_matrix(M), labels, points, turns, dofs, path
    )


def grid_points(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, positions in the basic system, and axes of the output system (k, 3, 3) of the GRID cards of a file."""
    bulk, n2p = (
        needed("pyyeti.nastran.bulk", "Nastran files"),
        needed("pyyeti.nastran.n2p", "Nastran files"),
    )
    if bulk.rdgrids(str(path)) is None:
        raise FeError(
            f"{path}: holds no GRID cards. Give the bulk data or punch file that does (--nodes FILE)"
        )
    uset: Any = bulk.bulk2uset(str(path))[0]
    table = uset.to_numpy(dtype=float).reshape(-1, 6, uset.shape[1])
    labels = np.asarray(uset.index.get_level_values(0))[::6].astype(int)
    rigid = n2p.rbgeom_uset(uset).reshape(
        -1, 6, 6
    )  # rows in the output system, columns in the basic one
    return labels, table[:, 0, -3:], np.swapaxes(rigid[:, :3, :3], 1, 2)


def _asked(path: Path) -> list[int]:
    """Grid points of the ASET entries of a file: those that the matrices of a reduced component keep."""
    found: list[int] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if re.match(r"ASET\s", line):
            fields = [line[k : k + 8].strip() for k in range(8, min(len(line), 72), 8)]
            found += [
                int(a)
                for a, c in zip(fields[::2], fields[1::2], strict=False)
                if c not in ("", "0")
            ]
    return sorted(set(found))


def _grids_of(
    n: int, labels: np.ndarray, asked: Sequence[int], path: Path
) -> list[int]:
    for grids in (sorted(labels.tolist()), list(asked)):
        if grids and 6 * len(grids) == n:
            return grids
    if asked and 6 * len(asked) <= n:
        return list(asked)
    raise FeError(
        f"{path}: {n} rows, but the {len(labels)} GRID cards have {6 * len(labels)} dofs"
        + (f" and the ASET entries {6 * len(asked)}" if asked else "")
        + ". Write the g-set (KGG, MGG), or give the file with the ASET entries (--nodes FILE)"
    )


def _chosen(matrices: Any, names: Sequence[str], path: Path) -> Any:
    for name in names:
        if name in matrices:
            return matrices[name]
    raise FeError(
        f"{path}: holds none of {', '.join(names).upper()}. It holds: {', '.join(matrices).upper()}"
    )


def _turned(K, M, labels, points, turns, dofs, path: Path) -> FiniteElements:
    """Finite elements in basic axes."""
    local = np.abs(turns - np.eye(3)).max(axis=(1, 2)) > 1e-9
    notes = [
        f"node {label}: output axes turned to the basic system"
        for label in labels[local][:3]
    ]
    if local.any():
        T = _to_basic(labels, turns, local, dofs)
        K, M = (sp.csc_matrix(T @ A @ T.T) for A in (K, M))
    if (dofs[:, 1] == GENERALISED).any():
        notes.append(
            f"{int((dofs[:, 1] == GENERALISED).sum())} generalised coordinates (scalar points)"
        )
    return elements_of(K, M, points, labels, dofs, source=path.name, notes=notes)


def _to_basic(labels, turns, local, dofs) -> Sparse:
    """Turns dofs in output systems to basic axes: u_basic = T u."""
    T = sp.lil_matrix(sp.eye(len(dofs)))
    row = {(int(label), int(c)): k for k, (label, c) in enumerate(dofs)}
    for label, R in zip(labels[local], turns[local], strict=True):
        for shift in (0, 3):
            rows = [row.get((int(label), shift + c)) for c in (1, 2, 3)]
            known = [r for r in rows if r is not None]
            if len(known) == 3:
                T[np.ix_(known, known)] = R
            elif known:
                raise FeError(
                    f"node {label} has an output system and some of its dofs only: write all six of them"
                )
    return sp.csr_matrix(T)
