"""What a robot file needs to know of its finite-element files: how many nodes a link has, and where they are."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

LINK_FORMAT = 1  # of the files of reduced links
HDF5_ENDINGS = (".h5", ".hdf5")
OWN_ENDINGS = (".npz", *HDF5_ENDINGS)


class FeNodes(NamedTuple):
    """Interface nodes of a link in the axes of its finite elements, counted from the inner one."""

    names: tuple[str, ...]
    points: np.ndarray  # (k, 3)
    reduced: bool  # the file holds a reduced link
    modes: int | None  # that it holds


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
    return _fe_nodes(
        path,
        path.stat().st_mtime_ns,
        None if interface is None else tuple(interface.items()),
    )


@lru_cache(maxsize=64)
def _fe_nodes(
    path: Path, changed: int, interface: tuple[tuple[str, int], ...] | None
) -> FeNodes:
    try:
        arrays = _chosen(
            path, ("lissom_link", "names", "points", "stiffness", "nodes", "labels")
        )
    except (OSError, ValueError, EOFError) as failure:
        raise ValueError(f"cannot be read: {failure}") from None
    if "lissom_link" in arrays:
        if int(arrays["lissom_link"]) != LINK_FORMAT:
            raise ValueError(
                f"is of format {int(arrays['lissom_link'])}; this version reads format {LINK_FORMAT}"
            )
        names = tuple(str(name) for name in arrays["names"])
        if interface is not None:
            raise ValueError(
                "is a reduced link, whose interface is settled: leave `interface` out"
            )
        return FeNodes(names, arrays["points"], True, len(arrays["stiffness"]))
    if "nodes" not in arrays:
        raise ValueError("holds neither a reduced link nor K, M and nodes")
    if interface is None:
        raise ValueError(
            "holds matrices: say which nodes the joints sit on, interface: {inner: 1, tip: 57}"
        )
    return _labelled(arrays, interface)


def _labelled(
    arrays: Mapping[str, np.ndarray], interface: Sequence[tuple[str, int]]
) -> FeNodes:
    points = np.asarray(arrays["nodes"], dtype=float)
    labels = np.asarray(arrays.get("labels", np.arange(1, len(points) + 1))).reshape(-1)
    where = []
    for name, label in interface:
        found = np.flatnonzero(labels == label)
        if not len(found):
            raise ValueError(
                f"node {label} ({name}) is not in the mesh: its nodes are numbered {labels.min()} to {labels.max()}"
            )
        where.append(int(found[0]))
    return FeNodes(
        tuple(name for name, _ in interface),
        points[where] - points[where[0]],
        False,
        None,
    )


def _chosen(path: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    if path.suffix.lower() in HDF5_ENDINGS:
        import h5py

        with h5py.File(path, "r") as file:
            return {name: np.asarray(file[name]) for name in names if name in file}
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in names if name in file}
