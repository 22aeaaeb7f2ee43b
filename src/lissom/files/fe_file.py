"""What a robot file needs to know of its finite-element files: how many nodes a link has, and where they are."""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..types import Float
from .array_file import (
    REAL,
    ArrayFileError,
    Shape,
    array_names,
    check_arrays,
    check_semidefinite,
    read_arrays,
)

LINK_FORMAT = 2  # of the files of reduced links
# Files of format 1 hold the whole of Y and Z.
READABLE = (1, 2)
# Inertia constants over three by three directions, and the array with as many rows. Z is one symmetric matrix, Y too
# where nodes have no inertia of rotation: of such a matrix files hold the lower half.
SYMMETRIC = {
    "mass": ("Y", "Z"),
    "second_order_mass": ("second_order_Y", "second_order_Z"),
}

# What can be read without the reader of a finite-element program.
OWN_ENDINGS = (".npz", ".h5", ".hdf5")

# Arrays of a reduced link: k nodes, m modes, c = 6 + m coordinates, s nodes and t triangles of its surface.
LINK_SHAPES: dict[str, Shape] = {
    "points": ("k", 3),
    "names": ("k",),
    "shapes": ("k", 6, "m"),
    "outline": ("k", "corners", 3),
    "stiffness": ("m", "m"),
    "frequency_hz": ("m",),
    "mass": ("c", "c"),
    "X": (3, "c", "c"),
    "Y": (3, 3, "c", "c"),
    "Z": (3, 3, "c", "c"),
    "surface": ("s", 3),
    "triangles": ("t", 3),
    "surface_shapes": ("s", 3, "m"),
    "exact": (),
    "source": (),
    "report": (),
}
LINK_TEXTS = ("names", "source", "report")
# The same of second-order displacements, where there are some: p fields, e = 6 + m + p coordinates.
SECOND_ORDER_SHAPES: dict[str, Shape] = {
    "second_order_factors": ("p", "d", "m"),
    "second_order_leans": ("p", "d", 3),
    "second_order_shapes": ("k", 6, "p"),
    "second_order_mass": ("e", "e"),
    "second_order_X": (3, "e", "e"),
    "second_order_Y": (3, 3, "e", "e"),
    "second_order_Z": (3, 3, "e", "e"),
}
SYMMETRY = 1e-14  # of a matrix of which half is stored
ROUNDING = (
    1e-8  # of a matrix that should be symmetric and positive, against its largest entry
)


class UnknownNodeError(ValueError):
    """An interface names a node that the mesh does not have."""


class FeNodes(NamedTuple):
    """Interface nodes of a link in the axes of its finite elements, counted from the inner one."""

    points: np.ndarray  # (k, 3)
    modes: int | None  # elastic modes that the file of a reduced link holds
    # Whether it holds second-order displacements too, for geometric stiffening.
    second_order: bool = False


def fe_nodes(path: Path, interface: Mapping[str, int] | None) -> FeNodes:
    """Interface nodes of a reduced link, or of matrices with an interface of node numbers.

    Raises:
        ValueError: what is wrong with the file or the interface, in words.
    """
    if path.suffix.lower() not in OWN_ENDINGS:
        raise ValueError(
            f"must be a file of lissom ({', '.join(OWN_ENDINGS)}); import others with `lissom reduce "
            f"{path.name} ... -o link.npz`"
        )
    if not path.is_file():
        raise ValueError(f"no such file (looked for {path})")
    pairs = None if interface is None else tuple(interface.items())
    return _fe_nodes(path, path.stat().st_mtime_ns, pairs)


@lru_cache(maxsize=64)
def _fe_nodes(
    path: Path, changed: int, interface: tuple[tuple[str, int], ...] | None
) -> FeNodes:
    """Read once for every version of the file: `changed` is when it was written."""
    names = array_names(path)
    if "lissom_link" in names:
        if interface is not None:
            raise ValueError(
                "is a reduced link, which has its interface already: leave `interface` out"
            )
        arrays = read_link_arrays(path)
        second_order = "second_order_factors" in names
        return FeNodes(arrays["points"], len(arrays["stiffness"]), second_order)
    if "nodes" not in names:
        raise ValueError("holds neither a reduced link nor K, M and nodes")
    if interface is None:
        raise ValueError(
            "contains matrices: give the nodes at the joints, interface: {inner: 1, tip: 57}"
        )
    # Matrices can be large, and are not needed here.
    return _nodes_of_mesh(path, read_arrays(path, ("nodes", "labels")), interface)


def read_link_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a reduced link: all there, of the right shapes, finite, symmetric, positive.

    Raises:
        ArrayFileError: with the array that is wrong.
    """
    arrays = read_arrays(path)
    if "lissom_link" not in arrays:
        raise ArrayFileError(path, "", "is not a reduced link")
    check_arrays(path, arrays, {"lissom_link": ()})
    version = int(arrays["lissom_link"])
    if version not in READABLE:
        message = f"is of format {version}; this version reads format {LINK_FORMAT}"
        raise ArrayFileError(path, "lissom_link", message)
    arrays = _with_whole_matrices(path, arrays)
    has_second_order = "second_order_factors" in arrays
    second_order = SECOND_ORDER_SHAPES if has_second_order else {}
    shapes = {**LINK_SHAPES, **second_order}
    sizes = check_arrays(path, arrays, shapes, LINK_TEXTS)
    if sizes["c"] != 6 + sizes["m"]:
        message = (
            f"has {sizes['c']} rows: must have 6 and one for each of {sizes['m']} modes"
        )
        raise ArrayFileError(path, "mass", message)
    if has_second_order and sizes["e"] != sizes["c"] + sizes["p"]:
        message = f"has {sizes['e']} rows: must have {sizes['c']} and one for each of {sizes['p']} fields"
        raise ArrayFileError(path, "second_order_mass", message)
    for name in ("stiffness", "mass"):
        check_semidefinite(path, name, arrays[name], ROUNDING)
    check_positions(path, "triangles", arrays["triangles"], sizes["s"])
    _check_report(path, str(arrays["report"]))
    # Whole numbers in a file are real numbers all the same.
    real = set(shapes) - {*LINK_TEXTS, "triangles", "exact"}
    return {
        name: array.astype(float) if name in real else array
        for name, array in arrays.items()
    }


def stored_blocks(blocks: Float[np.ndarray, "3 3 c c"]) -> np.ndarray:
    """Blocks as files hold them: the lower half, row by row, of the matrix (3 c, 3 c) that they make, if symmetric."""
    n = 3 * blocks.shape[-1]
    whole = blocks.transpose(0, 2, 1, 3).reshape(n, n)
    asymmetry = np.abs(whole - whole.T).max(initial=0.0)
    if asymmetry > SYMMETRY * np.abs(whole).max(initial=0.0):
        return blocks
    return whole[np.tril_indices(n)]


def whole_blocks(half: np.ndarray, c: int) -> np.ndarray:
    """The blocks (3, 3, c, c) of a symmetric matrix, from its lower half."""
    n = 3 * c
    row, column = np.tril_indices(n)
    whole = np.empty((n, n), half.dtype)
    whole[row, column] = half
    whole[column, row] = half
    return whole.reshape(3, c, 3, c).transpose(0, 2, 1, 3)


def symmetric_blocks(
    blocks: Float[np.ndarray, "3 3 c c"],
) -> Float[np.ndarray, "3 3 c c"]:
    """Blocks without what rounding leaves between the two halves of their matrix: as a file gives them back."""
    stored = stored_blocks(blocks)
    return blocks if stored.ndim > 1 else whole_blocks(stored, blocks.shape[-1])


def _with_whole_matrices(
    path: Path, arrays: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The arrays with whole inertia constants where the file holds halves."""
    found = dict(arrays)
    for sized, names in SYMMETRIC.items():
        for name in names:
            if sized not in found or name not in found or found[name].ndim != 1:
                continue
            c = len(np.atleast_1d(found[sized]))
            wanted = 3 * c * (3 * c + 1) // 2
            if len(found[name]) != wanted:
                message = f"has {len(found[name])} entries: must have {wanted}, half of a symmetric matrix"
                raise ArrayFileError(path, name, message)
            found[name] = whole_blocks(found[name], c)
    return found


def _check_report(path: Path, text: str) -> None:
    try:
        is_mapping = isinstance(json.loads(text), dict)
    except ValueError:
        is_mapping = False
    if not is_mapping:
        raise ArrayFileError(path, "report", "must be the JSON text of a report")


def check_positions(path: Path, name: str, positions: np.ndarray, count: int) -> None:
    """Refuses an array whose entries are not positions in a list of `count` nodes or rows."""
    if positions.dtype.kind not in "iu":
        raise ArrayFileError(path, name, "must hold whole numbers")
    outside = (positions < 0) | (positions >= count)
    if outside.any():
        worst = positions[outside][0]
        message = f"holds {worst}: must be positions from 0 to {count - 1}"
        raise ArrayFileError(path, name, message)


def _nodes_of_mesh(
    path: Path, arrays: Mapping[str, np.ndarray], interface: Sequence[tuple[str, int]]
) -> FeNodes:
    check_arrays(path, arrays, {"nodes": ("k", 3)})
    points = np.asarray(arrays["nodes"], dtype=float)
    # Finite-element programs count nodes from 1.
    counted = np.arange(1, len(points) + 1)
    labels = np.asarray(arrays.get("labels", counted)).reshape(-1)
    if labels.dtype.kind not in REAL:
        raise ArrayFileError(path, "labels", "must hold the numbers of the nodes")
    if not len(points):
        raise ArrayFileError(path, "nodes", "holds no node")
    if len(labels) != len(points):
        message = f"has {len(labels)} entries for {len(points)} nodes"
        raise ArrayFileError(path, "labels", message)
    rows = []
    for name, label in interface:
        found = np.flatnonzero(labels == label)
        if not len(found):
            raise UnknownNodeError(
                f"node {label} ({name}) is not in the mesh: its nodes are numbered {labels.min()} to {labels.max()}"
            )
        rows.append(int(found[0]))
    inner = points[rows[0]]
    return FeNodes(points[rows] - inner, modes=None)
