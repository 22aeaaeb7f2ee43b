"""What a robot file needs to know of its finite-element files: how many nodes a link has, and where they are."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LINK_FORMAT = 1  # of the files of reduced links

# What can be read without the reader of a finite-element program.
HDF5_ENDINGS = (".h5", ".hdf5")
OWN_ENDINGS = (".npz", *HDF5_ENDINGS)


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
            f"must be a file of lissom ({', '.join(OWN_ENDINGS)}); bring others in with "
            f"`lissom reduce {path.name} ... -o link.npz`"
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
    try:
        arrays = _arrays(path)
    except (OSError, ValueError, EOFError) as failure:
        raise ValueError(f"cannot be read: {failure}") from None
    if "lissom_link" in arrays:
        return _nodes_of_link(arrays, interface)
    if "nodes" not in arrays:
        raise ValueError("holds neither a reduced link nor K, M and nodes")
    if interface is None:
        raise ValueError(
            "holds matrices: say which nodes the joints sit on, interface: {inner: 1, tip: 57}"
        )
    return _nodes_of_mesh(arrays, interface)


def _nodes_of_link(arrays: Mapping[str, np.ndarray], interface: Any) -> FeNodes:
    version = int(arrays["lissom_link"])
    if version != LINK_FORMAT:
        raise ValueError(
            f"is of format {version}; this version reads format {LINK_FORMAT}"
        )
    if interface is not None:
        raise ValueError(
            "is a reduced link, which has its interface already: leave `interface` out"
        )
    second_order = "second_order_factors" in arrays
    return FeNodes(arrays["points"], len(arrays["stiffness"]), second_order)


def _nodes_of_mesh(
    arrays: Mapping[str, np.ndarray], interface: Sequence[tuple[str, int]]
) -> FeNodes:
    points = np.asarray(arrays["nodes"], dtype=float)
    # Finite-element programs count nodes from 1.
    counted = np.arange(1, len(points) + 1)
    labels = np.asarray(arrays.get("labels", counted)).reshape(-1)
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


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """What is needed of a file, as far as it is there; matrices can be large."""
    names = ("lissom_link", "points", "stiffness", "nodes", "labels")
    names += ("second_order_factors",)
    if path.suffix.lower() in HDF5_ENDINGS:
        import h5py

        with h5py.File(path, "r") as file:
            return {name: np.asarray(file[name]) for name in names if name in file}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in names if name in file}
