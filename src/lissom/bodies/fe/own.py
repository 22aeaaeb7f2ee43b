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


def read_own(path: Path, order: DofOrder = "by-node") -> FiniteElements:
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
    K, M = (_matrix(arrays, name, path) for name in ("K", "M"))
    return elements_of(
        K,
        M,
        arrays["nodes"],
        arrays.get("labels"),
        arrays.get("dofs"),
        order=order,
        source=path.name,
        surface=arrays.get("surface"),
    )


def write_own(fe: FiniteElements, path: str | Path) -> None:
    """Writes finite elements to an `.npz` or `.h5` file that `read_own` makes equal ones of."""
    arrays: dict[str, Any] = {
        "nodes": fe.points,
        "labels": fe.labels,
        "dofs": dof_table(fe),
    }
    for name, A in (("K", fe.K), ("M", fe.M)):
        entries = sp.coo_matrix(A)
        row, col = entries.coords
        arrays |= {
            f"{name}_row": row,
            f"{name}_col": col,
            f"{name}_value": entries.data,
        }
    if fe.surface is not None:
        arrays["surface"] = fe.surface
    if Path(path).suffix.lower() not in HDF5_ENDINGS:
        return np.savez_compressed(path, **arrays)
    import h5py

    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array


def dof_table(fe: FiniteElements) -> np.ndarray:
    """Node number and component (1 to 6) of each row, (n, 2); (0, 0) for generalised coordinates."""
    table = np.zeros((fe.size, 2), dtype=int)
    node, component = np.nonzero(fe.place >= 0)
    table[fe.place[node, component]] = np.stack(
        [fe.labels[node], component + 1], axis=1
    )
    return table


def read_arrays(path: Path) -> Mapping[str, np.ndarray]:
    """Every array of an `.npz` or `.h5` file by its name."""
    if path.suffix.lower() in HDF5_ENDINGS:
        import h5py

        with h5py.File(path, "r") as file:
            return {str(name): np.asarray(file[name]) for name in file.keys()}
    with np.load(path, allow_pickle=False) as file:
        return {str(name): file[name] for name in file.files}


def _matrix(arrays: Mapping[str, np.ndarray], name: str, path: Path) -> Any:
    if name in arrays:
        return arrays[name]
    parts = [f"{name}_{part}" for part in ("row", "col", "value")]
    if not all(part in arrays for part in parts):
        raise FeError(
            f"{path}: holds neither `{name}` nor {', '.join(parts)}. It holds: {', '.join(arrays)}"
        )
    row, col, value = (arrays[part] for part in parts)
    size = (
        max(
            int(arrays[f"{other}_{part}"].max())
            for other in "KM"
            for part in ("row", "col")
        )
        + 1
    )
    return sp.csc_matrix((value, (row, col)), shape=(size, size))
