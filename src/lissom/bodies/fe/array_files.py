"""lissom's own files of finite elements: `.npz` and `.h5` with K, M, nodes.

Arrays: `K`, `M` (dense, or sparse as `K_row`, `K_col`, `K_value`), `nodes` (k, 3), and as far as needed `labels` (k,),
`dofs` (n, 2: node number, component 1 to 6), `surface` (t, 3: triangles as positions in `nodes`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...describe.fe_file import HDF5_ENDINGS
from .elements import DofOrder, FeError, FiniteElements, elements_of


def read_array_file(path: Path, order: DofOrder = "by-node") -> FiniteElements:
    """The finite elements in an `.npz` or `.h5` file."""
    arrays = read_arrays(path)
    if "lissom_link" in arrays:
        raise FeError(
            f"{path}: is a reduced link already; put it into a robot file: fe: {{file: {path.name}}}"
        )
    if "nodes" not in arrays:
        raise FeError(
            f"{path}: holds no `nodes` (k, 3). It holds: {', '.join(arrays) or 'nothing'}"
        )
    return elements_of(
        _matrix(arrays, "K", path),
        _matrix(arrays, "M", path),
        arrays["nodes"],
        arrays.get("labels"),
        arrays.get("dofs"),
        order=order,
        source=path.name,
        surface=arrays.get("surface"),
    )


def write_array_file(fe: FiniteElements, path: str | Path) -> None:
    """Writes finite elements to an `.npz` or `.h5` file that `read_array_file` makes equal ones of."""
    arrays: dict[str, Any] = {
        "nodes": fe.points,
        "labels": fe.labels,
        "dofs": dof_table(fe),
    }
    matrices = {"K": fe.K, "M": fe.M}
    for name, A in matrices.items():
        entries = sp.coo_matrix(A)
        row, column = entries.coords
        arrays[f"{name}_row"] = row
        arrays[f"{name}_col"] = column
        arrays[f"{name}_value"] = entries.data
    if fe.surface is not None:
        arrays["surface"] = fe.surface
    # h5py is loaded only for those files: importing it takes longer than reading most links.
    if not _is_hdf5(Path(path)):
        return np.savez_compressed(path, **arrays)
    import h5py

    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


def dof_table(fe: FiniteElements) -> np.ndarray:
    """Node number and component (1 to 6) of each row, (n, 2); (0, 0) for generalised coordinates."""
    table = np.zeros((fe.size, 2), dtype=int)
    node, component = np.nonzero(fe.place >= 0)
    rows = fe.place[node, component]
    table[rows, 0] = fe.labels[node]
    table[rows, 1] = component + 1
    return table


def read_arrays(path: Path) -> Mapping[str, np.ndarray]:
    """Every array of an `.npz` or `.h5` file by its name."""
    if _is_hdf5(path):
        import h5py

        with h5py.File(path, "r") as file:
            return {str(name): np.asarray(file[name]) for name in file.keys()}
    with np.load(path, allow_pickle=False) as file:
        return {str(name): file[name] for name in file.files}


def holds_array(path: Path, name: str) -> bool:
    """True if an `.npz` file has an array of that name; its arrays are not read for that."""
    with np.load(path, allow_pickle=False) as file:
        return name in file.files


def _is_hdf5(path: Path) -> bool:
    return path.suffix.lower() in HDF5_ENDINGS


def _matrix(arrays: Mapping[str, np.ndarray], name: str, path: Path) -> Any:
    if name in arrays:
        return arrays[name]
    parts = [f"{name}_{part}" for part in ("row", "col", "value")]
    if not set(parts) <= set(arrays):
        raise FeError(
            f"{path}: holds neither `{name}` nor {', '.join(parts)}. It holds: {', '.join(arrays)}"
        )
    row, column, value = [arrays[part] for part in parts]
    # The last rows of one of the two matrices may be empty: the larger one tells the size of both.
    ends = [
        arrays[f"{other}_{side}"].max() for other in "KM" for side in ("row", "col")
    ]
    size = int(max(ends)) + 1
    return sp.csc_matrix((value, (row, column)), shape=(size, size))
