"""Ansys: the `.full` file of an analysis, with the nodes of its `.rst` or `.cdb` file, read by mapdl-reader."""

import warnings
from pathlib import Path

import numpy as np

from .elements import (
    FeError,
    FiniteElements,
    elements_of,
    row_sizes,
    with_both_triangles,
)
from .optional import optional_module

ROTATIONS = (3, 4, 5)  # dofs 0 to 5 are UX, UY, UZ, ROTX, ROTY, ROTZ


def read_full(path: Path, nodes: Path) -> FiniteElements:
    """K and M of a `.full` file; both triangles, though the file holds one."""
    reader = optional_module("ansys.mapdl.reader", "Ansys files")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = reader.read_binary(str(path))
        dofs, K, M = file.load_km(as_sparse=True, sort=True)
        labels, points = _nodes(reader, nodes)
    node, component = dofs.T
    if component.max() > max(ROTATIONS):
        raise FeError(
            f"{path}: contains dofs that are neither displacements nor rotations"
        )
    K = with_both_triangles(K)
    M = with_both_triangles(M)
    notes = [f"nodes from {nodes.name}"]
    is_held = row_sizes(K) == 0
    held = int(is_held.sum())
    if held:
        notes.append(f"{held} dofs are constrained (D)")
    # Ansys counts the components from 0, everything here from 1.
    table = np.stack([node, component + 1], axis=1)
    return elements_of(
        K,
        M,
        points,
        labels,
        table,
        source=path.name,
        notes=notes,
    )


def _nodes(reader, path: Path) -> tuple[np.ndarray, np.ndarray]:
    if path.suffix.lower() == ".rst":
        mesh = reader.read_binary(str(path)).mesh
    else:
        mesh = reader.Archive(str(path), parse_vtk=False)
    labels = np.asarray(mesh.nnum, dtype=int)
    # Behind the coordinates the file may have angles of the nodal axes.
    rows = np.asarray(mesh.nodes, dtype=float)
    return labels, rows[:, :3]
