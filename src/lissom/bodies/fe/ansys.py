"""Ansys: the `.full` file of an analysis, with the nodes of its `.rst` or `.cdb` file, read by mapdl-reader."""

import warnings
from pathlib import Path

import numpy as np

from .elements import FeError, FiniteElements, elements_of, mirrored, triangle_of
from .optional import needed

ROTATIONS = (3, 4, 5)  # dofs 0 to 5 are UX, UY, UZ, ROTX, ROTY, ROTZ


def read_full(path: Path, nodes: Path) -> FiniteElements:
    """K and M of a `.full` file; both triangles, though the file holds one."""
    reader = needed("ansys.mapdl.reader", "Ansys files")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dofs, K, M = reader.read_binary(str(path)).load_km(as_sparse=True, sort=True)
        labels, points = _nodes(reader, nodes)
    if dofs[:, 1].max() > max(ROTATIONS):
        raise FeError(
            f"{path}: holds dofs that are neither displacements nor rotations"
        )
    K, M = (mirrored(A) if triangle_of(A) else A for A in (K, M))
    empty = int((np.asarray(abs(K).sum(axis=0)).reshape(-1) == 0).sum())
    notes = [f"nodes from {nodes.name}"] + (
        [f"{empty} dofs are held by constraints (D)"] if empty else []
    )
    table = np.stack([dofs[:, 0], dofs[:, 1] + 1], axis=1)
    return elements_of(K, M, points, labels, table, source=path.name, notes=notes)


def _nodes(reader, path: Path) -> tuple[np.ndarray, np.ndarray]:
    if path.suffix.lower() == ".rst":
        mesh = reader.read_binary(str(path)).mesh
        return np.asarray(mesh.nnum, dtype=int), np.asarray(mesh.nodes, dtype=float)[
            :, :3
        ]
    archive = reader.Archive(str(path), parse_vtk=False)
    return np.asarray(archive.nnum, dtype=int), np.asarray(archive.nodes, dtype=float)[
        :, :3
    ]
