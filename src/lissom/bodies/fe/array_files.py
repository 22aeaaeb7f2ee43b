"""lissom's own files of finite elements: `.npz` and `.h5` with K, M, nodes.

Arrays: `K`, `M` (dense, or sparse as `K_row`, `K_col`, `K_value`), `nodes` (k, 3), and as far as needed `labels` (k,),
`dofs` (n, 2: node number, component 1 to 6), `surface` (t, 3: triangles as positions in `nodes`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...atomic import write_atomically
from ...files.array_file import (
    HDF5_ENDINGS,
    ArrayFileError,
    array_names,
    check_arrays,
    read_arrays,
)
from ...files.fe_file import check_positions
from ...files.hdf5_checksum import append_checksum
from .elements import DofOrder, FiniteElements, elements_of
from .fe_error import FeError, as_fe_error

# Number of a node: beyond it, not every whole number is a number of the computer.
LARGEST_LABEL = 1e15


@as_fe_error()
def read_array_file(path: Path, order: DofOrder = "by-node") -> FiniteElements:
    """The finite elements in an `.npz` or `.h5` file."""
    arrays = read_arrays(path)
    if "lissom_link" in arrays:
        raise FeError(
            f"{path}: is already a reduced link; use it in a robot file: fe: {{file: "
            f"{path.name}}}"
        )
    if "nodes" not in arrays:
        raise FeError(
            f"{path}: holds no `nodes` (k, 3). It holds: {', '.join(arrays) or 'nothing'}"
        )
    _check_tables(path, arrays)
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

    def write(file: Any) -> None:
        if not _is_hdf5(Path(path)):
            return np.savez_compressed(file, **arrays)
        # Importing it takes longer than reading most links.
        import h5py

        # HDF5 looks back at what it has written: the draft is opened by its name.
        with h5py.File(file.name, "w") as target:
            for name, array in arrays.items():
                target[name] = array
        append_checksum(file.name)

    write_atomically(path, write)


def dof_table(fe: FiniteElements) -> np.ndarray:
    """Node number and component (1 to 6) of each row, (n, 2); (0, 0) for generalised coordinates."""
    table = np.zeros((fe.size, 2), dtype=int)
    node, component = np.nonzero(fe.place >= 0)
    rows = fe.place[node, component]
    table[rows, 0] = fe.labels[node]
    table[rows, 1] = component + 1
    return table


@as_fe_error()
def holds_array(path: Path, name: str) -> bool:
    """True if a file has an array of that name; its arrays are not read for that."""
    return name in array_names(path)


def _is_hdf5(path: Path) -> bool:
    return path.suffix.lower() in HDF5_ENDINGS


def _check_tables(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Shapes of everything beside the matrices, and node positions that exist."""
    shapes: dict[str, Any] = {
        "nodes": ("k", 3),
        "labels": ("k",),
        "dofs": ("n", 2),
        "surface": ("t", 3),
    }
    present = {name: shape for name, shape in shapes.items() if name in arrays}
    nodes = check_arrays(path, arrays, present)["k"]
    for name in ("labels", "dofs"):
        if name in arrays:
            _check_whole(path, name, arrays[name])
    if "surface" in arrays:
        check_positions(path, "surface", arrays["surface"], nodes)


def _check_whole(path: Path, name: str, numbers: np.ndarray) -> None:
    """Refuses numbers of nodes that are not whole; programs that know no others write 12.0."""
    is_real = numbers.dtype.kind in "iuf"
    if is_real and (np.abs(numbers) < LARGEST_LABEL).all():
        if (numbers == np.round(numbers)).all():
            return
    message = f"must hold whole numbers below {LARGEST_LABEL:.0e}"
    raise ArrayFileError(path, name, message)


def _matrix(arrays: Mapping[str, np.ndarray], name: str, path: Path) -> Any:
    if name in arrays:
        check_arrays(path, arrays, {name: ("n", "n")})
        return arrays[name]
    parts = {f"{name}_{part}": ("e",) for part in ("row", "col", "value")}
    if not set(parts) <= set(arrays):
        raise FeError(
            f"{path}: holds neither `{name}` nor {', '.join(parts)}. It holds: {', '.join(arrays)}"
        )
    check_arrays(path, arrays, parts)
    row, column, value = [arrays[part] for part in parts]
    size = _matrix_size(arrays)
    for side, numbers in (("row", row), ("col", column)):
        check_positions(path, f"{name}_{side}", numbers, size)
    return sp.csc_matrix((value, (row, column)), shape=(size, size))


def _matrix_size(arrays: Mapping[str, np.ndarray]) -> int:
    """Rows of sparse matrices: the last rows of one of the two may be empty, the larger one tells the size of both."""
    ends = [0]
    for matrix in "KM":
        for side in ("row", "col"):
            numbers = arrays.get(f"{matrix}_{side}", np.zeros(0))
            ends.append(int(numbers.max(initial=-1)) + 1)
    # Dofs or nodes that are named bound the size: an index far beyond them is a mistake.
    known = len(arrays["dofs"]) if "dofs" in arrays else 6 * len(arrays["nodes"])
    return min(max(ends), known)
